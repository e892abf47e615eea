"""A case of the catalog: what is said to the agent, and what must come of it.

Every text is a template; ``catalog.rendering`` fills it in. ``flowOptions`` is ours: typed per
flow, part of the fingerprint, never in a document of the wire contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, StringConstraints, Tag

from runner_e2e.contracts.base import CatalogModel, Omittable
from runner_e2e.contracts.matcher import (
    ArtifactExists,
    FileContains,
    FileExact,
    FileExists,
    IssueStatus,
    JsonPath,
    JsonSchema,
    MessageContains,
    MessageExact,
    MessageOccurrences,
    MessageOrdered,
    MessageRegex,
    RunStatus,
)
from runner_e2e.contracts.scalars import Count, ItemId, JsonObject, JsonValue, Ordinal
from runner_e2e.contracts.vocabulary import (
    EnvironmentId,
    Flow,
    Generation,
    ToolReviewDecision,
    WorkMode,
)


class AttemptTimeouts(CatalogModel):
    """Milliseconds that one attempt may take, by environment."""

    local: Ordinal
    daytona: Ordinal


class TerminalState(CatalogModel):
    """How the issue and its runs must stand at the end."""

    issue: Literal["done", "in_review"]
    run: Literal["succeeded"]


class QuestionAnswer(CatalogModel):
    """Which option to choose, and what the agent must then say."""

    option_label: str
    expected_marker: str


class PlanMarkers(CatalogModel):
    """What must stand in the first plan and, instead, in the revised one."""

    draft: str
    revised: str


class PlanOptions(CatalogModel):
    """For the two plan flows: how many numbered steps each plan must have."""

    draft_steps: Ordinal
    revised_steps: Omittable[Ordinal] = None


class Question(CatalogModel):
    """The one question that the agent must ask, exactly."""

    id: str
    prompt: str
    options: Annotated[tuple[str, ...], Field(min_length=2)]


class QuestionOptions(CatalogModel):
    """For the question flow."""

    question: Question


class WarmOptions(CatalogModel):
    """For the warm flow: the file, and the line that each turn adds to it."""

    file: str
    lines: Annotated[tuple[str, ...], Field(min_length=3, max_length=3)]


class ToolReviewOptions(CatalogModel):
    """For the tool review flow: the call to expect and how often it may really happen."""

    tool: str
    arguments: JsonObject
    second_arguments: Omittable[JsonObject] = None
    again: Omittable[str] = None
    """What is said for the second call, on a target whose "always" holds from the next run on."""
    invocations: Count


class Say(CatalogModel):
    """Send a message; the reply must contain ``expect``."""

    say: str
    expect: Omittable[str] = None


class IdleExpectation(CatalogModel):
    """How many runs there must have been by then."""

    runs: Count


class ExpectIdle(CatalogModel):
    """Wait until nothing runs, then count."""

    expect_idle: IdleExpectation = Field(alias="expect_idle")


class Nothing(CatalogModel):
    """``{}``: a step that needs no argument."""


class NewSession(CatalogModel):
    """Begin a fresh session in the same conversation."""

    new_session: Nothing = Field(alias="new_session")


class Restart(CatalogModel):
    """Restart the target; the conversation must survive."""

    restart: Nothing


class Stop(CatalogModel):
    """Stop the running turn."""

    stop: Nothing


class Approve(CatalogModel):
    """Accept the pending plan."""

    approve: Nothing


class Revise(CatalogModel):
    """Send the pending plan back with this request."""

    revise: str


class ExpectTasks(CatalogModel):
    """How many tasks the agent must have created by now."""

    expect_tasks: Count = Field(alias="expect_tasks")


CHAT_STEPS: Mapping[str, type[CatalogModel]] = {
    "say": Say,
    "expect_idle": ExpectIdle,
    "new_session": NewSession,
    "restart": Restart,
    "stop": Stop,
    "approve": Approve,
    "revise": Revise,
    "expect_tasks": ExpectTasks,
}
"""The step by the key that names it."""


def _step_name(step: Any) -> str | None:
    """Tell which step is meant, so that an error speaks of that one and not of all eight."""
    if isinstance(step, dict):
        return next((name for name in CHAT_STEPS if name in step), None)
    return next((name for name, kind in CHAT_STEPS.items() if isinstance(step, kind)), None)


ChatStep = Annotated[
    Annotated[Say, Tag("say")]
    | Annotated[ExpectIdle, Tag("expect_idle")]
    | Annotated[NewSession, Tag("new_session")]
    | Annotated[Restart, Tag("restart")]
    | Annotated[Stop, Tag("stop")]
    | Annotated[Approve, Tag("approve")]
    | Annotated[Revise, Tag("revise")]
    | Annotated[ExpectTasks, Tag("expect_tasks")],
    Discriminator(
        _step_name,
        custom_error_type="unknown_step",
        custom_error_message=f"a step is one of {', '.join(CHAT_STEPS)}",
    ),
]


class ChatOptions(CatalogModel):
    """For the agent chat flow: the script of steps."""

    script: Annotated[tuple[ChatStep, ...], Field(min_length=1)]


FLOW_OPTIONS: Mapping[Flow, type[CatalogModel]] = {
    "single_turn": Nothing,
    "plan_revision_acceptance": PlanOptions,
    "plan_approval_completion": PlanOptions,
    "question_resume_completion": QuestionOptions,
    "warm_three_turn": WarmOptions,
    "governed_tool_review": ToolReviewOptions,
    "agent_chat": ChatOptions,
}
"""The type of ``flowOptions`` by flow."""


Template = Annotated[str, StringConstraints(pattern=r"\{[{%]")]
"""A text that only becomes one of a set's words when it is filled in."""


class RuntimeModeTemplate(CatalogModel):
    """``runtime_mode`` as written: a case may run on profiles of either generation."""

    kind: Literal["runtime_mode"]
    expected: Generation | Template


class EnvironmentTemplate(CatalogModel):
    """``environment`` as written: a case may run in either environment."""

    kind: Literal["environment"]
    expected: EnvironmentId | Template


MatcherTemplate = Annotated[
    MessageExact
    | MessageContains
    | MessageOccurrences
    | MessageRegex
    | MessageOrdered
    | IssueStatus
    | RunStatus
    | RuntimeModeTemplate
    | EnvironmentTemplate
    | FileExists
    | FileExact
    | FileContains
    | ArtifactExists
    | JsonPath
    | JsonSchema,
    Field(discriminator="kind"),
]
"""A matcher as a person writes it. Filled in, it is a :data:`~runner_e2e.contracts.Matcher`."""


class TaskFixture(CatalogModel):
    """Contract: ``RunnerTaskFixture``. Its ``build...`` functions are templates here."""

    id: ItemId
    label: str
    groups: tuple[ItemId, ...] = ()
    work_mode: WorkMode
    flow: Flow
    expected_run_count: Ordinal
    attempt_timeout_ms: AttemptTimeouts
    expected_terminal_state: TerminalState
    title: str
    marker: str
    prompt: str
    revision_request: Omittable[str] = None
    followups: Omittable[Annotated[tuple[str, ...], Field(min_length=2, max_length=2)]] = None
    turn_timeout_ms: Omittable[Ordinal] = None
    question_answer: Omittable[QuestionAnswer] = None
    restart_server_before_question_answer: Omittable[bool] = None
    tool_review_decision: Omittable[ToolReviewDecision] = None
    plan_markers: Omittable[PlanMarkers] = None
    matchers: tuple[MatcherTemplate, ...]
    flow_options: Omittable[dict[str, JsonValue]] = None
