"""The public boundary: which files of a report may be published, and their manifest.

A bundle is exactly what ``aggregate`` wrote. What is not on the short list below is refused, not
skipped: a file that nobody expected is a mistake somewhere, and a mistake must not become public.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runner_e2e.campaigns.consistency import check_report
from runner_e2e.contracts.base import D, digest, dump_tree, parse
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.evidence import FileDigest, evidence_path, is_picture_path
from runner_e2e.contracts.history import BUNDLE_V1, BundleManifest
from runner_e2e.contracts.insights import Insights
from runner_e2e.contracts.plan import Plan
from runner_e2e.errors import DocumentError, UsageError
from runner_e2e.evidence import MAX_PNG_BYTES, Redactor, png_problem
from runner_e2e.publishing.errors import PrivateFile

MANIFEST_FILE = "bundle-manifest.json"
PAGE_FILE = "index.html"
DOCUMENTS = ("campaign.json", "insights.json", "plan.json")
"""What a history is made from."""
PUBLIC = (*DOCUMENTS, "summary.md", "junit.xml", PAGE_FILE)
"""What lies at the top of a bundle: all of it, and nothing else."""

MAX_REASONS = 10
SCAN_BYTES = 1024 * 1024


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
    documents cannot be read or is not what the others come to, :class:`PrivateFile` naming every
    file that may not be published.
    """
    if not report.is_dir():
        raise UsageError(
            f"{report} is not a directory",
            hint="give the directory that `runner-e2e aggregate --out` or `campaign` wrote",
        )
    missing = [name for name in PUBLIC if not (report / name).is_file()]
    if missing:
        raise UsageError(
            f"{report} is not a whole report: it has no {' and no '.join(missing)}",
            hint="the page is left out by `aggregate --no-site`: aggregate without it"
            if missing == [PAGE_FILE]
            else "give the directory that `runner-e2e aggregate --out` or `campaign` wrote",
        )
    problems: list[str] = []
    paths = sorted(_walk(report, "", problems))
    campaign = _document(Campaign, report, "campaign.json")
    insights = _document(Insights, report, "insights.json")
    plan = _document(Plan, report, "plan.json")
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
    check_report(campaign, insights, plan)
    _check_pictures(insights, files)
    return Bundle(
        directory=report,
        campaign=campaign,
        insights=insights,
        plan=plan,
        manifest=make_manifest(campaign.campaign_id, files),
    )


def _check_pictures(insights: Insights, files: list[FileDigest]) -> None:
    """The pictures must be those that ``aggregate`` took, byte for byte."""
    taken = {file.path: file for file in insights.evidence}
    there = {file.path: file for file in files if file.path not in PUBLIC}
    for path in sorted(taken.keys() | there.keys()):
        if taken.get(path) != there.get(path):
            raise DocumentError(
                path,
                "it is not the picture that insights.json lists",
                hint="a report is published as `runner-e2e aggregate` wrote it; aggregate again",
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
        evidence_path(result.execution_id, result.attempt, shot.file)
        for result in campaign.results
        for shot in result.screenshots or ()
        if shot.publication == "public-runner-fixture"
    )


def _picture_problem(file: Path, path: str, declared: frozenset[str]) -> str | None:
    """Why a file that is not one of the documents may not be published; ``None`` when it may."""
    if not is_picture_path(path):
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
