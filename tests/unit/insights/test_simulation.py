"""How often a verdict is wrong, by simulation: a small one always, a big one in ``make soak``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.simulation import NIGHTS, RELIABILITIES, simulate, table

DOCS = Path(__file__).parents[3] / "docs" / "statistics.md"


def test_confirmed_verdicts_find_every_break_at_once_and_hardly_ever_invent_one() -> None:
    figures = simulate(0.95, confirm=2, nights=150)
    assert figures.breaks > 5
    assert figures.found_by(1) == 1
    assert figures.false_per_night <= 0.04
    assert figures.flaky > 100


def test_without_repeats_a_break_is_called_one_by_its_third_night() -> None:
    figures = simulate(0.98, confirm=0, nights=150)
    assert figures.found_by(1) == 0
    assert figures.found_by(3) == 1


@pytest.mark.soak
def test_four_thousand_nights_keep_the_promise_and_the_page_says_what_they_gave() -> None:
    rows = [
        simulate(reliability, confirm=confirm, nights=NIGHTS)
        for confirm in (2, 1, 0)
        for reliability in RELIABILITIES
    ]
    text = table(iter(rows))
    confirmed = {row.reliability: row for row in rows if row.confirm == 2}
    assert confirmed[0.95].false_per_night <= 0.01
    assert confirmed[0.98].false_per_night <= 0.01
    assert all(row.found_by(1) == 1 for row in confirmed.values())
    assert text in DOCS.read_text()
