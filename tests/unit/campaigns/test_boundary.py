"""Later stages than `run` search shapes: whatever an artifact holds, no key gets into a report."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner_e2e.campaigns import Aggregate, exit_code
from runner_e2e.contracts.base import dump
from runner_e2e.contracts.matcher import IssueStatus
from runner_e2e.contracts.result import MatcherResult, Result, Screenshot
from runner_e2e.errors import ExitCode
from runner_e2e.reports import error_annotations, junit_xml, summary_markdown
from runner_e2e.site import campaign_page
from tests.support.artifacts import (
    aggregate_paths,
    artifact_name,
    digest_of,
    make_job_record,
    report_bytes,
    states_of,
    write_cell,
)
from tests.support.costs import make_billing
from tests.support.documents import IDS, make_plan, make_result
from tests.support.pictures import chunk, png

CELL = IDS[0]
PLAN = make_plan([CELL])
KEY = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
"""Made up, and put together here so that no scanner takes this file for a leak."""
PASSED = "Authorization: Bearer " + "abcdef0123456789"
"""What may be a secret, and is only blacked out."""


def write_result(directory: Path, data: bytes, **changes: Any) -> None:
    """A result of any bytes, with a record that vouches for it."""
    record = make_job_record(
        make_result(CELL), plan=PLAN, files=[digest_of("result.json", data)], **changes
    )
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "result.json").write_bytes(data)
    (directory / "job-record.json").write_bytes(dump(record))


def everything(merged: Aggregate, out: Path) -> str:
    """Every text that leaves: the report, what is written beside it, and the annotations."""
    told = (merged.campaign, merged.insights, PLAN)
    return "\n".join(
        [
            *(data.decode(errors="replace") for data in report_bytes(merged, PLAN, out).values()),
            summary_markdown(*told),
            junit_xml(*told).decode(),
            campaign_page(*told).decode(),
            *error_annotations(merged.campaign, merged.insights),
        ]
    )


def detail(text: str) -> tuple[MatcherResult, ...]:
    matcher = IssueStatus(kind="issue_status", expected="done")
    return (MatcherResult(matcher=matcher, passed=True, detail=text),)


PLACES: dict[str, Callable[[str], dict[str, Any]]] = {
    "error": lambda key: {"error": f"key {key}"},
    "detail": lambda key: {"matcher_results": detail(key)},
    "model": lambda key: {"model": key},
    "provider": lambda key: {"provider": key},
    "run id": lambda key: {"run_ids": (key,)},
    "issue": lambda key: {"issue_identifier": key},
    "usage": lambda key: {"usage": {"note": {"deep": [key]}}},
    "usage name": lambda key: {"usage": {key: 1}},
    "label": lambda key: {"screenshots": (Screenshot(id="x", label=key, file="x.png"),)},
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
@pytest.mark.parametrize("loose", [False, True])
def test_a_key_that_run_should_have_removed_is_a_leak_wherever_it_stands(
    tmp_path: Path, place: Callable[[str], dict[str, Any]], *, loose: bool
) -> None:
    write_result(tmp_path / "in", dump(make_result(CELL, **place(KEY))))
    if loose:
        (tmp_path / "in" / "job-record.json").unlink()
    merged = aggregate_paths(PLAN, tmp_path / "in")
    (result,) = merged.campaign.results
    (cell,) = merged.insights.cells
    assert (result.status, result.failure_class) == ("failed", "secret_leak")
    assert (cell.state, cell.code) == ("failed", "secret_leak")
    assert (result.error or "").startswith("its artifact held what is secret-shaped: a GitHub")
    assert exit_code(merged.campaign, merged.insights) == ExitCode.SECRET_LEAK
    assert KEY not in everything(merged, tmp_path / "out")


@pytest.mark.parametrize("escape", [r"\u005f", r"\u005F"])
def test_an_escape_does_not_hide_a_key(tmp_path: Path, escape: str) -> None:
    data = dump(make_result(CELL, model=KEY)).replace(b"ghp_", b"ghp" + escape.encode())
    assert KEY.encode() not in data
    write_result(tmp_path / "in", data)
    merged = aggregate_paths(PLAN, tmp_path / "in")
    assert states_of(merged) == {CELL: "failed"}
    assert KEY not in everything(merged, tmp_path / "out")


def test_what_only_may_be_a_secret_is_blacked_out_and_fails_nothing(tmp_path: Path) -> None:
    write_result(tmp_path / "in", dump(make_result(CELL, matcher_results=detail(PASSED))))
    merged = aggregate_paths(PLAN, tmp_path / "in")
    assert states_of(merged) == {CELL: "passed"}
    assert "abcdef0123456789" not in everything(merged, tmp_path / "out")


def test_a_file_that_cannot_be_read_is_not_quoted_with_its_key(tmp_path: Path) -> None:
    write_result(tmp_path / "in" / artifact_name(CELL, 1), f"{KEY} is no JSON".encode())
    (tmp_path / "in" / KEY).mkdir()
    (tmp_path / "in" / KEY / "result.json").write_bytes(f"{KEY}".encode())
    merged = aggregate_paths(PLAN, tmp_path / "in")
    assert states_of(merged) == {CELL: "corrupt"}
    assert KEY not in everything(merged, tmp_path / "out")


def test_a_key_in_the_code_of_a_record_is_blacked_out(tmp_path: Path) -> None:
    write_cell(tmp_path / "in", make_result(CELL, status="failed"), plan=PLAN, code=KEY)
    merged = aggregate_paths(PLAN, tmp_path / "in")
    assert merged.insights.cells[0].code == "[REDACTED_SECRET_SHAPE]"
    assert KEY not in everything(merged, tmp_path / "out")


def test_a_picture_with_a_key_in_it_is_left_out_and_is_a_leak(tmp_path: Path) -> None:
    picture = png()
    at = picture.index(b"IDAT") - 4
    tainted = picture[:at] + chunk(b"tEXt", f"Comment\0{KEY}".encode()) + picture[at:]
    shot = Screenshot(id="x", label="x", file="end.png", publication="public-runner-fixture")
    manifest = {
        "schema": "paperclip.runner-e2e.evidence/v1",
        "files": ["end.png"],
        "leaks": [],
        "missing": [],
    }
    files = {
        "attempt-1/end.png": tainted,
        "attempt-1/evidence-manifest.json": json.dumps(manifest).encode(),
    }
    write_cell(tmp_path / "in", make_result(CELL, screenshots=(shot,)), plan=PLAN, files=files)
    merged = aggregate_paths(PLAN, tmp_path / "in")
    assert merged.images == ()
    assert merged.campaign.results[0].failure_class == "secret_leak"
    assert KEY not in everything(merged, tmp_path / "out")


def test_a_report_with_a_key_in_it_is_a_leak_too(tmp_path: Path) -> None:
    write_result(tmp_path / "in", dump(make_result(CELL)))
    report_bytes(aggregate_paths(PLAN, tmp_path / "in"), PLAN, tmp_path / "shard")
    path = tmp_path / "shard" / "campaign.json"
    path.write_bytes(path.read_bytes().replace(b"scripted-1", KEY.encode()))
    merged = aggregate_paths(PLAN, tmp_path / "shard")
    assert states_of(merged) == {CELL: "failed"}
    assert merged.campaign.results[0].failure_class == "secret_leak"
    assert KEY not in everything(merged, tmp_path / "out")


LONG: dict[str, dict[str, Any]] = {
    "detail": {"matcher_results": detail("A" * 1_000_000)},
    "detail in characters of four bytes": {"matcher_results": detail("\U0001f600" * 1_000)},
    "error": {"status": "failed", "error": "E" * 100_000},
    "model": {"model": "M" * 1_000_000},
    "usage": {"usage": {"note": "U" * 1_000_000}},
    "name in usage": {"usage": {"N" * 1_000_000: 1}},
    "label": {"screenshots": (Screenshot(id="x", label="L" * 1_000_000, file="x.png"),)},
}


@pytest.mark.parametrize("changes", LONG.values(), ids=LONG.keys())
def test_no_text_of_a_result_is_copied_at_any_length(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    result = make_result(CELL, **changes)
    write_result(tmp_path / "in", dump(result), attempts=attempts_of(result))
    merged = aggregate_paths(PLAN, tmp_path / "in")
    assert states_of(merged) == {CELL: result.status}
    assert max(map(len, texts(json.loads(dump(merged.campaign))))) <= 2_048
    first = report_bytes(merged, PLAN, tmp_path / "out")
    again = report_bytes(aggregate_paths(PLAN, tmp_path / "out"), PLAN, tmp_path / "again")
    assert again == first


def attempts_of(result: Result) -> Any:
    return make_job_record(result, plan=PLAN).attempts


def texts(value: Any) -> list[bytes]:
    """Every text in a JSON value, keys too."""
    if isinstance(value, str):
        return [value.encode()]
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key.encode(), *texts(item))]
    return [text for item in value for text in texts(item)] if isinstance(value, list) else []


def test_a_result_of_very_many_values_is_no_result(tmp_path: Path) -> None:
    write_result(tmp_path / "in", dump(make_result(CELL, run_ids=("run",) * 100_000)))
    merged = aggregate_paths(PLAN, tmp_path / "in")
    assert states_of(merged) == {CELL: "corrupt"}
    assert "that a result may have" in (merged.insights.cells[0].reason or "")


@pytest.mark.parametrize("size", range(31_000, 34_000, 250))
def test_a_result_of_any_size_is_merged_again_to_the_same_bytes(tmp_path: Path, size: int) -> None:
    result = make_result(CELL, usage={"note": "n" * size})
    write_result(tmp_path / "in", dump(result))
    first = report_bytes(aggregate_paths(PLAN, tmp_path / "in"), PLAN, tmp_path / "one")
    both = aggregate_paths(PLAN, tmp_path / "in", tmp_path / "one")
    assert states_of(both) == {CELL: "passed"}
    assert both.insights.duplicates == ()
    assert report_bytes(both, PLAN, tmp_path / "two") == first


def test_a_stored_sum_is_written_as_its_parts_come_to(tmp_path: Path) -> None:
    lie = make_billing("local", cost=0.000001)
    write_result(tmp_path / "in", dump(make_result(CELL, cost=25.0, billing=lie)))
    merged = aggregate_paths(PLAN, tmp_path / "in")
    bill = merged.campaign.results[0].billing
    assert bill is not None
    assert bill.reported_cost_usd == merged.campaign.billing.reported_llm_cost_usd == 25


def test_a_record_that_does_not_list_the_attempt_does_not_vouch_for_it(tmp_path: Path) -> None:
    data = dump(make_result(CELL))
    write_result(tmp_path / "none", data, attempts=())
    other = attempts_of(make_result(CELL, attempt=2))
    write_result(tmp_path / "other", data, attempts=other)
    for directory in ("none", "other"):
        merged = aggregate_paths(PLAN, tmp_path / directory)
        assert states_of(merged) == {CELL: "corrupt"}
        assert merged.insights.cells[0].reason == "the job record does not list attempt 1"
