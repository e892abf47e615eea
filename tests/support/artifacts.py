"""Downloaded artifacts, as they may lie in a directory: good ones, and every kind of bad one."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from runner_e2e.campaigns import Aggregate, JobHistory, aggregate, collect, write_report
from runner_e2e.contracts.base import dump
from runner_e2e.contracts.evidence import FileDigest
from runner_e2e.contracts.job_record import JOB_RECORD_V1, AttemptRecord, JobRecord
from runner_e2e.contracts.plan import Plan
from runner_e2e.contracts.result import Result
from tests.support.documents import (
    RUN_ID,
    START,
    definition_hash,
    later,
    make_plan,
    make_result,
    make_source,
)

Event = Literal[
    "pass", "retried", "fail", "timeout", "leaky", "empty", "corrupt", "other_plan", "foreign"
]
"""What one run attempt left of one cell."""

EVENTS: tuple[Event, ...] = get_args(Event)
CAMPAIGN_ID = f"gha-{RUN_ID}-9"


def make_attempt_record(result: Result, *, code: str | None = None) -> AttemptRecord:
    """The job record's line about one attempt, as ``run`` writes it beside ``result``."""
    return AttemptRecord(
        attempt=result.attempt,
        status=result.status,
        failure_class=result.failure_class,
        code=code,
        started_at=result.started_at,
        finished_at=result.finished_at,
        billing=result.billing,
    )


def make_job_record(
    result: Result | str,
    *,
    plan: Plan | None = None,
    run_attempt: int = 1,
    state: Literal["started", "finished", "interrupted"] = "finished",
    code: str | None = None,
    files: Iterable[FileDigest] = (),
    **changes: Any,
) -> JobRecord:
    """The record beside ``result``, or of a job of that id that left no result."""
    ended = isinstance(result, Result)
    execution_id = result.execution_id if isinstance(result, Result) else result
    suite = execution_id.split(".")[0]
    values: dict[str, Any] = {
        "schema_": JOB_RECORD_V1,
        "execution_id": execution_id,
        "plan_digest": None if plan is None else plan.digest,
        "suite_definition_hash": definition_hash(suite),
        "source": make_source(),
        "run_id": RUN_ID,
        "run_attempt": run_attempt,
        "state": state if ended else "started",
        "started_at": START,
        "finished_at": None,
        "attempts": (),
        "resources": (),
        "files": tuple(files),
    }
    if isinstance(result, Result):
        values |= {
            "suite_definition_hash": result.suite_definition_hash,
            "source": result.source,
            "started_at": result.started_at,
            "finished_at": result.finished_at,
            "attempts": (make_attempt_record(result, code=code),),
        }
    return JobRecord(**values | changes)


def digest_of(path: str, data: bytes) -> FileDigest:
    """A job record's line about one file."""
    return FileDigest(path=path, sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))


def write_cell(
    directory: Path,
    result: Result,
    *,
    plan: Plan | None = None,
    run_attempt: int = 1,
    code: str | None = None,
    files: dict[str, bytes] | None = None,
    **changes: Any,
) -> JobRecord:
    """Lay a result artifact into ``directory`` as ``run`` does: results, record, ``files``.

    ``changes`` go to the job record. Every file written stands in it with its digest.
    """
    content = {
        "result.json": dump(result),
        f"attempt-{result.attempt}/result.json": dump(result),
    } | (files or {})
    record = make_job_record(
        result,
        plan=plan,
        run_attempt=run_attempt,
        code=code,
        files=[digest_of(path, data) for path, data in content.items()],
        **changes,
    )
    for path, data in (content | {"job-record.json": dump(record)}).items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return record


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
