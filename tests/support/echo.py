"""A small campaign with real processes: an agent that says what it is told to say."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any

Tree = dict[str, Any]

ECHO = "import sys\nprint(sys.stdin.read().split(': ', 1)[1])\n"
"""An agent that answers with what stands behind the first colon of its task."""

_CATALOG: Tree = {
    "schema": "runner-e2e.catalog/v1",
    "target": {"kind": "command"},
    "profiles": [
        {
            "id": "echo",
            "label": "Echo",
            "generation": "native",
            "groups": ["quick"],
            "adapterType": "process",
            "provider": "scripted",
            "model": "echo-1",
            "modelQualification": {"source": "adapter_constant", "qualificationId": "echo:1"},
            "credential": "OPENAI_API_KEY",
            "supportedEnvironments": ["local"],
            "expectedRuntimeMode": "native",
            "expectedRuntimeMetadata": {"adapterType": "process", "provider": "scripted"},
            "agent": {"command": [sys.executable, "agent.py"]},
        }
    ],
    "environments": [{"id": "local", "label": "Local"}],
    "tasks": [],
    "suites": [
        {
            "id": "first",
            "label": "First",
            "description": "Does it answer?",
            "profiles": ["echo"],
            "environments": ["local"],
            "tasks": [],
            "expectedMatrixSize": 0,
        }
    ],
}


def task(id_: str, *, expected: str = "{{ marker }}", timeout_ms: int = 20_000) -> Tree:
    """A case whose agent is asked for the marker and must answer ``expected``."""
    return {
        "id": id_,
        "label": id_.capitalize(),
        "workMode": "standard",
        "flow": "single_turn",
        "expectedRunCount": 1,
        "attemptTimeoutMs": {"local": timeout_ms, "daytona": timeout_ms},
        "expectedTerminalState": {"issue": "done", "run": "succeeded"},
        "title": "T {{ marker }}",
        "marker": "M_{{ nonce }}",
        "prompt": "Say: {{ marker }}",
        "matchers": [{"kind": "message_exact", "expected": expected}],
    }


def catalog(*tasks: Tree) -> Tree:
    """The catalog with these cases, as a tree that a test may change."""
    tree = copy.deepcopy(_CATALOG)
    tree["tasks"] = list(tasks)
    tree["suites"][0]["tasks"] = [one["id"] for one in tasks]
    tree["suites"][0]["expectedMatrixSize"] = len(tasks)
    return tree


def write_catalog(directory: Path, tree: Tree, *, agent: str = ECHO) -> Path:
    """Write the catalog (JSON is YAML) and its agent into ``directory``."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "agent.py").write_text(agent)
    path = directory / "runner-e2e.yaml"
    path.write_text(json.dumps(tree, indent=2))
    return path
