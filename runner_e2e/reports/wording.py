"""What a campaign came to, in words. Every sink says it the same way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.insights import CellInsight, Insights
from runner_e2e.contracts.plan import Plan
from runner_e2e.contracts.result import Result
from runner_e2e.contracts.vocabulary import EXECUTED_STATES, FailureClass
from runner_e2e.wording import money, plural

SEVERITY: tuple[FailureClass, ...] = (
    "secret_leak",
    "cleanup_failure",
    "permanent_infrastructure",
    "transient_infrastructure",
    "candidate_failure",
    "provider_variance",
)
"""The worst first, as in the exit codes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A result and what is known of it beside the contract."""

    result: Result
    insight: CellInsight

    @property
    def unresolved(self) -> bool:
        """Nothing trustworthy came of it."""
        return self.insight.state not in EXECUTED_STATES

    @property
    def failed(self) -> bool:
        """It was executed and is not green."""
        return not self.unresolved and not self.result.green

    @property
    def failure(self) -> str:
        """Why it is not green, in one word: a class, or a state where there is no result."""
        if self.unresolved:
            return self.insight.state
        if self.result.status == "passed" or self.result.failure_class is None:
            return "cleanup_failure" if self.result.cleanup != "passed" else "candidate_failure"
        return self.result.failure_class

    @property
    def explanation(self) -> str:
        """What went wrong, as long as it was said."""
        if self.unresolved:
            return self.insight.reason or "nothing is known of it"
        if self.result.error:
            return self.result.error
        if self.result.cleanup != "passed":
            return f"the clean-up is {self.result.cleanup.replace('_', ' ')}"
        return "no reason was given"


def cells_of(campaign: Campaign, insights: Insights) -> tuple[Cell, ...]:
    """Pair results with insights; both stand in the order of the plan."""
    return tuple(
        Cell(result=result, insight=insight)
        for result, insight in zip(campaign.results, insights.cells, strict=True)
    )


def worst_first(cells: Iterable[Cell]) -> list[Cell]:
    """Sort failures by what they mean; equals stay in the order of the plan."""
    order: dict[str, int] = {name: index for index, name in enumerate(SEVERITY)}
    return sorted(cells, key=lambda cell: order.get(cell.failure, len(order)))


def outcome(campaign: Campaign, insights: Insights) -> str:
    """The whole campaign in one line."""
    counts = insights.counts
    if not counts.selected:
        return "Nothing was planned, so nothing is known"
    if campaign.passed == counts.selected:
        return f"All {counts.selected:,} passed" if counts.selected > 1 else "The one cell passed"
    parts = [
        f"{count:,} {word}"
        for count, word in (
            (counts.executed - campaign.passed, "failed"),
            (counts.unresolved, "unresolved"),
        )
        if count
    ]
    return f"{campaign.passed:,} of {counts.selected:,} passed, {', '.join(parts)}"


def resolution(insights: Insights) -> str:
    """How much of the plan is resolved and how much of the catalog was planned."""
    coverage = insights.coverage
    return (
        f"{coverage.cells_resolved:,} of {coverage.cells_selected:,} resolved, "
        f"coverage {coverage.suites_complete:,} of {plural(coverage.suites_total, 'suite')}"
    )


def cost(insights: Insights) -> str:
    """What it cost. A bound is called one, and nothing known is not called free."""
    known = insights.cost
    unpriced = plural(known.unpriced, "run") + " without a price"
    if known.unpriced and not known.at_least:
        return f"cost unknown ({unpriced})"
    if known.unpriced:
        return f"at least {money(known.at_least)} ({unpriced})"
    return money(known.at_least)


SQUARES = (("🟩", "passed"), ("🟨", "flaky"), ("🟥", "failed"), ("⬛", "unresolved"))


def strip(cells: Sequence[Cell], width: int = 24) -> str:
    """Draw cells as squares: one each, or the shares of ``width`` where there are more.

    Whatever there is any of gets at least one square, so that one failure in a thousand shows.
    """
    counts = [0, 0, 0, 0]
    for cell in cells:
        if cell.unresolved:
            counts[3] += 1
        elif cell.failed:
            counts[2] += 1
        else:
            counts[1 if cell.insight.flaky else 0] += 1
    if len(cells) > width:
        total = len(cells)
        shares = [max(1, count * width // total) if count else 0 for count in counts]
        shares[shares.index(max(shares))] += width - sum(shares)
        counts = shares
    return "".join(square * count for (square, _), count in zip(SQUARES, counts, strict=True))


def labels(plan: Plan) -> dict[str, str]:
    """Labels of the suites by id."""
    return {suite.id: suite.label for suite in plan.catalog.suites}
