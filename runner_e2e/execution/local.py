"""A campaign on this machine: its directory, what of it is done already, and running the rest.

DIR/plan.json
DIR/results/<execution id>/      as the artifact of a job
DIR/report/                      what aggregate writes
DIR/earlier/<campaign>/          an earlier campaign that was set aside, whole
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from runner_e2e.contracts.base import dump, parse
from runner_e2e.contracts.job_record import JobRecord
from runner_e2e.contracts.plan import Plan, read_plan
from runner_e2e.contracts.result import Result
from runner_e2e.errors import DocumentError, UsageError
from runner_e2e.evidence.files import write_atomically
from runner_e2e.execution.records import RECORD_FILE, RESULT_FILE
from runner_e2e.execution.request import RunOutcome, RunRequest
from runner_e2e.execution.run import run_execution
from runner_e2e.flows import CancelToken

PLAN_FILE = "plan.json"
LOCK_FILE = "campaign.lock"
_OURS = (PLAN_FILE, "results", "report")
_STOPPED = frozenset({"transient_infrastructure", "permanent_infrastructure"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalCampaign:
    """A campaign's directory, opened. ``plan`` is the one that its results belong to."""

    directory: Path
    plan: Plan
    resumed: bool
    """The directory held a campaign of the same cells, which goes on."""
    set_aside: Path | None = None
    """Where another campaign that was in the way lies now."""

    def results(self, execution_id: str) -> Path:
        """Where the artifact of one execution lies."""
        return self.directory / "results" / execution_id

    @property
    def report(self) -> Path:
        """Where the report lies."""
        return self.directory / "report"

    def final(self, execution_id: str) -> Result | None:
        """The result of an execution that was finished under this plan and says something.

        What infrastructure stopped says nothing of the agent, so it is run again.
        """
        directory = self.results(execution_id)
        try:
            record = parse(JobRecord, (directory / RECORD_FILE).read_bytes(), RECORD_FILE)
            result = parse(Result, (directory / RESULT_FILE).read_bytes(), RESULT_FILE)
        except (OSError, DocumentError):
            return None
        ours = record.plan_digest == self.plan.digest and record.execution_id == execution_id
        stopped = result.failure_class in _STOPPED
        return result if ours and record.state == "finished" and not stopped else None


@contextmanager
def open_campaign(directory: Path, plan: Plan, *, fresh: bool = False) -> Iterator[LocalCampaign]:
    """Open ``directory`` for ``plan`` and hold it.

    A campaign of the same cells goes on where it was, under its own plan. Another one, or with
    ``fresh`` any, is set aside whole, since somebody paid for it. Raises :class:`UsageError` when
    the directory cannot be used or another process is at work in it.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise UsageError(
            f"the directory {directory} cannot be used: {error.strerror}",
            hint="name one that can be written with --out",
        ) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"another campaign is running in {directory}",
                hint="wait for it, or give this one a directory of its own with --out",
            ) from None
        yield _prepare(directory, plan, fresh=fresh)
    finally:
        os.close(lock)


def _prepare(directory: Path, plan: Plan, *, fresh: bool) -> LocalCampaign:
    before = _planned_before(directory)
    if before is not None and not fresh and _goes_on(before, plan):
        return _resume(LocalCampaign(directory=directory, plan=before, resumed=True), plan)
    set_aside = _set_aside(directory, before)
    write_atomically(directory / PLAN_FILE, dump(plan))
    return LocalCampaign(directory=directory, plan=plan, resumed=False, set_aside=set_aside)


def _resume(local: LocalCampaign, plan: Plan) -> LocalCampaign:
    """Go on with what is open, under a name of its own.

    A campaign that was published while it was open keeps its name for what it was then, since
    published files never change. The creation time names a campaign and is no part of the digest,
    so every result that is there still belongs.
    """
    open_ones = [name for name in local.plan.expected if local.final(name) is None]
    if not open_ones:
        return local
    before = _earlier(local.directory, local.plan)
    for name in open_ones:
        if local.results(name).exists():
            before.joinpath("results").mkdir(parents=True, exist_ok=True)
            local.results(name).rename(before / "results" / name)
    renamed = local.plan.model_copy(update={"created_at": plan.created_at})
    write_atomically(local.directory / PLAN_FILE, dump(renamed))
    return replace(local, plan=renamed)


def _goes_on(before: Plan, plan: Plan) -> bool:
    """Whether ``plan`` asks for what ``before`` began: the same cells of the same code.

    How they are run (side by side, how often again, by which version of ours) changes no result
    that is there, and results are paid for.
    """
    return (before.catalog.fingerprint, before.expected, before.source) == (
        plan.catalog.fingerprint,
        plan.expected,
        plan.source,
    )


def _planned_before(directory: Path) -> Plan | None:
    try:
        data = (directory / PLAN_FILE).read_bytes()
    except OSError:
        return None
    with suppress(DocumentError):
        return read_plan(data, str(directory / PLAN_FILE))
    return None


def _set_aside(directory: Path, before: Plan | None) -> Path | None:
    """Move an earlier campaign into a directory of its own."""
    there = [directory / name for name in _OURS if os.path.lexists(directory / name)]
    if not there:
        return None
    place = _earlier(directory, before)
    place.mkdir(parents=True)
    for path in there:
        path.rename(place / path.name)
    return place


def _earlier(directory: Path, before: Plan | None) -> Path:
    """A free place for what is set aside; not made yet."""
    name = before.created_at.replace(":", "-").replace(".", "-") if before else "unknown"
    place = directory / "earlier" / name
    number = 2
    while os.path.lexists(place):
        place = place.with_name(f"{name}-{number}")
        number += 1
    return place


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Something to tell a person. ``outcome`` is set once, when the execution has its result."""

    execution_id: str
    line: str
    outcome: RunOutcome | None = None


def run_all(
    requests: Sequence[RunRequest],
    *,
    max_parallel: int,
    cancel: CancelToken,
    on_progress: Callable[[Progress], None],
) -> None:
    """Run executions side by side. One that fails stops no other; a cancellation starts no more.

    ``on_progress`` is called from the threads that run. What a thread raised, such as a full disk,
    is raised here after all others have ended.
    """

    def run(request: RunRequest) -> None:
        if cancel.cancelled:
            return
        name = request.execution.id
        outcome = run_execution(
            request, on_event=lambda line: on_progress(Progress(execution_id=name, line=line))
        )
        state = "passed" if outcome.result.green else "failed"
        on_progress(Progress(execution_id=name, line=state, outcome=outcome))

    with ThreadPoolExecutor(max_workers=max_parallel, thread_name_prefix="execution") as pool:
        futures = [pool.submit(run, request) for request in requests]
    for future in futures:
        future.result()
