"""Planning what was red once more, and what a planning job of GitHub gets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runner_e2e.cli import main
from runner_e2e.contracts.base import dump
from runner_e2e.errors import ExitCode
from tests.support.documents import make_campaign, make_result
from tests.support.echo import catalog, task, write_catalog


@pytest.fixture
def catalog_file(tmp_path: Path) -> Path:
    return write_catalog(tmp_path, catalog(task("hello"), task("bye")))


def ids_of(file: Path) -> list[str]:
    planned = main.run(["plan", "-c", str(file), "--all", "--out", str(file.with_name("all.json"))])
    assert planned == ExitCode.OK
    plan = json.loads(file.with_name("all.json").read_bytes())
    return [row["job"]["executionId"] for row in plan["executions"]]


def report(folder: Path, red: str | None, ids: list[str]) -> Path:
    results = [make_result(name, status="failed" if name == red else "passed") for name in ids]
    file = folder / "campaign.json"
    file.write_bytes(dump(make_campaign(results)))
    return file


def again(catalog_file: Path, campaign: Path, *more: str) -> tuple[int, list[str]]:
    out = catalog_file.with_name("again.json")
    command = ["plan", "-c", str(catalog_file), "--rerun", str(campaign), "--out", str(out)]
    code = main.run([*command, *more])
    plan = json.loads(out.read_bytes()) if out.exists() else {"executions": []}
    return code, [row["job"]["executionId"] for row in plan["executions"]]


def test_a_rerun_plans_what_was_red_and_names_the_campaign(
    tmp_path: Path, catalog_file: Path
) -> None:
    ids = ids_of(catalog_file)
    campaign = report(tmp_path, ids[1], ids)
    assert again(catalog_file, campaign) == (ExitCode.OK, [ids[1]])
    selection = json.loads((catalog_file.with_name("again.json")).read_bytes())["selection"]
    assert selection["rerun"] == json.loads(campaign.read_bytes())["campaignId"]
    assert again(catalog_file, campaign, "--only", "failed,unresolved") == (ExitCode.OK, [ids[1]])


def test_a_rerun_of_a_green_campaign_selects_nothing_unless_that_is_fine(
    tmp_path: Path, catalog_file: Path
) -> None:
    campaign = report(tmp_path, None, ids_of(catalog_file))
    assert again(catalog_file, campaign) == (ExitCode.NOTHING_SELECTED, [])
    assert again(catalog_file, campaign, "--allow-empty") == (ExitCode.OK, [])


@pytest.mark.parametrize(
    "more", [["--all"], ["--suite", "smoke"], ["--only", "red"], ["--rerun", "nowhere.json"]]
)
def test_a_rerun_that_makes_no_sense_is_a_usage_error(
    tmp_path: Path, catalog_file: Path, more: list[str]
) -> None:
    campaign = report(tmp_path, None, ids_of(catalog_file))
    assert again(catalog_file, campaign, *more)[0] == ExitCode.USAGE


def test_only_without_a_rerun_is_a_usage_error(catalog_file: Path) -> None:
    command = ["plan", "-c", str(catalog_file), "--all", "--only", "failed"]
    assert main.run(command) == ExitCode.USAGE


def test_a_planning_job_gets_outputs_and_a_summary(
    tmp_path: Path, catalog_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs, summary = tmp_path / "outputs", tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_OUTPUT", str(outputs))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    command = ["plan", "-c", str(catalog_file), "--all", "--format", "github"]
    assert main.run(command) == ExitCode.OK
    assert "2 planned" in summary.read_text("utf-8")
    text = outputs.read_text("utf-8")
    assert "\njob_timeout" in f"\n{text}"
    hashes = json.loads(text.split("definition_hashes<<")[1].splitlines()[1])
    assert [len(value) for value in hashes.values()] == [64]
