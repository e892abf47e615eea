"""Which reports may pass."""

from __future__ import annotations

from typing import Any

import pytest

from runner_e2e.contracts.base import dump, parse
from runner_e2e.contracts.catalog import QuarantineEntry, SuiteGate
from runner_e2e.contracts.judgement import CellVerdict, Gate, Verdict
from runner_e2e.insights import DEFAULT_FAIL_ON, judge_gate, verdict_of
from tests.support.documents import IDS, make_plan, make_planned_suite
from tests.support.nights import campaigns, outcomes

GREEN = "G" * 14
DAY = "2026-11-30"


def verdicts(*histories: str) -> dict[str, CellVerdict]:
    return {
        execution_id: verdict_of(outcomes(letters), campaigns(len(letters)))
        for execution_id, letters in zip(IDS, histories, strict=False)
    }


def gate(*histories: str, fail_on: frozenset[Verdict] = DEFAULT_FAIL_ON, **suite: Any) -> Gate:
    plan = make_plan(IDS, suites=[make_planned_suite("smoke", IDS, **suite)])
    found = judge_gate("c", plan, verdicts(*histories), day=DAY, fail_on=fail_on)
    assert parse(Gate, dump(found), "gate") == found
    return found


def entry(expires: str = DAY, cell: str = IDS[0]) -> QuarantineEntry:
    return QuarantineEntry(execution_id=cell, owner="ada", expires=expires, reason="bug 7")


@pytest.mark.parametrize(
    ("history", "opened"),
    [
        (GREEN, True),
        (GREEN + "BG", True),
        (GREEN + "r", True),
        (GREEN + "R", False),
        (GREEN + "B", False),
        (GREEN + "RRR", False),
        (GREEN + "I", False),
        (GREEN + "M", False),
        (GREEN + "S", False),
    ],
)
def test_a_gate_opens_for_what_is_measured_and_not_red(history: str, opened: bool) -> None:
    found = gate(history, GREEN, GREEN)
    assert found.opened is opened
    assert [finding.execution_id for finding in found.findings] == ([] if opened else [IDS[0]])


def test_a_cell_without_a_verdict_is_unmeasured() -> None:
    found = gate(GREEN, GREEN)
    assert [finding.verdict for finding in found.findings] == ["unmeasured"]


def test_a_gate_fails_on_exactly_what_it_was_told() -> None:
    histories = (GREEN + "r", GREEN + "R", GREEN + "RRR")
    flaky = gate(*histories, fail_on=frozenset({"flaky"}))
    assert [finding.verdict for finding in flaky.findings] == ["flaky"]
    known = gate(*histories, fail_on=frozenset({"known_broken"}))
    assert [finding.execution_id for finding in known.findings] == [IDS[2]]


def test_a_quarantine_excuses_its_cell_through_its_last_day() -> None:
    found = gate(GREEN + "RRR", GREEN, GREEN, quarantine=(entry(),))
    assert found.opened
    (excused,) = found.excused
    assert excused.execution_id == IDS[0]
    assert "in quarantine until 2026-11-30, ada: bug 7" in excused.message


def test_an_expired_quarantine_fails_even_where_its_cell_is_green() -> None:
    found = gate(GREEN, GREEN, GREEN, quarantine=(entry("2026-11-29"),))
    (finding,) = found.findings
    assert (finding.kind, finding.execution_id) == ("quarantine_expired", IDS[0])
    assert "ada ended on 2026-11-29: bug 7" in finding.message
    red = gate(GREEN + "R", GREEN, GREEN, quarantine=(entry("2026-11-29"),))
    assert {finding.kind for finding in red.findings} == {"cell", "quarantine_expired"}


@pytest.mark.parametrize("letter", "ISCM")
def test_a_quarantine_excuses_neither_infrastructure_nor_a_leak(letter: str) -> None:
    found = gate(GREEN + letter, GREEN, GREEN, quarantine=(entry(),))
    assert [finding.verdict for finding in found.findings] == ["unmeasured"]


def test_a_green_cell_in_quarantine_is_pointed_out() -> None:
    found = gate(GREEN, GREEN, GREEN, quarantine=(entry(),))
    assert found.opened
    assert found.notices == (f"{IDS[0]} is in quarantine until {DAY} and green",)


def test_a_pass_rate_tolerates_noise_and_nothing_that_is_broken() -> None:
    rate = SuiteGate(min_pass_rate=0.6)
    noisy = gate(GREEN + "R", GREEN, GREEN, gate=rate)
    assert noisy.opened
    assert "left to the pass rate of its suite" in noisy.excused[0].message
    assert not gate(GREEN + "B", GREEN, GREEN, gate=rate).opened
    assert not gate(GREEN + "I", GREEN, GREEN, gate=rate).opened


def test_a_pass_rate_counts_measured_cells_outside_of_quarantine() -> None:
    low = gate(GREEN + "R", GREEN + "R", GREEN, gate=SuiteGate(min_pass_rate=0.6))
    (finding,) = low.findings
    assert (finding.kind, finding.suite_id) == ("pass_rate", "smoke")
    assert finding.message == "1 of 3 (6% to 79%) passed, 60% are asked for"
    excused = gate(
        GREEN + "R",
        GREEN + "R",
        GREEN,
        gate=SuiteGate(min_pass_rate=0.5),
        quarantine=(entry(),),
    )
    assert excused.opened


def test_a_repeat_that_passed_turns_a_red_cell_flaky_and_not_green() -> None:
    found = gate(GREEN + "r", GREEN, GREEN, gate=SuiteGate(min_pass_rate=0.9))
    assert [finding.kind for finding in found.findings] == ["pass_rate"]


def test_a_flaky_rate_has_a_limit() -> None:
    limit = SuiteGate(max_flaky_rate=0.4)
    assert gate(GREEN + "r", GREEN, GREEN, gate=limit).opened
    found = gate(GREEN + "r", GREEN + "L", GREEN, gate=limit)
    (finding,) = found.findings
    assert finding.message == "2 of 3 (21% to 94%) flaky, 40% are allowed"


def test_thresholds_of_a_suite_of_which_nothing_was_measured_are_not_met() -> None:
    found = gate("I", "I", "M", gate=SuiteGate(min_pass_rate=0.0), fail_on=frozenset())
    (finding,) = found.findings
    assert finding.kind == "nothing_measured"


def test_an_empty_campaign_opens_no_gate() -> None:
    plan = make_plan([], catalog=IDS)
    found = judge_gate("c", plan, {}, day=DAY)
    assert [finding.kind for finding in found.findings] == ["nothing_measured"]


def test_suites_that_were_not_planned_are_not_judged() -> None:
    other = make_planned_suite(
        "other", ["other.a.local.b"], quarantine=(entry("2020-01-01", "other.a.local.b"),)
    )
    plan = make_plan(IDS, suites=[make_planned_suite("smoke", IDS), other])
    assert judge_gate("c", plan, verdicts(GREEN, GREEN, GREEN), day=DAY).opened
