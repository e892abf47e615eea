"""A report as input is as hostile as any other artifact, and costs at most its own cells."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner_e2e.campaigns import Aggregate
from runner_e2e.contracts.evidence import evidence_path
from tests.support.artifacts import aggregate_paths, report_bytes, states_of, write_event
from tests.support.documents import IDS, make_plan
from tests.support.pictures import png

PLAN = make_plan(IDS)
SHARD_CELL = IDS[1]
PICTURE = png()
LISTED = {"sha256": hashlib.sha256(PICTURE).hexdigest(), "bytes": len(PICTURE)}


def entry(path: str, **changes: Any) -> dict[str, Any]:
    """A line of ``insights.evidence``, with the digest of a real picture."""
    return {"path": path} | LISTED | changes


def write_shard(root: Path, evil: Callable[[dict[str, Any]], None]) -> Path:
    """Two good artifacts, and a third cell's shard report with what ``evil`` makes of it."""
    downloads = root / "in"
    for cell in IDS:
        if cell != SHARD_CELL:
            write_event(downloads, PLAN, cell, 1, "pass")
    write_event(root / "cell", PLAN, SHARD_CELL, 1, "pass")
    shard = downloads / "shard"
    report_bytes(aggregate_paths(PLAN, root / "cell"), PLAN, shard)
    insights = json.loads((shard / "insights.json").read_bytes())
    evil(insights)
    (shard / "insights.json").write_text(json.dumps(insights))
    for one in insights["evidence"]:
        target = (shard / one["path"]).resolve()
        if target.is_relative_to(downloads) and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(PICTURE)
    return downloads


def reason_of(merged: Aggregate, file: str) -> str:
    """Why the one file that cannot be used cannot; everything else is whole."""
    states = states_of(merged)
    assert states.pop(SHARD_CELL) == "missing"
    assert set(states.values()) == {"passed"}
    assert [one.file for one in merged.insights.unreadable] == [file]
    return merged.insights.unreadable[0].reason


SHOT = evidence_path(SHARD_CELL, 1, "end.png")


@pytest.mark.parametrize(
    "path",
    [
        f"evidence/{SHARD_CELL}/../../../OUTSIDE/authorized_keys",
        f"evidence/{SHARD_CELL}/attempt-1/../../../../OUTSIDE.png",
        f"evidence/{SHARD_CELL}/attempt-1/..",
        f"evidence/{SHARD_CELL}/attempt-1/",
        f"evidence/{SHARD_CELL}/attempt-1//end.png",
        f"evidence/{SHARD_CELL}/attempt-2/end.png",
        f"evidence/{SHARD_CELL}/attempt-1/deep/end.png",
        f"evidence/{SHARD_CELL}/attempt-1/index.html",
        f"evidence/{SHARD_CELL}/attempt-1/.png",
        f"evidence/{IDS[0]}/attempt-1/end.png",
        f"evidence/evidence/{SHARD_CELL}/attempt-1/end.png",
        "../../OUTSIDE.png",
        "campaign.json",
        "index.html",
        "x",
        "evidence",
    ],
)
def test_a_report_writes_nowhere_but_where_its_pictures_belong(tmp_path: Path, path: str) -> None:
    downloads = write_shard(tmp_path, lambda insights: insights["evidence"].append(entry(path)))
    before = {p for p in tmp_path.rglob("*") if p.is_file()}
    merged = aggregate_paths(PLAN, downloads)
    out = tmp_path / "deep" / "er" / "report"
    report_bytes(merged, PLAN, out)
    written = {p for p in tmp_path.rglob("*") if p.is_file()} - before
    assert written == {out / name for name in ("campaign.json", "insights.json", "plan.json")}
    assert f"{path!r}, which is no picture" in reason_of(merged, "shard/insights.json")


def test_one_place_cannot_be_listed_twice(tmp_path: Path) -> None:
    downloads = write_shard(
        tmp_path,
        lambda insights: insights["evidence"].extend([entry(SHOT), entry(SHOT, sha256="0" * 64)]),
    )
    assert "no picture" in reason_of(aggregate_paths(PLAN, downloads), "shard/insights.json")


def test_a_bad_document_of_a_report_is_blamed_itself(tmp_path: Path) -> None:
    downloads = write_shard(tmp_path, lambda insights: insights.update(counts={}))
    why = reason_of(aggregate_paths(PLAN, downloads), "shard/insights.json")
    assert "counts.selected" in why
    (downloads / "shard" / "campaign.json").write_bytes(b"{")
    why = reason_of(aggregate_paths(PLAN, downloads), "shard/campaign.json")
    assert "EOF" in why


def test_a_report_in_an_archive_with_an_unsafe_name_is_believed_in_nothing(tmp_path: Path) -> None:
    downloads = write_shard(tmp_path, lambda _: None)
    with zipfile.ZipFile(downloads / "shard.zip", "w") as packed:
        for name in ("campaign.json", "insights.json"):
            packed.write(downloads / "shard" / name, name)
            (downloads / "shard" / name).unlink()
        packed.writestr("../evil.txt", b"evil")
    merged = aggregate_paths(PLAN, downloads)
    assert "the archive holds the unsafe name" in reason_of(merged, "shard.zip!campaign.json")


@pytest.mark.parametrize("data", [None, b"", PICTURE + b"more"], ids=["absent", "empty", "other"])
def test_a_picture_that_a_report_does_not_have_is_left_out_and_named(
    tmp_path: Path, data: bytes | None
) -> None:
    downloads = write_shard(tmp_path, lambda insights: insights["evidence"].append(entry(SHOT)))
    shot = downloads / "shard" / SHOT
    shot.unlink()
    if data is not None:
        shot.write_bytes(data)
    merged = aggregate_paths(PLAN, downloads)
    assert set(states_of(merged).values()) == {"passed"}
    assert merged.images == ()
    (extra,) = merged.insights.extras
    assert (extra.execution_id, extra.file) == (SHARD_CELL, f"shard/{SHOT}")
    report_bytes(merged, PLAN, tmp_path / "report")
