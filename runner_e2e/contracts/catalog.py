"""The catalog as a person writes it (``runner-e2e.yaml``) and the fixtures it resolves to."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from runner_e2e.contracts.base import CatalogModel, Document, Omittable
from runner_e2e.contracts.result import RankingSnapshotEntry
from runner_e2e.contracts.scalars import (
    Amount,
    Count,
    ExecutionId,
    HttpUrl,
    ItemId,
    JsonObject,
    JsonValue,
    Share,
)
from runner_e2e.contracts.task import TaskFixture
from runner_e2e.contracts.vocabulary import (
    CredentialName,
    EnvironmentId,
    Generation,
    PresetName,
    QualificationSource,
)

FileName = Annotated[str, StringConstraints(pattern=r"^[^\x00]+$")]
"""The name of a file beside the one that it is written in."""

CATALOG_V1: Literal["runner-e2e.catalog/v1"] = "runner-e2e.catalog/v1"


class SecretReference(Document):
    """Contract: ``SecretReference``. A secret by name of its place, never by value."""

    type: Literal["secret_ref"]
    secret_id: str
    version: Literal["latest"]


SecretReferenceMap = dict[CredentialName, SecretReference]


class AgentFixtureBuildInput(Document):
    """Contract: what a profile's agent payload is rendered with."""

    environment_id: str
    environment_fixture_id: EnvironmentId
    workspace_path: str
    secret_refs: SecretReferenceMap
    execution_id: ExecutionId


class EnvironmentFixtureBuildInput(Document):
    """Contract: what an environment's payload is rendered with."""

    secret_refs: SecretReferenceMap
    daytona_image: Omittable[str] = None
    execution_id: ExecutionId


class ModelQualification(CatalogModel):
    """How the model got its place in the catalog."""

    source: QualificationSource
    qualification_id: str


class RuntimeMetadata(CatalogModel):
    """What the runs must report of themselves."""

    adapter_type: str
    provider: str


class SecretUse(CatalogModel):
    """``{$secretRef: NAME}``: the only way a payload can name a secret."""

    name: CredentialName = Field(alias="$secretRef")


class ModelPrices(CatalogModel):
    """What a million tokens cost in US dollars, as a public page said on a day (``YYYY-MM-DD``)."""

    as_of: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    url: HttpUrl
    input: Amount
    cached_input: Omittable[Amount] = None
    """As ``input`` where it is left out, and so with ``cacheWrite``."""
    cache_write: Omittable[Amount] = None
    output: Amount


class CommandAgent(CatalogModel):
    """``agent`` of a profile on the command target: a program and its environment.

    A preset knows how a real agent program is called and read. ``command`` is then the program,
    where it is not the one on PATH, and what it is to be told after the preset's own settings.
    """

    command: Omittable[Annotated[tuple[str, ...], Field(min_length=1)]] = None
    preset: Omittable[PresetName] = None
    base_url: Omittable[HttpUrl] = None
    """Where the preset's program finds the model, if not at the provider's own address."""
    prices: Omittable[ModelPrices] = None
    """What the preset works the cost out with; without it the program's own figure counts."""
    env: Omittable[dict[str, str | SecretUse]] = None

    @model_validator(mode="after")
    def _one_program(self) -> CommandAgent:
        if self.command is None and self.preset is None:
            raise ValueError("needs 'command' or 'preset'")
        if self.preset is None and (self.base_url is not None or self.prices is not None):
            raise ValueError("'baseUrl' and 'prices' belong to a preset")
        return self


class ProfileFixture(CatalogModel):
    """Contract: ``RunnerProfileFixture``. ``agent`` is the payload that ``buildAgent`` returns."""

    id: ItemId
    label: str
    generation: Generation
    groups: tuple[ItemId, ...] = ()
    adapter_type: str
    provider: str
    model: str
    model_qualification: ModelQualification
    ranking: Omittable[RankingSnapshotEntry] = None
    credential: CredentialName
    supported_environments: Annotated[tuple[EnvironmentId, ...], Field(min_length=1)]
    expected_runtime_mode: Generation
    expected_runtime_metadata: RuntimeMetadata
    agent: dict[str, JsonValue]


class Lifecycle(CatalogModel):
    """Who sets the environment up, looks at it and takes it down."""

    setup: Literal["instance_managed", "create_via_api"]
    probe: Literal["run_context_via_api"]
    cleanup: Literal["instance_shutdown", "delete_via_api_and_destroy_leases"]


class ExecutionTarget(CatalogModel):
    """Where the runs must report to have been."""

    kind: Literal["local", "remote"]
    transport: Omittable[Literal["sandbox"]] = None


class DaytonaOptions(CatalogModel):
    """The size of a sandbox (cores, GiB, GiB) and whether turns share one."""

    cpu: Amount = 4
    memory: Amount = 4
    disk: Amount = 10
    reuse_lease: bool = False


class EnvironmentEntry(CatalogModel):
    """An environment as written; the rest of its fixture follows from its id."""

    id: EnvironmentId
    configuration_key: Omittable[ItemId] = None
    label: str
    groups: tuple[ItemId, ...] = ()
    daytona: Omittable[DaytonaOptions] = None


class EnvironmentFixture(CatalogModel):
    """Contract: ``EnvironmentFixture``, resolved."""

    id: EnvironmentId
    configuration_key: Omittable[str] = None
    label: str
    groups: tuple[ItemId, ...]
    driver: Literal["local", "sandbox"]
    provider: EnvironmentId
    credential: Omittable[Literal["DAYTONA_API_KEY"]] = None
    lifecycle: Lifecycle
    expected_execution_target: ExecutionTarget
    daytona: Omittable[DaytonaOptions] = None


class SuiteGate(CatalogModel):
    """Thresholds of a suite, as shares from 0 to 1."""

    min_pass_rate: Omittable[Share] = None
    max_flaky_rate: Omittable[Share] = None


class QuarantineEntry(CatalogModel):
    """A cell whose redness is known, who owns it, and until which day (UTC) that holds."""

    execution_id: ExecutionId
    owner: str
    expires: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    reason: str


class SuiteEntry(CatalogModel):
    """A suite as written: its parts by id."""

    id: ItemId
    label: str
    description: str
    groups: tuple[ItemId, ...] = ()
    profiles: Annotated[tuple[ItemId, ...], Field(min_length=1)]
    environments: Annotated[tuple[str, ...], Field(min_length=1)]
    """``daytona`` or, for a configuration of it, ``daytona/warm-reuse-v1``."""
    tasks: Annotated[tuple[ItemId, ...], Field(min_length=1)]
    excluded_execution_ids: Omittable[tuple[ExecutionId, ...]] = None
    expected_matrix_size: Count
    definition_metadata: Omittable[JsonObject] = None
    gate: Omittable[SuiteGate] = None
    quarantine: tuple[QuarantineEntry, ...] = ()
    manual_only: bool = False
    """Only run when it is named itself, by ``--suite`` or ``--id``."""


class SuiteFixture(CatalogModel):
    """Contract: ``RunnerSuiteFixture``, its parts resolved."""

    id: ItemId
    label: str
    description: str
    groups: tuple[ItemId, ...]
    profiles: tuple[ProfileFixture, ...]
    environments: tuple[EnvironmentFixture, ...]
    tasks: tuple[TaskFixture, ...]
    excluded_execution_ids: Omittable[tuple[ExecutionId, ...]] = None
    expected_matrix_size: Count
    definition_metadata: Omittable[JsonObject] = None
    gate: SuiteGate | None
    quarantine: tuple[QuarantineEntry, ...]
    manual_only: bool = False


class MatrixExecution(CatalogModel):
    """Contract: ``MatrixExecution``. One cell: one job, one result."""

    id: ExecutionId
    suite: SuiteFixture
    suite_definition_hash: str
    profile: ProfileFixture
    environment: EnvironmentFixture
    task: TaskFixture
    groups: tuple[ItemId, ...]
    required_credentials: tuple[CredentialName, ...]


class CommandTarget(CatalogModel):
    """The system under test is any program, started once a turn."""

    kind: Literal["command"]


class PaperclipTarget(CatalogModel):
    """The system under test is a Paperclip server, booted per execution."""

    kind: Literal["paperclip"]
    version: str


Target = Annotated[CommandTarget | PaperclipTarget, Field(discriminator="kind")]


class CatalogLists(CatalogModel):
    """What a catalog and the files that it includes have in common."""

    schema_: Literal["runner-e2e.catalog/v1"] = Field(alias="schema")
    credentials: tuple[CredentialName, ...] = ()
    """Names beyond the contract's four."""
    include: tuple[FileName, ...] = ()
    """Other files of this form, relative to this one; their lists are joined to this one's."""
    rankings: tuple[FileName, ...] = ()
    """Ranking snapshots, relative to this file, that profiles of this catalog come from."""
    profiles: tuple[ProfileFixture, ...] = ()
    environments: tuple[EnvironmentEntry, ...] = ()
    tasks: tuple[TaskFixture, ...] = ()
    suites: tuple[SuiteEntry, ...] = ()


class CatalogFile(CatalogLists):
    """``runner-e2e.yaml``."""

    target: Target


class IncludedFile(CatalogLists):
    """A file that another one includes. It may be a catalog of its own, with the same target."""

    target: Omittable[Target] = None
