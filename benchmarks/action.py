"""How long a step of the action takes before Python has the floor.

Run with ``python -m benchmarks.action``. The scripts of ``action.yml`` run in a shell as the runner
starts them. Cold is a fresh home with uv's cache filled, which is what the first step of a job
costs beyond its downloads; warm is every later step, and every step on a self-hosted runner that
keeps ``RUNNER_E2E_HOME``. Prints JSON; exits 1 when a warm step takes 5 s.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ruamel.yaml import YAML

PROJECT = Path(__file__).resolve().parents[1]
LIMIT_SECONDS = 5.0
ROUNDS = 5


def step(home: Path) -> float:
    """One step that asks for a plan; the seconds it took."""
    action = YAML(typ="safe", pure=True).load((PROJECT / "action.yml").read_text("utf-8"))
    output = home / "output"
    output.write_text("", encoding="utf-8")
    environ = {
        **os.environ,
        "PATH": f"{PROJECT / '.tools' / 'bin'}:{os.environ['PATH']}",
        "GITHUB_ACTION_PATH": str(PROJECT),
        "GITHUB_OUTPUT": str(output),
        "RUNNER_E2E_HOME": str(home / "installed"),
        "RUNNER_E2E_INSTALL_PYTHON": sys.executable,
        "UV_OFFLINE": "1",
        "INPUT_COMMAND": "plan",
        "INPUT_ALL": "true",
        "INPUT_CATALOG": str(PROJECT / "examples" / "smoke" / "runner-e2e.yaml"),
    }
    began = time.perf_counter()
    for part in action["runs"]["steps"]:
        subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", part["run"]],
            check=True,
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if "PYTHON" not in environ:
            environ["PYTHON"] = output.read_text("utf-8").removeprefix("python=").strip()
    return time.perf_counter() - began


def main() -> int:
    """Measure and print; 1 when the limit was missed."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        cold = step(home)
        warm = sorted(step(home) for _ in range(ROUNDS))[ROUNDS // 2]
    figures = {"cold_s": round(cold, 2), "warm_s": round(warm, 2), "limit_s": LIMIT_SECONDS}
    print(json.dumps(figures))
    return int(warm >= LIMIT_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
