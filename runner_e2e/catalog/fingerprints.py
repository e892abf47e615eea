"""What can change a verdict, and its digest.

A suite's definition is made of what its cases and agents come to when they are filled in with
fixed values, so rewriting a template without changing its outcome changes nothing. Labels,
descriptions, groups and order do not count, nor does where the catalog lies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from runner_e2e.catalog.command_files import (
    ADAPTER_PACKAGE,
    CommandFile,
    command_of,
    with_command,
)
from runner_e2e.catalog.expansion import Cell
from runner_e2e.catalog.expressions import compile_problems
from runner_e2e.catalog.rendering import (
    RenderedTask,
    Variables,
    render_document,
    rendered_task,
    task_document,
)
from runner_e2e.catalog.source import path_name
from runner_e2e.catalog.templates import (
    CELL_VARIABLES,
    TemplateFault,
    render_json,
    variables_of_json,
)
from runner_e2e.catalog.vacuity import vacuous_parts
from runner_e2e.contracts.base import canonical_json, digest, dump_tree
from runner_e2e.contracts.catalog import (
    EnvironmentFixture,
    ProfileFixture,
    SuiteFixture,
    Target,
)
from runner_e2e.contracts.task import TaskFixture

SAMPLE_NONCE = "0123456789ab-1"
SAMPLE_IMAGE = "registry.example/runner@sha256:" + "0" * 64
SAMPLE_ENVIRONMENT_ID = "00000000-0000-4000-8000-000000000000"
SAMPLE_WORKSPACE = "/workspace"

CommandFiles = Mapping[str, tuple[CommandFile, ...]]
"""By profile id."""


def sample_variables(execution_id: str, profile_id: str, environment: str) -> Variables:
    """The fixed values that definitions are filled in with."""
    return Variables(
        nonce=SAMPLE_NONCE,
        execution_id=execution_id,
        profile_id=profile_id,
        environment_id=SAMPLE_ENVIRONMENT_ID,
        environment_fixture_id=environment,
        workspace_path=SAMPLE_WORKSPACE,
        daytona_image=SAMPLE_IMAGE,
    )


def suite_definition(
    suite: SuiteFixture, cells: Sequence[Cell], target: Target, files: CommandFiles
) -> dict[str, Any]:
    """Everything that enters the suite's hash, as JSON."""
    by_profile: dict[str, list[Cell]] = {profile.id: [] for profile in suite.profiles}
    for cell in cells:
        by_profile[cell[1].id].append(cell)
    return {
        "id": suite.id,
        "target": dump_tree(target),
        "metadata": suite.definition_metadata,
        "executionIds": sorted(cell[0] for cell in cells),
        "profiles": _by_id(
            _profile_definition(profile, by_profile[profile.id], files.get(profile.id, ()))
            for profile in suite.profiles
        ),
        "environments": _by_id(map(_environment_definition, suite.environments)),
        "tasks": _by_id(_task_definitions(suite, cells)),
    }


def definition_hash(definition: Mapping[str, Any]) -> str:
    """``suiteDefinitionHash``: SHA-256 of the definition's canonical JSON."""
    return digest(definition)


def catalog_fingerprint(hashes: Mapping[str, str]) -> str:
    """One hash for all suites, by their ids."""
    return digest(dict(hashes))


def _by_id(items: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(items, key=lambda item: str(item["id"]))


def _task_definitions(suite: SuiteFixture, cells: Sequence[Cell]) -> Iterable[dict[str, Any]]:
    by_task: dict[str, list[Cell]] = {task.id: [] for task in suite.tasks}
    for cell in cells:
        by_task[cell[3].id].append(cell)
    for task in suite.tasks:
        document = task_document(task)
        outcome = _outcomes(document, by_task[task.id], _task_renderer(task, document))
        yield {"id": task.id, "rendered": outcome}


def _profile_definition(
    profile: ProfileFixture, cells: Sequence[Cell], files: Sequence[CommandFile]
) -> dict[str, Any]:
    document = profile.model_dump(
        mode="json", exclude={"label", "groups", "supported_environments", "agent"}
    )
    agent = dict(profile.agent)
    command = command_of(agent)
    if command is not None:
        relative = list(command)
        for file in files:
            if file.argument is not None:
                relative[file.argument] = file.path
        agent = with_command(agent, relative)
    if any(file.argument is None for file in files):
        agent.pop(ADAPTER_PACKAGE)  # its files say more than where they lie
    document["agent"] = _outcomes(agent, cells, render_json)
    document["files"] = [
        {"path": file.path, "sha256": file.sha256} for file in sorted(files, key=_file_order)
    ]
    return document


def _file_order(file: CommandFile) -> tuple[int, str]:
    return (-1 if file.argument is None else file.argument, file.path)


def _environment_definition(environment: EnvironmentFixture) -> dict[str, Any]:
    return environment.model_dump(mode="json", exclude={"label", "groups"})


_JUDGED = ("marker", "matchers", "flowOptions", "questionAnswer", "planMarkers")
"""What an answer is compared with."""

Render = Callable[[Any, Mapping[str, str]], Any]


def _task_renderer(task: TaskFixture, document: Mapping[str, Any]) -> Render:
    judged = [document.get(key) for key in _JUDGED]
    varies = not variables_of_json(judged).isdisjoint(CELL_VARIABLES)

    def render(document: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
        rendered = render_document(document, values)
        if varies:
            _check(rendered_task(task, rendered))
            for steps, reason in vacuous_parts(rendered):
                raise TemplateFault(f"{path_name(steps)}: {reason}")
        # All matchers must pass; which is written first says nothing.
        rendered["matchers"] = sorted(rendered["matchers"], key=canonical_json)
        return rendered

    return render


def _check(task: RenderedTask) -> None:
    """What depends on the cell was checked for none of them yet."""
    for index, matcher in enumerate(task.matchers):
        for message in compile_problems(matcher):
            raise TemplateFault(f"matchers[{index}]: {message}")


def _outcomes(document: Any, cells: Sequence[Cell], render: Render) -> Any:
    """What a document comes to: one outcome, or a digest for each cell where they differ.

    Only what a document really names makes a difference, so 65,536 cells of a case that names
    nothing of its cell are filled in once.
    """
    if not cells:
        return None
    first = _render(document, cells[0], render)
    used = variables_of_json(document) & set(CELL_VARIABLES)
    if not used:
        return first
    known: dict[tuple[str, ...], str] = {}
    digests: dict[str, str] = {}
    for cell in cells:
        values = _sample(cell)
        key = tuple(values[name] for name in CELL_VARIABLES if name in used)
        if key not in known:
            known[key] = digest(_render(document, cell, render))
        digests[cell[0]] = known[key]
    return first if len(set(known.values())) == 1 else {"perExecution": digests}


def _render(document: Any, cell: Cell, render: Render) -> Any:
    try:
        return render(document, _sample(cell))
    except TemplateFault as fault:
        raise TemplateFault(f"in {cell[0]}, {fault.message}") from None


def _sample(cell: Cell) -> dict[str, str]:
    execution_id, profile, environment, _ = cell
    return sample_variables(execution_id, profile.id, environment.id).mapping()
