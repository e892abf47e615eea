"""The campaign and its insights, from the plan and what became of each of its cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from runner_e2e.billing import result_billing, sum_billing
from runner_e2e.campaigns.choose import Outcome, choose
from runner_e2e.campaigns.evidence import PublicImage
from runner_e2e.campaigns.jobs import JobHistory
from runner_e2e.campaigns.observations import UNKNOWN, Collection, Observation
from runner_e2e.contracts.billing import AggregateBillingSummary, BillingSummary
from runner_e2e.contracts.campaign import (
    CAMPAIGN_V2,
    Campaign,
    RankingSnapshot,
    SuiteSummary,
)
from runner_e2e.contracts.evidence import FileDigest
from runner_e2e.contracts.insights import (
    INSIGHTS_V1,
    CellInsight,
    CostInsight,
    Counts,
    Coverage,
    Duplicate,
    Insights,
)
from runner_e2e.contracts.plan import Plan, PlannedExecution, PlannedSuite
from runner_e2e.contracts.result import RESULT_V2, Result, Source
from runner_e2e.contracts.timestamps import format_timestamp, parse_timestamp
from runner_e2e.contracts.vocabulary import CELL_STATES, EXECUTED_STATES, CellState, FailureClass
from runner_e2e.memory import without_garbage_search

GITHUB_CAMPAIGN_ID = re.compile(r"^gha-[0-9]+-([1-9][0-9]{0,8})$")

TRANSIENT_STATES: frozenset[CellState] = frozenset(
    {"job_timeout", "cancelled", "skipped", "upload_failed"}
)
"""Unresolved, and a re-run may mend it. The other unresolved states are permanent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """A campaign, what its contract has no field for, and the pictures that go with it."""

    campaign: Campaign
    insights: Insights
    images: tuple[PublicImage, ...]


def local_campaign_id(plan: Plan) -> str:
    """Name a campaign that no workflow run made."""
    return "local-" + re.sub(r"[:.]", "-", plan.created_at)


def aggregate(
    plan: Plan, collection: Collection, *, campaign_id: str, jobs: JobHistory | None = None
) -> Aggregate:
    """Decide every cell of ``plan`` and add up.

    A pure function: the order in which things were collected does not matter, and no clock is read.
    """
    with without_garbage_search():
        return _aggregate(plan, collection, campaign_id, jobs)


def _aggregate(
    plan: Plan, collection: Collection, campaign_id: str, jobs: JobHistory | None
) -> Aggregate:
    run_attempts = jobs.run_attempts if jobs else _run_attempts(campaign_id)
    outcomes = [
        choose(
            execution,
            collection.cells.get(execution.job.execution_id, ()),
            collection.passed_over.get(execution.job.execution_id, frozenset()),
            jobs.latest.get(execution.job.execution_id) if jobs else None,
            run_attempts,
        )
        for execution in plan.executions
    ]
    results = tuple(
        outcome.chosen.result or _synthetic(plan, execution, outcome.chosen)
        for execution, outcome in zip(plan.executions, outcomes, strict=True)
    )
    images = tuple(image for outcome in outcomes for image in outcome.chosen.images)
    campaign = build_campaign(plan, results, campaign_id, bill=_taken_in_billing)
    return Aggregate(
        campaign=campaign,
        insights=_insights(plan, collection, outcomes, campaign, images),
        images=images,
    )


def _run_attempts(campaign_id: str) -> int | None:
    found = GITHUB_CAMPAIGN_ID.match(campaign_id)
    return int(found[1]) if found else None


def _synthetic(plan: Plan, execution: PlannedExecution, chosen: Observation) -> Result:
    """Stand in for a result that never arrived."""
    moment = chosen.ended_at or plan.created_at
    failure_class: FailureClass = (
        "transient_infrastructure"
        if chosen.state in TRANSIENT_STATES
        else "permanent_infrastructure"
    )
    job = execution.job
    return Result(
        schema=RESULT_V2,
        execution_id=job.execution_id,
        suite_id=job.suite_id,
        suite_definition_hash=execution.suite_definition_hash,
        source=Source(
            sha=plan.source.sha,
            ref=plan.source.ref,
            workflow_run_url=plan.source.workflow_run_url,
        ),
        attempt=0,
        status="failed",
        failure_class=failure_class,
        error=f"{chosen.state}: {chosen.reason}",
        profile_id=job.profile_id,
        environment_id=job.environment_id,
        case_id=job.case_id,
        provider=execution.provider,
        model=execution.model,
        runtime_mode=execution.runtime_mode,
        started_at=moment,
        finished_at=moment,
        duration_ms=0,
        cleanup="not_started",
    )


@dataclass(frozen=True, slots=True)
class _Counted:
    """A result with its cost, which is worked out once and summed up twice."""

    result: Result
    billing: BillingSummary


def _taken_in_billing(result: Result) -> BillingSummary:
    """The cost of a result that was worked out when it was taken in; of a stand-in, here."""
    return result.billing or result_billing(result)


def build_campaign(
    plan: Plan,
    results: tuple[Result, ...],
    campaign_id: str,
    *,
    bill: Callable[[Result], BillingSummary] = result_billing,
) -> Campaign:
    """Add up ``results``, one for each execution of ``plan`` and in its order."""
    everything = [_Counted(result, bill(result)) for result in results]
    by_suite: dict[str, list[_Counted]] = {}
    for execution, counted in zip(plan.executions, everything, strict=True):
        by_suite.setdefault(execution.job.suite_id, []).append(counted)
    catalog = {suite.id: suite for suite in plan.catalog.suites}
    suites = tuple(
        _suite(suite_id, catalog.get(suite_id), by_suite[suite_id])
        for suite_id in dict.fromkeys((*catalog, *by_suite))
        if suite_id in by_suite
    )
    passed = sum(result.green for result in results)
    return Campaign(
        schema=CAMPAIGN_V2,
        campaign_id=campaign_id,
        generated_at=_generated_at(plan, results),
        source=plan.source,
        expected=plan.expected,
        complete=bool(catalog)
        and by_suite.keys() == catalog.keys()
        and all(suite.complete for suite in suites),
        selected=len(results),
        executed=sum(result.attempt > 0 for result in results),
        passed=passed,
        failed=len(results) - passed,
        retries=_retries(results),
        cleanup_passed=_cleaned(results),
        ranking_snapshots=_rankings(results),
        billing=sum_billing(counted.billing for counted in everything),
        suites=suites,
        results=results,
    )


def _suite(
    suite_id: str, planned: PlannedSuite | None, counted: Sequence[_Counted]
) -> SuiteSummary:
    """Add up one suite. ``planned`` is ``None`` for one that the catalog does not have."""
    results = [entry.result for entry in counted]
    passed = sum(result.green for result in results)
    definition = planned.definition_hash if planned else results[0].suite_definition_hash or ""
    return SuiteSummary(
        suite_id=suite_id,
        suite_definition_hash=definition,
        expected=planned.expected_matrix_size if planned else len(results),
        selected=len(results),
        executed=sum(result.attempt > 0 for result in results),
        passed=passed,
        failed=len(results) - passed,
        retries=_retries(results),
        cleanup_passed=_cleaned(results),
        complete=planned is not None
        and len(results) == planned.expected_matrix_size
        and {result.execution_id for result in results} == set(planned.execution_ids)
        and all(result.suite_definition_hash == definition for result in results),
        duration_ms=sum(result.duration_ms for result in results),
        billing=sum_billing(entry.billing for entry in counted),
    )


def _generated_at(plan: Plan, results: Iterable[Result]) -> str:
    moments = [parse_timestamp(result.finished_at) for result in results]
    return format_timestamp(max(moments)) if moments else plan.created_at


def _retries(results: Iterable[Result]) -> int:
    return sum(max(0, result.attempt - 1) for result in results)


def _cleaned(results: Sequence[Result]) -> bool:
    """Whether every execution cleaned up. Of nothing, nothing is claimed."""
    return bool(results) and all(result.cleanup == "passed" for result in results)


def _rankings(results: Iterable[Result]) -> tuple[RankingSnapshot, ...]:
    """Take each ranking once: where it first stands, as it was last said."""
    found: dict[str, RankingSnapshot] = {}
    for result in results:
        if (entry := result.ranking_snapshot) is not None:
            found[entry.snapshot_id] = RankingSnapshot(
                snapshot_id=entry.snapshot_id,
                captured_at=entry.captured_at,
                source_url=entry.source_url,
            )
    return tuple(found.values())


def _insights(
    plan: Plan,
    collection: Collection,
    outcomes: Sequence[Outcome],
    campaign: Campaign,
    images: Sequence[PublicImage],
) -> Insights:
    cells = tuple(
        _cell(outcome.chosen, result)
        for outcome, result in zip(outcomes, campaign.results, strict=True)
    )
    extras = collection.extras.union(*(outcome.set_aside for outcome in outcomes))
    sums = add_up_cells(plan, campaign, cells)
    return Insights(
        schema=INSIGHTS_V1,
        campaign_id=campaign.campaign_id,
        plan_digest=plan.digest,
        cells=cells,
        extras=tuple(sorted(extras, key=lambda e: (e.execution_id, e.file, e.reason))),
        duplicates=tuple(
            Duplicate(
                execution_id=outcome.chosen.execution_id,
                chosen=outcome.chosen.file or "",
                others=outcome.others,
            )
            for outcome in outcomes
            if outcome.others
        ),
        unreadable=tuple(sorted(collection.unreadable, key=lambda u: (u.file, u.reason))),
        evidence=tuple(
            FileDigest(path=image.target, sha256=image.sha256, bytes=image.size) for image in images
        ),
        coverage=sums.coverage,
        counts=sums.counts,
        cost=sums.cost,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CellSums:
    """What the cells of a campaign come to."""

    coverage: Coverage
    counts: Counts
    cost: CostInsight


def add_up_cells(plan: Plan, campaign: Campaign, cells: Sequence[CellInsight]) -> CellSums:
    """Add up ``cells``, one for each execution of ``plan``."""
    executed = sum(cell.state in EXECUTED_STATES for cell in cells)
    states = [cell.state for cell in cells]
    return CellSums(
        coverage=Coverage(
            suites_complete=sum(suite.complete for suite in campaign.suites),
            suites_total=len(plan.catalog.suites),
            cells_selected=len(cells),
            cells_total=sum(suite.expected_matrix_size for suite in plan.catalog.suites),
            cells_resolved=executed,
        ),
        counts=Counts(
            selected=len(cells),
            executed=executed,
            unresolved=len(cells) - executed,
            flaky=sum(cell.flaky for cell in cells),
            states={state: n for state in CELL_STATES if (n := states.count(state))},
        ),
        cost=_cost(campaign.billing, cells),
    )


def _cell(chosen: Observation, result: Result) -> CellInsight:
    return CellInsight(
        execution_id=chosen.execution_id,
        state=chosen.state,
        run_attempt=chosen.rank if chosen.rank > UNKNOWN else None,
        code=chosen.code,
        reason=chosen.reason,
        file=chosen.file,
        flaky=result.green and result.attempt > 1,
        confirm=chosen.confirm,
        overran_usd=chosen.overran_usd,
    )


def _cost(billing: AggregateBillingSummary, cells: Sequence[CellInsight]) -> CostInsight:
    """Say what is known of the cost, and of how many runs it is not.

    A cell without a result may have spent money too; it counts as one run without a price, unless
    its job was skipped and so never began. Repeats of failures were paid for, too.
    """
    skipped = sum(cell.state == "skipped" for cell in cells)
    repeats = [cell.confirm for cell in cells if cell.confirm is not None]
    return CostInsight(
        reported=billing.reported_llm_cost_usd,
        at_least=billing.observed_and_estimated_cost_usd
        + sum(repeat.cost_at_least_usd for repeat in repeats),
        unpriced=billing.llm.run_count
        - billing.llm.runs_with_reported_cost
        - skipped
        + sum(repeat.unpriced for repeat in repeats),
    )
