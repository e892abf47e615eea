"""Executions on real Paperclip servers, and a look at what they leave on the machine."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runner_e2e.catalog import Catalog, load_catalog
from runner_e2e.contracts.catalog import MatrixExecution
from runner_e2e.contracts.result import Source
from runner_e2e.execution import RunRequest
from tests.support.executions import NO_WAIT, Ran, run_request

EXAMPLE = Path(__file__).parents[3] / "examples" / "paperclip-live"


def example() -> Catalog:
    """The catalog of the demonstration."""
    return load_catalog(EXAMPLE / "runner-e2e.yaml")


def cell(execution_id: str) -> MatrixExecution:
    """One cell of the example."""
    return next(one for one in example().executions if one.id == execution_id)


def changed(
    execution: MatrixExecution, *, agent: dict[str, Any] | None = None, **task: Any
) -> MatrixExecution:
    """The cell with another case, or with other settings of its adapter."""
    profile = execution.profile
    if agent is not None:
        payload = dict(profile.agent)
        payload["adapterConfig"] = {**_object(payload["adapterConfig"]), **agent}
        profile = profile.model_copy(update={"agent": payload})
    case = execution.task.model_copy(update=task)
    return execution.model_copy(update={"task": case, "profile": profile})


def _object(value: Any) -> dict[str, Any]:
    assert isinstance(value, dict)
    return value


@contextlib.contextmanager
def reachable_directory() -> Iterator[Path]:
    """A directory that the server's user may pass through, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="live-paperclip-") as name:
        path = Path(name)
        path.chmod(0o711)
        yield path


def request_for(execution: MatrixExecution, directory: Path, **options: Any) -> RunRequest:
    """A request that runs the cell with its roots below ``directory``."""
    catalog = example()
    temporary = directory / "tmp"
    temporary.mkdir(exist_ok=True)
    temporary.chmod(0o711)
    values: dict[str, Any] = {
        "execution": execution,
        "catalog_directory": catalog.directory,
        "target": catalog.file.target,
        "out": directory / "out",
        "source": Source(sha=None, ref=None, workflow_run_url=None),
        "environ": dict(os.environ),
        "backoff": NO_WAIT,
        "max_retries": 0,
        "temporary_directory": temporary,
    }
    return RunRequest(**values | options)


def run_live(execution: MatrixExecution, directory: Path, **options: Any) -> Ran:
    """Run a cell on a server of its own and make sure that nothing of it is left."""
    ran = run_request(request_for(execution, directory, **options))
    assert_nothing_left(ran)
    return ran


def assert_nothing_left(ran: Ran) -> None:
    """No root, no process that stands in one, no port that its server listened on."""
    assert list(ran.temporary.iterdir()) == []
    assert processes_in(ran.temporary) == []
    for port in json.loads(ran.evidence("snapshots/fixtures.json"))["ports"]:
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port)) != 0
    assert ran.result.cleanup == "passed"
    assert all(resource.deleted_at for resource in ran.record.resources)


def processes_in(directory: Path) -> list[int]:
    """Processes that work below the directory, also where it is deleted by now."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdecimal() and str(directory) in str((entry / "cwd").readlink()):
                found.append(int(entry.name))
    return found


def turn_file(ran: Ran, turn: int, name: str) -> Any:
    """A JSON file of one turn's evidence."""
    return json.loads(ran.evidence(f"turns/{turn}/{name}"))
