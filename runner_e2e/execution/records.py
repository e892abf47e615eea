"""``job-record.json``: kept true all the time, so that a killed job still says how far it came."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from runner_e2e.contracts.base import dump
from runner_e2e.contracts.evidence import FileDigest
from runner_e2e.contracts.job_record import JOB_RECORD_V1, AttemptRecord, JobRecord, Resource
from runner_e2e.environments import TemporaryRoot
from runner_e2e.errors import UsageError
from runner_e2e.evidence.files import write_atomically
from runner_e2e.execution.request import RunRequest

RECORD_FILE = "job-record.json"
RESULT_FILE = "result.json"
REPEATS = "confirm"
"""The directory of what repeats left."""
_OURS = re.compile(rf"attempt-[0-9]+|{REPEATS}")
_CHUNK = 1024 * 1024


def clear(out: Path) -> None:
    """Make ``out`` ready: what an earlier execution left in it must not look like ours."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name in (RESULT_FILE, RECORD_FILE):
            (out / name).unlink(missing_ok=True)
        for path in out.iterdir():
            if _OURS.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
    except OSError as error:
        raise UsageError(
            f"the directory {out} cannot be used: {error.strerror}",
            hint="name a directory that can be written with --out",
        ) from error


def digests(out: Path) -> tuple[FileDigest, ...]:
    """The digest of every file below ``out`` but the record itself, in order of their paths."""
    files = [path for path in out.rglob("*") if path.is_file() and not path.is_symlink()]
    named = sorted((path.relative_to(out).as_posix(), path) for path in files)
    return tuple(_digest(name, path) for name, path in named if name != RECORD_FILE)


def _digest(name: str, path: Path) -> FileDigest:
    sha256, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            sha256.update(chunk)
            size += len(chunk)
    return FileDigest(path=name, sha256=sha256.hexdigest(), bytes=size)


@dataclass(slots=True, kw_only=True)
class Recorder:
    """The record while the job runs. Every change is written at once."""

    request: RunRequest
    started_at: str
    attempts: list[AttemptRecord] = field(default_factory=list)
    repeats: list[AttemptRecord] = field(default_factory=list)
    overran_usd: float | None = None
    resources: dict[str, Resource] = field(default_factory=dict)

    def resource(self, resource: Resource) -> None:
        """Note something that was made, or that it is gone."""
        self.resources[resource.id] = resource
        self.write("started")

    def write(
        self,
        state: Literal["started", "finished", "interrupted"],
        *,
        finished_at: str | None = None,
        files: Sequence[FileDigest] = (),
    ) -> JobRecord:
        """Write the record as things stand."""
        request = self.request
        record = JobRecord(
            schema=JOB_RECORD_V1,
            execution_id=request.execution.id,
            plan_digest=request.plan_digest,
            suite_definition_hash=request.execution.suite_definition_hash,
            source=request.source,
            run_id=request.run_id,
            run_attempt=request.run_attempt,
            state=state,
            started_at=self.started_at,
            finished_at=finished_at,
            attempts=tuple(self.attempts),
            repeats=tuple(self.repeats),
            overran_usd=self.overran_usd,
            resources=tuple(self.resources.values()),
            files=tuple(files),
        )
        write_atomically(request.out / RECORD_FILE, dump(record))
        return record


def root_resource(root: TemporaryRoot, deleted_at: str | None = None) -> Resource:
    """A root as the job record lists it: by name, since a path says too much of a machine."""
    return Resource(
        kind="temporary_root", id=root.path.name, created_at=root.created_at, deleted_at=deleted_at
    )
