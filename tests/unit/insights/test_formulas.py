"""The formulas against hand-checked values and against scipy.

scipy takes 150 MB and is needed for nothing else, so it is not installed for the tests:
``reference.json`` beside this file was written with the version that it names, and every value in
it is compared.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.insights.formulas import (
    LEAST_SPREAD,
    anomaly,
    benjamini_hochberg,
    chance_of_failing,
    fisher,
    mcnemar,
    median,
    modified_z,
    pass_all,
    pass_at,
    percentile,
    wilson,
)

REFERENCE = json.loads((Path(__file__).parent / "reference.json").read_text())
NIGHTS = [0.42, 0.40, 0.44, 0.41, 0.39, 0.43, 0.41, 0.40, 1.9, 0.42]


def rows(name: str) -> Iterator[tuple[Any, ...]]:
    found = REFERENCE[name]
    assert len(found) >= 4
    return (tuple(row) for row in found)


@pytest.mark.parametrize(
    ("passed", "total", "low", "high"),
    [
        (1, 1, 0.207, 1),
        (0, 1, 0, 0.793),
        (3, 3, 0.439, 1),
        (5, 5, 0.566, 1),
        (6, 7, 0.487, 0.974),
        (7, 7, 0.646, 1),
        (13, 14, 0.685, 0.987),
        (14, 14, 0.785, 1),
        (30, 30, 0.886, 1),
        (0, 0, 0, 1),
    ],
)
def test_the_interval_of_wilson_is_that_of_the_table(
    passed: int, total: int, low: float, high: float
) -> None:
    interval = wilson(passed, total)
    assert interval.low == pytest.approx(low, abs=5e-4)
    assert interval.high == pytest.approx(high, abs=5e-4)


@pytest.mark.parametrize(
    ("passed", "total", "times", "p"),
    [
        (14, 14, 1, 0.067),
        (14, 14, 2, 0.008),
        (13, 14, 2, 0.025),
        (7, 7, 2, 0.028),
        (5, 5, 2, 0.048),
        (30, 30, 1, 0.032),
        (10, 14, 3, 0.051),
    ],
)
def test_fishers_p_of_a_newly_red_cell_is_that_of_the_table(
    passed: int, total: int, times: int, p: float
) -> None:
    assert fisher(passed, total, 0, times) == pytest.approx(p, abs=5e-4)


@pytest.mark.parametrize(
    ("passed", "chances"),
    [(14, (0.0625, 0.0074, 0.0012)), (10, (0.3125, 0.110, 0.043))],
)
def test_the_predictive_chance_is_that_of_the_table(
    passed: int, chances: tuple[float, ...]
) -> None:
    for times, chance in enumerate(chances, 1):
        assert chance_of_failing(passed, 14, times) == pytest.approx(chance, abs=5e-4)


@pytest.mark.parametrize(
    ("worse", "better", "p"),
    [(6, 0, 0.031), (5, 0, 0.0625), (5, 1, 0.219), (8, 2, 0.109), (0, 0, 1), (3, 3, 1)],
)
def test_mcnemars_p_is_that_of_the_table(worse: int, better: int, p: float) -> None:
    assert mcnemar(worse, better) == pytest.approx(p, abs=5e-4)
    assert mcnemar(better, worse) == mcnemar(worse, better)


def test_every_formula_agrees_with_scipy() -> None:
    for passed, total, low, high in rows("wilson"):
        interval = wilson(passed, total)
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-12)
    for passed, total, then_passed, then_total, p in rows("fisher"):
        assert fisher(passed, total, then_passed, then_total) == pytest.approx(p, rel=1e-9)
    for worse, better, p in rows("mcnemar"):
        assert mcnemar(worse, better) == pytest.approx(p, rel=1e-9)
    for p_values, adjusted in rows("benjaminiHochberg"):
        assert benjamini_hochberg(p_values) == pytest.approx(adjusted, rel=1e-12)
    for passed, total, times, chance in rows("chanceOfFailing"):
        assert chance_of_failing(passed, total, times) == pytest.approx(chance, rel=1e-9)
    for k, passed, total, one, every in rows("passOfK"):
        assert pass_at(k, passed, total) == pytest.approx(one, abs=1e-12)
        assert pass_all(k, passed, total) == pytest.approx(every, abs=1e-12)
    for value, history, z, deviation in rows("modifiedZ"):
        assert deviation > LEAST_SPREAD
        assert modified_z(value, history) == pytest.approx(z, rel=1e-9)


def test_pass_of_k_is_not_guessed_from_fewer_than_k_runs() -> None:
    assert pass_at(3, 1, 1) is None
    assert pass_all(3, 2, 2) is None
    assert pass_all(2, 3, 3) == 1


def test_one_outlier_in_a_history_does_not_hide_the_next() -> None:
    assert modified_z(0.80, NIGHTS) == pytest.approx(8.9, abs=0.05)
    found = anomaly(0.80, NIGHTS, least_change=0.05)
    assert found is not None
    assert found.kind == "high"
    assert found.median == pytest.approx(0.415)


def test_one_cent_more_than_a_constant_history_is_no_news() -> None:
    assert modified_z(0.41, [0.40] * 10) == pytest.approx(0.333, abs=1e-3)
    assert anomaly(0.41, [0.40] * 10, least_change=0.05) is None


@pytest.mark.parametrize(
    ("value", "history", "kind"),
    [
        (0.80, [0.40] * 4, None),  # four nights are no history
        (0.59, [0.40] * 9, None),  # less than half as much again
        (0.04, [0.02] * 9, None),  # less than five cents
        (0.80, [0.40] * 9, "high"),
        (0.0, [0.40] * 9, "low"),  # an agent that did nothing, or usage that got lost
        (0.0, [0.0] * 9, None),
        (0.80, [0.0] * 9, "high"),
        (math.nan, [0.40] * 9, None),
        (0.80, [math.nan, math.inf] * 9, None),
        (0.80, [], None),
    ],
)
def test_an_anomaly_is_far_by_deviation_by_ratio_and_by_amount(
    value: float, history: list[float], kind: str | None
) -> None:
    found = anomaly(value, history, least_change=0.05)
    assert (found.kind if found else None) == kind


def test_percentiles_are_values_that_were_seen() -> None:
    assert percentile(0.9, [1.0]) == 1.0
    assert percentile(0.9, list(range(1, 11))) == 9
    assert percentile(0.9, [3.0, 1.0, 2.0]) == 3.0
    assert percentile(0.9, []) is None
    assert median([]) is None
    assert median([math.nan, 4.0, 2.0]) == 3.0


@given(st.integers(0, 300), st.integers(0, 300))
def test_an_interval_holds_its_share_and_narrows_with_more_of_the_same(
    passed: int, failed: int
) -> None:
    total = passed + failed
    interval = wilson(passed, total)
    assert 0 <= interval.low <= interval.high <= 1
    if total:
        assert interval.low <= passed / total <= interval.high
        double = wilson(2 * passed, 2 * total)
        assert double.high - double.low < interval.high - interval.low


@given(st.lists(st.floats(0, 1), max_size=80))
def test_adjusting_never_makes_a_p_smaller_nor_changes_the_order(p_values: list[float]) -> None:
    adjusted = benjamini_hochberg(p_values)
    assert all(0 <= p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
    by_p = [q for _, q in sorted(zip(p_values, adjusted, strict=True))]
    assert by_p == sorted(by_p)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 5))
def test_a_cell_that_failed_more_is_likelier_to_fail_again(
    passed: int, failed: int, times: int
) -> None:
    total = passed + failed
    assert chance_of_failing(passed, total, times + 1) < chance_of_failing(passed, total, times)
    assert chance_of_failing(passed, total, times) <= chance_of_failing(passed, total + 1, times)
