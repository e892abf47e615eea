"""A catalog with a suite for every outcome that the workflows have to deal with."""

from __future__ import annotations

import json

from tests.workflows.toolbox import HERE, Json

PROMPTS = {
    "good": "Reply with {{ marker }}",
    "second": "Reply with {{ marker }}",
    "third": "Reply with {{ marker }}",
    "bad": "Reply with NOTHING",
    "killer": "Kill your harness.",
}
SUITES = {
    "smoke": ["good"],
    "mixed": ["good", "bad"],
    "killed": ["good", "killer"],
    "many": ["good", "second", "third"],
}


def catalog_files() -> dict[str, str]:
    """The catalog, its agent and what installs that. YAML 1.2 contains JSON."""
    return {
        # Installing is other people's code, so it must not see what the execution will.
        "tools/install.sh": 'if env | grep "sk-not-a-real-key"; then exit 1; fi\n',
        "runner-e2e.yaml": json.dumps(_catalog(), indent=1),
        "agent.py": (HERE / "agent.py").read_text(encoding="utf-8"),
    }


def _catalog() -> Json:
    profile = {
        "id": "scripted",
        "label": "Scripted",
        "generation": "native",
        "adapterType": "process",
        "provider": "scripted",
        "model": "scripted-1",
        "modelQualification": {"source": "adapter_constant", "qualificationId": "scripted:1"},
        "credential": "OPENAI_API_KEY",
        "supportedEnvironments": ["local"],
        "expectedRuntimeMode": "native",
        "expectedRuntimeMetadata": {"adapterType": "process", "provider": "scripted"},
        "agent": {"command": ["python3", "agent.py"]},
    }
    return {
        "schema": "runner-e2e.catalog/v1",
        "target": {"kind": "command"},
        "profiles": [profile],
        "tasks": [_task(case, prompt) for case, prompt in PROMPTS.items()],
        "suites": [
            {
                "id": suite,
                "label": suite.title(),
                "description": "As it is named.",
                "profiles": ["scripted"],
                "environments": ["local"],
                "tasks": cases,
                "expectedMatrixSize": len(cases),
            }
            for suite, cases in SUITES.items()
        ],
    }


def _task(case: str, prompt: str) -> Json:
    return {
        "id": case,
        "label": case.title(),
        "workMode": "standard",
        "flow": "single_turn",
        "expectedRunCount": 1,
        "attemptTimeoutMs": {"local": 30000, "daytona": 60000},
        "expectedTerminalState": {"issue": "done", "run": "succeeded"},
        "title": "Say {{ marker }}",
        "marker": "SAID_{{ nonce }}",
        "prompt": prompt,
        "matchers": [{"kind": "message_exact", "expected": "{{ marker }}"}],
    }
