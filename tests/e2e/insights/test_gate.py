"""``gate`` as it is typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from runner_e2e.contracts.catalog import QuarantineEntry
from tests.support.documents import IDS, make_planned_suite
from tests.support.nights import make_night, publish_nights, write_night

Cli = Callable[..., tuple[int, str, str]]


def test_a_gate_says_what_is_wrong_and_how_sure_it_is(cli: Cli, tmp_path: Path) -> None:
    publish_nights(tmp_path / "published", [make_night(night, "GGG") for night in range(14)])
    report = write_night(tmp_path / "report", make_night(14, "GBG"))
    code, out, _ = cli("gate", report, "--history", tmp_path / "published")
    assert code == 1
    assert out.splitlines() == [
        (
            f"{IDS[1]}: broken: red once, 2 repeats failed too; before that 14 of 14 green "
            "(78 to 100%); noise alone does that 0.1% of the time"
        ),
        "gha-1014-1: 1 finding",
    ]


def test_the_verdicts_of_a_published_campaign_do_not_count_it_twice(
    cli: Cli, tmp_path: Path
) -> None:
    nights = [make_night(night, "GGG") for night in range(14)]
    publish_nights(tmp_path / "published", [*nights, make_night(14, "GRG")])
    report = write_night(tmp_path / "report", make_night(14, "GRG"))
    code, out, _ = cli("gate", report, "--history", tmp_path / "published", "--json")
    assert code == 1
    verdict = json.loads(out)["verdicts"][IDS[1]]
    assert (verdict["verdict"], verdict["campaigns"]) == ("new_failure", 1)


def test_without_a_history_a_green_report_passes(cli: Cli, tmp_path: Path) -> None:
    report = write_night(tmp_path / "report", make_night(0, "GGL"))
    assert cli("gate", report)[:2] == (0, "gha-1000-1: the gate is open\n")
    assert cli("gate", report, "--fail-on", "flaky,broken")[0] == 1


def test_a_quarantine_is_held_against_the_day_that_is_named(cli: Cli, tmp_path: Path) -> None:
    entry = QuarantineEntry(
        execution_id=IDS[1], owner="ada", expires="2027-01-31", reason="upstream bug"
    )
    suite = make_planned_suite("smoke", IDS, quarantine=(entry,))
    report = write_night(tmp_path / "report", make_night(0, "GRG", suites=[suite]))
    code, _, err = cli("gate", report, "--today", "2027-01-31")
    assert code == 0
    assert f"excused: {IDS[1]}: new failure" in err
    code, out, _ = cli("gate", report, "--today", "2027-02-01")
    assert code == 1
    assert "quarantine expired: the quarantine of ada ended on 2027-01-31: upstream bug" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--fail-on", "red"), "is no verdict that can fail a gate"),
        (("--fail-on", ""), "is no verdict that can fail a gate"),
        (("--today", "yesterday"), "is no day"),
    ],
)
def test_bad_options_are_refused(
    cli: Cli, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    report = write_night(tmp_path / "report", make_night(0, "GGG"))
    code, out, err = cli("gate", report, *arguments)
    assert (code, out) == (2, "")
    assert said in err


def test_a_directory_that_is_no_report_is_refused(cli: Cli, tmp_path: Path) -> None:
    code, out, err = cli("gate", tmp_path)
    assert (code, out) == (2, "")
    assert "campaign.json cannot be read" in err
