"""The public boundary: which files of a report may be published, and their manifest.

A bundle is exactly what ``aggregate`` wrote. What is not on the short list below is refused, not
skipped: a file that nobody expected is a mistake somewhere, and a mistake must not become public.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runner_e2e.contracts.base import D, digest, dump_tree, parse
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.evidence import FileDigest
from runner_e2e.contracts.history import BUNDLE_V1, BundleManifest
from runner_e2e.contracts.insights import Insights
from runner_e2e.contracts.plan import Plan
from runner_e2e.contracts.scalars import SEGMENT
from runner_e2e.errors import UsageError
from runner_e2e.evidence import Redactor
from runner_e2e.publishing.errors import PrivateFile

MANIFEST_FILE = "bundle-manifest.json"
REQUIRED = ("campaign.json", "insights.json", "plan.json")
PUBLIC = frozenset({*REQUIRED, "index.html", "junit.xml", "summary.md"})
"""What may lie at the top of a bundle."""

MAX_PNG_BYTES = 12 * 1024 * 1024
MAX_REASONS = 10
SCAN_BYTES = 1024 * 1024

_PICTURE = re.compile(
    rf"^evidence/{SEGMENT}(?:\.{SEGMENT}){{3}}/attempt-[1-9][0-9]*"
    r"/[A-Za-z0-9][A-Za-z0-9._-]{0,199}\.png$"
)
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_IHDR_BYTES = 13
_CHUNK_FRAME = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A report that may be published as it is."""

    directory: Path
    campaign: Campaign
    insights: Insights
    plan: Plan
    manifest: BundleManifest


def build_bundle(report: Path) -> Bundle:
    """Check a report directory against the public boundary and list it.

    Raises :class:`UsageError` when it is no report, :class:`DocumentError` when one of its
    documents cannot be read, :class:`PrivateFile` naming every file that may not be published.
    """
    if not report.is_dir():
        raise UsageError(
            f"{report} is not a directory",
            hint="give the directory that `runner-e2e aggregate --out` or `campaign` wrote",
        )
    missing = [name for name in REQUIRED if not (report / name).is_file()]
    if missing:
        raise UsageError(
            f"{report} is not a report: it has no {' and no '.join(missing)}",
            hint="give the directory that `runner-e2e aggregate --out` or `campaign` wrote",
        )
    problems: list[str] = []
    paths = sorted(_walk(report, "", problems))
    campaign = _document(Campaign, report, "campaign.json")
    declared = _declared(campaign)
    files = []
    for path in paths:
        reason = None if path in PUBLIC else _picture_problem(report / path, path, declared)
        reason = reason or secret_problem(report / path)
        if reason is not None:
            problems.append(f"{path}: {reason}")
        else:
            files.append(_digest(report / path, path))
    if problems:
        raise _private(report, problems)
    return Bundle(
        directory=report,
        campaign=campaign,
        insights=_document(Insights, report, "insights.json"),
        plan=_document(Plan, report, "plan.json"),
        manifest=make_manifest(campaign.campaign_id, files),
    )


def make_manifest(campaign_id: str, files: list[FileDigest]) -> BundleManifest:
    """The manifest of ``files``, in the order of their paths."""
    listed = tuple(sorted(files, key=lambda file: file.path))
    return BundleManifest(
        schema=BUNDLE_V1,
        campaign_id=campaign_id,
        files=listed,
        bundle_digest=digest([dump_tree(file) for file in listed]),
    )


def _walk(directory: Path, below: str, problems: list[str]) -> Iterator[str]:
    """Every regular file below a directory; whatever is neither file nor directory is a problem."""
    with os.scandir(directory) as entries:
        for entry in entries:
            path = below + entry.name
            if entry.is_symlink():
                problems.append(f"{path}: it is a symbolic link")
            elif entry.is_dir(follow_symlinks=False):
                yield from _walk(Path(entry.path), f"{path}/", problems)
            elif entry.is_file(follow_symlinks=False):
                yield path
            else:
                problems.append(f"{path}: it is not a regular file")


def _document(model: type[D], report: Path, name: str) -> D:
    return parse(model, (report / name).read_bytes(), str(report / name))


def _declared(campaign: Campaign) -> frozenset[str]:
    """The pictures that a result declares public, by their path in the report."""
    return frozenset(
        f"evidence/{result.execution_id}/attempt-{result.attempt}/{shot.file.rpartition('/')[2]}"
        for result in campaign.results
        for shot in result.screenshots or ()
        if shot.publication == "public-runner-fixture"
    )


def _picture_problem(file: Path, path: str, declared: frozenset[str]) -> str | None:
    """Why a file that is not one of the documents may not be published; ``None`` when it may."""
    if not _PICTURE.match(path):
        return "nothing of that name is ever published"
    if path not in declared:
        return "no result declares this picture public"
    size = file.stat().st_size
    if size > MAX_PNG_BYTES:
        return f"{size:,} bytes are more than a public picture may have ({MAX_PNG_BYTES:,})"
    return png_problem(file.read_bytes())


def secret_problem(file: Path) -> str | None:
    """Why a file may give a secret away; ``None`` when nothing in it is shaped like a key.

    Values are unknown here: `run` took them out. This is for what came into the report after it.
    """
    with file.open("rb") as stream:
        found = Redactor().scan(iter(lambda: stream.read(SCAN_BYTES), b""))
    leaks = sorted({finding.reason for finding in found if finding.leak})
    return f"it holds something {leaks[0]}" if leaks else None


def png_problem(data: bytes) -> str | None:
    """Why ``data`` is not a PNG and nothing but a PNG; ``None`` when it is one.

    Every chunk is walked to the last byte, so that nothing rides along behind the picture.
    """
    if not data.startswith(_PNG_SIGNATURE):
        return "it is not a PNG"
    position = len(_PNG_SIGNATURE)
    first = True
    while position + _CHUNK_FRAME <= len(data):
        length = int.from_bytes(data[position : position + 4])
        kind = data[position + 4 : position + 8]
        end = position + _CHUNK_FRAME + length
        if end > len(data):
            break
        checksum = int.from_bytes(data[end - 4 : end])
        if zlib.crc32(data[position + 4 : end - 4]) != checksum:
            return "it is a damaged PNG"
        if first and (kind != b"IHDR" or length != _IHDR_BYTES):
            return "it is not a PNG: it has no header"
        if first and 0 in (
            int.from_bytes(data[position + 8 : position + 12]),
            int.from_bytes(data[position + 12 : position + 16]),
        ):
            return "it is an empty PNG"
        first = False
        position = end
        if kind == b"IEND":
            return None if position == len(data) else "something is appended to the PNG"
    return "it is a PNG that was cut off"


def _digest(file: Path, path: str) -> FileDigest:
    with file.open("rb") as stream:
        mode = os.fstat(stream.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise PrivateFile(f"{file} changed while it was read", hint="publish again")
        hasher = hashlib.file_digest(stream, "sha256")
        return FileDigest(path=path, sha256=hasher.hexdigest(), bytes=stream.tell())


def _private(report: Path, problems: list[str]) -> PrivateFile:
    shown = sorted(problems)[:MAX_REASONS]
    if len(problems) > len(shown):
        shown.append(f"and {len(problems) - len(shown)} more")
    lines = "\n".join(f"  {problem}" for problem in shown)
    return PrivateFile(
        f"{report} holds files that may not be published:\n{lines}",
        hint="only campaign, insights, plan, summary, JUnit, pages and pictures that a result "
        "declares public are published; take the rest out of the report",
    )
