"""What a cell is expected to take and to cost."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.contracts.estimates import Estimate
from runner_e2e.contracts.history import CellOutcome
from runner_e2e.insights import estimate_cell, estimate_executions
from tests.support.catalogs import catalog_tree, load_tree
from tests.support.documents import definition_hash
from tests.support.nights import CELL, make_series, outcome, outcomes

HASH = definition_hash("smoke")


def estimate(*history: CellOutcome) -> Estimate | None:
    return estimate_cell(history, definition_hash=HASH, model="scripted-1")


def night(letter: str, number: int, cost: float | None, seconds: int) -> CellOutcome:
    return outcome(letter, number, cost_usd=cost, duration_ms=1000 * seconds)


def test_an_estimate_is_the_median_and_the_90th_percentile() -> None:
    found = estimate(*(night("G", n, 0.01 * (n + 1), n + 1) for n in range(10)))
    assert found is not None
    assert found.runs == 10
    assert (found.duration_ms_median, found.duration_ms_p90) == (5500, 9000)
    assert found.cost_usd_p90 == 0.09


def test_a_failure_was_paid_for_and_counts() -> None:
    found = estimate(night("R", 1, 0.5, 10), night("G", 0, 0.1, 10))
    assert found is not None
    assert found.cost_usd_median == 0.3


def test_infrastructure_says_nothing_of_cost_and_time() -> None:
    found = estimate(night("I", 1, 0.0, 0), night("G", 0, 0.1, 10))
    assert found is not None
    assert (found.runs, found.cost_usd_median) == (1, 0.1)
    assert estimate(*outcomes("IMSC")) is None
    assert estimate() is None


def test_unknown_cost_stays_unknown() -> None:
    found = estimate(night("G", 0, None, 10))
    assert found is not None
    assert (found.runs, found.cost_usd_median, found.cost_usd_p90) == (1, None, None)
    assert found.duration_ms_median == 10_000


def test_another_model_has_another_price() -> None:
    assert estimate(*outcomes("GGG", model="scripted-2")) is None


def test_an_older_definition_is_a_guess_until_the_present_one_has_run() -> None:
    old = outcome("G", 0, definition_hash=definition_hash("smoke", 2), cost_usd=5.0)
    guess = estimate(old)
    assert guess is not None
    assert guess.cost_usd_median == 5.0
    known = estimate(night("G", 1, 0.1, 10), old)
    assert known is not None
    assert (known.runs, known.cost_usd_median) == (1, 0.1)


def test_only_the_last_fourteen_count() -> None:
    dear = [night("G", n, 9.0, 900) for n in range(20)]
    cheap = [night("G", 20 + n, 0.1, 10) for n in range(14)]
    found = estimate(*reversed(cheap), *reversed(dear))
    assert found is not None
    assert (found.runs, found.cost_usd_p90) == (14, 0.1)


def test_executions_are_found_by_suite_and_id_and_unknown_ones_left_out(tmp_path: Path) -> None:
    catalog = load_tree(tmp_path, catalog_tree())
    (execution,) = catalog.executions
    series = make_series({CELL: outcomes("GG"), "smoke.a.local.b": outcomes("GG")})
    assert set(estimate_executions([execution], {"smoke": series})) == {CELL}
    assert estimate_executions([execution], {}) == {}


@given(st.text(alphabet="GRIMLBr", max_size=30))
def test_every_history_has_an_estimate_or_is_unknown(letters: str) -> None:
    found = estimate(*outcomes(letters))
    measured = sum(letter not in "IM" for letter in letters)
    assert (found.runs if found else 0) == min(14, measured)
