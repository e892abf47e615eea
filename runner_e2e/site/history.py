"""The pages over all campaigns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner_e2e.contracts.history import CampaignRows, CellSeries, HistoryIndex, IndexRow
from runner_e2e.site import text
from runner_e2e.site.pages import render
from runner_e2e.site.words import KINDS, Kind


def broken(row: IndexRow) -> int:
    """How many cells have a result that is not green."""
    return max(0, row.counts.selected - row.counts.passed - row.counts.unresolved)


def kind_of_row(row: IndexRow) -> Kind:
    """How a campaign is drawn: like its worst cell, and green only when all of it is."""
    counts = row.counts
    if broken(row):
        return "failed"
    if counts.unresolved or counts.selected == 0:
        return "unresolved"
    if not row.cleanup_passed:
        return "unclean"
    return "flaky" if counts.flaky else "passed"


def _row(row: IndexRow) -> dict[str, Any]:
    kind = kind_of_row(row)
    return {
        "id": row.campaign_id,
        "href": f"campaigns/{row.campaign_id}/index.html",
        "generated_at": row.generated_at,
        "kind": kind,
        "word": "nothing selected" if row.counts.selected == 0 else KINDS[kind],
        "complete": row.complete,
        "superseded": row.superseded_by,
        "counts": row.counts,
        "broken": broken(row),
        "cost": text.cost(row.cost_usd, complete=row.cost_complete),
        "sha": text.visible(row.sha, 64)[:12] if row.sha else None,
    }


def history_pages(
    history: HistoryIndex, rows: CampaignRows, series: Mapping[str, CellSeries]
) -> dict[str, bytes]:
    """Every page over all campaigns: path below the prefix, and bytes.

    ``series`` is by suite id. The pages expect the files of :func:`assets` beside them, campaigns
    under ``campaigns/<id>/``.
    """
    del series
    shown = [_row(row) for row in rows.campaigns]
    current = [row for row in shown if not row["superseded"]]
    by_id = {row["id"]: row for row in shown}
    latest = current[0] if current else None
    page = render(
        "history.html",
        base="assets",
        data={"rows": []},
        title="History of campaigns",
        tone="open" if latest is None else _TONES[latest["kind"]],
        headline=_headline(latest),
        latest=latest,
        latest_green=by_id.get(history.latest_green_campaign_id or ""),
        rows=shown,
    )
    return {"index.html": page}


_TONES: Mapping[Kind, str] = {
    "failed": "bad",
    "unclean": "bad",
    "unresolved": "open",
    "flaky": "good",
    "passed": "good",
    "unselected": "open",
}


def _headline(latest: dict[str, Any] | None) -> str:
    if latest is None:
        return "No campaigns yet"
    counts = latest["counts"]
    return f"Latest: {counts.passed:,} of {counts.selected:,} passed"
