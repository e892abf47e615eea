"""What GitHub says of the jobs: which run attempt of a cell is its newest real one.

GitHub repeats the jobs that a partial re-run kept under the newer attempt number. Such a row is
told by its start time: it began before that attempt did.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from pydantic import ConfigDict

from runner_e2e.contracts.base import Document, parse
from runner_e2e.contracts.scalars import Count, Ordinal, Timestamp
from runner_e2e.contracts.timestamps import format_timestamp, parse_timestamp
from runner_e2e.contracts.vocabulary import CellState
from runner_e2e.errors import DocumentError

UPLOAD_STEP = "upload"
"""A step whose name begins so is the upload of artifacts, in the workflows that we ship."""


GITHUB_NAMES = ConfigDict(alias_generator=None)


class _Step(Document):
    name: str
    conclusion: str | None = None


class _Row(Document):
    """One job as the REST API lists it. Its names are GitHub's, so they are not camel-cased."""

    model_config = GITHUB_NAMES

    name: str
    run_attempt: Ordinal
    status: str
    conclusion: str | None = None
    started_at: Timestamp | None = None
    completed_at: Timestamp | None = None
    steps: tuple[_Step, ...] = ()


class _Attempt(Document):
    model_config = GITHUB_NAMES

    run_attempt: Ordinal
    run_started_at: Timestamp


class _Jobs(Document):
    model_config = GITHUB_NAMES

    total_count: Count
    jobs: tuple[_Row, ...]
    attempts: tuple[_Attempt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """The newest run attempt in which a job really ran."""

    run_attempt: int
    status: str
    conclusion: str | None
    started_at: datetime | None
    completed_at: datetime | None
    upload_failed: bool
    twins: int = 1
    """How many jobs of that attempt have the name."""

    @property
    def ended_at(self) -> str | None:
        """When the job ended, as documents write it."""
        return None if self.completed_at is None else format_timestamp(self.completed_at)

    def was_running_at(self, moment: datetime) -> bool:
        """Whether something that happened at ``moment`` may have happened in this job."""
        if self.started_at is None or moment < self.started_at:
            return False
        return self.completed_at is None or moment <= self.completed_at

    def without_result(self, timeout_minutes: int) -> tuple[CellState, str]:
        """Say what became of a cell whose job ran, or was to run, and left no result."""
        if self.conclusion == "skipped":
            return "skipped", "the job was skipped"
        if self.conclusion in ("cancelled", "timed_out"):
            if self.conclusion == "timed_out" or self._minutes() >= timeout_minutes:
                return "job_timeout", f"the job was stopped after its {timeout_minutes} minutes"
            return "cancelled", "the job was cancelled"
        if self.upload_failed:
            return "upload_failed", "the job ran, but the upload of its result failed"
        if self.status != "completed":
            return "missing", f"the job is {self.status.replace('_', ' ')}, it left no result yet"
        ended = self.conclusion or "without a conclusion"
        return "missing", f"the job ended ({ended}), but left no result"

    def _minutes(self) -> float:
        if self.started_at is None or self.completed_at is None:
            return 0
        return (self.completed_at - self.started_at).total_seconds() / 60


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHistory:
    """The newest real run of each job, by the last part of the job's name."""

    run_attempts: int
    """How many attempts the workflow run has had; nothing can come from a later one."""
    latest: Mapping[str, JobRun]

    @classmethod
    def parse(cls, data: bytes, source: str) -> JobHistory:
        """Read ``{total_count, jobs: [rows], attempts: [{run_attempt, run_started_at}]}``.

        The rows are those of ``GET .../runs/ID/jobs?filter=all``, of every page. Raises
        :class:`DocumentError` where rows or attempts are missing: half a history would let an
        older pass stand for a newer failure.
        """
        listed = parse(_Jobs, data, source)
        if listed.total_count != len(listed.jobs):
            raise DocumentError(
                source,
                f"it holds {len(listed.jobs)} of {listed.total_count} jobs",
                hint="read every page of the job list, and nothing while jobs are still added",
            )
        starts = {a.run_attempt: parse_timestamp(a.run_started_at) for a in listed.attempts}
        missing = sorted({*range(1, max(starts, default=1) + 1)} - starts.keys())
        missing += sorted({row.run_attempt for row in listed.jobs} - starts.keys())
        if missing or len(starts) != len(listed.attempts):
            raise DocumentError(
                source,
                f"it does not say once when run attempt {(missing or ['of each number'])[0]} began",
                hint="list every attempt of the run in `attempts`, each once",
            )
        return cls(run_attempts=max(starts), latest=_latest(listed.jobs, starts))


def _latest(rows: Iterable[_Row], starts: Mapping[int, datetime]) -> dict[str, JobRun]:
    latest: dict[str, JobRun] = {}
    for row in rows:
        started = None if row.started_at is None else parse_timestamp(row.started_at)
        if started is not None and started < starts[row.run_attempt]:
            continue
        name = row.name.rpartition(" / ")[2]
        run = JobRun(
            run_attempt=row.run_attempt,
            status=row.status,
            conclusion=row.conclusion,
            started_at=started,
            completed_at=None if row.completed_at is None else parse_timestamp(row.completed_at),
            upload_failed=any(
                step.conclusion == "failure" and step.name.lower().startswith(UPLOAD_STEP)
                for step in row.steps
            ),
        )
        latest[name] = _newer(latest.get(name), run)
    return latest


def _newer(one: JobRun | None, other: JobRun) -> JobRun:
    """Choose the newer run; a skipped job did not run, so any other goes before it."""
    if one is None:
        return other
    ranks = [(run.conclusion != "skipped", run.run_attempt) for run in (one, other)]
    if ranks[0] == ranks[1]:
        return JobRun(
            run_attempt=one.run_attempt,
            status=one.status,
            conclusion=one.conclusion,
            started_at=one.started_at,
            completed_at=one.completed_at,
            upload_failed=one.upload_failed,
            twins=one.twins + 1,
        )
    return one if ranks[0] > ranks[1] else other
