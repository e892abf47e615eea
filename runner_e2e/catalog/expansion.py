"""From lists and names to whole suites, and from suites to cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from runner_e2e.contracts.catalog import (
    DaytonaOptions,
    EnvironmentEntry,
    EnvironmentFixture,
    ExecutionTarget,
    Lifecycle,
    MatrixExecution,
    ProfileFixture,
    SuiteEntry,
    SuiteFixture,
)
from runner_e2e.contracts.task import TaskFixture

DEFAULT_ENVIRONMENTS: tuple[EnvironmentEntry, ...] = (
    EnvironmentEntry(id="local", label="Isolated local", groups=("local",)),
    EnvironmentEntry(id="daytona", label="Daytona sandbox", groups=("daytona",)),
)
"""What is there without being declared."""


def environment_key(entry: EnvironmentEntry | EnvironmentFixture) -> str:
    """How a suite names it: ``daytona``, or ``daytona/warm-reuse-v1``."""
    return f"{entry.id}/{entry.configuration_key}" if entry.configuration_key else entry.id


def with_defaults(entries: Sequence[EnvironmentEntry]) -> tuple[EnvironmentEntry, ...]:
    """The declared environments and, before them, the undeclared ones."""
    declared = {environment_key(entry) for entry in entries}
    missing = [entry for entry in DEFAULT_ENVIRONMENTS if environment_key(entry) not in declared]
    return (*missing, *entries)


def resolve_environment(entry: EnvironmentEntry) -> EnvironmentFixture:
    """All that follows from an environment's id."""
    local = entry.id == "local"
    return EnvironmentFixture(
        id=entry.id,
        configuration_key=entry.configuration_key,
        label=entry.label,
        groups=entry.groups,
        driver="local" if local else "sandbox",
        provider=entry.id,
        credential=None if local else "DAYTONA_API_KEY",
        lifecycle=Lifecycle(
            setup="instance_managed" if local else "create_via_api",
            probe="run_context_via_api",
            cleanup="instance_shutdown" if local else "delete_via_api_and_destroy_leases",
        ),
        expected_execution_target=(
            ExecutionTarget(kind="local")
            if local
            else ExecutionTarget(kind="remote", transport="sandbox")
        ),
        daytona=None if local else entry.daytona or DaytonaOptions(),
    )


def resolve_suite(
    entry: SuiteEntry,
    profiles: Mapping[str, ProfileFixture],
    environments: Mapping[str, EnvironmentFixture],
    tasks: Mapping[str, TaskFixture],
) -> SuiteFixture:
    """Put a suite's parts in the place of their names. Every name must be there."""
    return SuiteFixture(
        id=entry.id,
        label=entry.label,
        description=entry.description,
        groups=entry.groups,
        profiles=tuple(profiles[name] for name in entry.profiles),
        environments=tuple(environments[name] for name in entry.environments),
        tasks=tuple(tasks[name] for name in entry.tasks),
        excluded_execution_ids=entry.excluded_execution_ids,
        expected_matrix_size=entry.expected_matrix_size,
        definition_metadata=entry.definition_metadata,
        gate=entry.gate,
        quarantine=entry.quarantine,
        manual_only=entry.manual_only,
    )


Cell = tuple[str, ProfileFixture, EnvironmentFixture, TaskFixture]
"""An execution id and what it consists of."""


def cells_of(suite: SuiteFixture) -> Iterator[Cell]:
    """The suite's cells in catalog order: profiles, then environments, then cases."""
    excluded = frozenset(suite.excluded_execution_ids or ())
    for profile in suite.profiles:
        for environment in suite.environments:
            if environment.id not in profile.supported_environments:
                continue
            prefix = f"{suite.id}.{profile.id}.{environment.id}."
            for task in suite.tasks:
                execution_id = prefix + task.id
                if execution_id not in excluded:
                    yield execution_id, profile, environment, task


def executions_of(
    suite: SuiteFixture, cells: Sequence[Cell], definition_hash: str
) -> Iterator[MatrixExecution]:
    """The suite's executions, in the order of ``cells``."""
    for execution_id, profile, environment, task in cells:
        groups = dict.fromkeys((*suite.groups, *profile.groups, *environment.groups, *task.groups))
        credentials = (profile.credential, environment.credential)
        yield MatrixExecution(
            id=execution_id,
            suite=suite,
            suite_definition_hash=definition_hash,
            profile=profile,
            environment=environment,
            task=task,
            groups=tuple(groups),
            required_credentials=tuple(name for name in credentials if name is not None),
        )
