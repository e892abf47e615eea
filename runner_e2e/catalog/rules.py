"""Everything that must hold of a catalog beyond the shape of its parts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import truediv
from typing import Any, TypeVar

from pydantic import ValidationError

from runner_e2e.catalog.capabilities import CANNOT, OFFERED, TargetKind, needs_of
from runner_e2e.catalog.command_rules import command_problems
from runner_e2e.catalog.expansion import environment_key, with_defaults
from runner_e2e.catalog.quoting import holds_key
from runner_e2e.catalog.rankings import RankingSnapshot
from runner_e2e.catalog.secrets import secret_problems
from runner_e2e.catalog.source import Place
from runner_e2e.catalog.structure import Part, Parts, validate
from runner_e2e.catalog.suite_rules import MAX_CELLS, Known, suite_problems
from runner_e2e.catalog.task_rules import task_problems, template_problems
from runner_e2e.catalog.templates import VARIABLES
from runner_e2e.catalog.wording import nearest, problems_of
from runner_e2e.contracts.base import CatalogModel
from runner_e2e.contracts.catalog import (
    CommandAgent,
    EnvironmentEntry,
    ProfileFixture,
    SuiteEntry,
)
from runner_e2e.contracts.task import TaskFixture
from runner_e2e.contracts.vocabulary import KNOWN_CREDENTIALS
from runner_e2e.errors import Problem

M = TypeVar("M", bound=CatalogModel)

_AGENT_VARIABLES = tuple(name for name in VARIABLES if name != "marker")


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """The parts of all files of a catalog, the catalog's own file first."""

    files: tuple[Parts, ...]
    profiles: tuple[Part[ProfileFixture], ...]
    environments: tuple[Part[EnvironmentEntry], ...]
    tasks: tuple[Part[TaskFixture], ...]
    suites: tuple[Part[SuiteEntry], ...]
    snapshots: Mapping[str, RankingSnapshot]
    """By snapshot id."""
    all_rankings_read: bool
    """Whether ``snapshots`` has those of all files that the catalog names."""

    @property
    def credentials(self) -> tuple[str, ...]:
        """The contract's names and the declared ones."""
        declared = (name for file in self.files for name in _strings(file.header, "credentials"))
        return tuple(dict.fromkeys((*KNOWN_CREDENTIALS, *declared)))


def _strings(header: Mapping[str, Any], key: str) -> list[str]:
    values = header.get(key)
    return [item for item in values if isinstance(item, str)] if isinstance(values, list) else []


def semantic_problems(catalog: Joined) -> Iterator[Problem]:
    """All of them, each at its place."""
    yield from _duplicates(catalog.profiles, "profile", _identifier)
    yield from _duplicates(catalog.environments, "environment", _environment_name)
    yield from _duplicates(catalog.tasks, "task", _identifier)
    yield from _duplicates(catalog.suites, "suite", _identifier)
    yield from _credential_problems(catalog)
    credentials = catalog.credentials
    kind = _target_kind(catalog)
    for profile in catalog.profiles:
        yield from _profile_problems(profile, credentials, catalog)
        yield from _agent_problems(profile, credentials, on_command=kind == "command")
    for environment in catalog.environments:
        yield from _environment_problems(environment)
    for task in catalog.tasks:
        yield from task_problems(task)
        yield from _capability_problems(task, kind)
    known = _known(catalog)
    cells = 0
    for suite in catalog.suites:
        yield from suite_problems(suite, known)
        cells += suite.model.expected_matrix_size
        if cells > MAX_CELLS:
            yield (suite.place / "expectedMatrixSize").problem(
                f"with this suite the catalog has {cells} cells; at most {MAX_CELLS} are planned"
            )


def _credential_problems(catalog: Joined) -> Iterator[Problem]:
    for file in catalog.files:
        names = file.header.get("credentials")
        for index, name in enumerate(names if isinstance(names, list) else ()):
            if isinstance(name, str) and holds_key(name):
                yield Place(source=file.source, path=("credentials", index)).problem(
                    "this is shaped like a key, not like a name of one", hint="revoke the key"
                )


def _target_kind(catalog: Joined) -> TargetKind | None:
    target = catalog.files[0].header.get("target")
    kind = target.get("kind") if isinstance(target, dict) else None
    return next((known for known in OFFERED if known == kind), None)


def _capability_problems(part: Part[TaskFixture], kind: TargetKind | None) -> Iterator[Problem]:
    if kind is None:
        return
    for needed, steps in needs_of(part.model):
        if needed not in OFFERED[kind] and part.sound(str(steps[0])):
            place = reduce(truediv, steps, part.place)
            yield place.problem(f"the {kind} target {CANNOT[needed]}")


def _identifier(part: Part[Any]) -> str | None:
    name = part.raw.get("id")
    return name if isinstance(name, str) else None


def _environment_name(part: Part[EnvironmentEntry]) -> str | None:
    return environment_key(part.model) if part.sound("id", "configurationKey") else None


def _duplicates(
    parts: Sequence[Part[M]], kind: str, name_of: Callable[[Part[M]], str | None]
) -> Iterator[Problem]:
    first: dict[str, Part[M]] = {}
    for part in parts:
        name = name_of(part)
        if name is None:
            continue
        if name in first:
            original = (first[name].place / "id").problem("")
            yield (part.place / "id").problem(
                f"the {kind} {name!r} is there twice",
                hint=f"the first one is at {original.file}:{original.line}",
            )
        first.setdefault(name, part)


def _profile_problems(
    part: Part[ProfileFixture],
    credentials: Collection[str],
    catalog: Joined,
) -> Iterator[Problem]:
    profile = part.model
    if part.sound("credential"):
        if profile.credential == "DAYTONA_API_KEY":
            yield (part.place / "credential").problem(
                "DAYTONA_API_KEY belongs to the environment, not to a profile"
            )
        elif profile.credential not in credentials:
            yield (part.place / "credential").problem(
                f"{profile.credential!r} is not a known credential",
                hint=nearest(profile.credential, credentials) or "declare it under credentials",
            )
    if part.sound("ranking", "modelQualification"):
        yield from _ranking_problems(part, catalog)


def _ranking_problems(part: Part[ProfileFixture], catalog: Joined) -> Iterator[Problem]:
    ranking = part.model.ranking
    ranked = part.model.model_qualification.source == "openrouter_rankings_snapshot"
    place = part.place / "ranking"
    if ranking is None:
        if ranked:
            yield part.place.problem("a profile qualified by a ranking needs 'ranking'")
        return
    if not ranked:
        yield place.problem(
            "only a profile whose modelQualification.source is openrouter_rankings_snapshot "
            "has a ranking",
            key=True,
        )
        return
    snapshot = catalog.snapshots.get(ranking.snapshot_id)
    if snapshot is None:
        if catalog.all_rankings_read:
            yield (place / "snapshotId").problem(
                f"no file under rankings holds the snapshot {ranking.snapshot_id!r}",
                hint=nearest(ranking.snapshot_id, catalog.snapshots)
                or "name its file under rankings; `runner-e2e catalog snapshot` captures one",
            )
        return
    if ranking.rank > len(snapshot.models):
        yield (place / "rank").problem(f"the snapshot has {len(snapshot.models)} models")
        return
    expected = snapshot.entry(ranking.rank).model_dump(mode="json")
    for key, value in ranking.model_dump(mode="json").items():
        if value != expected[key]:
            yield (place / key).problem(f"the snapshot says {expected[key]!r}, not {value!r}")


def _agent_problems(
    part: Part[ProfileFixture], credentials: Collection[str], *, on_command: bool
) -> Iterator[Problem]:
    if not part.sound("agent"):
        return
    agent = part.model.agent
    place = part.place / "agent"
    yield from secret_problems(agent, place, credentials)
    yield from template_problems(agent, place, _AGENT_VARIABLES)
    if on_command:
        try:
            validate(CommandAgent, agent)
        except ValidationError as error:
            details = error.errors(include_url=False)
            yield from problems_of(details, CommandAgent, agent, place)
        yield from command_problems(agent, place)


def _environment_problems(part: Part[EnvironmentEntry]) -> Iterator[Problem]:
    if part.sound("id") and part.model.id == "local" and "daytona" in part.raw:
        yield (part.place / "daytona").problem("a local environment has no sandbox", key=True)


def _known(catalog: Joined) -> Known:
    supported: dict[str, frozenset[str] | None] = {}
    for part in catalog.profiles:
        name = _identifier(part)
        if name is not None:
            sound = part.sound("supportedEnvironments")
            supported.setdefault(
                name, frozenset(part.model.supported_environments) if sound else None
            )
    environments = with_defaults(
        [part.model for part in catalog.environments if part.sound("id", "configurationKey")]
    )
    return Known(
        supported=supported,
        environments=[environment_key(entry) for entry in environments],
        tasks=[name for name in map(_identifier, catalog.tasks) if name is not None],
    )
