"""``campaign.json``: everything one workflow run, or one local run, came to."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from runner_e2e.contracts.base import Document
from runner_e2e.contracts.billing import AggregateBillingSummary
from runner_e2e.contracts.plan import CampaignSource
from runner_e2e.contracts.result import Result
from runner_e2e.contracts.scalars import (
    CampaignId,
    Count,
    HttpUrl,
    ItemId,
    Milliseconds,
    ResultExecutionId,
    Timestamp,
)

CAMPAIGN_V2: Literal["paperclip.runner-e2e.campaign/v2"] = "paperclip.runner-e2e.campaign/v2"


class RankingSnapshot(Document):
    """A model ranking that profiles of this campaign were generated from."""

    snapshot_id: str
    captured_at: Timestamp
    source_url: HttpUrl


class SuiteSummary(Document):
    """Contract: ``RunnerE2ESuiteSummary``. ``expected`` is the suite's whole size."""

    suite_id: ItemId
    suite_definition_hash: str
    expected: Count
    selected: Count
    executed: Count
    passed: Count
    failed: Count
    retries: Count
    cleanup_passed: bool
    complete: bool
    """All of the suite was selected, with the catalog's definition. Coverage, not success."""
    duration_ms: Milliseconds
    billing: AggregateBillingSummary


class Campaign(Document):
    """Contract: ``RunnerE2ECampaign``."""

    schema_: Literal["paperclip.runner-e2e.campaign/v2"] = Field(alias="schema")
    campaign_id: CampaignId
    generated_at: Timestamp
    source: CampaignSource
    expected: tuple[ResultExecutionId, ...]
    complete: bool
    """Every suite of the catalog is complete. Coverage, not success."""
    selected: Count
    executed: Count
    passed: Count
    failed: Count
    """``selected`` minus ``passed``: a cell without a result is never green."""
    retries: Count
    cleanup_passed: bool
    ranking_snapshots: tuple[RankingSnapshot, ...]
    billing: AggregateBillingSummary
    suites: tuple[SuiteSummary, ...]
    results: tuple[Result, ...]
