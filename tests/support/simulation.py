"""Thousands of nights of cells whose reliability is known, judged by the real verdicts."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from runner_e2e.contracts.history import CellCampaign, CellOutcome
from runner_e2e.history.retention import CELL_OUTCOMES
from runner_e2e.insights import verdict_of
from tests.support.nights import LETTERS, night_id, outcome

CELLS = 60
NIGHTS = 4_000
WARM_UP = 14
"""Nights before counting begins: a history of two weeks."""
RELIABILITIES = (0.85, 0.90, 0.95, 0.98)
BREAK_EVERY = 400
"""A cell breaks once in so many nights,"""
BREAK_NIGHTS = 5
"""and stays broken for so many."""
SAID = frozenset({"broken", "known_broken"})


@dataclass(slots=True, kw_only=True)
class Figures:
    """What came of one simulation."""

    reliability: float
    confirm: int
    nights: int = 0
    false_alarms: int = 0
    """Cells called broken on nights on which they were not."""
    breaks: int = 0
    found_after: dict[int, int] = field(default_factory=dict)
    """Breaks by the night on which they were called broken, from 1."""
    repeats: int = 0
    flaky: int = 0

    @property
    def false_per_night(self) -> float:
        return self.false_alarms / self.nights

    def found_by(self, night: int) -> float:
        """The share of breaks that were called broken by their ``night``-th night."""
        return sum(n for at, n in self.found_after.items() if at <= night) / self.breaks


_ANY = CellCampaign(generated_at="2026-11-30T02:00:00.000Z", sha=None, run_attempt=1)


class _AllNights(dict[str, CellCampaign]):
    """Every night has a campaign; what day it was does not matter here."""

    def __missing__(self, key: str) -> CellCampaign:
        return _ANY


def simulate(reliability: float, *, confirm: int, nights: int = NIGHTS, seed: int = 9) -> Figures:
    """Run ``CELLS`` cells. ``confirm`` repeats follow a red result, until one contradicts it."""
    rng = random.Random(f"{seed}/{reliability}/{confirm}")  # noqa: S311  a simulation, no secret
    figures = Figures(reliability=reliability, confirm=confirm, nights=nights)
    for _ in range(CELLS):
        _run_cell(rng, figures)
    return figures


def _run_cell(rng: random.Random, figures: Figures) -> None:
    history: deque[CellOutcome] = deque(maxlen=CELL_OUTCOMES)
    broken_for, found = 0, True
    for night in range(WARM_UP + figures.nights):
        counted = night >= WARM_UP
        if broken_for:
            broken_for = (broken_for + 1) % (BREAK_NIGHTS + 1)
        elif counted and night < WARM_UP + figures.nights - BREAK_NIGHTS:
            broken_for, found = (1, False) if rng.random() < 1 / BREAK_EVERY else (0, found)
            figures.breaks += broken_for
        chance = 0.0 if broken_for else figures.reliability
        tonight = _night(rng, night, chance, figures)
        history.appendleft(tonight)
        # Only what is red can be called broken.
        if tonight.state == "passed" or not counted:
            continue
        verdict = verdict_of(tuple(history), _AllNights()).verdict
        figures.flaky += verdict == "flaky"
        if verdict not in SAID:
            continue
        if not broken_for:
            figures.false_alarms += 1
        elif not found:
            found = True
            figures.found_after[broken_for] = figures.found_after.get(broken_for, 0) + 1


def _night(rng: random.Random, night: int, chance: float, figures: Figures) -> CellOutcome:
    if rng.random() < chance:
        return _made("G", night, None, None)
    passed = failed = 0
    for _ in range(figures.confirm):
        figures.repeats += 1
        if rng.random() < chance:
            passed += 1
            break
        failed += 1
    return _made("R", night, passed or None, failed or None)


def _made(letter: str, night: int, passed: int | None, failed: int | None) -> CellOutcome:
    template = TEMPLATES[letter]
    # Validating a million outcomes would take most of the time.
    return template.model_copy(
        update={
            "campaign_id": night_id(night),
            "confirm_passed": passed,
            "confirm_failed": failed,
        }
    )


TEMPLATES = {letter: outcome(letter, 0) for letter in LETTERS}


def table(rows: Iterator[Figures]) -> str:
    """The figures as they stand in ``docs/statistics.md``."""
    head = (
        "| reliability | repeats of a red cell | false `broken` a night | hard breaks | found on "
        "the first night | by the second | by the third | paid repeats a night |\n"
        "|--:|--:|--:|--:|--:|--:|--:|--:|"
    )
    lines = [
        f"| {one.reliability:.2f} | {one.confirm} | {one.false_per_night:.4f} | {one.breaks:,} "
        f"| {one.found_by(1):.1%} | {one.found_by(2):.1%} | {one.found_by(3):.1%} "
        f"| {one.repeats / one.nights:.2f} |"
        for one in rows
    ]
    return "\n".join([head, *lines])
