"""Where a cell stands after its last nights: what it is now, and since when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runner_e2e import wording
from runner_e2e.contracts.history import CellCampaign, CellOutcome, CellSeries
from runner_e2e.contracts.vocabulary import CellState
from runner_e2e.site.trail import Trail, kind_of_outcome, trail
from runner_e2e.site.words import CLASS_WORDS, KINDS, STATE_WORDS, Kind

GREEN: frozenset[Kind] = frozenset({"passed", "flaky"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A cell's newest outcome and how long it has not been green."""

    id: str
    suite_id: str
    kind: Kind
    word: str
    blame: str | None
    code: str | None
    nights: int
    """How many of the newest outcomes were not green; 0 for a green cell."""
    since: str | None
    """The campaign in which that began."""
    last_green: str | None
    """The newest campaign in which it was green, of those that history still has."""
    green: int
    total: int
    trail: Trail


def word_of(kind: Kind, state: CellState) -> str:
    """An outcome in a word, as exact as it is known."""
    return KINDS[kind] if kind in ("flaky", "unclean") else STATE_WORDS[state]


def nights_of(series: CellSeries) -> list[tuple[str, CellCampaign]]:
    """The campaigns of a suite, oldest first."""
    return sorted(series.campaigns.items(), key=lambda item: (item[1].generated_at, item[0]))


def _on_nights(
    outcomes: Sequence[CellOutcome], nights: Sequence[str], last: int
) -> list[Kind | None]:
    by_campaign = {outcome.campaign_id: kind_of_outcome(outcome) for outcome in outcomes}
    return [by_campaign.get(campaign_id) for campaign_id in nights[-last:]]


def standing(
    series: CellSeries, execution_id: str, nights: Sequence[str], *, last: int
) -> Standing | None:
    """Read a cell's outcomes, newest first; ``None`` where it has none.

    ``nights`` are the suite's campaigns, oldest first; the trail shows the ``last`` of them, so
    that the trails of a suite stand under one another night by night.
    """
    outcomes = series.cells.get(execution_id, ())
    if not outcomes:
        return None
    kinds = [kind_of_outcome(outcome) for outcome in outcomes]
    newest = outcomes[0]
    red = next((index for index, kind in enumerate(kinds) if kind in GREEN), len(kinds))
    return Standing(
        id=execution_id,
        suite_id=series.suite_id,
        kind=kinds[0],
        word=word_of(kinds[0], newest.state),
        blame=CLASS_WORDS[newest.failure_class] if newest.failure_class else None,
        code=wording.brief(newest.code, 80) if newest.code else None,
        nights=red,
        since=outcomes[red - 1].campaign_id if red else None,
        last_green=outcomes[red].campaign_id if red < len(outcomes) else None,
        green=sum(kind in GREEN for kind in kinds),
        total=len(kinds),
        trail=trail(_on_nights(outcomes, nights, last)),
    )


def standings(series: CellSeries, *, last: int = 60) -> list[Standing]:
    """Every cell of a suite: the worst kind first, then the longest red, then the least green."""
    nights = [campaign_id for campaign_id, _ in nights_of(series)]
    found = [standing(series, each, nights, last=last) for each in series.cells]
    order = tuple(KINDS)
    return sorted(
        (each for each in found if each is not None),
        key=lambda each: (order.index(each.kind), -each.nights, each.green / each.total, each.id),
    )
