"""The one way a flow talks to a system under test.

A session is one task being driven on one target, synchronous, in one thread. What a target cannot
observe is ``None``: never a guess, never an empty value that would satisfy a check.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NewType, Protocol

from runner_e2e.catalog import Capability, RenderedTask
from runner_e2e.contracts.scalars import JsonObject
from runner_e2e.contracts.vocabulary import EnvironmentId, Generation, LeaseOutcome
from runner_e2e.failures import CandidateFailure
from runner_e2e.flows.deadline import Deadline
from runner_e2e.matchers import FileReader

InteractionId = NewType("InteractionId", str)

RunStatus = Literal["running", "succeeded", "failed", "cancelled", "timed_out"]


class DuplicateRun(CandidateFailure):
    """The target ran more turns than the flow asked for."""

    def __init__(self, *, expected: int, observed: int) -> None:
        super().__init__(
            "duplicate_run",
            f"{observed} runs were dispatched where the flow had asked for {expected}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """The task as the target keeps it."""

    id: str
    identifier: str | None
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One turn of the agent. Times are RFC 3339; ``None`` where they were not observed."""

    id: str
    turn: int
    status: RunStatus
    submitted_at: str
    started_at: str | None = None
    finished_at: str | None = None
    code: str | None = None
    """Machine-readable reason of a run that did not succeed, such as ``agent_exit``."""
    reason: str | None = None
    """The same in words. The harness's own words, never the agent's."""
    interaction_id: InteractionId | None = None
    """The interaction whose answer this run continues from."""
    environment: EnvironmentId | None = None
    runtime_mode: Generation | None = None
    adapter_type: str | None = None
    provider: str | None = None
    model: str | None = None
    session_id: str | None = None
    session_generation: int | None = None
    usage: JsonObject | None = None
    lease: LeaseOutcome = "unknown"
    producing: bool = False
    """Whether the run was seen to do something yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What the agent said in a run, as a person would see it."""

    run_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRevision:
    """One version of the plan. ``number`` counts from 1."""

    id: str
    number: int
    body: str
    run_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanConfirmation:
    """The agent asks whether a plan may be carried out."""

    id: InteractionId
    run_id: str
    status: Literal["pending", "accepted", "rejected", "superseded"]
    revision_id: str | None
    """``None`` when the target's object names no revision, which is malformed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAsked:
    """The agent asks one single-choice question."""

    id: InteractionId
    run_id: str
    status: Literal["pending", "answered", "superseded"]
    question_id: str
    prompt: str
    options: tuple[str, ...]
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReview:
    """The agent wants to call a governed tool."""

    id: InteractionId
    run_id: str
    status: Literal["pending", "approved", "declined", "unasked"]
    """``unasked``: an earlier "always" covered it, so nobody was asked."""
    tool: str
    arguments: JsonObject


Interaction = PlanConfirmation | QuestionAsked | ToolReview


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInvocation:
    """One time that the tool really ran."""

    tool: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A file the agent declared as its product."""

    name: str
    path: str
    mime_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredScreenshot:
    """A picture, by its path below the attempt's private evidence."""

    id: str
    label: str
    path: str
    public: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """All that can be seen of a task at one moment. Runs and messages are in order of time."""

    issue: Issue
    runs: tuple[Run, ...]
    messages: tuple[Message, ...]
    interactions: tuple[Interaction, ...]
    plan_revisions: tuple[PlanRevision, ...]
    tool_invocations: tuple[ToolInvocation, ...] | None = None
    artifacts: tuple[Artifact, ...] | None = None
    screenshots: tuple[DeclaredScreenshot, ...] = ()
    tasks_created: int | None = None
    json: JsonObject = field(default_factory=dict)
    """``{issue, run, comments, interactions, ...}``: what the JSON matchers look at."""
    files: FileReader | None = None
    """Reads the workspace and nothing else; what refuses a path raises ``FileRefused``."""

    @property
    def pending(self) -> tuple[Interaction, ...]:
        """The interactions that wait for somebody."""
        return tuple(one for one in self.interactions if one.status == "pending")

    def said_in(self, run: Run) -> str:
        """All messages of one run, a line each."""
        return "\n".join(one.text for one in self.messages if one.run_id == run.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accept:
    """Let the plan be carried out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """Send the plan back."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Choose an option of the question."""

    option: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decide:
    """Decide on a tool call. ``always`` covers later calls too."""

    decision: Literal["approve", "decline", "always"]


Reply = Accept | Reject | Answer | Decide


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanupReport:
    """What closing came to. ``problems`` empty means that nothing was left behind."""

    problems: tuple[str, ...] = ()


class Session(Protocol):
    """One task on one target. Every method but :meth:`cancel` belongs to one thread."""

    capabilities: frozenset[Capability]

    def start(self, task: RenderedTask) -> None:
        """Create the task and let the agent's first turn begin."""

    def wait_turn(self, turn: int, deadline: Deadline) -> Observation:
        """Wait until there are exactly ``turn`` runs, all terminal and settled.

        Raises :class:`DuplicateRun` for one more, and an execution error with the code
        ``deadline``, ``interrupted`` or the one of a run that did not succeed.
        """

    def observe(self) -> Observation:
        """See how things stand now, without waiting."""

    def reply(self, interaction: InteractionId, reply: Reply) -> None:
        """Answer a pending interaction; the next turn begins."""

    def send(self, text: str) -> None:
        """Say something more in the same task; the next turn begins."""

    def new_session(self) -> None:
        """Let the next turn begin without what the agent remembers."""

    def restart(self, deadline: Deadline) -> None:
        """Restart the target. Everything observable must survive."""

    def cancel(self) -> None:
        """Stop the running turn. Safe in a signal path, at most 2 s."""

    def close(self) -> CleanupReport:
        """Take down whatever the session set up."""
