"""The statistics: plain formulas for few trials, each with its source.

Nothing here knows of campaigns. Every function has an outcome for zero, empty and constant input.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Z_95 = 1.959963984540054
"""The standard normal quantile of a two-sided interval of 95%."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Where a share lies with 95% confidence, from 0 to 1."""

    low: float
    high: float


def wilson(passed: int, total: int) -> Interval:
    """The score interval of ``passed`` of ``total`` (Wilson 1927). Of nothing: from 0 to 1.

    Unlike the interval of Wald it has a width where all of a few passed, and keeps its 95% there.
    """
    if total == 0:
        return Interval(low=0.0, high=1.0)
    share, square = passed / total, Z_95 * Z_95
    scale = 1 + square / total
    centre = (share + square / (2 * total)) / scale
    spread = share * (1 - share) / total + square / (4 * total * total)
    half = Z_95 * math.sqrt(spread) / scale
    # Rounding would put the ends of 0 and of all a hair inside.
    return Interval(
        low=0.0 if passed == 0 else max(0.0, centre - half),
        high=1.0 if passed == total else min(1.0, centre + half),
    )


def fisher(passed: int, total: int, then_passed: int, then_total: int) -> float:
    """One-sided exact p that the second sample passes no more than it did (Fisher 1934).

    The chance of ``then_passed`` or fewer among ``then_total``, given all passes of both samples,
    where both come from one rate. 1 where either sample is empty.
    """
    passes, everything = passed + then_passed, total + then_total
    ways = math.comb(everything, then_total)
    fewer = sum(
        math.comb(passes, k) * math.comb(everything - passes, then_total - k)
        for k in range(then_passed + 1)
    )
    return fewer / ways


def mcnemar(worse: int, better: int) -> float:
    """Two-sided exact p of the cells that flipped between two campaigns (McNemar 1947).

    Six to none is the least that gets below .05. 1 where nothing flipped.
    """
    flips, rarer = worse + better, min(worse, better)
    tail = sum(math.comb(flips, k) for k in range(rarer + 1))
    return min(1.0, 2 * tail / (1 << flips))


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """Each p adjusted for how many were looked at (Benjamini and Hochberg 1995), in their order.

    Calling all below q findings, about a share q of the findings is wrong.
    """
    count = len(p_values)
    adjusted = [1.0] * count
    least = 1.0
    order = sorted(range(count), key=p_values.__getitem__, reverse=True)
    for position, index in enumerate(order):
        least = min(least, p_values[index] * (count / (count - position)))
        adjusted[index] = least
    return tuple(adjusted)


def chance_of_failing(passed: int, total: int, times: int) -> float:
    """How likely a cell that passed ``passed`` of ``total`` fails the next ``times`` all by itself.

    The beta-binomial predictive with a uniform prior: what one red night is worth, said honestly.
    """
    chance = 1.0
    for step in range(times):
        chance *= (total - passed + 1 + step) / (total + 2 + step)
    return chance


def pass_at(k: int, passed: int, total: int) -> float | None:
    """The chance that at least one of ``k`` passes (Chen 2021, unbiased); ``None`` below k runs."""
    if total < k:
        return None
    return 1 - math.comb(total - passed, k) / math.comb(total, k)


def pass_all(k: int, passed: int, total: int) -> float | None:
    """The chance that all of ``k`` pass (pass^k, unbiased); ``None`` below ``k`` runs."""
    if total < k:
        return None
    return math.comb(passed, k) / math.comb(total, k)


def finite(values: Sequence[float]) -> list[float]:
    """The values that are numbers: what is unknown takes no part."""
    return [value for value in values if math.isfinite(value)]


def median(values: Sequence[float]) -> float | None:
    """The middle of ``values``; of none, ``None``."""
    known = finite(values)
    return statistics.median(known) if known else None


def percentile(share: float, values: Sequence[float]) -> float | None:
    """The least value that ``share`` of the values do not exceed; never one that was not seen."""
    known = sorted(finite(values))
    return known[max(0, math.ceil(share * len(known)) - 1)] if known else None


LEAST_HISTORY = 5
LEAST_Z = 3.5
LEAST_RATIO = 1.5
LEAST_SPREAD = 0.05
"""On the log scale. The median deviation of a constant history is 0, and then one cent is news."""
MAD_SCALE = 0.6745
"""The median deviation of a standard normal (Iglewicz and Hoaglin 1993)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anomaly:
    """A value far outside of its history."""

    kind: Literal["high", "low"]
    median: float
    z: float
    """How many robust deviations away, on the log scale."""


def modified_z(value: float, history: Sequence[float]) -> float:
    """How many median deviations ``value`` lies from the median, on the log scale, floored.

    All of them positive. Mean and standard deviation would miss what they are meant to find: one
    outlier in the history hides the next.
    """
    logs = [math.log(past) for past in history]
    middle = statistics.median(logs)
    deviation = statistics.median(abs(each - middle) for each in logs)
    return MAD_SCALE * (math.log(value) - middle) / max(deviation, LEAST_SPREAD)


def anomaly(value: float, history: Sequence[float], *, least_change: float) -> Anomaly | None:
    """Tell whether ``value`` is out of the ordinary.

    It must be far by deviations, by ratio and by ``least_change`` (in its own unit), and the
    history long enough. A *low* one matters too: an agent that did nothing is cheap.
    """
    known = finite(history)
    if not math.isfinite(value) or len(known) < LEAST_HISTORY:
        return None
    middle = statistics.median(known)
    # A logarithm needs something above zero, and nobody tells a tenth of the least change apart.
    least = least_change / 10
    value, middle = max(value, least), max(middle, least)
    z = modified_z(value, [max(past, least) for past in known])
    ratio = max(value / middle, middle / value)
    if abs(z) <= LEAST_Z or ratio < LEAST_RATIO or abs(value - middle) < least_change:
        return None
    return Anomaly(kind="high" if z > 0 else "low", median=statistics.median(known), z=z)
