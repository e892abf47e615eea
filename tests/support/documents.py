"""Builders of valid documents, so that a test says only what it is about.

Every builder takes what its caller cares about and fills in the rest the same way each time. A
wire document read from disk is made with ``dump`` of what a builder returns.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Literal

from runner_e2e.billing import result_billing, sum_billing
from runner_e2e.contracts.campaign import CAMPAIGN_V2, Campaign, SuiteSummary
from runner_e2e.contracts.insights import (
    INSIGHTS_V1,
    CellInsight,
    CostInsight,
    Counts,
    Coverage,
    Insights,
)
from runner_e2e.contracts.plan import (
    PLAN_V1,
    CampaignSource,
    MatrixJob,
    Plan,
    PlannedCatalog,
    PlannedEnvironment,
    PlannedExecution,
    PlannedProfile,
    PlannedSuite,
    PlannedTask,
    Selection,
    Shard,
    plan_digest,
)
from runner_e2e.contracts.result import RESULT_V2, Result, Source
from runner_e2e.contracts.timestamps import format_timestamp, parse_timestamp
from runner_e2e.contracts.vocabulary import EXECUTED_STATES, CellState, EnvironmentId, FailureClass
from tests.support.costs import make_billing, make_runtime_usage, make_usage

START = "2026-11-30T02:00:00.000Z"
"""When everything in a built document begins."""

SHA = "5f0c3d8a1b2e4f60718293a4b5c6d7e8f9012345"
REF = "refs/heads/main"
RUN_ID = "15000000001"
RUN_URL = f"https://github.com/acme/agents/actions/runs/{RUN_ID}"
IDS = ("smoke.scripted.local.hello", "smoke.scripted.local.plan", "smoke.scripted.local.question")
"""The execution ids of the default plan: one suite, one profile, three cases."""


def later(minutes: float, start: str = START) -> str:
    """The timestamp ``minutes`` after ``start``."""
    return format_timestamp(parse_timestamp(start) + timedelta(minutes=minutes))


def definition_hash(suite_id: str, revision: int = 1) -> str:
    """A suite's fingerprint; another ``revision`` is another definition."""
    return hashlib.sha256(f"{suite_id}@{revision}".encode()).hexdigest()


def make_source(**changes: Any) -> Source:
    """The code that ran: a run of GitHub Actions unless told otherwise."""
    return Source(**{"sha": SHA, "ref": REF, "workflow_run_url": RUN_URL} | changes)


def make_campaign_source(**changes: Any) -> CampaignSource:
    """The same with the event that started it."""
    values = {"sha": SHA, "ref": REF, "workflow_run_url": RUN_URL, "event_name": "schedule"}
    return CampaignSource(**values | changes)


LOCAL_SOURCE = CampaignSource(sha=None, ref=None, workflow_run_url=None, event_name=None)
"""A run on one's own machine, outside of a repository."""


def make_result(
    execution_id: str = IDS[0],
    *,
    attempt: int = 1,
    status: Literal["passed", "failed"] = "passed",
    failure_class: FailureClass | None = None,
    error: str | None = None,
    cost: float | None = 0.02,
    started_at: str = START,
    minutes: float = 1,
    **changes: Any,
) -> Result:
    """A v2 result. A failed one is a candidate failure with a short error unless told otherwise."""
    suite, profile, environment, case = execution_id.split(".")
    environment_id: EnvironmentId = "daytona" if environment == "daytona" else "local"
    if status == "failed":
        failure_class = failure_class or "candidate_failure"
        error = error or "the last message was not the marker"
    duration_ms = int(minutes * 60_000)
    values: dict[str, Any] = {
        "schema_": RESULT_V2,
        "execution_id": execution_id,
        "suite_id": suite,
        "suite_definition_hash": definition_hash(suite),
        "source": make_source(),
        "attempt": attempt,
        "status": status,
        "failure_class": failure_class,
        "error": error,
        "profile_id": profile,
        "environment_id": environment_id,
        "case_id": case,
        "provider": "scripted",
        "model": "scripted-1",
        "runtime_mode": "native",
        "run_ids": (f"{case}-run-{attempt}",),
        "usage": make_usage(cost=cost),
        "started_at": started_at,
        "finished_at": later(minutes, started_at),
        "duration_ms": duration_ms,
        "runtime_usage": make_runtime_usage(environment_id, duration_ms=duration_ms),
        "billing": make_billing(environment_id, cost=cost, duration_ms=duration_ms),
        "cleanup": "passed",
    }
    return Result(**values | changes)


def make_planned_suite(suite_id: str, ids: Sequence[str], **changes: Any) -> PlannedSuite:
    """A suite that has exactly ``ids``."""
    parts = [execution_id.split(".") for execution_id in ids]
    values: dict[str, Any] = {
        "id": suite_id,
        "label": suite_id.replace("-", " ").capitalize(),
        "description": f"What {suite_id} asks.",
        "expected_matrix_size": len(ids),
        "definition_hash": definition_hash(suite_id),
        "execution_ids": tuple(ids),
        "profiles": tuple(
            PlannedProfile(
                id=profile,
                label=profile.capitalize(),
                generation="native",
                provider="scripted",
                model="scripted-1",
                expected_runtime_mode="native",
            )
            for profile in dict.fromkeys(part[1] for part in parts)
        ),
        "environments": tuple(
            PlannedEnvironment(
                id="daytona" if environment == "daytona" else "local",
                label=environment.capitalize(),
            )
            for environment in dict.fromkeys(part[2] for part in parts)
        ),
        "tasks": tuple(
            PlannedTask(id=case, label=case.capitalize(), flow="single_turn", expected_run_count=1)
            for case in dict.fromkeys(part[3] for part in parts)
        ),
        "gate": None,
        "quarantine": (),
    }
    return PlannedSuite(**values | changes)


def make_planned_execution(execution_id: str, **changes: Any) -> PlannedExecution:
    """One execution to run."""
    suite, profile, environment, case = execution_id.split(".")
    daytona = environment == "daytona"
    values: dict[str, Any] = {
        "job": MatrixJob(
            execution_id=execution_id,
            suite_id=suite,
            profile_id=profile,
            credential_name="OPENAI_API_KEY",
            environment_id="daytona" if daytona else "local",
            case_id=case,
            timeout_minutes=30,
            needs_daytona=daytona,
        ),
        "suite_definition_hash": definition_hash(suite),
        "provider": "scripted",
        "model": "scripted-1",
        "runtime_mode": "native",
        "turns": 1,
        "shard": 0,
    }
    return PlannedExecution(**values | changes)


def make_plan(
    selected: Sequence[str] = IDS,
    *,
    catalog: Sequence[str] | None = None,
    source: CampaignSource | None = None,
    suites: Sequence[PlannedSuite] | None = None,
    **changes: Any,
) -> Plan:
    """A plan of ``selected`` out of ``catalog`` (by default, of everything)."""
    whole = tuple(selected) if catalog is None else tuple(catalog)
    by_suite: dict[str, list[str]] = {}
    for execution_id in whole:
        by_suite.setdefault(execution_id.split(".")[0], []).append(execution_id)
    if suites is None:
        suites = [make_planned_suite(suite, ids) for suite, ids in by_suite.items()]
    values: dict[str, Any] = {
        "schema_": PLAN_V1,
        "created_at": START,
        "source": source or make_campaign_source(),
        "tool_version": "0.1.0",
        "selection": Selection(
            all=catalog is None,
            suite=(),
            group=(),
            profile=(),
            environment=(),
            case=(),
            id=() if catalog is None else tuple(selected),
        ),
        "max_retries": 1,
        "catalog": PlannedCatalog(fingerprint=definition_hash("catalog"), suites=tuple(suites)),
        "executions": tuple(make_planned_execution(execution_id) for execution_id in selected),
        "shards": (Shard(index=0, count=len(selected), max_parallel=20),) if selected else (),
        "digest": "0" * 64,
    }
    plan = Plan(**values | changes)
    return plan.model_copy(update={"digest": plan_digest(plan)})


def make_campaign(
    results: Sequence[Result] | None = None, *, plan: Plan | None = None, **changes: Any
) -> Campaign:
    """A campaign of ``results``: by default one pass for every execution of ``plan``."""
    plan = plan or make_plan([r.execution_id for r in results] if results else IDS)
    if results is None:
        results = [make_result(execution_id) for execution_id in plan.expected]
    suites = tuple(
        _suite_summary(suite, [r for r in results if r.suite_id == suite.id])
        for suite in plan.catalog.suites
        if any(r.suite_id == suite.id for r in results)
    )
    passed = sum(r.green for r in results)
    values: dict[str, Any] = {
        "schema_": CAMPAIGN_V2,
        "campaign_id": f"gha-{RUN_ID}-1",
        "generated_at": max((r.finished_at for r in results), default=plan.created_at),
        "source": plan.source,
        "expected": plan.expected,
        "complete": len(suites) == len(plan.catalog.suites) and all(s.complete for s in suites),
        "selected": len(results),
        "executed": sum(r.attempt > 0 for r in results),
        "passed": passed,
        "failed": len(results) - passed,
        "retries": sum(max(0, r.attempt - 1) for r in results),
        "cleanup_passed": all(r.cleanup == "passed" for r in results),
        "ranking_snapshots": (),
        "billing": sum_billing(map(result_billing, results)),
        "suites": suites,
        "results": tuple(results),
    }
    return Campaign(**values | changes)


def _suite_summary(suite: PlannedSuite, results: Sequence[Result]) -> SuiteSummary:
    passed = sum(r.green for r in results)
    return SuiteSummary(
        suite_id=suite.id,
        suite_definition_hash=suite.definition_hash,
        expected=suite.expected_matrix_size,
        selected=len(results),
        executed=sum(r.attempt > 0 for r in results),
        passed=passed,
        failed=len(results) - passed,
        retries=sum(max(0, r.attempt - 1) for r in results),
        cleanup_passed=all(r.cleanup == "passed" for r in results),
        complete=len(results) == suite.expected_matrix_size,
        duration_ms=sum(r.duration_ms for r in results),
        billing=sum_billing(map(result_billing, results)),
    )


def make_insights(
    campaign: Campaign, *, plan: Plan | None = None, states: dict[str, CellState] | None = None
) -> Insights:
    """What ``aggregate`` would say beside ``campaign``; ``states`` names the odd ones."""
    plan = plan or make_plan(campaign.expected)
    cells = tuple(
        CellInsight(
            execution_id=result.execution_id,
            state=(states or {}).get(
                result.execution_id, result.status if result.attempt else "missing"
            ),
            run_attempt=1 if result.attempt else None,
            flaky=result.green and result.attempt > 1,
        )
        for result in campaign.results
    )
    counted: dict[CellState, int] = {}
    for cell in cells:
        counted[cell.state] = counted.get(cell.state, 0) + 1
    executed = sum(cell.state in EXECUTED_STATES for cell in cells)
    return Insights(
        schema=INSIGHTS_V1,
        campaign_id=campaign.campaign_id,
        plan_digest=plan.digest,
        cells=cells,
        extras=(),
        duplicates=(),
        coverage=Coverage(
            suites_complete=sum(suite.complete for suite in campaign.suites),
            suites_total=len(plan.catalog.suites),
            cells_selected=len(cells),
            cells_total=sum(len(suite.execution_ids) for suite in plan.catalog.suites),
            cells_resolved=executed,
        ),
        counts=Counts(
            selected=len(cells),
            executed=executed,
            unresolved=len(cells) - executed,
            flaky=sum(cell.flaky for cell in cells),
            states=counted,
        ),
        cost=CostInsight(
            reported=campaign.billing.reported_llm_cost_usd,
            at_least=campaign.billing.observed_and_estimated_cost_usd,
            unpriced=campaign.billing.llm.run_count - campaign.billing.llm.runs_with_reported_cost,
        ),
    )
