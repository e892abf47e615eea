"""What results and job records say of a cell, where nobody asked GitHub."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner_e2e.campaigns import aggregate, collect, write_report
from runner_e2e.contracts.base import dump
from runner_e2e.contracts.result import RESULT_V1
from tests.support.artifacts import (
    aggregate_paths,
    artifact_name,
    make_job_record,
    states_of,
    write_cell,
    write_event,
)
from tests.support.documents import (
    IDS,
    LOCAL_SOURCE,
    definition_hash,
    make_plan,
    make_result,
    make_source,
)

CELL = IDS[0]
PLAN = make_plan([CELL])
LOCAL: dict[str, Any] = {"sha": None, "ref": None, "workflow_run_url": None}


def test_a_rerun_of_one_cell_keeps_the_results_of_the_others(tmp_path: Path) -> None:
    """T26, E8: 35 of 35 after one failed cell was run again."""
    plan = make_plan([f"smoke.scripted.local.c{number:02}" for number in range(1, 36)])
    for number, cell in enumerate(plan.expected, 1):
        write_event(tmp_path, plan, cell, 1, "fail" if number == 4 else "pass")
    write_event(tmp_path, plan, plan.expected[3], 2, "pass")
    merged = aggregate_paths(plan, tmp_path)
    assert merged.campaign.passed == 35
    rerun = merged.insights.cells[3]
    assert (rerun.state, rerun.run_attempt) == ("passed", 2)
    (duplicate,) = merged.insights.duplicates
    assert duplicate.chosen == f"{artifact_name(rerun.execution_id, 2)}/result.json"
    assert duplicate.others == (f"{artifact_name(rerun.execution_id, 1)}/result.json",)


def test_the_first_campaign_after_an_outage_names_every_missing_cell(tmp_path: Path) -> None:
    """T31, E13: five of six is not five of five."""
    plan = make_plan([f"smoke.scripted.local.c{number}" for number in range(6)])
    for cell in plan.expected[:5]:
        write_event(tmp_path, plan, cell, 1, "pass")
    merged = aggregate_paths(plan, tmp_path)
    assert (merged.campaign.passed, merged.campaign.failed) == (5, 1)
    assert [c.execution_id for c in merged.insights.cells if c.state == "missing"] == [
        plan.expected[5]
    ]


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ({"sha": "0" * 40}, "commit"),
        ({"ref": "refs/heads/other"}, "ref"),
        (
            {"workflow_run_url": "https://github.com/acme/agents/actions/runs/1"},
            "workflow run",
        ),
        (LOCAL, "commit"),
    ],
)
def test_a_result_of_another_campaign_resolves_nothing(
    tmp_path: Path, source: dict[str, Any], says: str
) -> None:
    result = make_result(CELL, source=make_source(**source))
    write_cell(tmp_path / "recorded", result, plan=PLAN)
    assert states_of(aggregate_paths(PLAN, tmp_path)) == {CELL: "mismatched"}
    (tmp_path / "recorded" / "job-record.json").unlink()
    merged = aggregate_paths(PLAN, tmp_path)
    assert states_of(merged) == {CELL: "mismatched"}
    assert says in (merged.insights.cells[0].reason or "")


def test_a_leftover_of_another_run_does_not_hide_a_result_of_this_one(tmp_path: Path) -> None:
    write_event(tmp_path, PLAN, CELL, 3, "foreign")
    write_event(tmp_path, PLAN, CELL, 1, "pass")
    merged = aggregate_paths(PLAN, tmp_path)
    assert states_of(merged) == {CELL: "passed"}
    (extra,) = merged.insights.extras
    assert extra.file == f"{artifact_name(CELL, 3)}/result.json"
    assert extra.reason.startswith("mismatched: it is of commit 0000")


def test_another_run_id_alone_is_another_campaign(tmp_path: Path) -> None:
    write_cell(tmp_path, make_result(CELL), plan=PLAN, run_id="7")
    merged = aggregate_paths(PLAN, tmp_path)
    assert states_of(merged) == {CELL: "mismatched"}
    assert merged.insights.cells[0].reason == "it is of run 7, the plan of 15000000001"


def test_a_result_of_another_definition_is_mismatched(tmp_path: Path) -> None:
    result = make_result(CELL, suite_definition_hash=definition_hash("smoke", 2))
    write_cell(tmp_path, result, plan=PLAN)
    assert states_of(aggregate_paths(PLAN, tmp_path)) == {CELL: "mismatched"}


def test_a_local_plan_takes_local_results(tmp_path: Path) -> None:
    plan = make_plan([CELL], source=LOCAL_SOURCE)
    write_cell(tmp_path, make_result(CELL, source=make_source(**LOCAL)), plan=plan, run_id=None)
    assert states_of(aggregate_paths(plan, tmp_path)) == {CELL: "passed"}


def test_a_job_that_died_leaves_an_empty_cell(tmp_path: Path) -> None:
    write_event(tmp_path, PLAN, CELL, 1, "empty")
    merged = aggregate_paths(PLAN, tmp_path)
    assert states_of(merged) == {CELL: "empty"}
    assert "left no result" in (merged.insights.cells[0].reason or "")


def test_the_attempts_of_a_dead_job_do_not_speak_for_it(tmp_path: Path) -> None:
    """It failed once and was killed during its retry: that it failed is not known."""
    write_cell(tmp_path, make_result(CELL), plan=PLAN)
    (tmp_path / "result.json").unlink()
    assert states_of(aggregate_paths(PLAN, tmp_path)) == {CELL: "empty"}


def test_a_result_for_a_cell_that_was_not_planned_is_listed_and_counted_nowhere(
    tmp_path: Path,
) -> None:
    write_cell(tmp_path / "a", make_result(CELL), plan=PLAN)
    write_cell(tmp_path / "b", make_result("smoke.scripted.local.other"), plan=PLAN)
    merged = aggregate_paths(PLAN, tmp_path)
    assert merged.campaign.selected == merged.campaign.passed == 1
    (extra,) = merged.insights.extras
    assert (extra.execution_id, extra.file) == ("smoke.scripted.local.other", "b/result.json")


def test_the_report_that_is_about_to_be_written_is_not_its_own_input(tmp_path: Path) -> None:
    """The cell was run again since, so the old report contradicts what lies beside it."""
    report = tmp_path / "report"
    write_cell(tmp_path / "cell", make_result(CELL, status="failed"), plan=PLAN)
    write_report(aggregate_paths(PLAN, tmp_path), PLAN, report)
    write_cell(tmp_path / "cell", make_result(CELL), plan=PLAN)
    collection = collect([tmp_path], PLAN, exclude=[report])
    merged = aggregate(PLAN, collection, campaign_id="local-1")
    assert states_of(merged) == {CELL: "passed"}
    assert states_of(aggregate_paths(PLAN, tmp_path)) == {CELL: "corrupt"}


def test_the_same_artifact_twice_counts_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_cell(tmp_path / name, make_result(CELL), plan=PLAN)
    merged = aggregate_paths(PLAN, tmp_path)
    assert states_of(merged) == {CELL: "passed"}
    (duplicate,) = merged.insights.duplicates
    assert (duplicate.chosen, duplicate.others) == ("one/result.json", ("two/result.json",))


def test_two_results_of_one_attempt_that_contradict_each_other_are_corrupt(
    tmp_path: Path,
) -> None:
    write_cell(tmp_path / "one", make_result(CELL), plan=PLAN)
    write_cell(tmp_path / "two", make_result(CELL, status="failed"), plan=PLAN)
    merged = aggregate_paths(PLAN, tmp_path)
    assert states_of(merged) == {CELL: "corrupt"}
    assert merged.insights.cells[0].reason == (
        "attempt 1 has results that contradict each other: one/result.json, two/result.json"
    )
    (duplicate,) = merged.insights.duplicates
    assert (duplicate.chosen, len(duplicate.others)) == ("", 2)


def test_the_last_attempt_of_results_without_records_counts(tmp_path: Path) -> None:
    for attempt, status in ((1, "failed"), (2, "passed")):
        directory = tmp_path / f"attempt-{attempt}"
        directory.mkdir()
        result = make_result(CELL, attempt=attempt, status="passed" if attempt == 2 else "failed")
        assert result.status == status
        (directory / "result.json").write_bytes(dump(result))
    merged = aggregate_paths(PLAN, tmp_path)
    assert states_of(merged) == {CELL: "passed"}
    assert merged.insights.cells[0].flaky
    assert merged.campaign.retries == 1


def test_a_first_version_result_is_read_and_keeps_its_gaps(tmp_path: Path) -> None:
    cell = "core-compatibility.scripted.local.hello"
    plan = make_plan([cell])
    old = make_result(cell).model_copy(
        update={"schema_": RESULT_V1, "execution_id": "scripted.local.hello"}
    )
    for name in ("suite_id", "suite_definition_hash", "source"):
        old = old.model_copy(update={name: None})
    (tmp_path / "result.json").write_bytes(dump(old))
    merged = aggregate_paths(plan, tmp_path)
    assert states_of(merged) == {cell: "passed"}
    assert merged.campaign.results[0].suite_definition_hash is None
    assert not merged.campaign.complete


def test_an_evidence_artifact_never_stands_for_a_result_of_a_newer_record(
    tmp_path: Path,
) -> None:
    write_cell(tmp_path / "result", make_result(CELL, status="failed"), plan=PLAN)
    (tmp_path / "evidence" / "attempt-1").mkdir(parents=True)
    (tmp_path / "evidence" / "attempt-1" / "result.json").write_bytes(dump(make_result(CELL)))
    assert states_of(aggregate_paths(PLAN, tmp_path)) == {CELL: "failed"}


def test_a_record_of_a_job_still_running_says_so(tmp_path: Path) -> None:
    record = make_job_record(CELL, plan=PLAN)
    (tmp_path / "job-record.json").write_bytes(dump(record))
    reason = aggregate_paths(PLAN, tmp_path).insights.cells[0].reason
    assert reason == "the job started at 2026-11-30T02:00:00.000Z and left no result"
