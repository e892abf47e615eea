"""What the mutable documents keep, and which bundles may go."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from runner_e2e.contracts.base import dump
from runner_e2e.contracts.history import HistoryCampaign, IndexRow
from runner_e2e.contracts.timestamps import parse_timestamp

HISTORY_BYTES = 1024 * 1024
"""The budget of ``history.json``."""

HISTORY_CAMPAIGNS = 10
"""At least so many campaigns stay in ``history.json``, whatever they take."""

CELL_OUTCOMES = 60
"""So many outcomes of a cell stay in ``cells/<suite>.json``."""

KEPT_BUNDLES = 30
"""So many bundles stay when ``history prune`` is not told otherwise."""

# A pointer's campaign can be replaced by a re-run that is red; the pointer then falls back on the
# one before it, which must still be there.
POINTER_DEPTH = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaders:
    """Campaign ids of one kind, newest first: what a pair of pointers can name."""

    latest: tuple[str, ...]
    green: tuple[str, ...]


def leaders(campaigns: Sequence[HistoryCampaign]) -> Leaders:
    """The newest campaigns and the newest complete green ones. ``campaigns`` are newest first."""
    return Leaders(
        latest=tuple(c.campaign_id for c in campaigns),
        green=tuple(c.campaign_id for c in campaigns if c.complete and c.failed == 0),
    )


def suite_leaders(campaigns: Sequence[HistoryCampaign]) -> Mapping[str, Leaders]:
    """The same for every suite. A suite can be complete and green in a partial campaign."""
    latest: dict[str, list[str]] = {}
    green: dict[str, list[str]] = {}
    for campaign in campaigns:
        for suite in campaign.suites:
            latest.setdefault(suite.suite_id, []).append(campaign.campaign_id)
            if suite.complete and suite.failed == 0:
                green.setdefault(suite.suite_id, []).append(campaign.campaign_id)
    return {
        suite: Leaders(latest=tuple(latest[suite]), green=tuple(green.get(suite, ())))
        for suite in sorted(latest)
    }


def retain(
    campaigns: Sequence[HistoryCampaign], order: Sequence[str]
) -> tuple[HistoryCampaign, ...]:
    """Choose what stays in ``history.json``: the newest within the budget, and pointers' own.

    ``order`` names every campaign of the lane that counts, newest first, also those that an earlier
    call dropped. The newest are kept without a gap, so that a reader never takes a hole for a
    quiet week, and so that it does not matter in which order campaigns were added.
    """
    by_id = {campaign.campaign_id: campaign for campaign in campaigns}
    kept: set[str] = set()
    taken = 0
    for campaign_id in order:
        campaign = by_id.get(campaign_id)
        if campaign is None:
            break
        taken += len(dump(campaign))
        if taken > HISTORY_BYTES and len(kept) >= HISTORY_CAMPAIGNS:
            break
        kept.add(campaign_id)
    groups = [leaders(campaigns), *suite_leaders(campaigns).values()]
    for group in groups:
        kept.update(group.latest[:POINTER_DEPTH], group.green[:POINTER_DEPTH])
    return tuple(campaign for campaign in campaigns if campaign.campaign_id in kept)


def prunable(
    rows: Iterable[IndexRow],
    *,
    named: Collection[str],
    keep: int = KEPT_BUNDLES,
    oldest: datetime | None = None,
) -> tuple[str, ...]:
    """The campaigns whose bundles may go: beyond the newest ``keep``, or from before ``oldest``.

    ``rows`` are newest first. What a pointer names stays; what is pruned already does not count.
    """
    there = [row for row in rows if row.bundle_bytes > 0]
    return tuple(
        row.campaign_id
        for position, row in enumerate(there)
        if row.campaign_id not in named
        and (
            position >= keep or (oldest is not None and parse_timestamp(row.generated_at) < oldest)
        )
    )
