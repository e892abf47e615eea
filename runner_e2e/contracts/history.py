"""The mutable documents on a publishing branch, and the bundle's manifest."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from runner_e2e.contracts.base import Document, Omittable
from runner_e2e.contracts.billing import AggregateBillingSummary, BillingSummary
from runner_e2e.contracts.campaign import SuiteSummary
from runner_e2e.contracts.evidence import FileDigest
from runner_e2e.contracts.judgement import CellVerdict
from runner_e2e.contracts.plan import CampaignSource
from runner_e2e.contracts.scalars import (
    Amount,
    CampaignId,
    Count,
    ExecutionId,
    ItemId,
    Milliseconds,
    Ordinal,
    Sha256,
    Timestamp,
)
from runner_e2e.contracts.vocabulary import (
    CellState,
    Cleanup,
    EnvironmentId,
    FailureClass,
    Status,
)

HISTORY_V1: Literal["paperclip.runner-e2e.history/v1"] = "paperclip.runner-e2e.history/v1"
INDEX_V1: Literal["runner-e2e.index/v1"] = "runner-e2e.index/v1"
CELLS_V1: Literal["runner-e2e.cells/v1"] = "runner-e2e.cells/v1"
POINTER_V1: Literal["paperclip.runner-e2e.pointer/v1"] = "paperclip.runner-e2e.pointer/v1"
BUNDLE_V1: Literal["paperclip.runner-e2e.bundle/v1"] = "paperclip.runner-e2e.bundle/v1"


class HistoryExecution(Document):
    """Contract: ``RunnerE2EHistoryExecution``."""

    execution_id: ExecutionId
    suite_id: ItemId
    profile_id: ItemId
    environment_id: EnvironmentId
    case_id: ItemId
    provider: str
    model: str
    status: Status
    duration_ms: Milliseconds
    attempt: Count
    cleanup: Cleanup
    billing: BillingSummary


class HistoryCampaign(Document):
    """Contract: ``RunnerE2EHistoryCampaign``."""

    campaign_id: CampaignId
    generated_at: Timestamp
    source: CampaignSource
    complete: bool
    selected: Count
    executed: Count
    passed: Count
    failed: Count
    retries: Count
    cleanup_passed: bool
    public_url: str
    billing: AggregateBillingSummary
    suites: tuple[SuiteSummary, ...]
    executions: tuple[HistoryExecution, ...]


class HistoryIndex(Document):
    """Contract: ``RunnerE2EHistoryIndex``. Newest campaigns first, of the default lane."""

    schema_: Literal["paperclip.runner-e2e.history/v1"] = Field(alias="schema")
    updated_at: Timestamp
    latest_campaign_id: CampaignId | None
    latest_green_campaign_id: CampaignId | None
    latest_by_suite: dict[ItemId, CampaignId]
    latest_green_by_suite: dict[ItemId, CampaignId]
    campaigns: tuple[HistoryCampaign, ...]


class RunIdentity(Document):
    """The workflow run that a campaign belongs to: what history is keyed by."""

    server: str
    """Host, and port where it is not the usual one."""
    repository: str
    run_id: str


class IndexCounts(Document):
    """The campaign's figures at a glance."""

    selected: Count
    executed: Count
    passed: Count
    failed: Count
    unresolved: Count
    flaky: Count


class IndexRow(Document):
    """One campaign, slim enough that all of them fit in one file for years."""

    campaign_id: CampaignId
    lane: Omittable[str] = None
    """Absent in the default lane."""
    started_at: Timestamp
    generated_at: Timestamp
    run: Omittable[RunIdentity] = None
    run_attempt: Ordinal
    superseded_by: Omittable[CampaignId] = None
    """The campaign of a later attempt of the same workflow run."""
    sha: str | None
    complete: bool
    cleanup_passed: bool
    counts: IndexCounts
    cost_usd: Amount
    cost_complete: bool
    """Whether every run was priced; otherwise ``cost_usd`` is a lower bound."""
    bundle_bytes: Count
    """What its bundle takes on the branch; 0 once it was pruned, and ``url`` leads nowhere."""
    url: str
    """Relative to the ``index.json`` that the row stands in."""


class CampaignRows(Document):
    """``index.json``: every campaign ever published under this prefix, newest first.

    The one of a lane has only that lane's; the one of the default lane has all of them.
    """

    schema_: Literal["runner-e2e.index/v1"] = Field(alias="schema")
    campaigns: tuple[IndexRow, ...]


class CellOutcome(Document):
    """What one cell came to in one campaign."""

    campaign_id: CampaignId
    state: CellState
    failure_class: Omittable[FailureClass] = None
    code: Omittable[str] = None
    attempt: Count
    flaky: bool
    definition_hash: Omittable[str] = None
    model: str
    image: Omittable[str] = None
    duration_ms: Milliseconds
    cost_usd: Omittable[Amount] = None
    """Absent when the run was not fully priced."""
    confirm_passed: Omittable[Count] = None
    confirm_failed: Omittable[Count] = None


class CellCampaign(Document):
    """The campaign that outcomes refer to."""

    generated_at: Timestamp
    sha: str | None
    run_attempt: Ordinal


class CellSeries(Document):
    """``cells/<suite>.json``: the last outcomes of every execution, newest first."""

    schema_: Literal["runner-e2e.cells/v1"] = Field(alias="schema")
    suite_id: ItemId
    campaigns: dict[CampaignId, CellCampaign]
    cells: dict[ExecutionId, tuple[CellOutcome, ...]]
    verdicts: Omittable[dict[ExecutionId, CellVerdict]] = None
    """What the outcomes say of each cell now. Written for readers; we compute them anew."""


class Pointer(Document):
    """Where to find one campaign."""

    campaign_id: CampaignId
    generated_at: Timestamp
    public_url: str
    sha: str | None


class Pointers(Document):
    """``latest.json`` and ``latest-green.json``."""

    schema_: Literal["paperclip.runner-e2e.pointer/v1"] = Field(alias="schema")
    updated_at: Timestamp
    overall: Pointer | None
    suites: dict[ItemId, Pointer | None]


class BundleManifest(Document):
    """``bundle-manifest.json``: the published files of one campaign, which never change."""

    schema_: Literal["paperclip.runner-e2e.bundle/v1"] = Field(alias="schema")
    campaign_id: CampaignId
    files: tuple[FileDigest, ...]
    bundle_digest: Sha256
    """SHA-256 of the canonical JSON of ``files``."""
