"""What a campaign and its insights add up to."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import runner_e2e.campaigns
from runner_e2e.campaigns import Aggregate, Collection, aggregate, dump_campaign, exit_code
from runner_e2e.contracts.base import dump, parse
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.insights import Insights
from runner_e2e.contracts.plan import Plan
from runner_e2e.contracts.result import RankingSnapshotEntry, Result
from runner_e2e.errors import ExitCode
from tests.support.artifacts import CAMPAIGN_ID, aggregate_paths, write_cell
from tests.support.documents import (
    IDS,
    later,
    make_plan,
    make_planned_suite,
    make_result,
)


def merged_of(root: Path, plan: Plan, *results: Result) -> Aggregate:
    root.mkdir(exist_ok=True)
    for result in results:
        write_cell(root / result.execution_id, result, plan=plan)
    return aggregate_paths(plan, root)


def test_counts_speak_of_green_results_only(tmp_path: Path) -> None:
    plan = make_plan(IDS)
    merged = merged_of(
        tmp_path,
        plan,
        make_result(IDS[0], attempt=2),
        make_result(IDS[1], cleanup="failed"),
    )
    campaign, insights = merged.campaign, merged.insights
    assert (campaign.selected, campaign.executed) == (3, 2)
    assert (campaign.passed, campaign.failed) == (1, 2)
    assert campaign.retries == 1
    assert not campaign.cleanup_passed
    assert insights.counts.states == {"passed": 1, "failed": 1, "missing": 1}
    assert insights.counts.flaky == 1
    assert campaign.generated_at == later(1)
    assert campaign.suites[0].duration_ms == 120_000


def test_complete_means_that_the_whole_catalog_was_planned_as_it_is(tmp_path: Path) -> None:
    whole = make_plan(IDS)
    results = [make_result(cell) for cell in IDS]
    assert merged_of(tmp_path / "a", whole, *results).campaign.complete

    part = make_plan(IDS[:2], catalog=IDS)
    partial = merged_of(tmp_path / "b", part, *results[:2])
    assert not partial.campaign.complete
    coverage = partial.insights.coverage
    assert (coverage.suites_complete, coverage.suites_total) == (0, 1)
    assert (coverage.cells_resolved, coverage.cells_selected, coverage.cells_total) == (2, 2, 3)

    two = make_plan(IDS, catalog=[*IDS, "other.scripted.local.hello"])
    merged = merged_of(tmp_path / "c", two, *results)
    assert not merged.campaign.complete
    assert merged.campaign.suites[0].complete


def test_as_many_cells_as_the_suite_has_but_others_do_not_complete_it(tmp_path: Path) -> None:
    suite = make_planned_suite("smoke", [*IDS[:2], "smoke.scripted.local.other"])
    plan = make_plan(IDS, suites=[suite])
    assert not merged_of(tmp_path, plan, *map(make_result, IDS)).campaign.complete


def test_an_empty_campaign_is_neither_complete_nor_clean_nor_green() -> None:
    plan = make_plan([], catalog=[])
    merged = aggregate(plan, Collection(), campaign_id=CAMPAIGN_ID)
    assert not merged.campaign.complete
    assert not merged.campaign.cleanup_passed
    assert merged.campaign.generated_at == plan.created_at
    assert merged.campaign.billing.llm.cost_status == "unavailable"
    assert exit_code(merged.campaign, merged.insights) == ExitCode.NOTHING_SELECTED


def test_unpriced_and_lost_runs_make_the_cost_a_lower_bound(tmp_path: Path) -> None:
    """E21: unknown stays unknown, is counted and shown; what failed runs cost is kept."""
    merged = merged_of(
        tmp_path,
        make_plan(IDS),
        make_result(IDS[0], cost=None),
        make_result(IDS[1], cost=0.5, status="failed"),
    )
    cost = merged.insights.cost
    assert (cost.reported, cost.at_least, cost.unpriced) == (0.5, 0.5, 2)
    assert merged.campaign.billing.tests_with_complete_billing == 1


def test_a_ranking_is_listed_once_as_it_was_last_said(tmp_path: Path) -> None:
    def ranked(cell: str, day: int, snapshot: str) -> Result:
        entry = RankingSnapshotEntry(
            snapshot_id=snapshot,
            captured_at=f"2026-11-0{day}T00:00:00Z",
            source_url="https://openrouter.ai/rankings",
            rank=1,
            canonical_model_id="m",
        )
        return make_result(cell, ranking_snapshot=entry)

    results = [ranked(IDS[0], 1, "a"), ranked(IDS[1], 2, "b"), ranked(IDS[2], 3, "a")]
    merged = merged_of(tmp_path, make_plan(IDS), *results)
    snapshots = merged.campaign.ranking_snapshots
    assert [s.snapshot_id for s in snapshots] == ["a", "b"]
    assert snapshots[0].captured_at == "2026-11-03T00:00:00Z"


def test_what_is_written_in_parts_is_what_the_one_serializer_writes(tmp_path: Path) -> None:
    merged = merged_of(tmp_path, make_plan(IDS), *map(make_result, IDS[:2]))
    data = dump_campaign(merged.campaign)
    assert data == dump(merged.campaign)
    assert parse(Campaign, data, "campaign.json") == merged.campaign
    assert parse(Insights, dump(merged.insights), "insights.json") == merged.insights
    nothing = aggregate(make_plan([], catalog=[]), Collection(), campaign_id=CAMPAIGN_ID)
    assert dump_campaign(nothing.campaign) == dump(nothing.campaign)


EXITS = [
    ({}, {}, ExitCode.OK),
    ({"status": "failed"}, {}, ExitCode.FAILED),
    ({"status": "failed", "failure_class": "provider_variance"}, {}, ExitCode.FAILED),
    (
        {"status": "failed"},
        {"status": "failed", "failure_class": "transient_infrastructure"},
        ExitCode.TRANSIENT_INFRASTRUCTURE,
    ),
    (
        {"status": "failed", "failure_class": "permanent_infrastructure"},
        {"status": "failed", "failure_class": "transient_infrastructure"},
        ExitCode.PERMANENT_INFRASTRUCTURE,
    ),
    ({"status": "failed", "failure_class": "permanent_infrastructure"}, None, ExitCode.UNRESOLVED),
    ({"cleanup": "failed"}, None, ExitCode.CLEANUP_FAILED),
    ({"cleanup": "not_started"}, {}, ExitCode.CLEANUP_FAILED),
    ({"status": "failed", "cleanup": "not_started"}, {}, ExitCode.FAILED),
    (
        {"status": "failed", "failure_class": "cleanup_failure"},
        None,
        ExitCode.CLEANUP_FAILED,
    ),
    (
        {"status": "failed", "failure_class": "secret_leak"},
        {"cleanup": "failed"},
        ExitCode.SECRET_LEAK,
    ),
    ({}, None, ExitCode.UNRESOLVED),
]


@pytest.mark.parametrize(("one", "other", "code"), EXITS)
def test_of_several_exit_codes_the_gravest_is_said(
    tmp_path: Path, one: dict[str, str], other: dict[str, str] | None, code: ExitCode
) -> None:
    plan = make_plan(IDS[:2])
    results = [
        make_result(cell, **values)  # type: ignore[arg-type]  # the table holds only valid words
        for cell, values in zip(IDS, (one, other), strict=False)
        if values is not None
    ]
    merged = merged_of(tmp_path, plan, *results)
    assert exit_code(merged.campaign, merged.insights) == code


def test_no_clock_is_read_here() -> None:
    """The same artifacts give the same bytes tomorrow."""
    package = Path(runner_e2e.campaigns.__file__).parent
    for path in package.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                assert node.attr not in {"now", "today", "utcnow"}, path
            elif isinstance(node, ast.Import):
                assert "time" not in {alias.name for alias in node.names}, path
            elif isinstance(node, ast.ImportFrom):
                assert node.module != "time", path
