"""Figures over time, as small charts that a line of words goes with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from runner_e2e.contracts.billing import AggregateBillingSummary
from runner_e2e.contracts.history import HistoryCampaign, HistoryIndex
from runner_e2e.site import text

WIDTH = 240
HEIGHT = 48
_MAX_POINTS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One campaign, or one suite of it. ``definition`` tells whether neighbours compare."""

    definition: str
    passed: int
    selected: int
    billing: AggregateBillingSummary

    @property
    def priced(self) -> bool:
        """Whether the cost is whole, not only a lower bound."""
        return self.billing.tests_with_complete_billing == self.billing.test_count


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One figure: its words, and the SVG paths of lines, points and breaks."""

    name: str
    latest: str
    note: str
    line: str
    dots: str
    breaks: str


Measure = Callable[[Point], float]


def _percent(share: float) -> str:
    # 99.97 % must not read as everything.
    return "100%" if share == 1 else f"{min(share * 100, 99.9):.1f}%"


_FIGURES: tuple[tuple[str, Measure, Callable[[float], str]], ...] = (
    ("Pass rate", lambda point: point.passed / point.selected, _percent),
    ("Cost", lambda point: point.billing.observed_and_estimated_cost_usd, text.money),
    ("Tokens", lambda point: point.billing.llm.total_tokens, text.number),
    ("Agent time", lambda point: point.billing.agent_run_duration_ms, text.duration),
    ("Lease time", lambda point: point.billing.lease_duration_ms, text.duration),
)


def charts(points: Sequence[Point]) -> tuple[Chart, ...]:
    """Draw every figure of ``points``, oldest first; only the newest sixty are drawn."""
    shown = [point for point in points if point.selected][-_MAX_POINTS:]
    if not shown:
        return ()
    drawn = []
    for name, measure, say in _FIGURES:
        values = [measure(point) for point in shown]
        latest = say(values[-1])
        if name == "Cost" and not shown[-1].priced:
            latest = text.cost(values[-1], complete=False)
        # A rate has a ceiling; every other figure is drawn from zero to its own greatest.
        top = 1.0 if name == "Pass rate" else max(values) or 1.0
        line, dots = _paths(shown, values, top)
        drawn.append(
            Chart(
                name=name,
                latest=latest,
                note=f"from {say(min(values))} to {say(max(values))}",
                line=line,
                dots=dots,
                breaks=_breaks(shown),
            )
        )
    return tuple(drawn)


def _x(index: int, count: int) -> float:
    return round(4 + (WIDTH - 8) * (index / (count - 1) if count > 1 else 0.5), 1)


def _paths(points: Sequence[Point], values: Sequence[float], top: float) -> tuple[str, str]:
    """The line, lifted where the definition changes, and a dot for each point."""
    line, dots = [], []
    for index, (point, value) in enumerate(zip(points, values, strict=True)):
        at = f"{_x(index, len(points))} {round(HEIGHT - 4 - (HEIGHT - 8) * value / top, 1)}"
        new = index == 0 or points[index - 1].definition != point.definition
        line.append(f"{'M' if new else 'L'}{at}")
        dots.append(f"M{at}h0")
    return "".join(line), "".join(dots)


def _breaks(points: Sequence[Point]) -> str:
    """An upright between two points that do not compare."""
    return "".join(
        f"M{round((_x(index - 1, len(points)) + _x(index, len(points))) / 2, 1)} 0v{HEIGHT}"
        for index in range(1, len(points))
        if points[index].definition != points[index - 1].definition
    )


def definitions(points: Iterable[Point]) -> int:
    """How many definitions the points were measured with."""
    return len({point.definition for point in points})


def overall(history: HistoryIndex) -> list[Point]:
    """Every campaign that covered the whole catalog, oldest first."""
    return [
        Point(
            definition=_definition(campaign),
            passed=campaign.passed,
            selected=campaign.selected,
            billing=campaign.billing,
        )
        for campaign in reversed(history.campaigns)
        if campaign.complete
    ]


def _definition(campaign: HistoryCampaign) -> str:
    pairs = sorted(f"{suite.suite_id}:{suite.suite_definition_hash}" for suite in campaign.suites)
    return " ".join(pairs)


def of_suite(history: HistoryIndex, suite_id: str) -> list[Point]:
    """Every campaign that ran the whole suite, oldest first."""
    return [
        Point(
            definition=suite.suite_definition_hash,
            passed=suite.passed,
            selected=suite.selected,
            billing=suite.billing,
        )
        for campaign in reversed(history.campaigns)
        for suite in campaign.suites
        if suite.suite_id == suite_id and suite.complete
    ]
