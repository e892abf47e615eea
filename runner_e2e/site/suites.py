"""The page of one suite: its cells night by night, and every cell's own timeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runner_e2e import wording
from runner_e2e.contracts.history import CellCampaign, CellOutcome, CellSeries, HistoryIndex
from runner_e2e.site import text
from runner_e2e.site.pages import render
from runner_e2e.site.standing import Standing, nights_of, standings, word_of
from runner_e2e.site.trail import kind_of_outcome
from runner_e2e.site.trends import charts, definitions, suite_points
from runner_e2e.site.words import CLASS_WORDS, KINDS

NIGHTS = 60
_KINDS = tuple(KINDS)
_DEFAULTS = (None, None, "", "", 1, "", "", "")
"""What an outcome's entry has where it says nothing; such an end is cut off, sixty a cell."""


def suite_path(suite_id: str) -> str:
    """Where the page of a suite lies below the prefix; a cell is its fragment."""
    return f"cells/{suite_id}.html"


def suite_page(
    suite_id: str,
    history: HistoryIndex,
    series: CellSeries,
    *,
    repository: str | None,
    verdicts: Mapping[str, str],
    pruned: frozenset[str] = frozenset(),
) -> bytes:
    """Heat map and trends of a suite; the island holds the timeline of every cell.

    ``pruned`` names the campaigns whose own page is gone.
    """
    nights = nights_of(series)[-NIGHTS:]
    cells = standings(series, last=NIGHTS)
    points = list(suite_points(series, history).values())
    red = sum(cell.nights > 0 for cell in cells)
    return render(
        "suite.html",
        base="../assets",
        data={
            "suite": suite_id,
            "repository": repository,
            "kinds": list(KINDS.items()),
            "nights": [
                [*_night(campaign_id, night), int(campaign_id in pruned)]
                for campaign_id, night in nights
            ],
            "timelines": {
                cell.id: _timeline(series.cells[cell.id], nights, cell, verdicts) for cell in cells
            },
        },
        title=f"{suite_id}, night by night",
        tone="bad" if any(cell.kind == "failed" for cell in cells) else "open" if red else "good",
        headline=(
            f"{red:,} of {wording.plural(len(cells), 'cell')} not green"
            if red
            else f"All {wording.plural(len(cells), 'cell')} green"
        ),
        suite_id=suite_id,
        nights=nights,
        cells=cells,
        verdicts={each: wording.brief(verdict, 60) for each, verdict in verdicts.items()},
        charts=charts(points),
        definitions=definitions(points),
        points=len(points),
    )


def _night(campaign_id: str, night: CellCampaign) -> list[str | None]:
    return [campaign_id, text.moment(night.generated_at), night.sha]


def _timeline(
    outcomes: Sequence[CellOutcome],
    nights: Sequence[tuple[str, CellCampaign]],
    cell: Standing,
    verdicts: Mapping[str, str],
) -> dict[str, Any]:
    """``o`` the outcomes, newest first, ``s`` since and ``g`` last green, as night numbers."""
    number = {campaign_id: index for index, (campaign_id, _) in enumerate(nights)}
    content: dict[str, Any] = {
        "k": cell.kind,
        "w": cell.word,
        "n": cell.nights,
        "s": number.get(cell.since or ""),
        "g": number.get(cell.last_green or ""),
        "v": wording.brief(verdicts[cell.id], 60) if cell.id in verdicts else None,
        "h": cell.trail.words,
        "o": [
            _outcome(outcome, number[outcome.campaign_id], older)
            for outcome, older in zip(outcomes, (*outcomes[1:], None), strict=True)
            if outcome.campaign_id in number
        ],
    }
    return {key: value for key, value in content.items() if value is not None}


def _outcome(outcome: CellOutcome, night: int, older: CellOutcome | None) -> list[Any]:
    """Night, kind, time, cost, attempt, reason, word, changes; the script fills in the defaults."""
    kind = kind_of_outcome(outcome)
    changed = [
        word
        for word, now, before in (
            ("definition", outcome.definition_hash, older and older.definition_hash),
            ("model", outcome.model, older and older.model),
            ("image", outcome.image, older and older.image),
        )
        if older is not None and now != before
    ]
    why = [
        CLASS_WORDS[outcome.failure_class] if outcome.failure_class else "",
        wording.brief(outcome.code, 80) if outcome.code else "",
    ]
    word = word_of(kind, outcome.state)
    entry = [
        night,
        _KINDS.index(kind),
        text.short_duration(outcome.duration_ms) if outcome.attempt else "",
        "" if outcome.cost_usd is None else wording.money(outcome.cost_usd),
        outcome.attempt,
        ", ".join(filter(None, why)),
        "" if word == KINDS[kind] else word,
        f"new {', '.join(changed)}" if changed else "",
    ]
    while entry[-1] == _DEFAULTS[len(entry) - 1]:
        entry.pop()
    return entry
