"""Hand a plan to GitHub Actions: matrices, and the file of job outputs."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from runner_e2e.contracts.base import dump_tree
from runner_e2e.contracts.plan import Plan, PlannedExecution
from runner_e2e.errors import UsageError
from runner_e2e.planning.forecast import longest_first
from runner_e2e.planning.timing import job_timeout

MAX_OUTPUT_CHARACTERS = 500_000
"""All outputs of a job together. GitHub allows 1 MB and counts two bytes a character."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def matrix_json(plan: Plan) -> str:
    """The whole matrix on one line: ``{"include", "needsDaytona", "executionIds"}``.

    ``include`` is sorted by execution id, by code point; ``executionIds`` is in catalog order.
    """
    return _line(
        {
            "include": _jobs(plan.executions),
            "needsDaytona": _needs_daytona(plan),
            "executionIds": plan.expected,
        }
    )


def github_outputs(plan: Plan) -> dict[str, str]:
    """The outputs of a planning job, each one line of ids and short words.

    ``matrix`` is the matrix of the jobs where one is enough. Beyond, it is empty and ``shards`` is
    a matrix of matrices: ``{"include": [{"shard", "count", "maxParallel", "matrix"}]}``.
    Raises :class:`UsageError` when GitHub would not take them.
    """
    sharded = len(plan.shards) > 1
    outputs = {
        "matrix": _line({"include": [] if sharded else _queue(plan.executions)}),
        "has_jobs": _line(bool(plan.executions)),
        "count": str(len(plan.executions)),
        "shards": _line({"include": _shard_matrices(plan) if sharded else []}),
        "needs_daytona": _line(_needs_daytona(plan)),
        "max_parallel": str(plan.shards[0].max_parallel if plan.shards else 1),
        "max_retries": str(plan.max_retries),
        "confirm": str(plan.confirm.repeats if plan.confirm else 0),
        "confirm_budget": _budget(plan),
        "plan_digest": plan.digest,
        "definition_hashes": _line(
            {item.job.suite_id: item.suite_definition_hash for item in plan.executions}
        ),
        "job_timeout": str(job_timeout(plan)),
    }
    size = sum(len(name) + len(value) for name, value in outputs.items())
    if size > MAX_OUTPUT_CHARACTERS:
        raise UsageError(
            f"the matrix of {len(plan.executions)} executions has {size} characters; "
            f"GitHub takes {MAX_OUTPUT_CHARACTERS} from one job",
            hint="plan by suite or group, in several jobs",
        )
    return outputs


def append_outputs(path: Path, outputs: Mapping[str, str]) -> None:
    """Append to the file that ``GITHUB_OUTPUT`` names.

    Each value stands between two lines of a fresh random word, so nothing in a value can end it
    or begin another output. Raises :class:`UsageError` for a name that is none.
    """
    text = "".join(_entry(name, value) for name, value in outputs.items())
    with path.open("ab") as file:
        file.write(text.encode())


def _entry(name: str, value: str) -> str:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be the name of an output")
    if "\r" in value or "\0" in value:
        raise UsageError(f"the output {name} holds a character that GitHub would change")
    delimiter = secrets.token_hex(16)
    while delimiter in value:
        delimiter = secrets.token_hex(16)
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def _budget(plan: Plan) -> str:
    """In dollars; empty where there is none."""
    budget = plan.confirm.budget_usd if plan.confirm else None
    return "" if budget is None else str(budget)


def _line(value: Any) -> str:
    # JSON escapes line ends inside strings, and the compact form has none between them.
    return orjson.dumps(value).decode()


def _needs_daytona(plan: Plan) -> bool:
    return any(item.job.needs_daytona for item in plan.executions)


def _by_id(executions: Sequence[PlannedExecution]) -> list[PlannedExecution]:
    return sorted(executions, key=lambda item: item.job.execution_id)


def _jobs(executions: Sequence[PlannedExecution]) -> list[Any]:
    return [dump_tree(item.job) for item in _by_id(executions)]


def _queue(executions: Sequence[PlannedExecution]) -> list[Any]:
    """The jobs as GitHub is to begin them: longest first, as far as history knows."""
    return [dump_tree(item.job) for item in longest_first(_by_id(executions))]


def _shard_matrices(plan: Plan) -> list[dict[str, Any]]:
    members: list[list[PlannedExecution]] = [[] for _ in plan.shards]
    for item in plan.executions:
        members[item.shard].append(item)
    return [
        {
            "shard": shard.index,
            "count": shard.count,
            "maxParallel": shard.max_parallel,
            "matrix": {"include": _queue(members[shard.index])},
        }
        for shard in plan.shards
    ]
