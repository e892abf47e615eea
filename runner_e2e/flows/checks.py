"""The conditions that flows share. Each raises the failure it finds."""

from __future__ import annotations

import re
from typing import TypeVar

from runner_e2e.failures import CandidateFailure, ProviderVariance
from runner_e2e.flows.session import (
    Interaction,
    Observation,
    PlanConfirmation,
    PlanRevision,
    QuestionAsked,
    ToolReview,
)

Asked = TypeVar("Asked", PlanConfirmation, QuestionAsked, ToolReview)

_MARKS = str.maketrans("", "", "*_`")
_STEP = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]*)?(?:[-+•][ \t]*)?(?:step[ \t]+)?"
    r"[0-9]{1,9}(?:[.)]|[ \t]*[-—:])(?:\s|$)",
    re.IGNORECASE,
)


def require(condition: object, code: str, message: str) -> None:
    """Let the candidate fail with ``code`` unless the condition holds."""
    if not condition:
        raise CandidateFailure(code, message)


def numbered_steps(body: str) -> int:
    """Count the numbered steps of a plan.

    A step is a line that begins with a number and ``.`` or ``)``, or, perhaps after spaces, ``-``,
    an em dash or ``:``. Heading signs, a bullet and the word "step" may stand before the number,
    emphasis anywhere.
    """
    return sum(1 for line in body.splitlines() if _STEP.match(line.translate(_MARKS)))


def only_pending(observation: Observation, kind: type[Asked], what: str) -> Asked:
    """The one interaction that waits, which must be of ``kind``."""
    pending: tuple[Interaction, ...] = observation.pending
    require(pending, "interaction_missing", f"the turn ended without {what}")
    first = pending[0]
    if len(pending) > 1 or not isinstance(first, kind):
        kinds = ", ".join(type(one).__name__ for one in pending)
        raise CandidateFailure(
            "interaction_unexpected", f"exactly {what} was to be pending; pending are: {kinds}"
        )
    return first


def latest_plan(observation: Observation) -> tuple[PlanConfirmation, PlanRevision]:
    """The pending plan and its text.

    All runs have succeeded by then; a confirmation that targets no revision is how providers
    sometimes vary, so it is worth another attempt.
    """
    confirmation = only_pending(observation, PlanConfirmation, "a plan to decide on")
    if confirmation.revision_id is None:
        raise ProviderVariance(
            "malformed_plan", "the pending confirmation does not name a revision of the plan"
        )
    require(observation.plan_revisions, "plan_missing", "there is no plan document")
    latest = observation.plan_revisions[-1]
    require(
        confirmation.revision_id == latest.id,
        "plan_stale",
        f"the confirmation is about {confirmation.revision_id}, the latest is {latest.id}",
    )
    return confirmation, latest


def check_plan(plan: PlanRevision, *, marker: str, steps: int, without: str | None = None) -> None:
    """Check the text of a plan: its marker, its number of steps, and what it must not have."""
    body = plan.body.replace("\\_", "_")
    require(marker in body, "plan_marker", f"plan {plan.number} does not have its marker")
    require(
        without is None or without not in body,
        "plan_marker",
        f"plan {plan.number} still has the marker of the first one",
    )
    found = numbered_steps(body)
    require(
        found == steps, "plan_steps", f"plan {plan.number} has {found} numbered steps, not {steps}"
    )
