"""The last nights of one cell, drawn as a row of marks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from runner_e2e.contracts.history import CellOutcome, CellSeries
from runner_e2e.site.words import KINDS, Kind
from runner_e2e.wording import plural

NIGHTS = 30
_STEP = 3
"""Two units of mark and one of gap; the stylesheet's dashes repeat with it."""

# A pass is a low line at the foot, so that what is not one stands out by height as well.
_MIDDLE: Mapping[Kind, float] = {"passed": 8.5, "flaky": 7}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """Marks from the oldest to the newest: for each kind, an SVG path of horizontal strokes."""

    width: int
    paths: tuple[tuple[Kind, str], ...]
    words: str
    """The same in words: ``30 nights: 2 failed, 28 passed``."""


def kind_of_outcome(outcome: CellOutcome) -> Kind:
    """How one night of a cell is drawn."""
    if outcome.state in ("failed", "timed_out"):
        return "failed"
    if outcome.state != "passed":
        return "unresolved"
    if outcome.failure_class is not None:
        return "unclean"
    return "flaky" if outcome.flaky else "passed"


def trail(kinds: Sequence[Kind | None]) -> Trail:
    """Draw ``kinds``, oldest first; ``None`` is a night without the cell."""
    paths: dict[Kind, list[str]] = {}
    start = 0
    while start < len(kinds):
        kind, end = kinds[start], start
        while end < len(kinds) and kinds[end] == kind:
            end += 1
        if kind is not None:
            stroke = f"M{start * _STEP} {_MIDDLE.get(kind, 5)}h{(end - start) * _STEP - 1}"
            paths.setdefault(kind, []).append(stroke)
        start = end
    return Trail(
        width=max(1, len(kinds) * _STEP - 1),
        paths=tuple((kind, "".join(paths[kind])) for kind in KINDS if kind in paths),
        words=_words(kind for kind in kinds if kind is not None),
    )


def _words(kinds: Iterable[Kind]) -> str:
    counts: dict[Kind, int] = {}
    for kind in kinds:
        counts[kind] = counts.get(kind, 0) + 1
    listed = ", ".join(f"{counts[kind]} {word}" for kind, word in KINDS.items() if kind in counts)
    return f"{plural(sum(counts.values()), 'night')}: {listed or 'nothing'}"


def last_nights(series: CellSeries | None, execution_id: str) -> Trail | None:
    """The newest thirty outcomes of a cell, or ``None`` where history knows none."""
    outcomes = series.cells.get(execution_id, ()) if series else ()
    kinds = [kind_of_outcome(outcome) for outcome in reversed(outcomes[:NIGHTS])]
    return trail(kinds) if kinds else None
