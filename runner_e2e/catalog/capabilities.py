"""What each target offers beyond plain turns, and what a case needs of it: the one table.

The catalog refuses by it what could only fail after it was paid for, and sessions offer what stands
here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Literal

from runner_e2e.catalog.source import Steps
from runner_e2e.contracts.task import TaskFixture
from runner_e2e.contracts.vocabulary import EnvironmentId

TargetKind = Literal["command", "paperclip"]


class Capability(StrEnum):
    """What a target may offer beyond plain turns."""

    RESTART = "restart"
    TOOLS = "tools"
    SESSIONS = "sessions"
    LEASES = "leases"
    """Tells how the sandbox of each turn came to be. No case needs it; the warm flow looks."""
    ARTIFACTS = "artifacts"
    TASKS = "tasks"


OFFERED: Mapping[TargetKind, frozenset[Capability]] = {
    "command": frozenset(
        {Capability.RESTART, Capability.TOOLS, Capability.SESSIONS, Capability.ARTIFACTS}
    ),
    "paperclip": frozenset(
        {Capability.RESTART, Capability.TOOLS, Capability.SESSIONS, Capability.TASKS}
    ),
}

ENVIRONMENTS: Mapping[TargetKind, frozenset[EnvironmentId]] = {
    "command": frozenset({"local", "daytona"}),
    "paperclip": frozenset({"local"}),
}
"""Where a target can run its turns by now."""

CANNOT: Mapping[Capability, str] = {
    Capability.RESTART: "cannot be restarted",
    Capability.TOOLS: "owns no tool that a person could decide on",
    Capability.SESSIONS: "cannot begin a new session",
    Capability.LEASES: "does not tell how its sandboxes come to be",
    Capability.ARTIFACTS: "does not see artifacts",
    Capability.TASKS: "does not see the tasks that an agent makes",
}
"""What a target is like that lacks it, for a message."""

_BY_STEP: Mapping[str, Capability] = {
    "restart": Capability.RESTART,
    "new_session": Capability.SESSIONS,
    "expect_tasks": Capability.TASKS,
}


def needs_of(task: TaskFixture) -> Iterator[tuple[Capability, Steps]]:
    """What a target must offer for this case, each with the part of the case that needs it."""
    if task.flow == "governed_tool_review":
        yield Capability.TOOLS, ("flow",)
    if task.restart_server_before_question_answer:
        yield Capability.RESTART, ("restartServerBeforeQuestionAnswer",)
    if task.tool_review_decision == "restart":
        yield Capability.RESTART, ("toolReviewDecision",)
    script = (task.flow_options or {}).get("script")
    for index, step in enumerate(script if isinstance(script, list) else ()):
        for name in step if isinstance(step, dict) else ():
            if name in _BY_STEP:
                yield _BY_STEP[name], ("flowOptions", "script", index, name)
    for index, matcher in enumerate(task.matchers):
        if matcher.kind == "artifact_exists":
            yield Capability.ARTIFACTS, ("matchers", index)
