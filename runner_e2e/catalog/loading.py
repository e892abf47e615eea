"""Load a catalog: read its files, report everything that is wrong, or resolve it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner_e2e.catalog.command_files import CommandFile, resolve_command
from runner_e2e.catalog.expansion import (
    cells_of,
    environment_key,
    executions_of,
    resolve_environment,
    resolve_suite,
    with_defaults,
)
from runner_e2e.catalog.fingerprints import (
    catalog_fingerprint,
    definition_hash,
    suite_definition,
)
from runner_e2e.catalog.quoting import quotable_problems
from runner_e2e.catalog.reading import in_order, join_files, read_files
from runner_e2e.catalog.rules import Joined, semantic_problems
from runner_e2e.catalog.structure import validate
from runner_e2e.catalog.templates import TemplateFault
from runner_e2e.catalog.wording import nearest
from runner_e2e.contracts.catalog import (
    CATALOG_V1,
    CatalogFile,
    MatrixExecution,
    ProfileFixture,
    SuiteFixture,
)
from runner_e2e.contracts.vocabulary import KNOWN_CREDENTIALS
from runner_e2e.errors import CatalogError, Problem, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """A catalog without a fault. ``suites`` and ``executions`` stand in the order of the file.

    ``file`` holds the lists of all included files too; its commands name files by absolute path.
    ``command_files`` has, by profile, the files of its command that enter the fingerprint.
    """

    path: Path
    directory: Path
    file: CatalogFile
    suites: tuple[SuiteFixture, ...]
    executions: tuple[MatrixExecution, ...]
    definition_hashes: Mapping[str, str]
    """By suite id."""
    command_files: Mapping[str, tuple[CommandFile, ...]]
    fingerprint: str


def load_catalog(path: Path) -> Catalog:
    """Read ``runner-e2e.yaml`` or a Python catalog, and what it includes.

    Raises :class:`CatalogError` with every problem of every file, and :class:`UsageError` when
    there is no such file.
    """
    _require_file(path)
    problems: list[Problem] = []
    files = read_files(path, problems)
    if files:
        joined = join_files(files, problems)
        problems.extend(semantic_problems(joined))
        if not problems:
            return _resolve(path, joined)
    raise CatalogError(quotable_problems(in_order(problems, files)))


def _require_file(path: Path) -> None:
    if not path.is_file():
        what = "is a directory" if path.is_dir() else "does not exist"
        raise UsageError(
            f"the catalog {path} {what}",
            hint="name the file with --catalog; examples/smoke has one to begin with",
        )


def _resolve(path: Path, joined: Joined) -> Catalog:
    directory = path.absolute().parent
    profiles, command_files = _resolve_profiles(joined, directory)
    entries = with_defaults([part.model for part in joined.environments])
    environments = {environment_key(entry): resolve_environment(entry) for entry in entries}
    tasks = {part.model.id: part.model for part in joined.tasks}
    file = _joined_file(joined, tuple(profiles.values()))
    problems: list[Problem] = []
    suites: list[SuiteFixture] = []
    executions: list[MatrixExecution] = []
    hashes: dict[str, str] = {}
    for part in joined.suites:
        suite = resolve_suite(part.model, profiles, environments, tasks)
        cells = tuple(cells_of(suite))
        try:
            definition = suite_definition(suite, cells, file.target, command_files)
        except TemplateFault as fault:
            problems.append(part.place.problem(fault.message))
            continue
        suites.append(suite)
        hashes[suite.id] = definition_hash(definition)
        executions.extend(executions_of(suite, cells, hashes[suite.id]))
    if problems:
        raise CatalogError(quotable_problems(problems))
    return Catalog(
        path=path,
        directory=directory,
        file=file,
        suites=tuple(suites),
        executions=tuple(executions),
        definition_hashes=hashes,
        command_files=command_files,
        fingerprint=catalog_fingerprint(hashes),
    )


def _resolve_profiles(
    joined: Joined, directory: Path
) -> tuple[dict[str, ProfileFixture], dict[str, tuple[CommandFile, ...]]]:
    """The profiles with the files of their commands, both by id."""
    problems: list[Problem] = []
    profiles: dict[str, ProfileFixture] = {}
    command_files: dict[str, tuple[CommandFile, ...]] = {}
    for part in joined.profiles:
        beside = part.place.source.path.parent
        try:
            agent, found = resolve_command(part.model.agent, beside, directory)
        except OSError as error:
            message = f"cannot read {error.filename}: {error.strerror}"
            problems.append((part.place / "agent" / "command").problem(message))
            continue
        profiles[part.model.id] = part.model.model_copy(update={"agent": agent})
        command_files[part.model.id] = found
    if problems:
        raise CatalogError(quotable_problems(problems))
    return profiles, command_files


def _joined_file(joined: Joined, profiles: tuple[ProfileFixture, ...]) -> CatalogFile:
    """The whole catalog as one file. What was included is in it, so it includes nothing."""
    header = {"schema": CATALOG_V1, "target": joined.files[0].header["target"]}
    return validate(CatalogFile, header).model_copy(
        update={
            "credentials": joined.credentials[len(KNOWN_CREDENTIALS) :],
            "profiles": profiles,
            "environments": tuple(part.model for part in joined.environments),
            "tasks": tuple(part.model for part in joined.tasks),
            "suites": tuple(part.model for part in joined.suites),
        }
    )


def explain_fingerprint(catalog: Catalog, suite_id: str | None = None) -> dict[str, Any]:
    """By suite id, the hash and everything that went into it. Raises :class:`UsageError`."""
    if suite_id is not None and suite_id not in catalog.definition_hashes:
        known = catalog.definition_hashes
        raise UsageError(f"there is no suite {suite_id!r}", hint=nearest(suite_id, known))
    return {
        suite.id: {
            "hash": catalog.definition_hashes[suite.id],
            "definition": suite_definition(
                suite, tuple(cells_of(suite)), catalog.file.target, catalog.command_files
            ),
        }
        for suite in catalog.suites
        if suite_id in {None, suite.id}
    }
