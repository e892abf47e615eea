"""Only pictures that were declared public and that the job vouched for go into a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner_e2e.campaigns import write_report
from runner_e2e.contracts.base import dump
from runner_e2e.contracts.evidence import EVIDENCE_V1, EvidenceManifest, evidence_path
from runner_e2e.contracts.result import Screenshot
from runner_e2e.errors import UsageError
from runner_e2e.evidence.pictures import MAX_PNG_BYTES
from runner_e2e.publishing import build_bundle
from tests.support.artifacts import (
    aggregate_paths,
    report_bytes,
    states_of,
    write_cell,
    zip_artifact,
)
from tests.support.documents import IDS, make_plan, make_result
from tests.support.pictures import png

CELL = IDS[0]
PLAN = make_plan([CELL])
SHOT = f"evidence/{CELL}/attempt-1/end.png"


def write_shots(
    directory: Path,
    files: dict[str, bytes],
    *,
    public: bool = True,
    listed: bool = True,
    **changes: Any,
) -> None:
    """Write a cell whose result shows ``files``, relative to its attempt."""
    shots = tuple(
        Screenshot(
            id=name,
            label="The end",
            file=name,
            publication="public-runner-fixture" if public else None,
        )
        for name in files
    )
    manifest = EvidenceManifest(
        schema=EVIDENCE_V1, files=tuple(files) if listed else (), leaks=(), missing=()
    )
    content = {f"attempt-1/{name}": data for name, data in files.items()}
    content["attempt-1/evidence-manifest.json"] = dump(manifest)
    result = make_result(CELL, screenshots=shots)
    write_cell(directory, result, plan=PLAN, files=content, **changes)


def test_a_public_picture_is_copied_and_listed_with_its_digest(tmp_path: Path) -> None:
    write_shots(tmp_path / "in", {"public/end.png": png()})
    merged = aggregate_paths(PLAN, tmp_path / "in")
    files = report_bytes(merged, PLAN, tmp_path / "out")
    assert files[SHOT] == png()
    assert evidence_path(CELL, 1, "public/end.png") == SHOT
    assert [entry.path for entry in merged.insights.evidence] == [SHOT]


def test_pictures_come_out_of_archives_and_out_of_reports_just_the_same(tmp_path: Path) -> None:
    write_shots(tmp_path / "in", {"public/end.png": png()})
    zip_artifact(tmp_path / "in", tmp_path / "in.zip")
    first = report_bytes(aggregate_paths(PLAN, tmp_path / "in.zip"), PLAN, tmp_path / "one")
    again = report_bytes(aggregate_paths(PLAN, tmp_path / "one"), PLAN, tmp_path / "two")
    assert first[SHOT] == png()
    assert again == first


@pytest.mark.parametrize("missing", [{"public": False}, {"listed": False}])
def test_a_picture_that_is_not_public_or_not_listed_stays_behind(
    tmp_path: Path, missing: dict[str, bool]
) -> None:
    write_shots(tmp_path / "in", {"public/end.png": png()}, **missing)
    merged = aggregate_paths(PLAN, tmp_path / "in")
    assert states_of(merged) == {CELL: "passed"}
    assert merged.images == ()


def test_a_picture_that_was_not_uploaded_is_passed_over(tmp_path: Path) -> None:
    write_shots(tmp_path, {"public/end.png": png()})
    (tmp_path / "attempt-1" / "public" / "end.png").unlink()
    merged = aggregate_paths(PLAN, tmp_path)
    assert (states_of(merged), merged.images) == ({CELL: "passed"}, ())


@pytest.mark.parametrize(
    "name", ["../result.json", "public/../../result.json", "a//b.png", "./end.png"]
)
def test_a_picture_that_points_elsewhere_is_not_looked_for(tmp_path: Path, name: str) -> None:
    write_shots(tmp_path / "cell", {"public/end.png": png()})
    result = make_result(
        CELL,
        screenshots=(
            Screenshot(id="x", label="x", file=name, publication="public-runner-fixture"),
        ),
    )
    write_cell(tmp_path / "cell", result, plan=PLAN)
    assert aggregate_paths(PLAN, tmp_path / "cell").images == ()


def test_a_picture_that_is_not_the_recorded_one_costs_its_cell(tmp_path: Path) -> None:
    write_shots(tmp_path, {"public/end.png": png()})
    (tmp_path / "attempt-1" / "public" / "end.png").write_bytes(png(255))
    merged = aggregate_paths(PLAN, tmp_path)
    assert states_of(merged) == {CELL: "corrupt"}
    assert merged.insights.cells[0].reason == (
        "attempt-1/public/end.png is not the file that the job recorded"
    )


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("end.png", b"<svg onload='alert(1)'/>", "it is not a PNG"),
        ("end.png", b"", "it is not a PNG"),
        ("end.png", png()[:-1], "it is a PNG that was cut off"),
        ("end.png", png() + b"ssh-ed25519 AAAA", "something is appended to the PNG"),
        ("end.png", png() + b"\0" * MAX_PNG_BYTES, "are more than the 12,582,912"),
        ("the end.png", png(), "its name is not plain, or not that of a PNG"),
        ("end.html", png(), "its name is not plain, or not that of a PNG"),
        (f"{'n' * 240}.png", png(), "its name is not plain, or not that of a PNG"),
    ],
    ids=["svg", "empty", "cut", "appended", "huge", "blank in its name", "page", "long name"],
)
def test_one_bad_picture_is_left_out_and_named_and_all_else_is_published(
    tmp_path: Path, name: str, data: bytes, problem: str
) -> None:
    cell = tmp_path / "in"
    write_shots(cell, {f"public/{name}": data, "public/start.png": png()})
    merged = aggregate_paths(PLAN, cell)
    assert states_of(merged) == {CELL: "passed"}
    assert [image.target for image in merged.images] == [SHOT.replace("end", "start")]
    (extra,) = merged.insights.extras
    assert (extra.execution_id, extra.file) == (CELL, f"attempt-1/public/{name}")
    assert "the picture is left out: " in extra.reason
    assert problem in extra.reason
    report = tmp_path / "report"
    files = report_bytes(merged, PLAN, report)
    for page in ("summary.md", "junit.xml", "index.html"):
        (report / page).touch()
    assert build_bundle(report).manifest.files
    assert report_bytes(aggregate_paths(PLAN, report), PLAN, tmp_path / "again") == files


def test_a_linked_picture_is_not_followed(tmp_path: Path) -> None:
    write_shots(tmp_path / "in", {"public/end.png": png()})
    shot = tmp_path / "in" / "attempt-1" / "public" / "end.png"
    shot.rename(tmp_path / "elsewhere.png")
    shot.symlink_to(tmp_path / "elsewhere.png")
    assert states_of(aggregate_paths(PLAN, tmp_path / "in")) == {CELL: "corrupt"}


def test_a_linked_directory_of_pictures_is_not_followed(tmp_path: Path) -> None:
    write_shots(tmp_path / "in", {"public/end.png": png()})
    shots = tmp_path / "in" / "attempt-1" / "public"
    shots.rename(tmp_path / "elsewhere")
    shots.symlink_to(tmp_path / "elsewhere")
    merged = aggregate_paths(PLAN, tmp_path / "in")
    assert states_of(merged) == {CELL: "corrupt"}
    assert merged.insights.cells[0].reason == "a link leads to it"


def test_two_pictures_of_one_name_do_not_overwrite_each_other(tmp_path: Path) -> None:
    write_shots(tmp_path / "in", {"a/end.png": png(1), "b/end.png": png(2)})
    files = report_bytes(aggregate_paths(PLAN, tmp_path / "in"), PLAN, tmp_path / "out")
    assert files[SHOT] == png(1)


def test_a_picture_that_changes_while_it_is_read_stops_the_report(tmp_path: Path) -> None:
    write_shots(tmp_path / "in", {"public/end.png": png()})
    merged = aggregate_paths(PLAN, tmp_path / "in")
    (tmp_path / "in" / "attempt-1" / "public" / "end.png").write_bytes(png(255))
    with pytest.raises(UsageError, match="is not the file that the job recorded"):
        write_report(merged, PLAN, tmp_path / "out")
    assert not (tmp_path / "out" / "campaign.json").exists()
