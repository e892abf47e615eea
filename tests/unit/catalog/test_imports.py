from __future__ import annotations

import subprocess
import sys

HEAVY = ("httpx", "ghapi", "jinja2", "ruamel.yaml", "jsonschema", "regex")


def test_importing_the_catalog_and_the_planner_loads_no_heavy_library() -> None:
    program = (
        "import sys, runner_e2e.catalog, runner_e2e.planning\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
