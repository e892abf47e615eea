"""``plan.json``: what is to run, and all that its readers need to judge it.

The catalog part is the whole catalog, also what was not selected: coverage, suite sizes and the
cells that were left out cannot be told without it.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from runner_e2e.contracts.base import Document, Omittable, digest, dump_tree, parse
from runner_e2e.contracts.catalog import QuarantineEntry, SuiteGate
from runner_e2e.contracts.estimates import Estimate
from runner_e2e.contracts.result import RankingSnapshotEntry, Source
from runner_e2e.contracts.scalars import (
    Amount,
    Count,
    ExecutionId,
    ItemId,
    Ordinal,
    Sha256,
    Timestamp,
)
from runner_e2e.contracts.vocabulary import CredentialName, EnvironmentId, Flow, Generation
from runner_e2e.errors import DocumentError

PLAN_V1: Literal["runner-e2e.plan/v1"] = "runner-e2e.plan/v1"


class CampaignSource(Source):
    """Which code ran and what started it."""

    event_name: str | None


class MatrixJob(Document):
    """Contract: ``MatrixJob``. One leg of the GitHub matrix: ids and short enums only."""

    execution_id: ExecutionId
    suite_id: ItemId
    profile_id: ItemId
    credential_name: CredentialName
    environment_id: EnvironmentId
    case_id: ItemId
    timeout_minutes: Ordinal
    needs_daytona: bool


class PlannedProfile(Document):
    """A profile as the readers of a plan show it."""

    id: ItemId
    label: str
    generation: Generation
    provider: str
    model: str
    expected_runtime_mode: Generation
    ranking: Omittable[RankingSnapshotEntry] = None


class PlannedEnvironment(Document):
    """An environment in the configuration a suite uses."""

    id: EnvironmentId
    configuration_key: Omittable[str] = None
    label: str


class PlannedTask(Document):
    """A case as the readers of a plan show it."""

    id: ItemId
    label: str
    flow: Flow
    expected_run_count: Ordinal


class PlannedSuite(Document):
    """A whole suite of the catalog, with every execution id it has, selected or not."""

    id: ItemId
    label: str
    description: str
    expected_matrix_size: Count
    definition_hash: Sha256
    execution_ids: tuple[ExecutionId, ...]
    profiles: tuple[PlannedProfile, ...]
    environments: tuple[PlannedEnvironment, ...]
    tasks: tuple[PlannedTask, ...]
    gate: SuiteGate | None
    quarantine: tuple[QuarantineEntry, ...]


class PlannedCatalog(Document):
    """The catalog that the plan was made from."""

    fingerprint: Sha256
    suites: tuple[PlannedSuite, ...]


class PlannedExecution(Document):
    """One execution to run. ``turns`` counts paid agent turns; ``shard`` is its matrix, from 0."""

    job: MatrixJob
    suite_definition_hash: Sha256
    provider: str
    model: str
    runtime_mode: Generation
    turns: Ordinal
    shard: Count
    estimate: Omittable[Estimate] = None


class Selection(Document):
    """What was asked for: the selectors as given, in the order suite to id."""

    all: bool
    suite: tuple[str, ...]
    group: tuple[str, ...]
    profile: tuple[str, ...]
    environment: tuple[str, ...]
    case: tuple[str, ...]
    id: tuple[str, ...]
    rerun: Omittable[str] = None
    """The campaign whose cells are run again."""


class Shard(Document):
    """One GitHub matrix: at most 256 executions."""

    index: Count
    count: Count
    max_parallel: Ordinal


class ConfirmPlan(Document):
    """How failures are repeated inside their own job: up to ``repeats`` times, until one passes."""

    repeats: Ordinal
    budget_usd: Omittable[Amount] = None
    """What the repeats of one execution may cost; without it, only their number is capped."""


class Plan(Document):
    """The expected set and its digest. ``executions`` stand in catalog order."""

    schema_: Literal["runner-e2e.plan/v1"] = Field(alias="schema")
    created_at: Timestamp
    source: CampaignSource
    tool_version: str
    selection: Selection
    max_retries: Count
    confirm: Omittable[ConfirmPlan] = None
    catalog: PlannedCatalog
    executions: tuple[PlannedExecution, ...]
    shards: tuple[Shard, ...]
    digest: Sha256

    @property
    def expected(self) -> tuple[str, ...]:
        """The execution ids in order: the campaign's ``expected``."""
        return tuple(execution.job.execution_id for execution in self.executions)


def plan_digest(plan: Plan) -> str:
    """SHA-256 of the plan's canonical JSON without ``digest`` and ``createdAt``.

    The creation time is left out so that planning the same thing twice gives the same digest.
    """
    tree = dump_tree(plan)
    del tree["digest"], tree["createdAt"]
    return digest(tree)


def read_plan(data: bytes, source: str) -> Plan:
    """Read a plan and believe it only whole.

    The plan says what had to be run, so one that lost an execution would make a campaign greener
    than it was. Raises :class:`DocumentError` when its digest is not that of its content or when
    its executions are not those of its catalog.
    """
    plan = parse(Plan, data, source)
    reason = _contradiction(plan)
    if reason:
        raise DocumentError(
            source,
            reason,
            hint="a plan is used as `runner-e2e plan` wrote it; plan again to change what runs",
        )
    return plan


def _contradiction(plan: Plan) -> str | None:
    if plan_digest(plan) != plan.digest:
        return "it was changed after it was planned: its digest is not that of its content"
    if len(set(plan.expected)) != len(plan.executions):
        return "it names an execution twice"
    suites = {suite.id: suite for suite in plan.catalog.suites}
    known = {name for suite in suites.values() for name in suite.execution_ids}
    for execution in plan.executions:
        job = execution.job
        parts = (job.suite_id, job.profile_id, job.environment_id, job.case_id)
        suite = suites.get(job.suite_id)
        if suite is None or job.execution_id not in known or job.execution_id != ".".join(parts):
            return f"{job.execution_id} is not an execution of its catalog"
        if execution.suite_definition_hash != suite.definition_hash:
            return f"{job.execution_id} has another definition hash than its suite"
    return None
