from __future__ import annotations

import json
from typing import Any

import pytest

from runner_e2e.execution.snapshot import snapshot


def test_an_observation_that_fits_is_kept_whole() -> None:
    tree = {"issue": {"status": "done"}, "comments": [{"body": "x" * 100_000}]}
    assert json.loads(snapshot(tree)) == tree


def test_a_text_that_is_too_long_is_left_out_whole_and_the_rest_kept() -> None:
    tree: dict[str, Any] = {
        "issue": {"status": "done"},
        "comments": [{"body": "x" * 4_000_000}, {"body": "y" * 4_000_000}, {"body": "short"}],
    }
    kept = json.loads(snapshot(tree))
    assert kept["comments"][0]["body"] == "[4000000 bytes left out]"
    assert kept["comments"][2]["body"] == "short"


def test_no_observation_is_larger_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner_e2e.execution.snapshot.MAX_SNAPSHOT_BYTES", 10_000)
    many: dict[str, Any] = {
        "issue": {"status": "done"},
        "comments": [{"body": "x" * 200, "runId": str(number)} for number in range(90)],
    }
    kept = snapshot(many)
    assert len(kept) <= 10_000
    assert len(json.loads(kept)["comments"]) == 90
    endless: dict[str, Any] = {"issue": {"status": "done"}, "x": [[] for _ in range(10_000)]}
    assert json.loads(snapshot(endless))["issue"] == {"status": "done"}
