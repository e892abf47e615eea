"""What history keeps of one campaign: its record, its slim row, its cells' outcomes. All pure."""

from __future__ import annotations

from collections.abc import Mapping

from runner_e2e.billing import result_billing
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.history import (
    BundleManifest,
    CellCampaign,
    CellOutcome,
    HistoryCampaign,
    HistoryExecution,
    IndexCounts,
    IndexRow,
)
from runner_e2e.contracts.insights import CellInsight, Insights
from runner_e2e.contracts.plan import Plan
from runner_e2e.contracts.result import Result
from runner_e2e.contracts.timestamps import parse_timestamp
from runner_e2e.errors import DocumentError
from runner_e2e.history.identity import run_attempt, run_identity


def campaign_path(campaign_id: str) -> str:
    """Where a campaign's bundle lies, below the documents of its lane."""
    return f"campaigns/{campaign_id}/"


def check_together(campaign: Campaign, insights: Insights, plan: Plan) -> None:
    """Refuse documents that do not speak of one campaign.

    Raises :class:`DocumentError`; what is recorded must be told from all three alike.
    """
    if insights.campaign_id != campaign.campaign_id:
        raise DocumentError(
            "insights.json",
            f"it belongs to {insights.campaign_id}, campaign.json is {campaign.campaign_id}",
        )
    if insights.plan_digest != plan.digest:
        raise DocumentError("insights.json", "it was made from another plan.json")
    if campaign.expected != plan.expected:
        raise DocumentError("campaign.json", "its expected set is not that of plan.json")
    if tuple(result.execution_id for result in campaign.results) != plan.expected:
        raise DocumentError("campaign.json", "its results are not one for each expected execution")
    if tuple(cell.execution_id for cell in insights.cells) != plan.expected:
        raise DocumentError("insights.json", "its cells are not one for each expected execution")


def history_campaign(campaign: Campaign, public_url: str) -> HistoryCampaign:
    """The campaign's entry in ``history.json``."""
    return HistoryCampaign(
        campaign_id=campaign.campaign_id,
        generated_at=campaign.generated_at,
        source=campaign.source,
        complete=campaign.complete,
        selected=campaign.selected,
        executed=campaign.executed,
        passed=campaign.passed,
        failed=campaign.failed,
        retries=campaign.retries,
        cleanup_passed=campaign.cleanup_passed,
        public_url=public_url,
        billing=campaign.billing,
        suites=campaign.suites,
        executions=tuple(_history_execution(result) for result in campaign.results),
    )


def index_row(
    campaign: Campaign,
    insights: Insights,
    plan: Plan,
    manifest: BundleManifest,
    *,
    lane: str | None,
    url: str,
) -> IndexRow:
    """The campaign's row in ``index.json``; whether it is superseded the other rows tell."""
    started = [result.started_at for result in campaign.results if result.attempt > 0]
    return IndexRow(
        campaign_id=campaign.campaign_id,
        lane=lane,
        started_at=min(started, key=parse_timestamp, default=plan.created_at),
        generated_at=campaign.generated_at,
        run=run_identity(campaign.source),
        run_attempt=run_attempt(campaign),
        sha=campaign.source.sha,
        complete=campaign.complete,
        cleanup_passed=campaign.cleanup_passed,
        counts=IndexCounts(
            selected=campaign.selected,
            executed=campaign.executed,
            passed=campaign.passed,
            failed=campaign.failed,
            unresolved=insights.counts.unresolved,
            flaky=insights.counts.flaky,
        ),
        cost_usd=insights.cost.at_least,
        cost_complete=insights.cost.unpriced == 0,
        bundle_bytes=bundle_bytes(manifest),
        url=url,
    )


def bundle_bytes(manifest: BundleManifest) -> int:
    """What the bundle's files take, at least 1: a row with 0 is that of a pruned one."""
    return max(1, sum(file.bytes for file in manifest.files))


def cell_campaign(campaign: Campaign) -> CellCampaign:
    """How ``cells/<suite>.json`` names the campaign that outcomes refer to."""
    return CellCampaign(
        generated_at=campaign.generated_at,
        sha=campaign.source.sha,
        run_attempt=run_attempt(campaign),
    )


def cell_outcomes(campaign: Campaign, insights: Insights) -> Mapping[str, CellOutcome]:
    """What every planned cell came to, by execution id."""
    return {
        result.execution_id: cell_outcome(campaign.campaign_id, result, cell)
        for result, cell in zip(campaign.results, insights.cells, strict=True)
    }


def cell_outcome(campaign_id: str, result: Result, cell: CellInsight) -> CellOutcome:
    """What one cell came to in one campaign."""
    billing = result_billing(result) if result.attempt else None
    # What passed and is not green left something behind, and the contract has no class for that.
    littered = result.status == "passed" and not result.green
    return CellOutcome(
        campaign_id=campaign_id,
        state=cell.state,
        failure_class="cleanup_failure" if littered else result.failure_class,
        code=cell.code,
        attempt=result.attempt,
        flaky=cell.flaky,
        definition_hash=result.suite_definition_hash,
        model=result.model,
        duration_ms=result.duration_ms,
        cost_usd=billing.observed_and_estimated_cost_usd if billing and billing.complete else None,
        confirm_passed=cell.confirm.passed if cell.confirm else None,
        confirm_failed=cell.confirm.failed if cell.confirm else None,
    )


def _history_execution(result: Result) -> HistoryExecution:
    return HistoryExecution(
        execution_id=result.execution_id,
        suite_id=result.suite_id or result.execution_id.split(".")[0],
        profile_id=result.profile_id,
        environment_id=result.environment_id,
        case_id=result.case_id,
        provider=result.provider,
        model=result.model,
        status=result.status,
        duration_ms=result.duration_ms,
        attempt=result.attempt,
        cleanup=result.cleanup,
        billing=result_billing(result),
    )
