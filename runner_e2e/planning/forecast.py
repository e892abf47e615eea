"""What a plan is expected to cost and to take, from the estimates in it."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runner_e2e.contracts.plan import Plan, PlannedExecution
from runner_e2e.errors import BudgetExceeded


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCost:
    """US dollars of the executions whose cost is known; ``unknown`` counts the others."""

    median: float
    p90: float
    """The sum of every execution's 90th percentile: a day on which all are dear."""
    known: int
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTime:
    """Wall time in milliseconds of those whose duration is known, at the plan's parallelism.

    Without what a job needs to begin, and without waiting for a runner.
    """

    wall_ms: float
    known: int
    unknown: int
    parallel: int


def planned_cost(plan: Plan) -> PlannedCost:
    """What the plan is expected to cost, from history. Unknown is counted, never free."""
    return cost_of(plan.executions)


def cost_of(executions: Sequence[PlannedExecution]) -> PlannedCost:
    """The same for some of a plan's executions."""
    estimates = [item.estimate for item in executions if item.estimate is not None]
    medians = [item.cost_usd_median for item in estimates if item.cost_usd_median is not None]
    p90s = [item.cost_usd_p90 for item in estimates if item.cost_usd_p90 is not None]
    return PlannedCost(
        median=sum(medians),
        p90=sum(p90s),
        known=len(medians),
        unknown=len(executions) - len(medians),
    )


def planned_time(plan: Plan) -> PlannedTime:
    """How long the plan is expected to take: the slowest shard, each begun longest first."""
    known: dict[int, list[float]] = {shard.index: [] for shard in plan.shards}
    for item in plan.executions:
        duration = expected_ms(item)
        if duration is not None:
            known.setdefault(item.shard, []).append(duration)
    walls = [_makespan(known[shard.index], shard.max_parallel) for shard in plan.shards]
    count = sum(map(len, known.values()))
    return PlannedTime(
        wall_ms=max(walls, default=0.0),
        known=count,
        unknown=len(plan.executions) - count,
        parallel=sum(shard.max_parallel for shard in plan.shards),
    )


def expected_ms(execution: PlannedExecution) -> float | None:
    """The median duration of an execution; ``None`` where history has none."""
    return execution.estimate.duration_ms_median if execution.estimate else None


def longest_first(executions: Iterable[PlannedExecution]) -> list[PlannedExecution]:
    """Put the slowest in front, so that none of them begins when the others are done.

    Of what nobody knows the worst is assumed; equals stay in the order they came in.
    """

    def key(item: PlannedExecution) -> float:
        expected = expected_ms(item)
        return float("-inf") if expected is None else -expected

    return sorted(executions, key=key)


def _makespan(durations: Iterable[float], workers: int) -> float:
    """When the last ends, if a free worker always takes the longest that is left (Graham 1969)."""
    free = [0.0] * workers
    for duration in sorted(durations, reverse=True):
        heapq.heapreplace(free, free[0] + duration)
    return max(free)


def refuse_over(plan: Plan, max_cost: float) -> str | None:
    """Hold a plan to a budget in US dollars, and say what the budget cannot be held against.

    Raises :class:`BudgetExceeded` when what is known already costs more than ``max_cost``, and when
    nothing at all is known: then the budget would be a promise that nobody keeps.
    """
    cost = planned_cost(plan)
    planned = len(plan.executions)
    if planned and not cost.known:
        raise BudgetExceeded(
            f"none of the {planned} executions has a known cost, so --max-cost cannot be kept",
            hint="run a first campaign without --max-cost; its --history then knows what it cost",
        )
    if cost.median > max_cost:
        bound = "at least " if cost.unknown else ""
        raise BudgetExceeded(
            f"the plan is expected to cost {bound}${cost.median:.2f}, more than ${max_cost:.2f}; "
            f"{cost.unknown} of {planned} executions have no known cost",
            hint="select fewer executions or raise --max-cost",
        )
    if not cost.unknown:
        return None
    return (
        f"--max-cost counts at least ${cost.median:.2f}: {cost.unknown} of {planned} executions "
        "have no known cost"
    )
