"""A caller grants what it calls for. GitHub checks that when the run starts, before any ``if``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from runner_e2e.github.workflow_policy.document import Finding, Job, Workflow, mapping
from runner_e2e.resources import resource_directory

_LEVELS = ("none", "read", "write")
_OURS = {"campaign.yml", "execute.yml", "publish.yml"}


def calls(workflow: Workflow) -> Iterator[Finding]:
    """Rights, inputs and secrets as the called workflow asks for them."""
    for job in workflow.jobs.values():
        called = called_workflow(job)
        if called is None:
            continue
        yield from _rights(job, called)
        signature = mapping(called.events.get("workflow_call"))
        yield from _values(job, "with", "caller-input", mapping(signature.get("inputs")))
        if isinstance(job.tree.get("secrets"), dict):
            yield from _values(job, "secrets", "caller-secret", mapping(signature.get("secrets")))


def called_workflow(job: Job) -> Workflow | None:
    """The workflow that a job calls, where we have it: beside the caller, or one of ours."""
    if not job.uses or not job.calls:
        return None
    beside = job.workflow.path.parent / job.calls
    if job.uses.startswith("./") and beside.is_file():
        return Workflow.read(beside)
    ours: Path = resource_directory("workflows") / job.calls
    return Workflow.read(ours) if job.calls in _OURS else None


def _rights(job: Job, called: Workflow) -> Iterator[Finding]:
    granted = job.tree.get("permissions", job.workflow.tree.get("permissions"))
    if isinstance(granted, str) or granted is None:
        return  # everything, or what the repository says; another rule objects to that
    asked: dict[str, str] = {}
    for part in called.jobs.values():
        for scope, level in mapping(part.tree.get("permissions")).items():
            asked[scope] = max(asked.get(scope, "none"), str(level), key=_rank)
    for scope, level in asked.items():
        given = str(mapping(granted).get(scope, "none"))
        if _rank(given) < _rank(level):
            yield job.find(
                "caller-grants",
                f"{job.calls} asks for {scope}: {level}, and {given} is granted: no run can start",
                "permissions",
            )


def _rank(level: str) -> int:
    return _LEVELS.index(level) if level in _LEVELS else 0


def _values(job: Job, key: str, rule: str, declared: dict[str, object]) -> Iterator[Finding]:
    given = mapping(job.tree.get(key))
    for name in given:
        if name not in declared:
            yield job.find(rule, f"{job.calls} knows no {name}", key, name)
    for name, options in declared.items():
        if mapping(options).get("required") is True and name not in given:
            yield job.find(rule, f"{job.calls} requires {name}", key)


RULES = (calls,)
