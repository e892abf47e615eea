"""Figures over time, as small charts that a line of words goes with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from runner_e2e import wording
from runner_e2e.contracts.history import CellOutcome, CellSeries, HistoryIndex
from runner_e2e.site import text
from runner_e2e.site.standing import GREEN, nights_of
from runner_e2e.site.trail import kind_of_outcome

WIDTH = 240
HEIGHT = 48
_MAX_POINTS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One campaign, or one suite of it. ``definition`` tells whether neighbours compare.

    Milliseconds and US dollars. ``tokens`` and ``lease_ms`` are ``None`` for campaigns that
    history.json no longer holds.
    """

    definition: str
    green: int
    selected: int
    cost: float
    priced: bool
    """Whether the cost is whole, not only a lower bound."""
    run_ms: float
    tokens: int | None
    lease_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One figure: its words, and the SVG paths of lines, points and breaks."""

    name: str
    latest: str
    note: str
    line: str
    dots: str
    breaks: str


def _percent(share: float) -> str:
    # 99.97 % must not read as everything.
    return "100%" if share == 1 else f"{min(share * 100, 99.9):.1f}%"


_Measure = Callable[[Point], float | None]
_FIGURES: tuple[tuple[str, _Measure, Callable[[float], str]], ...] = (
    ("Pass rate", lambda point: point.green / point.selected, _percent),
    ("Cost", lambda point: point.cost, wording.money),
    ("Time of all cells", lambda point: point.run_ms, wording.duration),
    ("Tokens", lambda point: point.tokens, text.number),
    ("Lease time", lambda point: point.lease_ms, wording.duration),
)


def charts(points: Sequence[Point]) -> tuple[Chart, ...]:
    """Draw every figure that has a value above zero, oldest first; at most sixty points each."""
    drawn = []
    for name, measure, say in _FIGURES:
        measured = [(point, value) for point in points if (value := measure(point)) is not None]
        shown = [point for point, _ in measured[-_MAX_POINTS:]]
        values = [value for _, value in measured[-_MAX_POINTS:]]
        if not shown or (name != "Pass rate" and not any(values)):
            continue
        latest = say(values[-1])
        span = f"{say(min(values))} to {say(max(values))}"
        if name == "Cost":
            latest = wording.cost(values[-1], complete=shown[-1].priced)
        # A rate has a ceiling; every other figure is drawn from zero to its own greatest.
        line, dots = _paths(shown, values, 1.0 if name == "Pass rate" else max(values))
        drawn.append(
            Chart(
                name=name,
                latest=latest,
                note=f"{span} in {wording.plural(len(shown), 'run')}",
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


def suite_points(series: CellSeries, history: HistoryIndex) -> dict[str, Point]:
    """Every campaign that ran the whole suite, oldest first, by campaign id.

    A campaign counts as whole when no other one of the same definition ran more cells: the suite's
    size of back then is not on record.
    """
    ran: dict[str, list[CellOutcome]] = {each: [] for each, _ in nights_of(series)}
    for outcomes in series.cells.values():
        for outcome in outcomes:
            if outcome.campaign_id in ran:
                ran[outcome.campaign_id].append(outcome)
    size: dict[str, int] = {}
    for found in ran.values():
        if found:
            name = _definition(found)
            size[name] = max(size.get(name, 0), len(found))
    billing = {
        campaign.campaign_id: suite.billing
        for campaign in history.campaigns
        for suite in campaign.suites
        if suite.suite_id == series.suite_id
    }
    points = {}
    for campaign_id, found in ran.items():
        if not found or len(found) < size[_definition(found)]:
            continue
        bill = billing.get(campaign_id)
        points[campaign_id] = Point(
            definition=_definition(found),
            green=sum(kind_of_outcome(outcome) in GREEN for outcome in found),
            selected=len(found),
            cost=sum(outcome.cost_usd or 0 for outcome in found),
            priced=all(o.cost_usd is not None for o in found),
            run_ms=sum(outcome.duration_ms for outcome in found),
            tokens=bill.llm.total_tokens if bill else None,
            lease_ms=bill.lease_duration_ms if bill else None,
        )
    return points


def _definition(outcomes: Sequence[CellOutcome]) -> str:
    return " ".join(sorted({outcome.definition_hash or "" for outcome in outcomes}))


def overall(suites: Mapping[str, Mapping[str, Point]]) -> list[Point]:
    """The campaigns that ran every suite whole, oldest first, each as the sum of its suites."""
    if not suites:
        return []
    first, *others = (suites[suite_id] for suite_id in sorted(suites))
    shared = [campaign_id for campaign_id in first if all(campaign_id in o for o in others)]
    return [_sum([points[campaign_id] for points in (first, *others)]) for campaign_id in shared]


def _sum(parts: Sequence[Point]) -> Point:
    tokens = [part.tokens for part in parts]
    leases = [part.lease_ms for part in parts]
    return Point(
        definition=" ".join(part.definition for part in parts),
        green=sum(part.green for part in parts),
        selected=sum(part.selected for part in parts),
        cost=sum(part.cost for part in parts),
        priced=all(part.priced for part in parts),
        run_ms=sum(part.run_ms for part in parts),
        tokens=None if None in tokens else sum(each or 0 for each in tokens),
        lease_ms=None if None in leases else sum(each or 0 for each in leases),
    )
