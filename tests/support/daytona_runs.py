"""Executions of real agent programs at a Daytona of the loopback interface."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from runner_e2e.catalog import load_catalog
from runner_e2e.contracts.result import Source
from runner_e2e.execution import RunRequest
from tests.support.executions import NO_WAIT, Ran, run_request, write_catalog
from tests.support.fake_daytona import FakeDaytona

ID = "smoke.scripted.daytona.case"


def daytona_catalog(
    directory: Path, agent: str, options: dict[str, Any] | None = None, **task: Any
) -> Path:
    """Write the catalog of one cell whose turns run at Daytona."""
    path = write_catalog(directory, agent, **task)
    tree = json.loads(path.read_text())
    tree["profiles"][0]["supportedEnvironments"] = ["daytona"]
    tree["suites"][0]["environments"] = ["daytona"]
    entry: dict[str, Any] = {"id": "daytona", "label": "Daytona"}
    tree["environments"] = [entry | ({"daytona": options} if options else {})]
    path.write_text(json.dumps(tree))
    return path


def daytona_request(
    directory: Path,
    agent: str,
    fake: FakeDaytona,
    options: dict[str, Any] | None = None,
    **more: Any,
) -> RunRequest:
    """A request for that cell. Options that a request has go there, the others to the case."""
    request = {name: more.pop(name) for name in [*more] if name in RunRequest.__dataclass_fields__}
    catalog = load_catalog(daytona_catalog(directory / "catalog", agent, options, **more))
    temporary = directory / "tmp"
    temporary.mkdir(exist_ok=True)
    values: dict[str, Any] = {
        "execution": catalog.executions[0],
        "catalog_directory": catalog.directory,
        "target": catalog.file.target,
        "out": directory / "out",
        "source": Source(sha=None, ref=None, workflow_run_url=None),
        "environ": fake.environ,
        "backoff": NO_WAIT,
        "temporary_directory": temporary,
        "max_retries": 0,
    }
    return RunRequest(**values | request)


def run_at_daytona(directory: Path, agent: str, fake: FakeDaytona, *args: Any, **more: Any) -> Ran:
    """Run an agent program at Daytona."""
    return run_request(daytona_request(directory, agent, fake, *args, **more))
