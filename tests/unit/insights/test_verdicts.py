"""What history makes of one cell, told by nights: see ``tests/support/nights.py`` for letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.contracts.base import dump, parse
from runner_e2e.contracts.judgement import CellVerdict
from runner_e2e.failures import POLICY
from runner_e2e.insights import cell_verdicts, evidence_words, verdict_of
from runner_e2e.insights.trials import MEASURED_CLASSES
from tests.support.documents import definition_hash
from tests.support.nights import (
    CELL,
    LETTERS,
    campaigns,
    make_series,
    night_id,
    outcome,
    outcomes,
    sha_of,
)

GREEN = "G" * 14


def judged(letters: str) -> CellVerdict:
    return verdict_of(outcomes(letters), campaigns(len(letters)))


def test_measured_classes_are_those_of_the_one_policy_table() -> None:
    assert {name for name, policy in POLICY.items() if policy.measured} == MEASURED_CLASSES


@pytest.mark.parametrize(
    ("letters", "verdict"),
    [
        ("G", "passed"),
        (GREEN, "passed"),
        ("R", "new_failure"),
        (GREEN + "R", "new_failure"),
        (GREEN + "T", "new_failure"),
        (GREEN + "V", "new_failure"),
        (GREEN + "B", "broken"),
        ("B", "broken"),  # the first night can be a confirmed one
        (GREEN + "r", "flaky"),
        (GREEN + "L", "flaky"),
        (GREEN + "RR", "broken"),  # noise makes that once in 136 times
        ("GGG" + "RR", "new_failure"),  # three green nights are not enough to say so
        ("GRGRGGRGGRGGGG" + "RR", "new_failure"),  # such a cell does that
        ("RRR", "known_broken"),
        (GREEN + "RRR", "known_broken"),
        (GREEN + "BBB", "known_broken"),
        (GREEN + "RrR", "new_failure"),  # a contradicted red ends the row
        (GREEN + "RRG", "recovered"),
        (GREEN + "BG", "recovered"),
        (GREEN + "RG", "recovered"),
        ("RRRG", "recovered"),
        ("GGGRGGGRG", "flaky"),  # it comes and goes
        ("GGGRGGGBG", "recovered"),  # that time it was established
        (GREEN + "RGG", "passed"),
        (GREEN + "rG", "passed"),
        ("M", "unmeasured"),
        ("MMMM", "unmeasured"),
        (GREEN + "I", "unmeasured"),
        (GREEN + "S", "unmeasured"),
        (GREEN + "C", "unmeasured"),
        (GREEN + "RMIR", "broken"),  # infrastructure in between neither adds nor breaks the row
        (GREEN + "RIIR" + "I", "unmeasured"),
    ],
)
def test_the_verdict_of_a_history(letters: str, verdict: str) -> None:
    assert judged(letters).verdict == verdict


def test_a_new_failure_says_since_when_and_which_commits_can_have_done_it() -> None:
    found = judged(GREEN + "RR")
    assert found.since is not None
    assert found.last_other is not None
    assert (found.since.campaign_id, found.since.sha) == (night_id(14), sha_of(14))
    assert (found.last_other.campaign_id, found.last_other.sha) == (night_id(13), sha_of(13))
    assert found.campaigns == 2
    assert found.chance == pytest.approx(0.0074, abs=5e-5)
    assert (found.earlier.passed, found.earlier.measured) == (14, 14)
    assert found.earlier.low == pytest.approx(0.785, abs=5e-4)
    assert (found.recent.passed, found.recent.measured) == (12, 14)
    assert (found.month.passed, found.month.measured) == (14, 16)
    assert found.before == "new_failure"


def test_the_range_reaches_back_to_the_last_night_that_was_green() -> None:
    found = judged("GGGrIR")
    assert found.since is not None
    assert found.last_other is not None
    assert found.since.campaign_id == night_id(5)
    assert found.last_other.campaign_id == night_id(2)


def test_a_recovery_names_the_night_and_the_last_red_one() -> None:
    found = judged(GREEN + "RRRMG")
    assert found.since is not None
    assert found.last_other is not None
    assert found.since.campaign_id == night_id(18)
    assert found.last_other.campaign_id == night_id(16)
    assert found.before == "known_broken"
    assert found.chance is None


def test_infrastructure_is_in_no_rate() -> None:
    found = judged("GIGMGSGCG")
    assert (found.recent.passed, found.recent.measured, found.unmeasured) == (5, 5, 4)


def test_repeats_are_in_no_rate_since_only_red_cells_have_them() -> None:
    found = judged("GGrGB")
    assert (found.recent.passed, found.recent.measured, found.recent.flaky) == (3, 5, 1)
    assert (found.repeats_passed, found.repeats_failed) == (0, 2)
    assert found.chance == pytest.approx(judged("GGRG" + "RRR").chance or 0)


def test_an_unmeasured_night_keeps_what_the_cell_was() -> None:
    found = judged(GREEN + "RRRI")
    assert (found.verdict, found.before) == ("unmeasured", "known_broken")
    assert found.since is not None
    assert found.since.campaign_id == night_id(14)
    assert "known broken when it was last measured" in evidence_words(found)


def test_a_cell_that_was_never_measured_claims_nothing() -> None:
    found = judged("MI")
    assert (found.before, found.since, found.chance, found.campaigns) == (None, None, None, 0)
    assert (found.recent.measured, found.recent.low, found.recent.high) == (0, 0, 1)
    assert evidence_words(found) == "never measured"


@pytest.mark.parametrize(
    ("change", "window"),
    [
        ({"definition_hash": definition_hash("smoke", 2)}, "definition"),
        ({"definition_hash": None}, "definition"),
        ({"model": "scripted-2"}, "model"),
        ({"image": "sha256:2"}, "image"),
    ],
)
def test_a_new_definition_model_or_image_begins_a_new_window(
    change: dict[str, str | None], window: str
) -> None:
    old = outcomes(GREEN)
    new = tuple(outcome(letter, 14 + night, **change) for night, letter in enumerate("RR"))[::-1]
    found = verdict_of(new + old, campaigns(16))
    assert (found.verdict, found.window) == ("new_failure", window)
    assert (found.recent.measured, found.earlier.measured) == (2, 0)
    assert found.last_other is None
    first = verdict_of(new[1:] + old, campaigns(16))
    assert (first.verdict, first.before) == ("new_failure", "passed")
    assert "counted since" in evidence_words(first)


def test_infrastructure_of_another_image_begins_no_window() -> None:
    lost = (outcome("M", 14, image="sha256:2"), *outcomes(GREEN))
    found = verdict_of((outcome("R", 15), *lost), campaigns(16))
    assert found.window is None
    assert found.earlier.measured == 14


def test_a_campaign_of_the_past_is_judged_by_what_was_known_then() -> None:
    series = make_series({CELL: outcomes(GREEN + "RRRG")})
    then = cell_verdicts(series, night_id(14))[CELL]
    assert (then.verdict, then.tonight.campaign_id) == ("new_failure", night_id(14))
    assert cell_verdicts(series)[CELL].verdict == "recovered"
    assert cell_verdicts(series, "night-999") == {}
    assert cell_verdicts(make_series({CELL: ()})) == {}


def test_the_words_of_a_red_cell_say_how_sure_it_is() -> None:
    assert evidence_words(judged(GREEN + "R")) == (
        "red once; before that 14 of 14 green (78 to 100%); noise alone does that 6.2% of the time"
    )
    assert evidence_words(judged(GREEN + "B")) == (
        "red once, 2 repeats failed too; before that 14 of 14 green (78 to 100%); "
        "noise alone does that 0.1% of the time"
    )
    assert evidence_words(judged("RRR")) == "red 3 times in a row; never green so far"
    assert evidence_words(judged(GREEN + "r")) == (
        "red, then 1 of 2 repeats passed; 13 of 14 green (69 to 99%)"
    )


@given(st.text(alphabet="".join(LETTERS), min_size=1, max_size=40))
def test_every_history_has_a_verdict_that_can_be_kept_and_said(letters: str) -> None:
    found = judged(letters)
    assert parse(CellVerdict, dump(found), "verdict") == found
    assert evidence_words(found)
    newest = letters[-1]
    expected = {
        "G": {"passed", "recovered", "flaky"},
        "L": {"flaky"},
        "r": {"flaky"},
        "R": {"new_failure", "broken", "known_broken"},
        "B": {"broken", "known_broken"},
    }
    allowed = expected.get(newest.replace("T", "R").replace("V", "R"), {"unmeasured"})
    assert found.verdict in allowed
    measured = sum(letter not in "ISCM" for letter in letters)
    assert found.month.measured == min(30, measured)


@given(
    st.text(alphabet="GRLBr", min_size=1, max_size=20),
    st.integers(0, 20),
    st.sampled_from("ISCM"),
)
def test_unmeasured_nights_change_no_verdict_of_a_measured_one(
    letters: str, place: int, lost: str
) -> None:
    cut = min(place, len(letters) - 1)
    with_lost = letters[:cut] + lost + letters[cut:]
    assert judged(with_lost).verdict == judged(letters).verdict
    assert judged(with_lost).recent == judged(letters).recent
