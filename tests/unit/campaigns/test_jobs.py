"""The job history says which run attempt of a cell is its newest real one, and how that ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner_e2e.campaigns import Aggregate, JobHistory
from runner_e2e.errors import DocumentError
from tests.support.artifacts import (
    aggregate_paths,
    artifact_name,
    make_jobs,
    states_of,
    write_cell,
    write_event,
)
from tests.support.documents import IDS, later, make_plan, make_result

CELL = IDS[0]
PLAN = make_plan([CELL])


def history(*rows: dict[str, Any], attempts: int = 1) -> JobHistory:
    return JobHistory.parse(make_jobs(rows, attempts=attempts), "jobs.json")


def told(root: Path, jobs: JobHistory | None) -> Aggregate:
    root.mkdir(exist_ok=True)
    return aggregate_paths(PLAN, root, jobs=jobs)


def row(run_attempt: int = 1, **changes: Any) -> dict[str, Any]:
    return {"name": f"e2e / run / {CELL}", "run_attempt": run_attempt} | changes


@pytest.mark.parametrize(
    ("job", "state", "failure_class"),
    [
        (row(conclusion="cancelled"), "cancelled", "transient_infrastructure"),
        (row(conclusion="cancelled", minutes=30), "job_timeout", "transient_infrastructure"),
        (row(conclusion="timed_out", minutes=2), "job_timeout", "transient_infrastructure"),
        (row(conclusion="skipped"), "skipped", "transient_infrastructure"),
        (row(conclusion="success"), "missing", "permanent_infrastructure"),
        (row(conclusion="failure"), "missing", "permanent_infrastructure"),
        (row(status="in_progress", conclusion=None), "missing", "permanent_infrastructure"),
        (
            row(conclusion="failure", steps=[("run", "success"), ("Upload result", "failure")]),
            "upload_failed",
            "transient_infrastructure",
        ),
        (
            row(conclusion="failure", steps=[("run", "failure"), ("Upload result", "success")]),
            "missing",
            "permanent_infrastructure",
        ),
    ],
)
def test_a_job_without_a_result_tells_what_became_of_its_cell(
    tmp_path: Path, job: dict[str, Any], state: str, failure_class: str
) -> None:
    merged = told(tmp_path, history(job))
    result = merged.campaign.results[0]
    assert states_of(merged) == {CELL: state}
    assert (result.status, result.attempt) == ("failed", 0)
    assert (result.failure_class, result.cleanup) == (failure_class, "not_started")
    assert merged.insights.counts.unresolved == 1
    # A job that never began spent nothing; any other may have.
    assert merged.insights.cost.unpriced == (state != "skipped")


def test_a_cell_that_was_stopped_takes_the_time_at_which_its_job_ended(tmp_path: Path) -> None:
    merged = told(tmp_path, history(row(conclusion="cancelled", minutes=12)))
    assert merged.campaign.generated_at == later(59 + 12)


def test_an_older_pass_does_not_stand_for_a_newer_attempt_without_an_artifact(
    tmp_path: Path,
) -> None:
    write_event(tmp_path, PLAN, CELL, 1, "pass")
    jobs = history(row(1), row(2, conclusion="failure"), attempts=2)
    merged = told(tmp_path, jobs)
    assert states_of(merged) == {CELL: "missing"}
    (duplicate,) = merged.insights.duplicates
    assert duplicate.chosen == ""
    assert duplicate.others == (f"{artifact_name(CELL, 1)}/result.json",)


def test_a_retained_job_repeated_under_a_newer_attempt_is_no_newer_run(tmp_path: Path) -> None:
    write_event(tmp_path, PLAN, CELL, 1, "pass")
    retained = row(2, started=59)
    merged = told(tmp_path, history(row(1), retained, attempts=2))
    assert states_of(merged) == {CELL: "passed"}


def test_a_job_that_a_newer_attempt_skipped_keeps_what_it_really_ran(tmp_path: Path) -> None:
    write_event(tmp_path, PLAN, CELL, 1, "pass")
    merged = told(tmp_path, history(row(1), row(2, conclusion="skipped"), attempts=2))
    assert states_of(merged) == {CELL: "passed"}


def test_a_newer_cancelled_attempt_goes_before_an_older_pass(tmp_path: Path) -> None:
    write_event(tmp_path, PLAN, CELL, 1, "pass")
    merged = told(tmp_path, history(row(1), row(2, conclusion="cancelled"), attempts=2))
    assert states_of(merged) == {CELL: "cancelled"}


def test_a_result_written_before_the_job_was_cancelled_counts(tmp_path: Path) -> None:
    write_event(tmp_path, PLAN, CELL, 1, "fail")
    merged = told(tmp_path, history(row(1, conclusion="cancelled")))
    assert states_of(merged) == {CELL: "failed"}


def test_a_file_that_claims_an_attempt_yet_to_come_is_believed_in_nothing(tmp_path: Path) -> None:
    write_event(tmp_path, PLAN, CELL, 1, "fail")
    write_event(tmp_path, PLAN, CELL, 3, "pass")
    jobs = history(row(1), row(2, started=59), attempts=2)
    assert states_of(told(tmp_path, jobs)) == {CELL: "failed"}
    # The campaign's own name says how many attempts there were, where nobody asked GitHub.
    by_name = aggregate_paths(PLAN, tmp_path, campaign_id="gha-15000000001-2")
    assert states_of(by_name) == {CELL: "failed"}


def test_two_jobs_of_one_name_are_not_told_apart_by_guessing(tmp_path: Path) -> None:
    write_event(tmp_path, PLAN, CELL, 1, "pass")
    merged = told(tmp_path, history(row(1), row(1)))
    assert states_of(merged) == {CELL: "corrupt"}
    assert merged.insights.cells[0].reason == "2 jobs of run attempt 1 have its name"


def test_a_broken_artifact_of_the_newest_attempt_says_more_than_that_nothing_came(
    tmp_path: Path,
) -> None:
    write_event(tmp_path, PLAN, CELL, 1, "corrupt")
    merged = told(tmp_path, history(row(1)))
    assert states_of(merged) == {CELL: "corrupt"}


def test_a_result_without_a_record_is_placed_by_the_time_at_which_it_ran(tmp_path: Path) -> None:
    directory = tmp_path / "in"
    write_cell(directory, make_result(CELL, started_at=later(60)))
    (directory / "job-record.json").unlink()
    assert states_of(told(directory, history(row(1)))) == {CELL: "passed"}
    newer = history(row(1), row(2, conclusion="failure"), attempts=2)
    assert states_of(told(directory, newer)) == {CELL: "missing"}


def test_a_cell_that_no_job_is_named_after_is_told_by_its_records(tmp_path: Path) -> None:
    write_event(tmp_path, PLAN, CELL, 1, "pass")
    merged = told(tmp_path, history({"name": "plan", "run_attempt": 1}))
    assert states_of(merged) == {CELL: "passed"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"total_count": 250}, "it holds 1 of 250 jobs"),
        ({"attempts": []}, "run attempt 1 began"),
        (
            {"attempts": [{"run_attempt": 2, "run_started_at": "2026-11-30T02:00:00Z"}]},
            "run attempt 1 began",
        ),
        ({"jobs": [{"name": 5}]}, "jobs\\[0\\].name"),
    ],
)
def test_half_a_history_is_refused(change: dict[str, Any], reason: str) -> None:
    data = json.dumps(json.loads(make_jobs([row(1)])) | change).encode()
    with pytest.raises(DocumentError, match=reason):
        JobHistory.parse(data, "jobs.json")
