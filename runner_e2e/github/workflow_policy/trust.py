"""Whose code runs, with which rights, started by whom."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runner_e2e.github.workflow_policy.document import (
    Finding,
    Job,
    Step,
    Where,
    Workflow,
    expressions,
    mapping,
    pin_of,
    sole_expression,
)

_COMMIT = re.compile(r"[0-9a-f]{40}")
_IMAGE = re.compile(r"docker://.+@sha256:[0-9a-f]{64}")
_STARTS = {"workflow_call", "workflow_dispatch", "schedule", "pull_request", "push", "merge_group"}
"""Events that GitHub gives no secrets of the repository when a stranger causes them, or that a
stranger cannot cause."""
_IMMUTABLE = re.compile(
    r"env\.\w*SHA|needs\.[\w-]+\.outputs\.[\w-]*sha|inputs\.[\w-]*sha|inputs\.tool-ref"
    r"|job\.workflow_sha|github\.sha",
    re.IGNORECASE,
)
_TOOL = re.compile(r"tool|job\.workflow_(?:sha|repository)", re.IGNORECASE)
_TRUSTED = {"aggregate", "publish", "prune", "gate"}


def pins(workflow: Workflow) -> Iterator[Finding]:
    """Actions and images by commit or digest."""
    for where, uses in _all_uses(workflow):
        if uses.startswith("./"):
            continue
        if uses.startswith("docker://"):
            if not _IMAGE.fullmatch(uses):
                yield workflow.find(where, "pinned", f"{uses} is not pinned to a digest")
        elif not _COMMIT.fullmatch(pin_of(uses) or ""):
            yield workflow.find(where, "pinned", f"{uses} is not pinned to a full commit")


def placeholders(workflow: Workflow) -> Iterator[Finding]:
    """What was copied is filled in."""
    for where, uses in _all_uses(workflow):
        if uses.startswith("OWNER/") or pin_of(uses) == "0" * 40:
            yield workflow.find(
                where, "placeholder", f"{uses}: put the repository and the commit you use"
            )


def _all_uses(workflow: Workflow) -> Iterator[tuple[Where, str]]:
    for job in workflow.jobs.values():
        if job.uses:
            yield (*job.where, "uses"), job.uses
        for step in job.steps:
            if uses := step.tree.get("uses"):
                yield (*job.where, "steps", step.index, "uses"), str(uses)


def permissions(workflow: Workflow) -> Iterator[Finding]:
    """None by default; a job names the few it needs."""
    rule = "permissions"
    top = workflow.tree.get("permissions")
    if top is None:
        yield workflow.find(
            (), rule, "say permissions: {} at the top; the repository's default may be to write"
        )
    elif isinstance(top, str) or any(level == "write" for level in mapping(top).values()):
        yield workflow.find(
            ("permissions",), rule, "rights for all jobs: grant them to the one that needs them"
        )
    for job in workflow.jobs.values():
        granted = job.tree.get("permissions")
        if isinstance(granted, str):
            yield job.find(rule, f"{granted} is everything; name what is needed", rule)
        for scope, level in mapping(granted).items():
            if level == "write" and not (scope == "contents" and job.publishes):
                yield job.find(rule, f"{scope}: write, but this job publishes nothing", rule, scope)


def triggers(workflow: Workflow) -> Iterator[Finding]:
    """Only what a stranger cannot cause, or causes without secrets."""
    for event in workflow.events:
        if event not in _STARTS:
            yield workflow.find(
                ("on", event), "trigger", f"{event} runs with secrets for whoever causes it"
            )


def scripts(workflow: Workflow) -> Iterator[Finding]:
    """No expression inside a script."""
    for step in _steps(workflow):
        for keys in (("run",), ("shell",), ("with", "script")):
            text = step.tree
            for key in keys:
                text = mapping(text).get(key, "")
            if "${{" in str(text):
                yield step.find(
                    "script-expression", "pass it through env and read the variable", *keys
                )


def checkouts(workflow: Workflow) -> Iterator[Finding]:
    """Nothing stays behind, and nothing can move."""
    for step in _steps(workflow):
        if step.action != "actions/checkout":
            continue
        if step.inputs.get("persist-credentials") is not False:
            yield step.find(
                "checkout-credentials",
                "persist-credentials: false, or every later step can use the job's token",
                "with",
            )
        if not _immutable(step.inputs.get("ref")):
            yield step.find(
                "checkout-ref", "check out a commit that an earlier job resolved", "with", "ref"
            )


def _immutable(ref: object) -> bool:
    if isinstance(ref, str) and _COMMIT.fullmatch(ref):
        return True
    inside = sole_expression(ref)
    parts = [part.strip() for part in inside.split("||")] if inside else []
    return bool(parts) and all(_IMMUTABLE.fullmatch(part) for part in parts)


def trusted_code(workflow: Workflow) -> Iterator[Finding]:
    """Merging and publishing without the code under test."""
    for job in workflow.jobs.values():
        if not job.commands() & _TRUSTED:
            continue
        for step in job.steps:
            if step.action == "actions/checkout" and not _is_tool(step):
                yield step.find(
                    "trusted-code", "this job reads results; it must not hold the code under test"
                )


def _is_tool(step: Step) -> bool:
    return bool(
        _TOOL.search(str(step.inputs.get("ref")))
        and _TOOL.search(str(step.inputs.get("repository")))
    )


def tool_origin(workflow: Workflow) -> Iterator[Finding]:
    """What GitHub says, before what an input says."""
    # One that is only ever called was told by its caller, which this rule has looked at.
    only_called = set(workflow.events) == {"workflow_call"}
    for where, text in workflow.texts():
        for expression in expressions(where, text):
            if re.search(r"github\.workflow_(?:sha|ref)", expression):
                yield workflow.find(
                    where,
                    "tool-origin",
                    "github.workflow_sha is the caller's; a called workflow needs job.workflow_sha",
                )
            given = re.search(r"inputs\.tool-(?:ref|repository)", expression)
            known = re.search(r"job\.workflow_(?:sha|repository)", expression)
            if given and not only_called and not (known and known.start() < given.start()):
                yield workflow.find(
                    where, "tool-origin", "what GitHub says comes first, an input only after it"
                )


def swallowed_errors(workflow: Workflow) -> Iterator[Finding]:
    """No continue-on-error."""
    rule = "continue-on-error"
    parts: list[Job | Step] = [*workflow.jobs.values(), *_steps(workflow)]
    for part in parts:
        if part.tree.get(rule, False) is not False:
            yield part.find(rule, "a failure here would look like success", rule)


def time_limits(workflow: Workflow) -> Iterator[Finding]:
    """A limit for every job."""
    for job in workflow.jobs.values():
        if not job.uses and "timeout-minutes" not in job.tree:
            yield job.find("timeout", "give the job timeout-minutes")


def _steps(workflow: Workflow) -> Iterator[Step]:
    for job in workflow.jobs.values():
        yield from job.steps


RULES = (
    pins,
    placeholders,
    permissions,
    triggers,
    scripts,
    checkouts,
    trusted_code,
    tool_origin,
    swallowed_errors,
    time_limits,
)
