"""Two campaigns, cell by cell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.contracts.base import dump, parse
from runner_e2e.contracts.history import CellSeries
from runner_e2e.contracts.judgement import CellChange, Comparison
from runner_e2e.errors import UsageError
from runner_e2e.insights import Side, compare
from tests.support.documents import definition_hash
from tests.support.nights import LETTERS, campaigns, make_series, night_id, outcome, outcomes

GREEN = "G" * 14


def cell(number: int) -> str:
    return f"smoke.a.local.c{number:02}"


def side(night: int, letters: str, **changes: object) -> Side:
    return Side(
        campaign_id=night_id(night),
        campaign=campaigns(night + 1)[night_id(night)],
        outcomes={cell(n): outcome(letter, night, **changes) for n, letter in enumerate(letters)},
    )


def compared(base: str, candidate: str, series: CellSeries | None = None) -> Comparison:
    found = compare(side(98, base), side(99, candidate), {"smoke": series} if series else {})
    assert parse(Comparison, dump(found), "comparison") == found
    return found


def only(found: Comparison) -> CellChange:
    (change,) = found.cells
    return change


def test_flips_are_counted_and_held_against_chance() -> None:
    five = compared("GGGGGGG", "RRRRRGG")
    assert (five.regressions, five.recoveries, five.pairs) == (5, 0, 7)
    assert (five.p, five.distinguishable) == (0.0625, False)
    six = compared("GGGGGGG", "RRRRRRG")
    assert six.p == pytest.approx(0.03125)
    assert six.distinguishable


@pytest.mark.parametrize("lost", "ISCM")
def test_a_side_that_was_not_measured_is_no_regression(lost: str) -> None:
    for base, candidate in (("G", lost), (lost, "R"), (lost, "G"), ("R", lost)):
        found = compared(base, candidate)
        assert (found.regressions, found.recoveries, found.pairs) == (0, 0, 0)
        assert only(found).change == "unmeasured"
        assert (only(found).p, found.p, found.distinguishable) == (None, 1, False)


def test_every_kind_of_change_has_its_word() -> None:
    found = compared("GGRRI", "GRGRG")
    assert [change.change for change in found.cells] == [
        "still_passing",
        "regression",
        "recovery",
        "still_failing",
        "unmeasured",
    ]


def history(letters: str) -> CellSeries:
    """The series of the first cell; its last night is the base."""
    first = 99 - len(letters)
    nights = tuple(outcome(letter, first + n) for n, letter in enumerate(letters))[::-1]
    return make_series({cell(0): nights})


def test_a_cell_is_held_against_all_its_comparable_nights() -> None:
    found = only(compared("G", "R", history(GREEN)))
    assert found.p == pytest.approx(1 / 15)
    assert not found.distinguishable
    confirmed = only(compared("G", "B", history(GREEN)))
    assert confirmed.p == pytest.approx(1 / 680)
    assert confirmed.distinguishable
    contradicted = only(compared("G", "r", history(GREEN)))
    assert contradicted.p == pytest.approx(15 / 680)
    assert contradicted.verdict is not None
    assert contradicted.verdict.verdict == "flaky"
    assert not contradicted.distinguishable


def test_many_cells_make_a_small_p_worth_less() -> None:
    alone = only(compared("G", "R", history("G" * 30)))
    assert alone.p == pytest.approx(1 / 31)
    assert alone.distinguishable
    among = compared("G" * 60, "R" + "G" * 59, history("G" * 30)).cells[0]
    assert among.p == pytest.approx(1 / 31)
    assert among.q == pytest.approx(1)
    assert not among.distinguishable


def test_what_a_verdict_calls_broken_is_more_than_noise_among_many_too() -> None:
    found = compared("G" * 60, "B" + "G" * 59, history(GREEN)).cells[0]
    assert found.q is not None
    assert found.q > 0.05
    assert found.distinguishable


def test_a_recovery_is_held_against_the_failure_that_it_ends() -> None:
    found = only(compared("R", "G", history(GREEN + "R" * 5)))
    assert found.change == "recovery"
    assert found.p == pytest.approx(1 / 6)
    assert not found.distinguishable
    long = only(compared("R", "G", history("R" * 30)))
    assert long.distinguishable


def test_a_candidate_in_the_history_keeps_its_own_past() -> None:
    series = make_series({cell(0): outcomes(GREEN + "RRR")})
    base, candidate = side(13, "G"), side(16, "R")
    verdict = only(compare(base, candidate, {"smoke": series})).verdict
    assert verdict is not None
    assert (verdict.verdict, verdict.campaigns) == ("known_broken", 3)


def test_definitions_that_differ_or_are_unknown_are_refused() -> None:
    for base_hash, other in ((definition_hash("smoke"), "f" * 64), (None, None)):
        base = side(0, "GG", definition_hash=base_hash)
        candidate = side(1, "GR", definition_hash=other)
        with pytest.raises(UsageError, match="2 of the cells in both"):
            compare(base, candidate, {})
        found = compare(base, candidate, {}, allow_drift=True)
        assert found.drift
        assert [change.drift for change in found.cells] == [True, True]


def test_unusual_cost_and_time_are_told_in_both_directions() -> None:
    series = history(GREEN)
    dear = side(99, "G", cost_usd=0.5, duration_ms=60_000)
    slow = side(99, "G", cost_usd=0.02, duration_ms=600_000)
    idle = side(99, "G", cost_usd=0.02, duration_ms=1_000)
    unknown = side(99, "G", cost_usd=None, duration_ms=60_000)
    kinds = [
        (change.cost_anomaly, change.duration_anomaly)
        for candidate in (dear, slow, idle, unknown)
        for change in compare(side(98, "G"), candidate, {"smoke": series}).cells
    ]
    assert kinds == [("high", None), (None, "high"), (None, "low"), (None, None)]


def test_totals_never_count_the_unknown_as_free() -> None:
    found = compare(side(0, "GRI", cost_usd=None), side(1, "GRM"), {})
    assert (found.base.cost_at_least_usd, found.base.unpriced) == (0, 3)
    assert (found.candidate.cost_at_least_usd, found.candidate.unpriced) == (0.06, 0)
    assert (found.base.passed, found.base.failed, found.base.unmeasured) == (1, 1, 1)


@given(
    st.lists(
        st.tuples(st.sampled_from("".join(LETTERS)), st.sampled_from("".join(LETTERS))), max_size=20
    )
)
def test_every_cell_is_in_exactly_one_group_and_sides_swap(pairs: list[tuple[str, str]]) -> None:
    base, candidate = "".join(a for a, _ in pairs), "".join(b for _, b in pairs)
    found, back = compared(base, candidate), compared(candidate, base)
    assert len(found.cells) == len(pairs)
    assert (found.regressions, found.recoveries) == (back.recoveries, back.regressions)
    assert (found.p, found.pairs) == (back.p, back.pairs)
    for totals in (found.base, found.candidate):
        assert totals.passed + totals.failed + totals.unmeasured == len(pairs)
