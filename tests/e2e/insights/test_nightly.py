"""A history read by ``plan`` and ``aggregate``, as a nightly workflow calls them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from runner_e2e.contracts.base import dump
from tests.support.artifacts import Event, write_event
from tests.support.catalogs import catalog_tree, write_catalog
from tests.support.documents import IDS, make_plan
from tests.support.nights import make_night, publish_nights

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def published(tmp_path: Path) -> Path:
    root = tmp_path / "published"
    publish_nights(root, [make_night(night, "GGG") for night in range(14)])
    return root


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A plan, and artifacts of which one failed."""
    plan = make_plan()
    (tmp_path / "plan.json").write_bytes(dump(plan))
    events: tuple[Event, ...] = ("fail", "pass", "pass")
    for execution_id, event in zip(IDS, events, strict=True):
        # An attempt begins an hour after the one before; this one after all nights.
        write_event(tmp_path / "artifacts", plan, execution_id, 24 * 14, event)
    return tmp_path


def aggregate(cli: Cli, results: Path, out: str, *more: object) -> tuple[int, str, str]:
    plan = results / "plan.json"
    where = results / out
    return cli("aggregate", results / "artifacts", "--plan", plan, "--out", where, *more)


def test_the_job_summary_tells_the_news_and_the_bundle_does_not_change_by_it(
    cli: Cli, published: Path, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = results / "step-summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    code, _, err = aggregate(cli, results, "with", "--history", published)
    assert code == 1
    assert "### What is new" in summary.read_text()
    assert f"new failure  {IDS[0]}: red once; before that 14 of 14 green" in err
    aggregate(cli, results, "without")
    assert _files(results / "with") == _files(results / "without")


def _files(report: Path) -> dict[str, bytes]:
    return {
        path.relative_to(report).as_posix(): path.read_bytes()
        for path in report.rglob("*")
        if path.is_file()
    }


def test_a_history_that_cannot_be_read_costs_no_report(
    cli: Cli, published: Path, results: Path
) -> None:
    (published / "cells" / "smoke.json").write_text("<html>")
    code, out, err = aggregate(cli, results, "report", "--history", published)
    assert code == 1
    assert "2 of 3 passed" in out
    assert "no history: cells/smoke.json" in err
    assert (results / "report" / "campaign.json").exists()


def test_a_plan_says_what_it_will_cost_and_take(cli: Cli, published: Path, tmp_path: Path) -> None:
    catalog = write_catalog(tmp_path, catalog_tree())
    call = ("plan", "-c", catalog, "--all", "--history", published)
    code, out, _ = cli(*call)
    assert code == 0
    assert "$0.0200..0.0200" in out
    assert "about $0.02 ($0.02 with every cell at its 90th percentile)" in out
    assert "about 60 s at 20 in parallel" in out
    (item,) = json.loads(cli(*call, "--json")[1])["executions"]
    assert item["job"]["executionId"] == IDS[0]
    assert item["estimate"] == {
        "runs": 14,
        "durationMsMedian": 60_000,
        "durationMsP90": 60_000,
        "costUsdMedian": 0.02,
        "costUsdP90": 0.02,
    }


def test_a_budget_refuses_before_anything_is_paid(
    cli: Cli, published: Path, tmp_path: Path
) -> None:
    catalog = write_catalog(tmp_path, catalog_tree())
    call = ("plan", "-c", catalog, "--all", "--history", published, "--out", tmp_path / "p.json")
    code, out, err = cli(*call, "--max-cost", "0.01")
    assert (code, out) == (9, "")
    assert "expected to cost $0.02, more than $0.01" in err
    assert not (tmp_path / "p.json").exists()
    assert cli(*call, "--max-cost", "0.02")[0] == 0


def test_without_a_history_the_cost_is_unknown_and_never_zero(cli: Cli, tmp_path: Path) -> None:
    catalog = write_catalog(tmp_path, catalog_tree())
    code, out, err = cli("plan", "-c", catalog, "--all", "--history", tmp_path / "nowhere")
    assert code == 0
    assert "cost unknown, time unknown" in out
    assert "no history: nothing was published at" in err
