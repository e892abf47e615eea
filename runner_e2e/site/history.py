"""The pages over all campaigns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runner_e2e import wording
from runner_e2e.contracts.history import (
    CampaignRows,
    CellSeries,
    HistoryCampaign,
    HistoryIndex,
    IndexCounts,
    IndexRow,
)
from runner_e2e.site import text
from runner_e2e.site.pages import render
from runner_e2e.site.standing import Standing, standings
from runner_e2e.site.suites import suite_page, suite_path
from runner_e2e.site.trail import NIGHTS
from runner_e2e.site.trends import Chart, Point, charts, definitions, overall, suite_points
from runner_e2e.site.words import KINDS, Kind

_MAX_ROWS = 500
_MAX_RED = 60

_TONES: Mapping[Kind, str] = {
    "failed": "bad",
    "unclean": "bad",
    "unresolved": "open",
    "flaky": "good",
    "passed": "good",
    "unselected": "open",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One campaign as the table shows it."""

    id: str
    href: str | None
    """``None`` once the bundle was pruned."""
    lane: str | None
    generated_at: str
    kind: Kind
    word: str
    complete: bool
    superseded: str | None
    counts: IndexCounts
    broken: int
    cost: str
    sha: str | None
    commit: str | None
    ref: str | None
    event: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One suite as the overview shows it."""

    id: str
    href: str
    kinds: Mapping[Kind, int]
    latest_green: Row | None
    charts: tuple[Chart, ...]
    points: int
    definitions: int


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


def _bundle_page(url: str) -> str | None:
    """The page of a bundle, named in full: where files are opened, nothing serves an index."""
    page = f"{url.removesuffix('index.html').rstrip('/')}/index.html"
    return text.web_url(page) or text.evidence_href(page)


def _row(row: IndexRow, known: HistoryCampaign | None, lane: str | None) -> Row:
    kind = kind_of_row(row)
    source = known.source if known else None
    repository = f"{row.run.server}/{row.run.repository}" if row.run else None
    return Row(
        id=row.campaign_id,
        href=_bundle_page(row.url) if row.bundle_bytes else None,
        lane=wording.brief(row.lane, 100) if row.lane and row.lane != lane else None,
        generated_at=row.generated_at,
        kind=kind,
        word="nothing selected" if row.counts.selected == 0 else KINDS[kind],
        complete=row.complete,
        superseded=row.superseded_by,
        counts=row.counts,
        broken=broken(row),
        cost=wording.cost(row.cost_usd, complete=row.cost_complete),
        sha=wording.brief(row.sha, 64)[:12] if row.sha else None,
        commit=text.commit_url(repository, row.sha),
        ref=wording.brief(source.ref.removeprefix("refs/heads/"), 100)
        if source and source.ref
        else None,
        event=wording.brief(source.event_name, 60) if source and source.event_name else None,
    )


def _suite(
    series: CellSeries, points: Mapping[str, Point], cells: list[Standing], green: Row | None
) -> Suite:
    kinds = dict.fromkeys(KINDS, 0)
    for cell in cells:
        kinds[cell.kind] += 1
    shown = list(points.values())
    return Suite(
        id=series.suite_id,
        href=suite_path(series.suite_id),
        kinds={kind: count for kind, count in kinds.items() if count},
        latest_green=green,
        charts=charts(shown),
        points=len(shown),
        definitions=definitions(shown),
    )


def history_pages(
    history: HistoryIndex,
    rows: CampaignRows,
    series: Mapping[str, CellSeries],
    *,
    verdicts: Mapping[str, str] | None = None,
) -> dict[str, bytes]:
    """Every page over all campaigns: path below the prefix, and bytes.

    ``series`` is by suite id, ``verdicts`` by execution id. The pages expect the files of
    :func:`assets` beside them and bundles where the rows say.
    """
    repository = next(
        (url for each in history.campaigns if (url := text.repository_url(each.source))), None
    )
    said = verdicts or {}
    pruned = frozenset(row.campaign_id for row in rows.campaigns if not row.bundle_bytes)
    pages = {
        suite_path(suite_id): suite_page(
            suite_id, history, each, repository=repository, verdicts=said, pruned=pruned
        )
        for suite_id, each in sorted(series.items())
    }
    return {"index.html": _index(history, rows, series, said), **pages}


def _index(
    history: HistoryIndex,
    rows: CampaignRows,
    series: Mapping[str, CellSeries],
    verdicts: Mapping[str, str],
) -> bytes:
    known = {each.campaign_id: each for each in history.campaigns}
    # The rows are those of one lane, which then need not be named; those of another stand out.
    lane = next((row.lane for row in rows.campaigns if row.campaign_id in known), None)
    shown = [_row(row, known.get(row.campaign_id), lane) for row in rows.campaigns]
    by_id = {row.id: row for row in shown}
    current = [row for row in shown if row.superseded is None and row.lane is None]
    latest = by_id.get(history.latest_campaign_id or "") or next(iter(current), None)
    standing = {suite_id: standings(each, last=NIGHTS) for suite_id, each in series.items()}
    red = [cell for suite_id in sorted(standing) for cell in standing[suite_id] if cell.nights]
    red.sort(key=lambda cell: (tuple(KINDS).index(cell.kind), -cell.nights))
    measured = {suite_id: suite_points(each, history) for suite_id, each in series.items()}
    points = overall(measured)
    return render(
        "history.html",
        base="assets",
        data={"rows": [_filterable(row) for row in shown[:_MAX_ROWS]]},
        title="History of campaigns",
        tone=_TONES[latest.kind] if latest else "open",
        headline=_headline(latest),
        latest=latest,
        latest_green=by_id.get(history.latest_green_campaign_id or ""),
        recorded=sum(row.cost_usd for row in rows.campaigns),
        whole=all(row.cost_complete for row in rows.campaigns),
        green=sum(row.kind in ("passed", "flaky") for row in current),
        current=len(current),
        red=red[:_MAX_RED],
        more_red=max(0, len(red) - _MAX_RED),
        when={each: night for one in series.values() for each, night in one.campaigns.items()},
        verdicts={each: wording.brief(verdict, 60) for each, verdict in verdicts.items()},
        charts=charts(points),
        points=len(points),
        definitions=definitions(points),
        suites=[
            _suite(
                series[each],
                measured[each],
                standing[each],
                by_id.get(history.latest_green_by_suite.get(each, "")),
            )
            for each in sorted(series)
        ],
        words=KINDS,
        rows=shown[:_MAX_ROWS],
        more_rows=max(0, len(shown) - _MAX_ROWS),
    )


def _filterable(row: Row) -> list[Any]:
    """What the filters of the table look at: text, kind, UTC day, and whether it is set aside."""
    words = " ".join(filter(None, (row.id, row.sha, row.ref, row.event, row.word, row.lane)))
    return [words.lower(), row.kind, text.day(row.generated_at), int(row.superseded is not None)]


def _headline(latest: Row | None) -> str:
    if latest is None:
        return "No campaigns yet"
    counts = latest.counts
    if latest.kind in ("passed", "flaky"):
        return f"The latest campaign passed, all {counts.selected:,} of it"
    parts = [
        f"{count:,} {word}"
        for count, word in ((latest.broken, "failed"), (counts.unresolved, "unresolved"))
        if count
    ]
    return f"Latest: {' and '.join(parts) or latest.word} of {counts.selected:,}"
