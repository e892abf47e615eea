"""What was seen of a cell, as a set: uniting sets is how campaigns merge.

A collection only says what was found and where. Which of it counts is decided afterwards, by a
function of the whole set (:mod:`runner_e2e.campaigns.choose`), so the order and the grouping in
which artifacts were read cannot matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from runner_e2e.campaigns.boundary import clean_text
from runner_e2e.campaigns.evidence import PublicImage
from runner_e2e.contracts.insights import Confirmation, Extra, UnreadableFile
from runner_e2e.contracts.result import Result
from runner_e2e.contracts.vocabulary import CellState

FOREIGN = -1
"""The rank of what belongs to another campaign: it explains a cell only where nothing else does."""

UNKNOWN = 0
"""The rank of what does not say which run attempt it comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One thing seen of one planned cell. ``result`` is there iff ``state`` is an executed one."""

    execution_id: str
    rank: int
    """The workflow's run attempt, from 1, or :data:`UNKNOWN` or :data:`FOREIGN`."""
    state: CellState
    file: str | None
    """The file to read or to blame, relative to the path that was collected."""
    reason: str | None = None
    code: str | None = None
    result: Result | None = None
    ended_at: str | None = None
    """When the job ended, for a cell without a result."""
    images: tuple[PublicImage, ...] = ()
    confirm: Confirmation | None = None
    """How the repeats of a failure ended."""
    overran_usd: float | None = None
    """What the execution was allowed to cost, where it cost more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """Everything that was seen. :meth:`merge` is associative, commutative and idempotent."""

    cells: Mapping[str, tuple[Observation, ...]] = field(default_factory=dict)
    """By execution id; only planned ones."""
    passed_over: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Files with results that an earlier merge already did not choose, by execution id."""
    extras: frozenset[Extra] = frozenset()
    unreadable: frozenset[UnreadableFile] = frozenset()

    def cleaned(self) -> Collection:
        """Cut and black out the names of files and the reasons: artifacts are quoted in them."""
        return Collection(
            cells={
                execution_id: tuple(map(_clean, seen)) for execution_id, seen in self.cells.items()
            },
            passed_over={
                execution_id: frozenset(map(clean_text, files))
                for execution_id, files in self.passed_over.items()
            },
            extras=frozenset(map(_clean_entry, self.extras)),
            unreadable=frozenset(map(_clean_entry, self.unreadable)),
        )

    def merge(self, *others: Collection) -> Collection:
        """Unite with ``others``."""
        everything = (self, *others)
        cells: dict[str, tuple[Observation, ...]] = {}
        passed_over: dict[str, frozenset[str]] = {}
        for collection in everything:
            for execution_id, observations in collection.cells.items():
                cells[execution_id] = cells.get(execution_id, ()) + observations
            for execution_id, files in collection.passed_over.items():
                passed_over[execution_id] = passed_over.get(execution_id, frozenset()) | files
        return Collection(
            cells=cells,
            passed_over=passed_over,
            extras=frozenset().union(*(collection.extras for collection in everything)),
            unreadable=frozenset().union(*(collection.unreadable for collection in everything)),
        )


def _clean(seen: Observation) -> Observation:
    said = (seen.file, seen.reason, seen.code)
    file, reason, code = (text and clean_text(text) for text in said)
    return (
        seen if (file, reason, code) == said else replace(seen, file=file, reason=reason, code=code)
    )


E = TypeVar("E", Extra, UnreadableFile)


def _clean_entry(entry: E) -> E:
    said = {"file": clean_text(entry.file), "reason": clean_text(entry.reason)}
    return entry.model_copy(update=said)


def gather(observations: Iterable[Observation]) -> dict[str, tuple[Observation, ...]]:
    """Sort observations by the cell they are of."""
    cells: dict[str, list[Observation]] = {}
    for observation in observations:
        cells.setdefault(observation.execution_id, []).append(observation)
    return {execution_id: tuple(seen) for execution_id, seen in cells.items()}
