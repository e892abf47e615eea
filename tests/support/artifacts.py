"""Downloaded artifacts, as they may lie in a directory: good ones, and every kind of bad one."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from runner_e2e.campaigns import Aggregate, JobHistory, aggregate, collect, write_report
from runner_e2e.contracts.base import dump
from runner_e2e.contracts.plan import Plan
from tests.support.documents import (
    RUN_ID,
    later,
    make_job_record,
    make_plan,
    make_result,
    make_source,
    write_cell,
)

Event = Literal[
    "pass", "retried", "fail", "timeout", "leaky", "empty", "corrupt", "other_plan", "foreign"
]
"""What one run attempt left of one cell."""

EVENTS: tuple[Event, ...] = get_args(Event)
CAMPAIGN_ID = f"gha-{RUN_ID}-9"


def artifact_name(execution_id: str, run_attempt: int) -> str:
    """Name a result artifact as the workflows do."""
    return f"runner-e2e-result-a{run_attempt}-{execution_id}"


def write_event(root: Path, plan: Plan, execution_id: str, run_attempt: int, event: Event) -> Path:
    """Write the artifact that ``event`` leaves, and return its directory."""
    directory = root / artifact_name(execution_id, run_attempt)
    start = later(60 * run_attempt)
    values: dict[str, Any] = {"started_at": start}
    if event == "retried":
        values["attempt"] = 2
    elif event in {"fail", "timeout"}:
        values["status"] = "failed"
    elif event == "leaky":
        values["cleanup"] = "failed"
    if event == "foreign":
        values["source"] = make_source(sha="0" * 40)
    result = make_result(execution_id, **values)
    other = make_plan(["other.a.local.b"]) if event == "other_plan" else plan
    write_cell(
        directory,
        result,
        plan=other,
        run_attempt=run_attempt,
        code="deadline" if event == "timeout" else None,
    )
    if event == "empty":
        shutil.rmtree(directory)
        directory.mkdir()
        record = make_job_record(execution_id, plan=plan, run_attempt=run_attempt)
        (directory / "job-record.json").write_bytes(dump(record))
    elif event == "corrupt":
        (directory / "result.json").write_bytes(dump(result)[:-40])
    return directory


def zip_artifact(directory: Path, archive: Path) -> None:
    """Pack a directory as GitHub packs an artifact."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(directory.rglob("*")):
            if path.is_file():
                packed.write(path, path.relative_to(directory).as_posix())


def aggregate_paths(
    plan: Plan,
    *paths: Path,
    campaign_id: str = CAMPAIGN_ID,
    jobs: JobHistory | None = None,
) -> Aggregate:
    """Collect and aggregate in one go."""
    return aggregate(plan, collect(paths, plan), campaign_id=campaign_id, jobs=jobs)


def states_of(merged: Aggregate) -> dict[str, str]:
    """The state of every cell."""
    return {cell.execution_id: cell.state for cell in merged.insights.cells}


def report_bytes(merged: Aggregate, plan: Plan, out: Path) -> dict[str, bytes]:
    """Write a report and return all of it by path."""
    write_report(merged, plan, out)
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }


def make_jobs(rows: Iterable[Mapping[str, Any]], attempts: int = 1) -> bytes:
    """A ``--jobs`` file. Attempt ``n`` begins ``60 * n`` minutes after the start."""
    listed = [job_row(**row) for row in rows]
    return json.dumps(
        {
            "total_count": len(listed),
            "jobs": listed,
            "attempts": [
                {"run_attempt": n, "run_started_at": _zulu(later(60 * n - 5))}
                for n in range(1, attempts + 1)
            ],
        }
    ).encode()


def job_row(
    name: str,
    *,
    run_attempt: int = 1,
    conclusion: str | None = "success",
    status: str = "completed",
    started: float | None = None,
    minutes: float = 10,
    steps: Iterable[tuple[str, str]] = (),
) -> dict[str, Any]:
    """A job as GitHub's REST API lists it; ``started`` is in minutes after the start."""
    begin = 60 * run_attempt - 1 if started is None else started
    return {
        "id": 1,
        "run_id": int(RUN_ID),
        "name": name,
        "run_attempt": run_attempt,
        "status": status,
        "conclusion": conclusion,
        "started_at": _zulu(later(begin)),
        "completed_at": _zulu(later(begin + minutes)) if status == "completed" else None,
        "steps": [
            {"name": step, "number": number, "status": "completed", "conclusion": ended}
            for number, (step, ended) in enumerate(steps, 1)
        ],
    }


def _zulu(timestamp: str) -> str:
    """GitHub's timestamps have no milliseconds."""
    return timestamp.replace(".000Z", "Z")
