"""Builders of valid documents, so that a test says only what it is about.

Every builder takes what its caller cares about and fills in the rest the same way each time. A
wire document read from disk is made with ``dump`` of what a builder returns.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from runner_e2e.billing import result_billing, sum_billing
from runner_e2e.contracts.base import dump
from runner_e2e.contracts.billing import (
    BillingSummary,
    LlmUsage,
    RuntimeUsage,
)
from runner_e2e.contracts.campaign import CAMPAIGN_V2, Campaign, SuiteSummary
from runner_e2e.contracts.evidence import FileDigest
from runner_e2e.contracts.insights import (
    INSIGHTS_V1,
    CellInsight,
    CostInsight,
    Counts,
    Coverage,
    Insights,
)
from runner_e2e.contracts.job_record import JOB_RECORD_V1, AttemptRecord, JobRecord
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


def make_llm_usage(*, cost: float | None = 0.02, runs: int = 1, tokens: int = 1_200) -> LlmUsage:
    """``cost`` in US dollars, ``None`` where the provider did not report one."""
    return LlmUsage(
        run_count=runs,
        runs_with_token_usage=runs if tokens else 0,
        runs_with_reported_cost=0 if cost is None else runs,
        input_tokens=tokens - tokens // 6,
        output_tokens=tokens // 6,
        cached_input_tokens=0,
        total_tokens=tokens,
        reported_cost_usd=cost or 0,
        cost_status="reported" if cost is not None else ("unpriced" if tokens else "unavailable"),
    )


def make_usage(*, cost: float | None = 0.02, tokens: int = 1_200) -> dict[str, Any]:
    """What an agent reports of one run, from which ``make_llm_usage`` follows."""
    usage: dict[str, Any] = {
        "inputTokens": tokens - tokens // 6,
        "outputTokens": tokens // 6,
        "cachedInputTokens": 0,
    }
    return usage if cost is None else usage | {"costUsd": cost}


def make_runtime_usage(
    environment: EnvironmentId = "local", *, duration_ms: int = 60_000
) -> RuntimeUsage:
    """What the environment was used for; daytona has one lease at list price."""
    if environment == "local":
        return RuntimeUsage(
            provider="local",
            agent_run_duration_ms=duration_ms,
            lease_duration_ms=None,
            lease_count=0,
            cost_status="not_metered",
            cost_source="local_not_metered",
        )
    return RuntimeUsage(
        provider="daytona",
        agent_run_duration_ms=duration_ms,
        lease_duration_ms=duration_ms,
        lease_count=1,
        cpu_cores=4,
        memoryGiB=4,
        diskGiB=10,
        estimated_list_cost_usd=round(0.26748 * duration_ms / 3_600_000, 6),
        cost_status="estimated",
        cost_source="daytona_public_list_price",
        pricing_as_of="2026-08-27",
        pricing_url="https://www.daytona.io/pricing",
    )


def make_billing(
    environment: EnvironmentId = "local",
    *,
    cost: float | None = 0.02,
    tokens: int = 1_200,
    duration_ms: int = 60_000,
) -> BillingSummary:
    """One execution's cost."""
    llm = make_llm_usage(cost=cost, tokens=tokens)
    runtime = make_runtime_usage(environment, duration_ms=duration_ms)
    estimate = runtime.estimated_list_cost_usd or 0
    return BillingSummary(
        llm=llm,
        runtime=runtime,
        reported_cost_usd=llm.reported_cost_usd,
        estimated_runtime_cost_usd=estimate,
        observed_and_estimated_cost_usd=llm.reported_cost_usd + estimate,
        complete=cost is not None and tokens > 0,
    )


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


def make_attempt_record(result: Result, *, code: str | None = None) -> AttemptRecord:
    """The job record's line about one attempt, as ``run`` writes it beside ``result``."""
    return AttemptRecord(
        attempt=result.attempt,
        status=result.status,
        failure_class=result.failure_class,
        code=code,
        started_at=result.started_at,
        finished_at=result.finished_at,
        billing=result.billing,
    )


def make_job_record(
    result: Result | str,
    *,
    plan: Plan | None = None,
    run_attempt: int = 1,
    state: Literal["started", "finished", "interrupted"] = "finished",
    code: str | None = None,
    files: Iterable[FileDigest] = (),
    **changes: Any,
) -> JobRecord:
    """The record beside ``result``, or of a job of that id that left no result."""
    ended = isinstance(result, Result)
    execution_id = result.execution_id if isinstance(result, Result) else result
    suite = execution_id.split(".")[0]
    values: dict[str, Any] = {
        "schema_": JOB_RECORD_V1,
        "execution_id": execution_id,
        "plan_digest": None if plan is None else plan.digest,
        "suite_definition_hash": definition_hash(suite),
        "source": make_source(),
        "run_id": RUN_ID,
        "run_attempt": run_attempt,
        "state": state if ended else "started",
        "started_at": START,
        "finished_at": None,
        "attempts": (),
        "resources": (),
        "files": tuple(files),
    }
    if isinstance(result, Result):
        values |= {
            "suite_definition_hash": result.suite_definition_hash,
            "source": result.source,
            "started_at": result.started_at,
            "finished_at": result.finished_at,
            "attempts": (make_attempt_record(result, code=code),),
        }
    return JobRecord(**values | changes)


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


def digest_of(path: str, data: bytes) -> FileDigest:
    """A job record's line about one file."""
    return FileDigest(path=path, sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))


def write_cell(
    directory: Path,
    result: Result,
    *,
    plan: Plan | None = None,
    run_attempt: int = 1,
    code: str | None = None,
    files: dict[str, bytes] | None = None,
    **changes: Any,
) -> JobRecord:
    """Lay a result artifact into ``directory`` as ``run`` does: results, record, ``files``.

    ``changes`` go to the job record. Every file written stands in it with its digest.
    """
    content = {
        "result.json": dump(result),
        f"attempt-{result.attempt}/result.json": dump(result),
    } | (files or {})
    record = make_job_record(
        result,
        plan=plan,
        run_attempt=run_attempt,
        code=code,
        files=[digest_of(path, data) for path, data in content.items()],
        **changes,
    )
    for path, data in (content | {"job-record.json": dump(record)}).items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return record
