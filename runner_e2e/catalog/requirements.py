"""What each flow needs of a case: the one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner_e2e.contracts.scalars import JsonValue
from runner_e2e.contracts.vocabulary import Flow, ToolReviewDecision


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowRequirements:
    """``runs`` is the one run count with which the flow can pass; ``None`` leaves it open."""

    runs: int | None
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    judging_steps: tuple[str, ...] | None = None
    """The steps of a script that check something; a case without any of them needs a matcher.

    ``None`` where the flow itself always checks what the agent did.
    """


REQUIREMENTS: Mapping[Flow, FlowRequirements] = {
    "single_turn": FlowRequirements(runs=1, judging_steps=()),
    "plan_revision_acceptance": FlowRequirements(
        runs=3, required=("revisionRequest", "planMarkers", "flowOptions")
    ),
    "plan_approval_completion": FlowRequirements(runs=2, required=("planMarkers", "flowOptions")),
    "question_resume_completion": FlowRequirements(
        runs=2,
        required=("questionAnswer", "flowOptions"),
        optional=("restartServerBeforeQuestionAnswer",),
    ),
    "warm_three_turn": FlowRequirements(
        runs=3, required=("followups", "turnTimeoutMs", "flowOptions")
    ),
    "governed_tool_review": FlowRequirements(
        runs=2, required=("toolReviewDecision", "flowOptions")
    ),
    "agent_chat": FlowRequirements(
        runs=None,
        required=("flowOptions",),
        judging_steps=("expect", "expect_idle", "expect_tasks"),
    ),
}
"""Reference 1.9 and 3.8. A key that a flow has no use for is a mistake, not a spare."""

FLOW_KEYS: tuple[str, ...] = (
    "revisionRequest",
    "followups",
    "turnTimeoutMs",
    "questionAnswer",
    "restartServerBeforeQuestionAnswer",
    "toolReviewDecision",
    "planMarkers",
    "flowOptions",
)
"""The keys of a case that only some flows read. ``turnTimeoutMs`` may stand with any flow."""

TOOL_RUNS: Mapping[ToolReviewDecision, tuple[int, int | None]] = {
    "approve": (1, 1),
    "restart": (1, 1),
    "decline": (0, 0),
    "always": (2, None),
}
"""How often the tool runs at least and at most by each decision. Reference 3.8."""

_TURNS = frozenset({"say", "approve", "revise"})


def turns_after(script: Sequence[JsonValue]) -> tuple[int, ...]:
    """How many turns there were after each step of a chat. The first turn is the prompt."""
    turns, counts = 1, list[int]()
    for step in script:
        turns += isinstance(step, dict) and not _TURNS.isdisjoint(step)
        counts.append(turns)
    return tuple(counts)
