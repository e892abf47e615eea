"""Builders of catalogs, so that a test says only what it is about."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runner_e2e.catalog import Catalog, load_catalog
from runner_e2e.errors import CatalogError, Problem

Tree = dict[str, Any]

AGENT_SCRIPT = "agent.py"

PROFILE: Tree = {
    "id": "scripted",
    "label": "Scripted agent",
    "generation": "native",
    "groups": ["native"],
    "adapterType": "process",
    "provider": "scripted",
    "model": "scripted-1",
    "modelQualification": {"source": "adapter_constant", "qualificationId": "scripted:1"},
    "credential": "OPENAI_API_KEY",
    "supportedEnvironments": ["local", "daytona"],
    "expectedRuntimeMode": "native",
    "expectedRuntimeMetadata": {"adapterType": "process", "provider": "scripted"},
    "agent": {"command": ["python", AGENT_SCRIPT]},
}

TASK: Tree = {
    "id": "hello",
    "label": "Hello",
    "groups": ["core"],
    "workMode": "standard",
    "flow": "single_turn",
    "expectedRunCount": 1,
    "attemptTimeoutMs": {"local": 480_000, "daytona": 900_000},
    "expectedTerminalState": {"issue": "done", "run": "succeeded"},
    "title": "Runner E2E {{ marker }}",
    "marker": "E2E_OK_{{ nonce }}",
    "prompt": "Reply with exactly {{ marker }}.",
    "matchers": [
        {"kind": "message_exact", "expected": "{{ marker }}"},
        {"kind": "issue_status", "expected": "done"},
    ],
}

SUITE: Tree = {
    "id": "smoke",
    "label": "Smoke",
    "description": "One greeting.",
    "groups": ["quick"],
    "profiles": ["scripted"],
    "environments": ["local"],
    "tasks": ["hello"],
    "expectedMatrixSize": 1,
}

FLOW_TASKS: dict[str, Tree] = {
    "single_turn": {"expectedRunCount": 1},
    "plan_revision_acceptance": {
        "expectedRunCount": 3,
        "revisionRequest": "Write it again with {{ marker }}.",
        "planMarkers": {"draft": "DRAFT_{{ nonce }}", "revised": "REVISED_{{ nonce }}"},
        "flowOptions": {"draftSteps": 2, "revisedSteps": 3},
    },
    "plan_approval_completion": {
        "expectedRunCount": 2,
        "planMarkers": {"draft": "DRAFT_{{ nonce }}", "revised": "REVISED_{{ nonce }}"},
        "flowOptions": {"draftSteps": 2},
    },
    "question_resume_completion": {
        "expectedRunCount": 2,
        "questionAnswer": {"optionLabel": "Cobalt", "expectedMarker": "{{ marker }}"},
        "restartServerBeforeQuestionAnswer": True,
        "flowOptions": {
            "question": {"id": "colour", "prompt": "Which?", "options": ["Cobalt", "Amber"]}
        },
    },
    "warm_three_turn": {
        "expectedRunCount": 3,
        "followups": ["Second {{ marker }}.", "Third {{ marker }}."],
        "turnTimeoutMs": 600_000,
        "flowOptions": {"file": "notes.txt", "lines": ["one {{ nonce }}", "two", "three"]},
    },
    "governed_tool_review": {
        "expectedRunCount": 2,
        "toolReviewDecision": "always",
        "flowOptions": {
            "tool": "note",
            "arguments": {"text": "first {{ nonce }}"},
            "secondArguments": {"text": "second"},
            "invocations": 2,
        },
    },
    "agent_chat": {
        "expectedRunCount": 3,
        "flowOptions": {
            "script": [
                {"say": "Remember {{ nonce }}.", "expect": "ok"},
                {"expect_idle": {"runs": 2}},
                {"new_session": {}},
                {"say": "Reply with {{ marker }}."},
            ]
        },
    },
}
"""What a case of each flow needs beside the rest of :data:`TASK`."""


def flow_task(flow: str, **changes: Any) -> Tree:
    """A case of this flow without a fault."""
    return copy.deepcopy({**TASK, "flow": flow, **FLOW_TASKS[flow], **changes})


def catalog_tree(
    *,
    profiles: list[Tree] | None = None,
    tasks: list[Tree] | None = None,
    suites: list[Tree] | None = None,
    **more: Any,
) -> Tree:
    """One suite with one cell, unless told otherwise."""
    return copy.deepcopy(
        {
            "schema": "runner-e2e.catalog/v1",
            "target": {"kind": "command"},
            "profiles": [PROFILE] if profiles is None else profiles,
            "tasks": [TASK] if tasks is None else tasks,
            "suites": [SUITE] if suites is None else suites,
            **more,
        }
    )


def grid_tree(profiles: int, tasks: int, *, environments: tuple[str, ...] = ("local",)) -> Tree:
    """One suite of ``profiles`` times ``environments`` times ``tasks`` cells."""
    return catalog_tree(
        profiles=[{**PROFILE, "id": f"profile-{index}"} for index in range(profiles)],
        tasks=[{**TASK, "id": f"case-{index}"} for index in range(tasks)],
        suites=[
            {
                **SUITE,
                "profiles": [f"profile-{index}" for index in range(profiles)],
                "environments": list(environments),
                "tasks": [f"case-{index}" for index in range(tasks)],
                "expectedMatrixSize": profiles * tasks * len(environments),
            }
        ],
    )


def write_catalog(directory: Path, tree: Tree, name: str = "runner-e2e.yaml") -> Path:
    """JSON is YAML, so that is what is written; the agent that it names is put beside it."""
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(tree, indent=1))
    put_agent(path.parent)
    return path


def put_agent(directory: Path) -> None:
    """Put the file there that the profile's command names, unless there is one."""
    script = directory / AGENT_SCRIPT
    if not script.exists():
        script.write_text("")


def load_tree(directory: Path, tree: Tree) -> Catalog:
    """Write a catalog and load it."""
    return load_catalog(write_catalog(directory, tree))


def problems_in(directory: Path, tree: Tree) -> tuple[Problem, ...]:
    """Everything that is wrong with a catalog; nothing for a sound one."""
    return problems_of(lambda: load_tree(directory, tree))


def problems_of(load: Callable[[], object]) -> tuple[Problem, ...]:
    """What ``load`` objects to."""
    try:
        load()
    except CatalogError as error:
        return error.problems
    return ()
