"""``insights.json``: what is known of a campaign that its contract has no field for.

Only what ``aggregate`` knew is in it. What depends on later history (verdicts, trends) lives in
the mutable files of the branch, so that a published bundle never has to change.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from runner_e2e.contracts.base import Document, Omittable
from runner_e2e.contracts.evidence import FileDigest
from runner_e2e.contracts.scalars import (
    Amount,
    CampaignId,
    Count,
    ExecutionId,
    Ordinal,
    ResultExecutionId,
    Sha256,
)
from runner_e2e.contracts.vocabulary import CellState

INSIGHTS_V1: Literal["runner-e2e.insights/v1"] = "runner-e2e.insights/v1"


class Confirmation(Document):
    """How repeats of a red execution inside the same job ended.

    Those that neither passed nor failed say nothing of the candidate: infrastructure stopped them.
    """

    repeats: Count
    passed: Count
    failed: Count
    cost_at_least_usd: Amount = 0
    """What they cost, as far as it is known; the result's own cost does not include it."""
    unpriced: Count = 0


class CellInsight(Document):
    """What became of one planned cell, and how that is known."""

    execution_id: ExecutionId
    state: CellState
    run_attempt: Omittable[Ordinal] = None
    """The workflow run attempt that the result comes from."""
    code: Omittable[str] = None
    reason: Omittable[str] = None
    file: Omittable[str] = None
    """The file that was read or, for a bad one, that is to blame."""
    flaky: bool
    """Passed, but not on the first attempt."""
    confirm: Omittable[Confirmation] = None
    overran_usd: Omittable[Amount] = None
    """What it was allowed to cost, where it cost more."""


class Extra(Document):
    """A file that counts nowhere: of a cell that nobody planned, or beside a better one."""

    execution_id: ResultExecutionId
    file: str
    reason: str


class Duplicate(Document):
    """Several results of one cell, of which ``chosen`` counts."""

    execution_id: ResultExecutionId
    chosen: str
    """Empty where none counts, as after a newer run attempt that left no result."""
    others: tuple[str, ...]


class UnreadableFile(Document):
    """A file that nothing can be said of, not even which cell it is to blame for."""

    file: str
    reason: str


class Coverage(Document):
    """How much of the whole catalog was planned and resolved."""

    suites_complete: Count
    suites_total: Count
    cells_selected: Count
    cells_total: Count
    cells_resolved: Count


class Counts(Document):
    """How many cells are in each state. The states partition ``selected``."""

    selected: Count
    executed: Count
    unresolved: Count
    flaky: Count
    states: dict[CellState, Count]


class CostInsight(Document):
    """US dollars. ``at_least`` is a lower bound of the whole: ``unpriced`` runs are not in it."""

    reported: Amount
    at_least: Amount
    unpriced: Count


class Insights(Document):
    """The campaign's own facts beside the contract."""

    schema_: Literal["runner-e2e.insights/v1"] = Field(alias="schema")
    campaign_id: CampaignId
    plan_digest: Sha256
    cells: tuple[CellInsight, ...]
    """In the order of the plan."""
    extras: tuple[Extra, ...]
    duplicates: tuple[Duplicate, ...]
    unreadable: tuple[UnreadableFile, ...] = ()
    evidence: tuple[FileDigest, ...] = ()
    """The public pictures of the report, relative to it."""
    coverage: Coverage
    counts: Counts
    cost: CostInsight
