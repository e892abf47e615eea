"""What a plan is expected to cost and to take."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.contracts.estimates import Estimate
from runner_e2e.contracts.plan import Plan, Shard
from runner_e2e.errors import BudgetExceeded, ExitCode
from runner_e2e.planning import (
    github_outputs,
    longest_first,
    matrix_json,
    plan_headline,
    plan_summary_markdown,
    planned_cost,
    planned_time,
    refuse_over,
)
from tests.support.documents import make_plan, make_planned_execution


def estimate(seconds: float | None, cost: float | None = None) -> Estimate:
    return Estimate(
        runs=3,
        duration_ms_median=None if seconds is None else 1000 * seconds,
        duration_ms_p90=None if seconds is None else 2000 * seconds,
        cost_usd_median=cost,
        cost_usd_p90=None if cost is None else 2 * cost,
    )


def plan_with(estimates: Sequence[Estimate | None], parallel: int = 2) -> Plan:
    ids = [f"smoke.a.local.c{n:03}" for n in range(len(estimates))]
    return make_plan(
        ids,
        executions=tuple(
            make_planned_execution(name, estimate=each)
            for name, each in zip(ids, estimates, strict=True)
        ),
        shards=(Shard(index=0, count=len(ids), max_parallel=parallel),) if ids else (),
    )


def test_wall_time_is_that_of_a_queue_that_begins_longest_first() -> None:
    plan = plan_with([estimate(10), estimate(20), estimate(30), estimate(40)])
    time = planned_time(plan)
    assert (time.wall_ms, time.known, time.unknown, time.parallel) == (50_000, 4, 0, 2)


def test_shards_run_side_by_side_each_with_its_share() -> None:
    plan = plan_with([estimate(10), estimate(20), estimate(30), estimate(40)])
    executions = tuple(
        item.model_copy(update={"shard": n % 2}) for n, item in enumerate(plan.executions)
    )
    shards = tuple(Shard(index=n, count=2, max_parallel=1) for n in range(2))
    plan = plan.model_copy(update={"executions": executions, "shards": shards})
    assert planned_time(plan).wall_ms == 60_000


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=40), st.integers(1, 8))
def test_no_schedule_ends_before_its_longest_or_its_fair_share(
    seconds: list[int], parallel: int
) -> None:
    wall = planned_time(plan_with([estimate(each) for each in seconds], parallel)).wall_ms
    least = max(*seconds, sum(seconds) / parallel) * 1000
    assert least <= wall + 1e-6
    # Graham's bound for the longest first.
    assert wall <= least * (4 / 3) + max(seconds) * 1000 / 3 + 1e-6
    assert wall <= sum(seconds) * 1000


def test_an_unknown_time_makes_it_a_bound() -> None:
    headline = plan_headline(plan_with([estimate(300, 0.5), None]))
    assert "at least $0.50 ($1.00 with every cell at its 90th percentile; 1 of unknown" in headline
    assert "at least 5 min at 2 in parallel (1 of unknown time)" in headline
    nothing = plan_headline(plan_with([None, estimate(None)]))
    assert "cost unknown, time unknown" in nothing
    known = plan_headline(plan_with([estimate(30, 0.5)]))
    assert "about $0.50" in known
    assert "about 30 s at 2 in parallel" in known


def test_an_empty_plan_takes_no_time() -> None:
    time = planned_time(plan_with([]))
    assert (time.wall_ms, time.known, time.unknown) == (0, 0, 0)


def test_jobs_are_queued_longest_first_and_unknown_ones_before_them() -> None:
    plan = plan_with([estimate(10), None, estimate(30)])
    order = [item.job.case_id for item in longest_first(plan.executions)]
    assert order == ["c001", "c002", "c000"]
    matrix = github_outputs(plan)["matrix"]
    assert [matrix.index(name) for name in order] == sorted(matrix.index(name) for name in order)
    # The matrix that is printed keeps the order by id that the contract gives it.
    printed = json.loads(matrix_json(plan))["include"]
    assert [job["caseId"] for job in printed] == ["c000", "c001", "c002"]


def test_a_budget_counts_what_it_does_not_know() -> None:
    plan = plan_with([estimate(1, 0.6), estimate(1, 0.6), None])
    assert planned_cost(plan).unknown == 1
    warning = refuse_over(plan, 1.2)
    assert warning is not None
    assert "at least $1.20: 1 of 3 executions have no known cost" in warning
    with pytest.raises(BudgetExceeded, match=r"at least \$1\.20.*1 of 3 executions have no known"):
        refuse_over(plan, 1.19)


def test_a_budget_that_knows_all_costs_has_nothing_to_say() -> None:
    assert refuse_over(plan_with([estimate(1, 0.6), estimate(1, 0.6)]), 1.2) is None
    assert refuse_over(plan_with([]), 0) is None


@pytest.mark.parametrize("estimates", [[None], [None, None], [estimate(1), None]])
@pytest.mark.parametrize("budget", [0, 1e9])
def test_a_budget_is_refused_where_nothing_is_known(
    estimates: list[Estimate | None], budget: float
) -> None:
    with pytest.raises(BudgetExceeded, match="executions has a known cost") as caught:
        refuse_over(plan_with(estimates), budget)
    assert caught.value.exit_code == ExitCode.BUDGET
    assert caught.value.hint is not None
    assert "first campaign without --max-cost" in caught.value.hint


def test_the_summary_names_the_cost_of_every_suite() -> None:
    assert "| at least &#36;0.60 |" in plan_summary_markdown(plan_with([estimate(1, 0.6), None]))
    assert "| about &#36;0.60 |" in plan_summary_markdown(plan_with([estimate(1, 0.6)]))
    assert "| unknown |" in plan_summary_markdown(plan_with([None]))
