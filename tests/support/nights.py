"""Histories of one cell in a few letters, and campaigns that differ from night to night."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from runner_e2e.contracts.history import CELLS_V1, CellCampaign, CellOutcome, CellSeries
from tests.support.documents import IDS, definition_hash, later

CELL = IDS[0]
LETTERS: dict[str, dict[str, Any]] = {
    "G": {"state": "passed"},
    "L": {"state": "passed", "attempt": 2, "flaky": True},
    "R": {"state": "failed", "failure_class": "candidate_failure"},
    "T": {"state": "timed_out", "failure_class": "candidate_failure", "code": "deadline"},
    "V": {"state": "failed", "failure_class": "provider_variance"},
    "r": {
        "state": "failed",
        "failure_class": "candidate_failure",
        "confirm_passed": 1,
        "confirm_failed": 1,
    },
    "B": {
        "state": "failed",
        "failure_class": "candidate_failure",
        "confirm_passed": 0,
        "confirm_failed": 2,
    },
    "I": {"state": "failed", "failure_class": "transient_infrastructure"},
    "S": {"state": "failed", "failure_class": "secret_leak"},
    "C": {"state": "failed", "failure_class": "cleanup_failure"},
    "M": {"state": "missing", "failure_class": "permanent_infrastructure", "attempt": 0},
}
"""Green, green Late, Red, Timed out, provider Variance, red but contradicted, red and confirmed
(Broken), Infrastructure, Secret leak, Clean-up, Missing."""


def sha_of(night: int) -> str:
    """The commit of a night."""
    return f"{night:040x}"


def night_id(night: int) -> str:
    """The campaign of a night, counted from 0."""
    return f"night-{night:03}"


def outcome(letter: str, night: int, **changes: Any) -> CellOutcome:
    """One night of one cell."""
    values: dict[str, Any] = {
        "campaign_id": night_id(night),
        "attempt": 1,
        "flaky": False,
        "definition_hash": definition_hash("smoke"),
        "model": "scripted-1",
        "duration_ms": 60_000,
        "cost_usd": 0.02,
    }
    return CellOutcome(**values | LETTERS[letter] | changes)


def outcomes(letters: str, **changes: Any) -> tuple[CellOutcome, ...]:
    """Nights in the order in which they came; the outcomes newest first, as the series has them."""
    return tuple(outcome(letter, night, **changes) for night, letter in enumerate(letters))[::-1]


def campaigns(count: int) -> dict[str, CellCampaign]:
    """The campaigns of so many nights."""
    return {
        night_id(night): CellCampaign(
            generated_at=later(1440 * night), sha=sha_of(night), run_attempt=1
        )
        for night in range(count)
    }


def make_series(cells: dict[str, Iterable[CellOutcome]]) -> CellSeries:
    """The series of a suite."""
    known = {key: tuple(value) for key, value in cells.items()}
    nights = 1 + max(
        (int(each.campaign_id.removeprefix("night-")) for one in known.values() for each in one),
        default=-1,
    )
    return CellSeries(schema=CELLS_V1, suite_id="smoke", campaigns=campaigns(nights), cells=known)
