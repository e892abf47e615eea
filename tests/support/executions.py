"""Executions of real agent programs, written into the test that needs them.

``run_agent`` writes the program and a catalog, loads it and runs the one cell it has.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner_e2e.catalog import load_catalog
from runner_e2e.contracts.base import parse
from runner_e2e.contracts.catalog import MatrixExecution
from runner_e2e.contracts.evidence import EvidenceManifest
from runner_e2e.contracts.job_record import JobRecord
from runner_e2e.contracts.result import Result, Source
from runner_e2e.execution import Backoff, RunRequest, run_execution

PREAMBLE = """
import json, os, pathlib, signal, subprocess, sys, time, zlib
turn = json.load(open(os.environ["RUNNER_E2E_TURN_FILE"]))
def emit(**event):
    with open(os.environ["RUNNER_E2E_EVENTS"], "a") as events:
        events.write(json.dumps(event) + "\\n")
def say(text):
    emit(type="message", text=text)
def draw(path, size=100):
    with open(path, "wb") as file:
        file.write(b"\\x89PNG\\r\\n\\x1a\\n")
        for kind, data in ((b"IHDR", bytes([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0])),
                           (b"IDAT", bytes(size)), (b"IEND", b"")):
            file.write(len(data).to_bytes(4, "big") + kind + data)
            file.write(zlib.crc32(kind + data).to_bytes(4, "big"))
"""

ANSWER = "say(turn['text'].split()[-1])\n"
"""What passes the default case."""

MARKER = "E2E_OK_{{ nonce }}"
NO_WAIT = Backoff(first=0.0, total=0.0)
ID = "smoke.scripted.local.case"


def write_catalog(
    directory: Path,
    agent: str,
    *,
    flow: str = "single_turn",
    runs: int = 1,
    env: dict[str, Any] | None = None,
    timeout_ms: int = 60_000,
    **task: Any,
) -> Path:
    """Write ``agent.py`` and the catalog of one cell that runs it."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "agent.py").write_text(PREAMBLE + agent)
    payload: dict[str, Any] = {"command": [sys.executable, "-I", "-S", "agent.py"]}
    if env:
        payload["env"] = env
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
        "agent": payload,
    }
    case = {
        "id": "case",
        "label": "Case",
        "workMode": "standard",
        "flow": flow,
        "expectedRunCount": runs,
        "attemptTimeoutMs": {"local": timeout_ms, "daytona": timeout_ms},
        "expectedTerminalState": {"issue": "done", "run": "succeeded"},
        "title": "Runner E2E {{ marker }}",
        "marker": MARKER,
        "prompt": "Reply with exactly {{ marker }}",
        "matchers": [{"kind": "message_contains", "expected": "{{ marker }}"}],
    }
    suite = {
        "id": "smoke",
        "label": "Smoke",
        "description": "One cell.",
        "profiles": ["scripted"],
        "environments": ["local"],
        "tasks": ["case"],
        "expectedMatrixSize": 1,
    }
    catalog = {
        "schema": "runner-e2e.catalog/v1",
        "target": {"kind": "command"},
        "profiles": [profile],
        "tasks": [case | task],
        "suites": [suite],
    }
    path = directory / "runner-e2e.yaml"
    path.write_text(json.dumps(catalog))
    return path


def make_request(directory: Path, agent: str, **options: Any) -> RunRequest:
    """A request for the one cell of a fresh catalog below ``directory``.

    Options that a request has go there, the others describe the case.
    """
    known = RunRequest.__dataclass_fields__.keys()
    request = {name: options.pop(name) for name in [*options] if name in known}
    catalog = load_catalog(write_catalog(directory / "catalog", agent, **options))
    execution: MatrixExecution = catalog.executions[0]
    temporary = directory / "tmp"
    temporary.mkdir(exist_ok=True)
    values: dict[str, Any] = {
        "execution": execution,
        "catalog_directory": catalog.directory,
        "target": catalog.file.target,
        "out": directory / "out",
        "source": Source(sha=None, ref=None, workflow_run_url=None),
        "environ": {"PATH": "/usr/bin:/bin"},
        "backoff": NO_WAIT,
        "temporary_directory": temporary,
    }
    return RunRequest(**values | request)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a run left, read back from disk."""

    out: Path
    temporary: Path
    result: Result
    record: JobRecord
    lines: tuple[str, ...]

    @property
    def code(self) -> str | None:
        """The code of the last attempt."""
        return self.record.attempts[-1].code

    @property
    def verdict(self) -> tuple[str | None, str | None]:
        """Class and code; both ``None`` for a pass."""
        return self.result.failure_class, self.code

    def manifest(self, attempt: int = 1) -> EvidenceManifest:
        """The manifest of an attempt."""
        path = self.out / f"attempt-{attempt}" / "evidence-manifest.json"
        return parse(EvidenceManifest, path.read_bytes(), path.name)

    def evidence(self, name: str, attempt: int = 1) -> bytes:
        """One evidence file of an attempt."""
        return (self.out / f"attempt-{attempt}" / name).read_bytes()

    def observation(self, attempt: int = 1) -> Any:
        """The last observation of an attempt."""
        return json.loads(self.evidence("snapshots/observation.json", attempt))


def run_request(request: RunRequest) -> Ran:
    """Run a request and read back what it wrote."""
    lines: list[str] = []
    run_execution(request, on_event=lines.append)
    temporary = request.temporary_directory
    assert temporary is not None
    return read_back(request.out, temporary, tuple(lines))


def read_back(out: Path, temporary: Path, lines: tuple[str, ...] = ()) -> Ran:
    """Read what a run left below ``out``."""
    return Ran(
        out=out,
        temporary=temporary,
        result=parse(Result, (out / "result.json").read_bytes(), "result.json"),
        record=parse(JobRecord, (out / "job-record.json").read_bytes(), "job-record.json"),
        lines=lines,
    )


def run_agent(directory: Path, agent: str, **options: Any) -> Ran:
    """Run an agent program as the one cell of a catalog."""
    return run_request(make_request(directory, agent, **options))
