"""Repeats of a failure inside its own job: real agents, from ``run`` to the verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner_e2e.contracts.base import parse
from runner_e2e.contracts.evidence import EvidenceManifest
from runner_e2e.contracts.insights import Insights
from runner_e2e.contracts.result import Result
from tests.support.executions import ANSWER, ID, Ran, run_agent, write_catalog

Cli = Callable[..., tuple[int, str, str]]

USAGE = "emit(type='usage', inputTokens=10, outputTokens=5, costUsd=0.25)\n"
WRONG = "say('no')\n"
WRONG_AT_FIRST = f"{WRONG}if turn['attempt'] > 1: {ANSWER}"


def repeats(ran: Ran) -> list[str]:
    return [one.status for one in ran.record.repeats]


def test_a_failure_is_repeated_in_a_fresh_place_and_its_result_stays(tmp_path: Path) -> None:
    ran = run_agent(tmp_path, USAGE + WRONG, repeats=2)
    assert (ran.result.status, ran.result.attempt) == ("failed", 1)
    assert ran.result.failure_class == "candidate_failure"
    assert [one.attempt for one in ran.record.attempts] == [1]
    assert repeats(ran) == ["failed", "failed"]
    assert ran.record.state == "finished"
    nonces = set()
    for number in (1, 2):
        place = ran.out / "confirm" / str(number)
        told = json.loads((place / "snapshots" / "observation.json").read_text())
        nonces.add(told["issue"]["title"])
        manifest = parse(
            EvidenceManifest, (place / "evidence-manifest.json").read_bytes(), "manifest"
        )
        assert "turns/1/stdout.log" in manifest.files
        assert "repeat.json" in manifest.files
    nonces.add(ran.observation(1)["issue"]["title"])
    assert len(nonces) == 3
    billing = ran.result.billing
    assert billing is not None
    assert billing.reported_cost_usd == 0.25
    assert [one.billing and one.billing.reported_cost_usd for one in ran.record.repeats] == [
        0.25,
        0.25,
    ]


def test_repeats_are_never_taken_for_results(tmp_path: Path) -> None:
    ran = run_agent(tmp_path, WRONG, repeats=1)
    assert sorted(path.parent.name for path in ran.out.rglob("result.json")) == [
        "attempt-1",
        "out",
    ]


def test_every_file_of_a_repeat_is_vouched_for(tmp_path: Path) -> None:
    ran = run_agent(tmp_path, WRONG, repeats=1)
    there = {
        path.relative_to(ran.out).as_posix()
        for path in ran.out.rglob("*")
        if path.is_file() and path.name != "job-record.json"
    }
    assert {file.path for file in ran.record.files} == there
    assert any(name.startswith("confirm/1/turns/") for name in there)
    assert not any(ran.temporary.iterdir())


def test_the_first_repeat_that_passes_is_the_last(tmp_path: Path) -> None:
    ran = run_agent(tmp_path, WRONG_AT_FIRST, repeats=3)
    assert ran.result.status == "failed"
    assert repeats(ran) == ["passed"]


def test_a_pass_is_not_repeated(tmp_path: Path) -> None:
    ran = run_agent(tmp_path, ANSWER, repeats=2)
    assert repeats(ran) == []
    assert not (ran.out / "confirm").exists()


def test_infrastructure_is_not_repeated(tmp_path: Path) -> None:
    ran = run_agent(
        tmp_path,
        ANSWER,
        repeats=2,
        max_retries=0,
        env={"KEY": {"$secretRef": "OPENAI_API_KEY"}},
    )
    assert ran.result.failure_class == "permanent_infrastructure"
    assert repeats(ran) == []


def test_what_an_earlier_execution_repeated_is_cleared_away(tmp_path: Path) -> None:
    run_agent(tmp_path, WRONG, repeats=1)
    ran = run_agent(tmp_path, ANSWER)
    assert not (ran.out / "confirm").exists()


@pytest.mark.parametrize(
    ("agent", "budget", "count", "said"),
    [
        (USAGE + WRONG, 0.24, 0, "not repeated: $0.2500 is more than the $0.2400 allowed"),
        (USAGE + WRONG, 0.25, 1, "not repeated: $0.5000 is more than the $0.2500 allowed"),
        (USAGE + WRONG, 0.50, 2, None),
        (WRONG, 100.0, 0, "not repeated: its cost is unknown, and the repeats have a budget"),
    ],
)
def test_repeats_stay_within_their_budget(
    tmp_path: Path, agent: str, budget: float, count: int, said: str | None
) -> None:
    ran = run_agent(tmp_path, agent, repeats=2, repeat_budget_usd=budget)
    assert len(ran.record.repeats) == count
    refusals = [line for line in ran.lines if line.startswith("not repeated")]
    assert refusals == ([] if said is None else [said])


def test_a_repeat_that_would_not_fit_before_the_time_out_is_not_begun(tmp_path: Path) -> None:
    ran = run_agent(tmp_path, WRONG, repeats=2, deadline_minutes=3)
    assert repeats(ran) == []
    assert "not repeated: no time was left" in ran.lines


def campaign(cli: Cli, directory: Path, agent: str, *more: Any) -> tuple[int, Insights]:
    catalog = write_catalog(directory / "catalog", agent)
    out = directory / "out"
    code, _, _ = cli("campaign", "-c", catalog, "--all", "--out", out, *more)
    return code, parse(Insights, (out / "report" / "insights.json").read_bytes(), "insights")


def test_a_campaign_counts_repeats_in_its_insights_and_in_its_cost_only(
    cli: Cli, tmp_path: Path
) -> None:
    code, insights = campaign(cli, tmp_path, USAGE + WRONG, "--confirm", 2)
    assert code == 1
    (cell,) = insights.cells
    assert cell.confirm is not None
    assert (cell.confirm.repeats, cell.confirm.passed, cell.confirm.failed) == (2, 0, 2)
    assert (insights.counts.selected, insights.counts.executed) == (1, 1)
    assert insights.cost.at_least == 0.75
    gate = cli("gate", tmp_path / "out" / "report")
    assert gate[0] == 1
    assert f"{ID}: broken: red once, 2 repeats failed too" in gate[1]


def test_a_repeat_that_passes_makes_the_cell_flaky_and_not_green(cli: Cli, tmp_path: Path) -> None:
    code, insights = campaign(cli, tmp_path, WRONG_AT_FIRST, "--confirm", 2)
    assert code == 1
    (cell,) = insights.cells
    assert cell.state == "failed"
    assert cell.confirm is not None
    assert (cell.confirm.repeats, cell.confirm.passed, cell.confirm.failed) == (1, 1, 0)
    assert insights.cost.unpriced == 2
    report = tmp_path / "out" / "report"
    assert cli("gate", report)[0] == 0
    assert cli("gate", report, "--fail-on", "flaky")[0] == 1


def test_a_planned_time_out_counts_the_repeats(cli: Cli, tmp_path: Path) -> None:
    catalog = write_catalog(tmp_path, ANSWER, timeout_ms=720_000)
    plans = [
        json.loads(cli("plan", "-c", catalog, "--all", "--json", *more)[1])
        for more in ((), ("--confirm", "2", "--confirm-budget", "1.5"))
    ]
    minutes = [plan["executions"][0]["job"]["timeoutMinutes"] for plan in plans]
    assert minutes == [32, 59]
    assert "confirm" not in plans[0]
    assert plans[1]["confirm"] == {"repeats": 2, "budgetUsd": 1.5}
    _, out, _ = cli("plan", "-c", catalog, "--all", "--confirm", 2, "--confirm-budget", 1.5)
    assert "failures repeated up to 2 times for $1.50 each" in out
    code, _, err = cli("plan", "-c", catalog, "--all", "--confirm-budget", 1.5)
    assert code == 2
    assert "none were asked for" in err


def test_repeats_survive_a_merge_of_merged_reports(cli: Cli, tmp_path: Path) -> None:
    _, insights = campaign(cli, tmp_path, USAGE + WRONG, "--confirm", 1)
    report, again = tmp_path / "out" / "report", tmp_path / "again"
    plan = report / "plan.json"
    assert cli("aggregate", report, "--plan", plan, "--out", again)[0] == 1
    merged = parse(Insights, (again / "insights.json").read_bytes(), "insights")
    assert merged.cells[0].confirm == insights.cells[0].confirm
    assert merged.cost == insights.cost


def test_a_spent_cap_stops_retries_and_repeats_and_the_overrun_is_told(
    cli: Cli, tmp_path: Path
) -> None:
    capped = run_agent(tmp_path, USAGE + WRONG, repeats=2, max_cost_usd=0.4)
    assert len(capped.record.repeats) == 1
    assert "not repeated: what the execution may cost is spent" in capped.lines
    assert capped.record.overran_usd == 0.4
    assert [line for line in capped.lines if "allowed" in line] == [
        "it cost more than the $0.4000 allowed"
    ]
    catalog = write_catalog(tmp_path / "other", USAGE + ANSWER)
    plan = tmp_path / "plan.json"
    cli("plan", "-c", catalog, "--all", "--out", plan)
    digest = json.loads(plan.read_text())["digest"]
    place = tmp_path / "result"
    for cap, overran in (("0.25", 0), ("0.2", 1)):
        call = ("run", "-c", catalog, "--id", ID, "--out", place, "--plan-digest", digest)
        assert cli(*call, "--max-cost", cap)[0] == 0
        report = tmp_path / f"report-{overran}"
        assert cli("aggregate", place, "--plan", plan, "--out", report)[0] == 0
        told = (report / "summary.md").read_text()
        assert told.count("1 cell over the cost allowed") == overran


def test_a_secret_that_only_a_repeat_prints_is_a_leak_of_the_execution(tmp_path: Path) -> None:
    secret = "correct-horse-battery-staple"
    leaking = f"{WRONG}if turn['attempt'] > 1: say(os.environ['KEY'])\n"
    ran = run_agent(
        tmp_path,
        leaking,
        repeats=1,
        env={"KEY": {"$secretRef": "OPENAI_API_KEY"}},
        environ={"PATH": "/usr/bin:/bin", "OPENAI_API_KEY": secret},
    )
    assert ran.result.failure_class == "secret_leak"
    assert ran.result.attempt == 1
    assert ran.record.attempts[-1].failure_class == "secret_leak"
    written = parse(Result, (ran.out / "attempt-1" / "result.json").read_bytes(), "result")
    assert written == ran.result
    assert not any(
        secret.encode() in path.read_bytes() for path in ran.out.rglob("*") if path.is_file()
    )
