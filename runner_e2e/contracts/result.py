"""``result.json``: what one execution came to."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from runner_e2e.contracts.base import Document, Omittable
from runner_e2e.contracts.billing import BillingSummary, RuntimeUsage
from runner_e2e.contracts.matcher import Matcher
from runner_e2e.contracts.scalars import (
    Count,
    HttpUrl,
    ItemId,
    JsonObject,
    Milliseconds,
    Ordinal,
    RelativePath,
    ResultExecutionId,
    Timestamp,
)
from runner_e2e.contracts.vocabulary import (
    Cleanup,
    EnvironmentId,
    FailureClass,
    Generation,
    LeaseOutcome,
    Status,
)

RESULT_V1: Literal["paperclip.runner-e2e.result/v1"] = "paperclip.runner-e2e.result/v1"
RESULT_V2: Literal["paperclip.runner-e2e.result/v2"] = "paperclip.runner-e2e.result/v2"


class Source(Document):
    """Which code ran, and in which workflow run. All ``null`` on one's own machine."""

    sha: str | None
    ref: str | None
    workflow_run_url: HttpUrl | None


class RankingSnapshotEntry(Document):
    """The place in a model ranking that a profile was generated from."""

    snapshot_id: str
    captured_at: Timestamp
    source_url: HttpUrl
    rank: Ordinal
    canonical_model_id: str


class TurnTiming(Document):
    """When one turn was submitted, ran and answered. ``null`` where it was not observed."""

    turn: Ordinal
    submitted_at: Timestamp
    run_started_at: Timestamp | None
    run_finished_at: Timestamp | None
    scheduler_latency_ms: Milliseconds | None
    run_duration_ms: Milliseconds | None
    response_latency_ms: Milliseconds | None
    run_id: str
    lease_acquisition_outcome: LeaseOutcome


class MatcherResult(Document):
    """One matcher and what it said."""

    matcher: Matcher
    passed: bool
    detail: str


class Screenshot(Document):
    """A picture among the evidence; published only where it says so."""

    id: str
    label: str
    file: RelativePath
    publication: Omittable[Literal["public-runner-fixture"]] = None


class Result(Document):
    """Contract: ``RunnerE2EResult``. We write v2 and read both."""

    schema_: Literal["paperclip.runner-e2e.result/v1", "paperclip.runner-e2e.result/v2"] = Field(
        alias="schema"
    )
    execution_id: ResultExecutionId
    suite_id: Omittable[ItemId] = None
    suite_definition_hash: Omittable[str] = None
    source: Omittable[Source] = None
    ranking_snapshot: Omittable[RankingSnapshotEntry] = None
    attempt: Count
    """The harness's attempt, from 1; 0 where no result ever arrived."""
    status: Status
    failure_class: Omittable[FailureClass] = None
    error: Omittable[str] = None
    profile_id: ItemId
    environment_id: EnvironmentId
    case_id: ItemId
    provider: str
    model: str
    runtime_mode: Generation
    issue_id: Omittable[str] = None
    issue_identifier: str | None = None
    run_ids: Omittable[tuple[str, ...]] = None
    turn_timings: Omittable[tuple[TurnTiming, ...]] = None
    started_at: Timestamp
    finished_at: Timestamp
    duration_ms: Milliseconds
    usage: JsonObject | None = None
    runtime_usage: Omittable[RuntimeUsage] = None
    billing: Omittable[BillingSummary] = None
    matcher_results: Omittable[tuple[MatcherResult, ...]] = None
    screenshots: Omittable[tuple[Screenshot, ...]] = None
    cleanup: Cleanup

    @property
    def green(self) -> bool:
        """Passed, and left nothing behind. The only meaning of "passed" in any count of ours."""
        return self.status == "passed" and self.cleanup == "passed"
