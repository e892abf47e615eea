"""What merging costs, against reading, parsing and writing the same documents with orjson.

Run with ``python -m benchmarks.aggregation [CELLS]`` (10,000 by default, about 43 MB of results).
Each side is a process of its own over the same files, which were read once before; the time is the
best of three. Prints JSON; exits 1 above 3 times orjson or, at 10,000 cells, above 500 MB.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from runner_e2e.campaigns import aggregate, collect, exit_code, write_report
from runner_e2e.contracts.base import dump, parse
from runner_e2e.contracts.matcher import FileContains, IssueStatus, Matcher, MessageExact
from runner_e2e.contracts.plan import Plan
from runner_e2e.contracts.result import MatcherResult, Result, TurnTiming
from runner_e2e.evidence.files import write_atomically
from runner_e2e.memory import without_garbage_search
from runner_e2e.reports import junit_xml, summary_markdown
from tests.support.artifacts import write_cell
from tests.support.costs import make_usage
from tests.support.documents import later, make_plan, make_result

CELLS = 10_000
TIMES_ORJSON = 3
MEGABYTES = 500
REPEATS = 3
CAMPAIGN_ID = "gha-15000000001-1"


def ids(count: int) -> list[str]:
    """Give execution ids of suites of at most 250 cells."""
    return [
        f"suite-{number // 250:03}.profile-{number // 50 % 5}.local.case-{number % 50:02}"
        for number in range(count)
    ]


def result_of(number: int, execution_id: str) -> Result:
    """Make a result as real ones are: three turns, usage by run, six matchers."""
    said = f"E2E_OK_{number:012x}-1: the plan has three steps and all of them were carried out. "
    matchers: list[Matcher] = [
        MessageExact(kind="message_exact", expected=f"E2E_OK_{number:012x}-1"),
        IssueStatus(kind="issue_status", expected="done"),
    ]
    matchers += [
        FileContains(kind="file_contains", path=f"notes/step-{step}.md", expected=said)
        for step in range(4)
    ]
    matcher_results = tuple(
        MatcherResult(matcher=matcher, passed=True, detail=said * 2) for matcher in matchers
    )
    timings = tuple(
        TurnTiming(
            turn=turn,
            submitted_at=later(turn),
            run_started_at=later(turn + 0.1),
            run_finished_at=later(turn + 0.9),
            scheduler_latency_ms=6000,
            run_duration_ms=48_000,
            response_latency_ms=54_000,
            run_id=f"run-{number:08}-{turn}",
            lease_acquisition_outcome="unknown",
        )
        for turn in range(1, 4)
    )
    failed = number % 50 == 0
    return make_result(
        execution_id,
        status="failed" if failed else "passed",
        error=said if failed else None,
        usage={"runs": [{"usage": make_usage()} for _ in range(3)]},
        run_ids=tuple(timing.run_id for timing in timings),
        turn_timings=timings,
        matcher_results=matcher_results,
    )


def generate(root: Path, count: int) -> None:
    """Write a plan and the artifacts of every cell of it."""
    plan = make_plan(ids(count))
    write_atomically(root / "plan.json", dump(plan))
    for number, execution_id in enumerate(plan.expected):
        directory = root / "results" / f"runner-e2e-result-a1-{execution_id}"
        write_cell(directory, result_of(number, execution_id), plan=plan)


def merge(root: Path) -> None:
    """Do what ``aggregate --no-site`` does."""
    with without_garbage_search():
        merge_in(root)


def merge_in(root: Path) -> None:
    """Merge, write the report and judge."""
    plan = parse(Plan, (root / "plan.json").read_bytes(), "plan.json")
    merged = aggregate(plan, collect([root / "results"], plan), campaign_id=CAMPAIGN_ID)
    out = root / "report"
    write_report(merged, plan, out)
    summary = summary_markdown(merged.campaign, merged.insights, plan)
    write_atomically(out / "summary.md", summary.encode())
    write_atomically(out / "junit.xml", junit_xml(merged.campaign, merged.insights, plan))
    exit_code(merged.campaign, merged.insights)


def documents(root: Path) -> Iterator[Path]:
    """Find the documents that a merge reads; each attempt's own result is summed up in them."""
    for directory, _, names in os.walk(root / "results"):
        if "job-record.json" in names:
            yield Path(directory) / "job-record.json"
            yield Path(directory) / "result.json"


def plain(root: Path) -> None:
    """Read, parse and write the same documents, and nothing else."""
    parsed: list[Any] = [orjson.loads((root / "plan.json").read_bytes())]
    for path in documents(root):
        with path.open("rb") as file:
            parsed.append(orjson.loads(file.read()))
    (root / "plain.json").write_bytes(orjson.dumps(parsed))


SIDES = {"merge": merge, "plain": plain}


def measure(side: str, root: Path) -> tuple[float, float]:
    """Return the best time in seconds and the greatest memory in MB of one side."""
    seconds, megabytes = [], []
    for _ in range(REPEATS):
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.aggregation", side, str(root)],
            check=True,
            capture_output=True,
        )
        told = json.loads(done.stdout)
        seconds.append(told["seconds"])
        megabytes.append(told["megabytes"])
    return min(seconds), max(megabytes)


def main(arguments: list[str]) -> int:
    """Generate, measure both sides and judge; or be one of the sides."""
    if len(arguments) == len(("side", "root")):
        begun = time.perf_counter()
        SIDES[arguments[0]](Path(arguments[1]))
        seconds = time.perf_counter() - begun
        # Kilobytes on Linux, bytes on macOS.
        unit = 1024 * 1024 if sys.platform == "darwin" else 1024
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
        print(json.dumps({"seconds": seconds, "megabytes": peak}))
        return 0
    count = int(arguments[0]) if arguments else CELLS
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        generate(root, count)
        merged, plain_side = measure("merge", root), measure("plain", root)
        size = sum(path.stat().st_size for path in documents(root) if path.name == "result.json")
    ratio = merged[0] / plain_side[0]
    figures = {
        "cells": count,
        "resultMegabytes": round(size / 1e6, 1),
        "mergeSeconds": round(merged[0], 2),
        "orjsonSeconds": round(plain_side[0], 2),
        "timesOrjson": round(ratio, 2),
        "mergeMegabytes": round(merged[1]),
        "orjsonMegabytes": round(plain_side[1]),
    }
    print(json.dumps(figures, indent=2))
    kept = ratio <= TIMES_ORJSON and (count != CELLS or merged[1] <= MEGABYTES)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
