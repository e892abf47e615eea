"""All mutable documents of one lane, read, merged and written as one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from runner_e2e.contracts.base import Document, dump, parse
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.history import (
    CELLS_V1,
    HISTORY_V1,
    INDEX_V1,
    POINTER_V1,
    BundleManifest,
    CampaignRows,
    CellOutcome,
    CellSeries,
    HistoryCampaign,
    HistoryIndex,
    IndexRow,
    Pointer,
    Pointers,
)
from runner_e2e.contracts.insights import Insights
from runner_e2e.contracts.plan import Plan
from runner_e2e.contracts.timestamps import parse_timestamp
from runner_e2e.errors import DocumentError
from runner_e2e.history.identity import mark_superseded
from runner_e2e.history.records import (
    campaign_path,
    cell_campaign,
    cell_outcomes,
    check_together,
    history_campaign,
    index_row,
)
from runner_e2e.history.retention import CELL_OUTCOMES, leaders, retain, suite_leaders
from runner_e2e.insights import cell_verdicts

HISTORY_FILE = "history.json"
INDEX_FILE = "index.json"
LATEST_FILE = "latest.json"
LATEST_GREEN_FILE = "latest-green.json"
EPOCH = "1970-01-01T00:00:00.000Z"

ReadFile = Callable[[str], bytes | None]
"""A document by its path below the lane; ``None`` when it is not there."""

D = TypeVar("D", bound=Document)


def cells_file(suite_id: str) -> str:
    """Where the outcomes of a suite's cells lie."""
    return f"cells/{suite_id}.json"


def lane_directory(lane: str | None) -> str:
    """Where a lane's documents lie below the prefix: nothing, or a path that ends with ``/``."""
    return "" if lane is None else f"lanes/{lane}/"


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The documents of one lane. Adding campaigns in any order gives the same documents."""

    lane: str | None
    index: HistoryIndex
    rows: CampaignRows
    """Newest first. In the default lane the rows of every lane, otherwise only the lane's own."""
    series: Mapping[str, CellSeries]
    """By suite id."""

    @classmethod
    def empty(cls, lane: str | None = None) -> History:
        """A lane to which nothing was published yet."""
        return cls(
            lane=lane,
            index=HistoryIndex(
                schema=HISTORY_V1,
                updated_at=EPOCH,
                latest_campaign_id=None,
                latest_green_campaign_id=None,
                latest_by_suite={},
                latest_green_by_suite={},
                campaigns=(),
            ),
            rows=CampaignRows(schema=INDEX_V1, campaigns=()),
            series={},
        )

    @classmethod
    def read(cls, read_file: ReadFile, lane: str | None = None) -> History:
        """Read a lane's documents; all absent is an empty history.

        Raises :class:`DocumentError` when one cannot be read or is absent while others are there:
        taking that for an empty history would lose what was published.
        """
        first = read_file(HISTORY_FILE)
        second = read_file(INDEX_FILE)
        if first is None and second is None:
            return cls.empty(lane)
        index = _parse(HistoryIndex, first, HISTORY_FILE)
        rows = _parse(CampaignRows, second, INDEX_FILE)
        series = {}
        for suite_id in sorted(index.latest_by_suite):
            path = cells_file(suite_id)
            read = _parse(CellSeries, read_file(path), path)
            # They follow from the rest, and what follows is not carried along.
            series[suite_id] = read.model_copy(update={"verdicts": None})
        return cls(lane=lane, index=index, rows=rows, series=series)

    def row(self, campaign_id: str) -> IndexRow | None:
        """The row of one campaign, of whichever lane."""
        for row in self.rows.campaigns:
            if row.campaign_id == campaign_id:
                return row
        return None

    def add(
        self,
        campaign: Campaign,
        insights: Insights,
        plan: Plan,
        manifest: BundleManifest,
        *,
        public_url: str,
        lane: str | None = None,
    ) -> History:
        """Record one campaign of ``lane``; adding the same again changes nothing.

        A campaign of another lane only gets its row. Raises :class:`DocumentError` when the
        documents do not belong together.
        """
        check_together(campaign, insights, plan)
        below = "" if lane == self.lane else lane_directory(lane)
        row = index_row(
            campaign,
            insights,
            plan,
            manifest,
            lane=lane,
            url=below + campaign_path(campaign.campaign_id),
        )
        others = (r for r in self.rows.campaigns if r.campaign_id != campaign.campaign_id)
        rows = mark_superseded((*others, row))
        if lane != self.lane:
            return replace(self, rows=CampaignRows(schema=INDEX_V1, campaigns=rows))
        entries = {entry.campaign_id: entry for entry in self.index.campaigns}
        entries[campaign.campaign_id] = history_campaign(campaign, public_url)
        return self._with(rows, entries.values(), _with_outcomes(self.series, campaign, insights))

    def keeping(self, campaign_ids: Collection[str]) -> History:
        """The same history as if nothing but ``campaign_ids`` had been published."""
        rows = mark_superseded(r for r in self.rows.campaigns if r.campaign_id in campaign_ids)
        return self._with(rows, self.index.campaigns, self.series)

    def pruned(self, campaign_ids: Collection[str]) -> History:
        """The same history after the bundles of ``campaign_ids`` went. Nothing else is lost."""
        rows = tuple(
            row.model_copy(update={"bundle_bytes": 0}) if row.campaign_id in campaign_ids else row
            for row in self.rows.campaigns
        )
        return replace(self, rows=CampaignRows(schema=INDEX_V1, campaigns=rows))

    def named(self) -> frozenset[str]:
        """Every campaign that a pointer of this lane names."""
        index = self.index
        named = {index.latest_campaign_id, index.latest_green_campaign_id}
        named.update(index.latest_by_suite.values(), index.latest_green_by_suite.values())
        return frozenset(campaign_id for campaign_id in named if campaign_id is not None)

    def pointers(self) -> tuple[Pointers, Pointers]:
        """``latest.json`` and ``latest-green.json``."""
        index = self.index
        suites = sorted(index.latest_by_suite)
        return (
            self._pointers(index.latest_campaign_id, index.latest_by_suite, suites),
            self._pointers(index.latest_green_campaign_id, index.latest_green_by_suite, suites),
        )

    def files(self) -> dict[str, bytes]:
        """Every document by its path below the lane."""
        latest, green = self.pointers()
        files = {
            HISTORY_FILE: dump(self.index),
            INDEX_FILE: dump(self.rows),
            LATEST_FILE: dump(latest),
            LATEST_GREEN_FILE: dump(green),
        }
        for suite, series in self.series.items():
            judged = series.model_copy(update={"verdicts": cell_verdicts(series)})
            files[cells_file(suite)] = dump(judged)
        return files

    def _with(
        self,
        rows: tuple[IndexRow, ...],
        entries: Iterable[HistoryCampaign],
        series: Mapping[str, CellSeries],
    ) -> History:
        """Put the parts together again: only what counts, in order, within the budgets."""
        own = [row for row in rows if row.lane == self.lane]
        order = [row.campaign_id for row in own if row.superseded_by is None]
        rank = {campaign_id: position for position, campaign_id in enumerate(order)}
        counted = sorted(
            (entry for entry in entries if entry.campaign_id in rank),
            key=lambda entry: rank[entry.campaign_id],
        )
        times = (row.generated_at for row in own)
        index = _index(retain(counted, order), max(times, key=parse_timestamp, default=EPOCH))
        trimmed = {suite: _trimmed(one, rank) for suite, one in series.items()}
        return History(
            lane=self.lane,
            index=index,
            rows=CampaignRows(schema=INDEX_V1, campaigns=rows),
            series={suite: trimmed[suite] for suite in sorted(trimmed) if trimmed[suite].cells},
        )

    def _pointers(
        self, overall: str | None, by_suite: Mapping[str, str], suites: Sequence[str]
    ) -> Pointers:
        entries = {entry.campaign_id: entry for entry in self.index.campaigns}

        def pointer(campaign_id: str | None) -> Pointer | None:
            entry = entries.get(campaign_id) if campaign_id is not None else None
            if entry is None:
                return None
            return Pointer(
                campaign_id=entry.campaign_id,
                generated_at=entry.generated_at,
                public_url=entry.public_url,
                sha=entry.source.sha,
            )

        return Pointers(
            schema=POINTER_V1,
            updated_at=self.index.updated_at,
            overall=pointer(overall),
            suites={suite: pointer(by_suite.get(suite)) for suite in suites},
        )


def _parse(model: type[D], data: bytes | None, path: str) -> D:
    hint = "`runner-e2e history rebuild` makes it again from the published bundles"
    if data is None:
        raise DocumentError(path, "it is missing, though other documents are there", hint=hint)
    try:
        return parse(model, data, path)
    except DocumentError as error:
        raise DocumentError(path, error.reason, hint=hint) from None


def _index(campaigns: tuple[HistoryCampaign, ...], updated_at: str) -> HistoryIndex:
    overall, suites = leaders(campaigns), suite_leaders(campaigns)
    return HistoryIndex(
        schema=HISTORY_V1,
        updated_at=updated_at,
        latest_campaign_id=next(iter(overall.latest), None),
        latest_green_campaign_id=next(iter(overall.green), None),
        latest_by_suite={suite: ids.latest[0] for suite, ids in suites.items()},
        latest_green_by_suite={suite: ids.green[0] for suite, ids in suites.items() if ids.green},
        campaigns=campaigns,
    )


def _with_outcomes(
    series: Mapping[str, CellSeries], campaign: Campaign, insights: Insights
) -> dict[str, CellSeries]:
    """Put the campaign's outcomes in front, in place of any it had; order and size come later."""
    changed = {suite: _without(one, campaign.campaign_id) for suite, one in series.items()}
    new: dict[str, dict[str, CellOutcome]] = {}
    for execution_id, outcome in cell_outcomes(campaign, insights).items():
        new.setdefault(execution_id.split(".")[0], {})[execution_id] = outcome
    for suite_id, outcomes in new.items():
        old = changed.get(suite_id) or CellSeries(
            schema=CELLS_V1, suite_id=suite_id, campaigns={}, cells={}
        )
        changed[suite_id] = CellSeries(
            schema=CELLS_V1,
            suite_id=suite_id,
            campaigns={campaign.campaign_id: cell_campaign(campaign), **old.campaigns},
            cells=dict(old.cells)
            | {key: (outcome, *old.cells.get(key, ())) for key, outcome in outcomes.items()},
        )
    return changed


def _without(series: CellSeries, campaign_id: str) -> CellSeries:
    if campaign_id not in series.campaigns:
        return series
    cells = {
        key: tuple(outcome for outcome in outcomes if outcome.campaign_id != campaign_id)
        for key, outcomes in series.cells.items()
    }
    return series.model_copy(update={"cells": cells})


def _trimmed(series: CellSeries, rank: Mapping[str, int]) -> CellSeries:
    """The newest outcomes of every cell, of campaigns that count, and those campaigns."""
    known = rank.keys() & series.campaigns.keys()
    cells = {}
    for key in sorted(series.cells):
        counted = [outcome for outcome in series.cells[key] if outcome.campaign_id in known]
        counted.sort(key=lambda outcome: rank[outcome.campaign_id])
        if counted:
            cells[key] = tuple(counted[:CELL_OUTCOMES])
    used = {outcome.campaign_id for outcomes in cells.values() for outcome in outcomes}
    return series.model_copy(
        update={
            "campaigns": {key: series.campaigns[key] for key in sorted(used, key=rank.__getitem__)},
            "cells": cells,
        }
    )
