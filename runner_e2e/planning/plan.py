"""Build ``plan.json``: the expected set and what its readers need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from runner_e2e.catalog import Catalog
from runner_e2e.contracts.catalog import EnvironmentFixture, MatrixExecution, SuiteFixture
from runner_e2e.contracts.estimates import Estimate, Estimates
from runner_e2e.contracts.plan import (
    PLAN_V1,
    CampaignSource,
    ConfirmPlan,
    MatrixJob,
    Plan,
    PlannedCatalog,
    PlannedEnvironment,
    PlannedExecution,
    PlannedProfile,
    PlannedSuite,
    PlannedTask,
    Shard,
    plan_digest,
)
from runner_e2e.errors import UsageError
from runner_e2e.planning.selection import Selectors
from runner_e2e.planning.timing import MAX_SHARD, assign_shards, share, timeout_minutes
from runner_e2e.planning.warnings import refuse_endless

NO_ESTIMATES: Estimates = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """What a plan needs beside the catalog. ``max_parallel`` is shared out among the shards."""

    created_at: str
    source: CampaignSource
    tool_version: str
    max_retries: int = 1
    confirm: ConfirmPlan | None = None
    shard_size: int = MAX_SHARD
    max_parallel: int = 20

    def __post_init__(self) -> None:
        for name, value, low, high in (
            ("--shard-size", self.shard_size, 1, MAX_SHARD),
            ("--max-parallel", self.max_parallel, 1, None),
            ("--max-retries", self.max_retries, 0, None),
        ):
            if value < low or (high is not None and value > high):
                limit = f"from {low} to {high}" if high else f"{low} or more"
                raise UsageError(f"{name} must be {limit}, not {value}")


def build_plan(
    catalog: Catalog,
    executions: Sequence[MatrixExecution],
    selectors: Selectors,
    options: PlanOptions,
    estimates: Estimates = NO_ESTIMATES,
) -> Plan:
    """Plan ``executions``, which stand in catalog order. None at all is a plan too.

    Raises :class:`UsageError` for a job that may take longer than five days.
    """
    expected = [(item.id, _expected_ms(item, estimates.get(item.id))) for item in executions]
    shard_of = assign_shards(expected, options.shard_size) if executions else ()
    plan = Plan(
        schema=PLAN_V1,
        created_at=options.created_at,
        source=options.source,
        tool_version=options.tool_version,
        selection=selectors.document(),
        max_retries=options.max_retries,
        confirm=options.confirm,
        catalog=_planned_catalog(catalog),
        executions=tuple(
            _planned_execution(item, shard, options, estimates.get(item.id))
            for item, shard in zip(executions, shard_of, strict=True)
        ),
        shards=_shards(shard_of, options.max_parallel),
        digest="0" * 64,
    )
    refuse_endless(plan)
    return plan.model_copy(update={"digest": plan_digest(plan)})


def _attempt_timeout_ms(execution: MatrixExecution) -> int:
    timeouts = execution.task.attempt_timeout_ms
    return timeouts.local if execution.environment.id == "local" else timeouts.daytona


def _expected_ms(execution: MatrixExecution, estimate: Estimate | None) -> float:
    """Without history, the longest that an attempt may take."""
    if estimate is not None and estimate.duration_ms_median is not None:
        return estimate.duration_ms_median
    return _attempt_timeout_ms(execution)


def _planned_execution(
    execution: MatrixExecution, shard: int, options: PlanOptions, estimate: Estimate | None
) -> PlannedExecution:
    environment = execution.environment.id
    repeats = options.confirm.repeats if options.confirm else 0
    job = MatrixJob(
        execution_id=execution.id,
        suite_id=execution.suite.id,
        profile_id=execution.profile.id,
        credential_name=execution.profile.credential,
        environment_id=environment,
        case_id=execution.task.id,
        timeout_minutes=timeout_minutes(
            _attempt_timeout_ms(execution), environment, options.max_retries, repeats
        ),
        needs_daytona=environment == "daytona",
    )
    return PlannedExecution(
        job=job,
        suite_definition_hash=execution.suite_definition_hash,
        provider=execution.profile.provider,
        model=execution.profile.model,
        runtime_mode=execution.profile.expected_runtime_mode,
        turns=execution.task.expected_run_count,
        shard=shard,
        estimate=estimate,
    )


def _shards(shard_of: Sequence[int], max_parallel: int) -> tuple[Shard, ...]:
    sizes = Counter(shard_of)
    parallel = share(max_parallel, len(sizes)) if sizes else ()
    return tuple(
        Shard(index=index, count=sizes[index], max_parallel=parallel[index])
        for index in range(len(sizes))
    )


def _planned_catalog(catalog: Catalog) -> PlannedCatalog:
    ids: dict[str, list[str]] = {suite.id: [] for suite in catalog.suites}
    for execution in catalog.executions:
        ids[execution.suite.id].append(execution.id)
    return PlannedCatalog(
        fingerprint=catalog.fingerprint,
        suites=tuple(
            _planned_suite(suite, catalog.definition_hashes[suite.id], ids[suite.id])
            for suite in catalog.suites
        ),
    )


def _planned_suite(
    suite: SuiteFixture, definition_hash: str, execution_ids: Sequence[str]
) -> PlannedSuite:
    return PlannedSuite(
        id=suite.id,
        label=suite.label,
        description=suite.description,
        expected_matrix_size=suite.expected_matrix_size,
        definition_hash=definition_hash,
        execution_ids=tuple(execution_ids),
        profiles=tuple(
            PlannedProfile(
                id=profile.id,
                label=profile.label,
                generation=profile.generation,
                provider=profile.provider,
                model=profile.model,
                expected_runtime_mode=profile.expected_runtime_mode,
                ranking=profile.ranking,
            )
            for profile in suite.profiles
        ),
        environments=tuple(_planned_environment(item) for item in suite.environments),
        tasks=tuple(
            PlannedTask(
                id=task.id,
                label=task.label,
                flow=task.flow,
                expected_run_count=task.expected_run_count,
            )
            for task in suite.tasks
        ),
        gate=suite.gate,
        quarantine=suite.quarantine,
    )


def _planned_environment(environment: EnvironmentFixture) -> PlannedEnvironment:
    return PlannedEnvironment(
        id=environment.id,
        configuration_key=environment.configuration_key,
        label=environment.label,
    )
