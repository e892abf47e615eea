"""Which of the things seen of a cell counts: a function of the whole set, in any order.

The newest run attempt decides, also where it left nothing: an older pass never hides a newer
failure. Within one run attempt whatever contradicts goes first, so that doubt is never green.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from runner_e2e.campaigns.jobs import JobRun
from runner_e2e.campaigns.observations import FOREIGN, UNKNOWN, Observation
from runner_e2e.contracts.base import dump
from runner_e2e.contracts.insights import Extra
from runner_e2e.contracts.plan import PlannedExecution
from runner_e2e.contracts.timestamps import parse_timestamp
from runner_e2e.contracts.vocabulary import EXECUTED_STATES, CellState

STRENGTH: dict[CellState, int] = {
    "corrupt": 9,
    "mismatched": 8,
    "passed": 7,
    "failed": 7,
    "timed_out": 7,
    "expired": 6,
    "empty": 5,
    "upload_failed": 4,
    "job_timeout": 3,
    "cancelled": 2,
    "skipped": 1,
    "missing": 0,
}
"""Of two things seen in one run attempt, the stronger one is what became of the cell."""

FROM_JOBS: frozenset[CellState] = frozenset(
    {"upload_failed", "job_timeout", "cancelled", "skipped", "missing"}
)
"""What an earlier merge concluded from the jobs; the jobs themselves know better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a cell."""

    chosen: Observation
    others: tuple[str, ...]
    """Files with results that do not count."""
    set_aside: tuple[Extra, ...]
    """Files without a usable result that do not count either, and what is wrong with them."""


def choose(
    execution: PlannedExecution,
    observations: Sequence[Observation],
    passed_over: frozenset[str],
    job: JobRun | None,
    run_attempts: int | None,
) -> Outcome:
    """Decide what became of one cell.

    ``job`` is what GitHub knows of it, where that was asked. ``run_attempts`` is the number of
    attempts there have been; a file that claims a later one is believed in nothing.
    """
    seen = [_bounded(observation, run_attempts) for observation in observations]
    chosen = _by_jobs(execution, seen, job) if job else _newest(execution, seen)
    files = {o.file for o in seen if o.state in EXECUTED_STATES and o.file is not None}
    return Outcome(
        chosen=chosen,
        others=tuple(sorted((files | passed_over) - {chosen.file})),
        set_aside=tuple(
            Extra(execution_id=o.execution_id, file=o.file, reason=f"{o.state}: {o.reason}")
            for o in seen
            if o.file is not None
            and o.state not in EXECUTED_STATES
            and (o.file, o.state, o.reason) != (chosen.file, chosen.state, chosen.reason)
        ),
    )


def _bounded(observation: Observation, run_attempts: int | None) -> Observation:
    if run_attempts is None or observation.rank <= run_attempts:
        return observation
    return replace(
        observation,
        rank=FOREIGN,
        state="mismatched",
        result=None,
        images=(),
        code=None,
        reason=f"it claims run attempt {observation.rank}, there have been {run_attempts}",
    )


def _newest(execution: PlannedExecution, seen: Sequence[Observation]) -> Observation:
    top = max((o.rank for o in seen), default=UNKNOWN)
    found = [o for o in seen if o.rank == top]
    return _strongest(found) if found else _missing(execution, "no artifact of it was found")


def _by_jobs(execution: PlannedExecution, seen: Sequence[Observation], job: JobRun) -> Observation:
    execution_id = execution.job.execution_id
    if job.twins > 1:
        reason = f"{job.twins} jobs of run attempt {job.run_attempt} have its name"
        return Observation(
            execution_id=execution_id,
            rank=job.run_attempt,
            state="corrupt",
            file=None,
            reason=reason,
            ended_at=job.ended_at,
        )
    placed = (_placed(o, job) for o in seen if o.state not in FROM_JOBS)
    found = [o for o in placed if o.rank == job.run_attempt]
    if found:
        return _strongest(found)
    state, reason = job.without_result(execution.job.timeout_minutes)
    return Observation(
        execution_id=execution_id,
        rank=job.run_attempt,
        state=state,
        file=None,
        reason=reason,
        ended_at=job.ended_at,
    )


def _placed(observation: Observation, job: JobRun) -> Observation:
    """Place a result that does not name its run attempt by the time at which it was made."""
    if observation.rank != UNKNOWN or observation.result is None:
        return observation
    started = parse_timestamp(observation.result.started_at)
    return (
        replace(observation, rank=job.run_attempt) if job.was_running_at(started) else observation
    )


def _strongest(found: Sequence[Observation]) -> Observation:
    """Choose among what was seen in one run attempt."""
    strength = max(STRENGTH[o.state] for o in found)
    equals = [o for o in found if STRENGTH[o.state] == strength]
    if len(equals) == 1:
        return equals[0]
    if strength == STRENGTH["passed"]:
        return _last_attempt(equals)
    return min(equals, key=_label)


def _label(observation: Observation) -> tuple[str, str, str]:
    return observation.file or "", observation.reason or "", observation.ended_at or ""


def _last_attempt(found: Sequence[Observation]) -> Observation:
    """Choose the last attempt of the harness; two different results of it cancel each other."""
    results = [(o, o.result) for o in found if o.result is not None]
    last = max(result.attempt for _, result in results)
    contents = {dump(r) + f"{o.state} {o.code}".encode() for o, r in results if r.attempt == last}
    equals = sorted((o for o, result in results if result.attempt == last), key=_label)
    if len(contents) == 1:
        # The same bytes twice: the copy whose pictures can be read stands for all.
        return max(equals, key=lambda o: len(o.images))
    files = sorted({o.file for o in equals if o.file is not None})
    return Observation(
        execution_id=equals[0].execution_id,
        rank=equals[0].rank,
        state="corrupt",
        # None of them is to blame more than the others; all are listed as not counting.
        file=None,
        reason=f"attempt {last} has results that contradict each other: {', '.join(files)}"[:500],
    )


def _missing(execution: PlannedExecution, reason: str) -> Observation:
    return Observation(
        execution_id=execution.job.execution_id,
        rank=UNKNOWN,
        state="missing",
        file=None,
        reason=reason,
    )
