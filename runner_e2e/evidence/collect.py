"""Chooses the files of an attempt that may leave the job, cleans them and writes them out."""

from __future__ import annotations

import fnmatch
import json
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from runner_e2e.contracts.base import dump
from runner_e2e.contracts.evidence import EVIDENCE_V1, EvidenceManifest, Leak
from runner_e2e.evidence.archives import ArchiveReader, Uninspectable
from runner_e2e.evidence.files import write_atomically
from runner_e2e.evidence.redactor import Redactor, parse_json
from runner_e2e.evidence.scanner import Finding

MANIFEST = "evidence-manifest.json"
NOTES = "evidence-notes.txt"

ALLOWED = (
    *("result.json", "junit.xml", "server.log", "final-state.png", "failure.png"),
    *("snapshots/*", "turns/*", "public/*.png", "logs/*", "artifacts/*"),
)
"""Patterns below the attempt's directory; ``*`` also crosses ``/``."""

TEXT = frozenset(
    (
        *(".xml", ".html", ".css", ".js", ".txt", ".log", ".md", ".jsonl", ".ndjson"),
        *(".yaml", ".yml", ".csv", ".diff", ".patch"),
    )
)
BINARY = frozenset([".png", ".webm", ".zip", ".gz", ".tgz", ".tar"])
"""Kept whole or not at all. SVG is not here: it can hold scripts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much may leave the job. A text over ``file_bytes`` keeps its beginning and its end."""

    file_bytes: int = 8 * 1024 * 1024
    binary_bytes: int = 12 * 1024 * 1024
    total_bytes: int = 64 * 1024 * 1024
    files: int = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What was written, and what was left out or shortened and why, in words."""

    manifest: EvidenceManifest
    notes: tuple[str, ...]


def collect_evidence(
    source: Path,
    destination: Path,
    redactor: Redactor,
    *,
    required: Sequence[str] = (),
    allowed: Sequence[str] = ALLOWED,
    budget: Budget | None = None,
    leaks: Sequence[Leak] = (),
) -> Collected:
    """Copy the evidence below ``source`` that may leave into ``destination``, which is emptied.

    Required files come first, so nothing an agent leaves can crowd them out. Links are never
    followed. Text is blacked out and checked again; binaries and archives with a hit, and archives
    that nobody can look into, are withheld. Every leak, missing file and shortened file is listed
    in the manifest or the notes, which are written beside the files. ``leaks`` are those that were
    taken out before, as :class:`Ledger` remembers them.
    """
    shutil.rmtree(destination, ignore_errors=True)
    destination.mkdir(parents=True)
    work = _Collection(destination, redactor, budget or Budget(), leaks=list(leaks))
    paths = sorted(_walk(source, work), key=lambda path: (path not in required, path))
    for path in paths:
        if path in required or any(fnmatch.fnmatchcase(path, pattern) for pattern in allowed):
            work.take(source, path)
    if work.notes:
        work.write(NOTES, redactor.redact("\n".join(work.notes).encode() + b"\n").data)
    manifest = EvidenceManifest(
        schema=EVIDENCE_V1,
        files=tuple(sorted(work.files)),
        leaks=tuple(work.leaks),
        missing=tuple(path for path in required if path not in work.files),
    )
    write_atomically(destination / MANIFEST, dump(manifest))
    return Collected(manifest=manifest, notes=tuple(work.notes))


@dataclass(slots=True)
class _Collection:
    destination: Path
    redactor: Redactor
    budget: Budget
    files: set[str] = field(default_factory=set)
    leaks: list[Leak] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    written: int = 0
    archives: ArchiveReader = field(default_factory=ArchiveReader)

    def take(self, source: Path, path: str) -> None:
        suffix = Path(path).suffix.lower()
        if suffix not in TEXT | BINARY | {".json"}:
            return
        if self.redactor.redact(path.encode()).findings:
            self.leaks.append(
                Leak(file=self.redactor.redact_text(path), reason="a secret in the file's name")
            )
            return
        if len(self.files) >= self.budget.files:
            self.note(f"{path}: left out, there are more than {self.budget.files} files")
            return
        file = _open_regular(source, path)
        if file is None:
            self.note(f"{path}: left out, it is no regular file or could not be read")
            return
        with closing(file):
            data = self.cleaned(file, path, suffix)
        if data is None:
            return
        if self.written + len(data) > self.budget.total_bytes:
            self.note(f"{path}: left out, the evidence is over {self.budget.total_bytes} bytes")
            return
        self.write(path, data)

    def cleaned(self, file: BinaryIO, path: str, suffix: str) -> bytes | None:
        """Read what may be kept of one file; ``None`` where it is withheld."""
        size = os.fstat(file.fileno()).st_size
        if suffix in BINARY:
            return self.binary(file, path, size)
        if suffix == ".json" and size <= self.budget.file_bytes:
            data = file.read(self.budget.file_bytes)
            try:
                return self.json(data, path)
            except ValueError:
                self.note(f"{path}: is no JSON and was kept as text")
                return self.text([data], path)
        if suffix == ".json":
            self.note(f"{path}: left out, {size} bytes are more than {self.budget.file_bytes}")
            return None
        return self.long_text(file, path, size)

    def binary(self, file: BinaryIO, path: str, size: int) -> bytes | None:
        if size > self.budget.binary_bytes:
            self.note(f"{path}: left out, {size} bytes are more than {self.budget.binary_bytes}")
            return None
        found: dict[Finding, None] = {}
        try:
            for stream in self.archives.streams(file):
                found.update(dict.fromkeys(self.redactor.scan(stream)))
        except Uninspectable as error:
            self.leaks.append(Leak(file=path, reason=f"archive could not be inspected: {error}"))
            return None
        leaked = self.leaked(path, found)
        if found:
            # Of a binary nothing can be blacked out, so it also stays where a text only loses a
            # part, over a header or a password in a URL.
            if not leaked:
                names = ", ".join(sorted({finding.name for finding in found}))
                self.note(f"{path}: withheld, it holds {names}")
            return None
        file.seek(0)
        return file.read(self.budget.binary_bytes)

    def json(self, data: bytes, path: str) -> bytes | None:
        clean, findings = self.redactor.redact_json(parse_json(data))
        self.leaked(path, dict.fromkeys(findings))
        written = json.dumps(clean, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass")
        # Again by key and value for shapes; as a whole for values, which may be numbers.
        left = [
            *self.redactor.redact_json(clean)[1],
            *self.redactor.scanner.exact_findings(written),
        ]
        return None if self.unclean(path, left) else written + b"\n"

    def long_text(self, file: BinaryIO, path: str, size: int) -> bytes | None:
        limit, overlap = self.budget.file_bytes, self.redactor.scanner.overlap
        if size <= limit:
            return self.text([file.read(limit)], path)
        half = limit // 2
        head = self.redactor.redact_part(file.read(half + overlap), 0, half)
        file.seek(size - half - overlap)
        ending = file.read(half + overlap)
        tail = self.redactor.redact_part(ending, min(overlap, len(ending)), len(ending))
        notice = f"\n[runner-e2e: {size - 2 * half} of {size} bytes were cut out here]\n"
        self.note(f"{path}: shortened from {size} bytes to its first and last {half}")
        self.leaked(path, dict.fromkeys((*head.findings, *tail.findings)))
        return self.text([head.data, notice.encode(), tail.data], path)

    def text(self, parts: Sequence[bytes], path: str) -> bytes | None:
        clean = self.redactor.redact(b"".join(parts))
        self.leaked(path, dict.fromkeys(clean.findings))
        left = self.redactor.scanner.findings(clean.data)
        return None if self.unclean(path, left) else clean.data

    def unclean(self, path: str, left: Sequence[Finding]) -> bool:
        """Tell whether a secret is left in what was cleaned; then the file is withheld."""
        if not self.leaked(path, dict.fromkeys(left)):
            return False
        self.note(f"{path}: withheld, a secret was still there after it was cleaned")
        return True

    def leaked(self, path: str, found: dict[Finding, None]) -> bool:
        """List the leaks among ``found``; tell whether there are any."""
        leaks = [Leak(file=path, reason=finding.reason) for finding in found if finding.leak]
        self.leaks.extend(leak for leak in leaks if leak not in self.leaks)
        return bool(leaks)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def write(self, path: str, data: bytes) -> None:
        write_atomically(self.destination / path, data)
        self.files.add(path)
        self.written += len(data)


MAX_WALKED = 100_000


def _walk(source: Path, work: _Collection) -> Iterator[str]:
    """Yield regular files below ``source``, ``/`` between the parts; follow no link."""
    seen = 0
    for directory, inner, names in os.walk(source, followlinks=False):
        inner.sort()
        for name in sorted(names):
            seen += 1
            if seen > MAX_WALKED:
                work.note(f"there are more than {MAX_WALKED} files; the rest was not looked at")
                return
            path = Path(directory, name).relative_to(source).as_posix()
            if not path.isprintable() or "\\" in path:
                work.note(f"{ascii(path)[:200]}: left out, its name cannot be written down")
            elif not Path(directory, name).is_symlink():
                yield path


def _open_regular(source: Path, path: str) -> BinaryIO | None:
    """Open a file part by part without following a link, also one that came up a moment ago."""
    *directories, name = path.split("/")
    try:
        at = os.open(source, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in directories:
                inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
                os.close(at)
                at = inner
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
        finally:
            os.close(at)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    return os.fdopen(descriptor, "rb")
