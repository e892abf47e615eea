from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.catalog import Catalog
from runner_e2e.contracts.base import dump, parse
from runner_e2e.contracts.estimates import Estimate
from runner_e2e.contracts.plan import Plan, plan_digest
from runner_e2e.errors import BudgetExceeded, ExitCode, UsageError
from runner_e2e.planning import (
    Selectors,
    build_plan,
    plan_headline,
    plan_summary_markdown,
    plan_table,
    planned_cost,
    refuse_over,
    select,
    table_rows,
    timeout_minutes,
)
from runner_e2e.planning.timing import assign_shards, share
from tests.support.catalogs import catalog_tree, grid_tree, load_tree
from tests.support.plans import plan_of, plan_options


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """300 cells: 30 profiles, 5 cases, both environments."""
    tree = grid_tree(30, 5, environments=("local", "daytona"))
    return load_tree(tmp_path_factory.mktemp("grid"), tree)


def estimate(**changes: Any) -> Estimate:
    values: dict[str, Any] = {
        "runs": 3,
        "duration_ms_median": 60_000,
        "duration_ms_p90": 90_000,
        "cost_usd_median": 0.5,
        "cost_usd_p90": 1.0,
    }
    return Estimate(**{**values, **changes})


@pytest.mark.parametrize(
    ("minutes", "local", "daytona"), [(8, 25, 40), (12, 32, 40), (15, 38, 40), (30, 68, 68)]
)
def test_the_timeout_is_that_of_the_table(minutes: int, local: int, daytona: int) -> None:
    assert timeout_minutes(minutes * 60_000, "local", 1) == local
    assert timeout_minutes(minutes * 60_000, "daytona", 1) == daytona


@given(st.integers(1, 10**8), st.integers(0, 5))
def test_every_attempt_fits_into_the_timeout(attempt_ms: int, retries: int) -> None:
    minutes = timeout_minutes(attempt_ms, "local", retries)
    needed = (1 + retries) * (attempt_ms + 90_000) + 300_000
    assert minutes * 60_000 >= needed
    assert minutes == 25 or (minutes - 1) * 60_000 < needed


@given(
    st.lists(st.floats(0, 1e7), min_size=1, max_size=700),
    st.integers(1, 256),
)
def test_shards_partition_the_plan_within_their_size(durations: list[float], size: int) -> None:
    items = [(f"id-{index:04}", duration) for index, duration in enumerate(durations)]
    shards = assign_shards(items, size)
    sizes = Counter(shards)
    assert len(shards) == len(items)
    assert set(sizes) == set(range(-(-len(items) // size)))
    assert max(sizes.values()) <= size
    assert max(sizes.values()) - min(sizes.values()) <= 1


@given(st.lists(st.floats(0, 1e7), min_size=1, max_size=50), st.randoms())
def test_shards_do_not_depend_on_the_order_of_the_plan(durations: list[float], random: Any) -> None:
    items = [(f"id-{index:04}", duration) for index, duration in enumerate(durations)]
    shuffled = list(items)
    random.shuffle(shuffled)
    assert dict(zip(items, assign_shards(items, 7), strict=True)) == dict(
        zip(shuffled, assign_shards(shuffled, 7), strict=True)
    )


def test_the_longest_executions_are_dealt_out_first() -> None:
    items = [("a", 1.0), ("b", 9.0), ("c", 5.0), ("d", 9.0), ("e", 2.0), ("f", 1.0)]
    assert dict(zip("abcdef", assign_shards(items, 2), strict=True)) == {
        "b": 0,
        "d": 1,
        "c": 2,
        "e": 0,
        "a": 1,
        "f": 2,
    }


@given(st.integers(1, 500), st.integers(1, 300))
def test_parallelism_is_shared_out_whole(total: int, count: int) -> None:
    parts = share(total, count)
    assert len(parts) == count
    assert min(parts) >= 1
    assert sum(parts) == max(total, count)


def test_256_executions_are_one_shard_and_257_are_two(grid: Catalog) -> None:
    selectors = Selectors.parse(all_=True)
    executions = select(grid, selectors)
    for count, shards in ((256, [256]), (257, [129, 128])):
        plan = build_plan(grid, executions[:count], selectors, plan_options())
        assert [shard.count for shard in plan.shards] == shards


def test_the_plan_keeps_catalog_order_whatever_its_shards(grid: Catalog) -> None:
    plan = plan_of(grid, shard_size=7)
    assert plan.expected == tuple(execution.id for execution in grid.executions)
    assert len(plan.shards) == 43
    assert Counter(item.shard for item in plan.executions) == {
        shard.index: shard.count for shard in plan.shards
    }


def test_history_decides_what_is_long(grid: Catalog) -> None:
    slow = grid.executions[7].id
    plan = plan_of(grid, {slow: estimate(duration_ms_median=10**9)}, shard_size=100)
    (item,) = (item for item in plan.executions if item.job.execution_id == slow)
    assert item.shard == 0
    assert item.estimate == estimate(duration_ms_median=10**9)


def test_an_estimate_without_a_duration_is_no_estimate_of_it(grid: Catalog) -> None:
    unknown = {execution.id: estimate(duration_ms_median=None) for execution in grid.executions}
    shards = [item.shard for item in plan_of(grid, shard_size=100).executions]
    assert [item.shard for item in plan_of(grid, unknown, shard_size=100).executions] == shards


def test_a_plan_survives_being_written_and_read(grid: Catalog) -> None:
    plan = plan_of(grid, {grid.executions[0].id: estimate()})
    assert parse(Plan, dump(plan), "plan.json") == plan


def test_planning_the_same_twice_gives_the_same_digest(grid: Catalog) -> None:
    first = plan_of(grid)
    later = plan_of(grid, created_at="2026-12-01T02:00:00.000Z")
    assert first.digest == later.digest == plan_digest(first)
    assert dump(first) == dump(plan_of(grid))


@pytest.mark.parametrize(
    "changes", [{"max_retries": 2}, {"shard_size": 100}, {"max_parallel": 3}, {"tool_version": "x"}]
)
def test_what_the_jobs_are_told_is_in_the_digest(grid: Catalog, changes: dict[str, Any]) -> None:
    assert plan_of(grid, **changes).digest != plan_of(grid).digest


def test_the_whole_catalog_is_in_the_plan_also_what_was_not_selected(grid: Catalog) -> None:
    selectors = Selectors.parse(profile=["profile-3"])
    plan = build_plan(grid, select(grid, selectors), selectors, plan_options())
    (suite,) = plan.catalog.suites
    assert len(plan.executions) == 10
    assert suite.execution_ids == tuple(execution.id for execution in grid.executions)
    assert suite.expected_matrix_size == len(suite.execution_ids) == 300
    assert suite.definition_hash == plan.executions[0].suite_definition_hash
    assert plan.catalog.fingerprint == grid.fingerprint
    assert plan.selection.profile == ("profile-3",)


def test_retries_are_in_the_timeout(grid: Catalog) -> None:
    minutes = [
        plan_of(grid, max_retries=retries).executions[0].job.timeout_minutes
        for retries in (0, 1, 3)
    ]
    assert minutes == [25, 25, 43]


def test_a_plan_of_nothing_is_a_plan(grid: Catalog) -> None:
    plan = build_plan(grid, (), Selectors(rerun="gha-1-1"), plan_options())
    assert (len(plan.executions), len(plan.shards)) == (0, 0)
    assert plan_headline(plan) == "0 planned"
    assert parse(Plan, dump(plan), "plan.json") == plan
    assert "0 planned" in plan_summary_markdown(plan)


@pytest.mark.parametrize(
    "changes",
    [
        {"shard_size": 0},
        {"shard_size": 257},
        {"max_parallel": 0},
        {"max_retries": -1},
    ],
)
def test_an_option_out_of_its_range_is_refused(changes: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="must be"):
        plan_options(**changes)


def test_unknown_cost_is_counted_and_never_free(grid: Catalog) -> None:
    known = {execution.id: estimate() for execution in grid.executions[:4]}
    known[grid.executions[5].id] = estimate(cost_usd_median=None, cost_usd_p90=None)
    plan = plan_of(grid, known)
    cost = planned_cost(plan)
    assert (cost.median, cost.p90, cost.known, cost.unknown) == (2.0, 4.0, 4, 296)
    headline = plan_headline(plan)
    assert "at least $2.00" in headline
    assert "296 of unknown cost" in headline
    refuse_over(plan, 2.0)
    with pytest.raises(BudgetExceeded, match=r"\$2\.00, more than \$1\.99; 296 of 300") as caught:
        refuse_over(plan, 1.99)
    assert caught.value.exit_code == ExitCode.BUDGET


def test_a_row_says_what_a_job_needs(tmp_path: Path) -> None:
    tree = grid_tree(1, 1, environments=("local", "daytona"))
    plan = plan_of(load_tree(tmp_path, tree))
    assert table_rows(plan) == [
        (
            f"smoke.profile-0.{environment}.case-0",
            "smoke",
            "native",
            "scripted",
            "scripted-1",
            credentials,
            "1",
            timeout,
            "?",
            "?",
        )
        for environment, credentials, timeout in (
            ("local", "OPENAI_API_KEY", "25 min"),
            ("daytona", "OPENAI_API_KEY,DAYTONA_API_KEY", "40 min"),
        )
    ]
    lines = plan_table(plan).splitlines()
    assert len({line.index("smoke  ") for line in lines[1:3]}) == 1
    assert lines[-1].startswith("2 planned (1 local, 1 Daytona), 2 turns, 1 of 1 suites")


@pytest.mark.parametrize(
    "label",
    ["a | b", "line\nbreak", "`code`", "<script>", "@org/team", "[x](javascript:1)", "</summary>"],
)
def test_free_text_stays_in_its_cell_of_the_summary(tmp_path: Path, label: str) -> None:
    tree = catalog_tree()
    tree["suites"][0]["label"] = label
    tree["profiles"][0]["model"] = label
    summary = plan_summary_markdown(plan_of(load_tree(tmp_path, tree)))
    rows = [line for line in summary.splitlines() if line.startswith("| ")]
    assert len(rows) == 6
    assert {row.count("|") for row in rows[:3]} == {7}
    assert {row.count("|") for row in rows[3:]} == {11}
    assert not any(label in row for row in rows)


def test_a_summary_lists_a_bounded_number_of_executions(grid: Catalog) -> None:
    summary = plan_summary_markdown(plan_of(grid))
    assert "The first 256 executions" in summary
    assert "44 more are in plan.json" in summary
    assert len(summary.encode()) < 60_000
