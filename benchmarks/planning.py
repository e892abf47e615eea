"""Planning from process start: the reference catalog, and the largest catalog there may be.

The least of some runs of ``runner-e2e plan --all``; its memory is the greatest of all runs. In the
large catalog every case names its execution, so that each of the 65,536 cells is filled in. A third
figure is that catalog with a history that knows the time and the cost of every cell.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REFERENCE = Path(__file__).parents[1] / "examples" / "paperclip" / "runner-e2e.yaml"
PROFILES, CASES = 128, 256
LIMIT_SMALL_S = 0.7
LIMIT_LARGE_S = 6.0
LIMIT_HISTORY_S = 8.0
LIMIT_MB = 500
LIMIT_HISTORY_MB = 700

HEAD = "schema: runner-e2e.catalog/v1\ntarget: {kind: command}\n"
PROFILE = """\
  - id: profile-%d
    label: A profile
    generation: native
    adapterType: process
    provider: scripted
    model: scripted-1
    modelQualification: {source: adapter_constant, qualificationId: "scripted:1"}
    credential: OPENAI_API_KEY
    supportedEnvironments: [local, daytona]
    expectedRuntimeMode: native
    expectedRuntimeMetadata: {adapterType: process, provider: scripted}
    agent: {command: [python, agent.py]}
"""
CASE = """\
  - id: case-%d
    label: A case
    workMode: standard
    flow: single_turn
    expectedRunCount: 1
    attemptTimeoutMs: {local: 720000, daytona: 720000}
    expectedTerminalState: {issue: done, run: succeeded}
    title: "Runner E2E {{ marker }}"
    marker: "E2E_OK_{{ nonce }}"
    prompt: Reply with exactly {{ marker }} in {{ execution_id }}.
    matchers:
      - {kind: message_exact, expected: "{{ marker }}"}
      - {kind: issue_status, expected: done}
"""


def large_catalog() -> str:
    """128 profiles, two environments, 256 cases."""
    profiles = [PROFILE % index for index in range(PROFILES)]
    cases = [CASE % index for index in range(CASES)]
    suite = (
        "suites:\n"
        "  - id: everything\n"
        "    label: Everything\n"
        "    description: As many cells as there may be.\n"
        f"    profiles: [{', '.join(f'profile-{index}' for index in range(PROFILES))}]\n"
        "    environments: [local, daytona]\n"
        f"    tasks: [{', '.join(f'case-{index}' for index in range(CASES))}]\n"
        f"    expectedMatrixSize: {PROFILES * CASES * 2}\n"
    )
    return "".join([HEAD, "profiles:\n", *profiles, "tasks:\n", *cases, suite])


def write_history(directory: Path) -> None:
    """What one campaign of all cells left: an outcome for each, priced and timed."""
    identifier, when = "local-1", "2026-11-29T02:00:00.000Z"
    outcome = {
        "campaignId": identifier,
        "state": "passed",
        "attempt": 1,
        "flaky": False,
        "model": "scripted-1",
        "costUsd": 0.01,
    }
    cells = {
        f"everything.profile-{profile}.{environment}.case-{case}": [
            outcome | {"durationMs": 60_000 + 100 * case + profile}
        ]
        for profile in range(PROFILES)
        for environment in ("local", "daytona")
        for case in range(CASES)
    }
    count = len(cells)
    counts = dict.fromkeys(("failed", "unresolved", "flaky"), 0)
    row = {
        "campaignId": identifier,
        "startedAt": when,
        "generatedAt": when,
        "runAttempt": 1,
        "sha": None,
        "complete": True,
        "cleanupPassed": True,
        "counts": counts | {"selected": count, "executed": count, "passed": count},
        "costUsd": 0.01 * count,
        "costComplete": True,
        "bundleBytes": 0,
        "url": "campaigns/local-1/",
    }
    documents = {
        "history.json": {
            "schema": "paperclip.runner-e2e.history/v1",
            "updatedAt": when,
            "latestCampaignId": identifier,
            "latestGreenCampaignId": identifier,
            "latestBySuite": {"everything": identifier},
            "latestGreenBySuite": {"everything": identifier},
            "campaigns": [],
        },
        "index.json": {"schema": "runner-e2e.index/v1", "campaigns": [row]},
        "cells/everything.json": {
            "schema": "runner-e2e.cells/v1",
            "suiteId": "everything",
            "campaigns": {identifier: {"generatedAt": when, "sha": None, "runAttempt": 1}},
            "cells": cells,
        },
    }
    for name, document in documents.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document))


def measure(catalog: Path, out: Path, runs: int, *more: str) -> tuple[float, float]:
    """The least wall time in seconds and the greatest resident set in MB."""
    program = str(Path(sys.executable).with_name("runner-e2e"))
    command = [program, "plan", "--all", "--catalog", str(catalog), "--out", str(out), *more]
    times: list[float] = []
    memory = 0.0
    for _ in range(runs):
        begun = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        times.append(time.perf_counter() - begun)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
        memory = max(memory, usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10))
    return min(times), memory


def main() -> int:
    """Print the figures; 1 when one is over its limit."""
    with tempfile.TemporaryDirectory() as directory:
        large = Path(directory) / "runner-e2e.yaml"
        large.write_text(large_catalog())
        (large.parent / "agent.py").write_text("")
        history = Path(directory) / "history"
        write_history(history)
        out = Path(directory) / "plan.json"
        over = False
        known = ("--history", str(history))
        for name, catalog, runs, limit, limit_mb, more in (
            ("92 cells", REFERENCE, 5, LIMIT_SMALL_S, LIMIT_MB, ()),
            ("65,536 cells", large, 2, LIMIT_LARGE_S, LIMIT_MB, ()),
            ("with history", large, 2, LIMIT_HISTORY_S, LIMIT_HISTORY_MB, known),
        ):
            seconds, megabytes = measure(catalog, out, runs, *more)
            print(
                f"  {name:<14} {seconds:5.2f} s, at most {limit} s; "
                f"{megabytes:4.0f} MB, under {limit_mb} MB; plan.json {out.stat().st_size:,} bytes"
            )
            over |= seconds > limit or megabytes >= limit_mb
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
