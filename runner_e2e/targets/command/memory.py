"""What a command session knows, as one immutable value that can be stored and read back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from runner_e2e.contracts.scalars import JsonObject
from runner_e2e.flows.session import (
    Artifact,
    DeclaredScreenshot,
    Interaction,
    InteractionId,
    Message,
    PlanConfirmation,
    PlanRevision,
    QuestionAsked,
    Run,
    ToolInvocation,
    ToolReview,
)
from runner_e2e.targets.command.protocol import (
    ArtifactEvent,
    Event,
    MessageEvent,
    PlanEvent,
    QuestionEvent,
    RuntimeEvent,
    ScreenshotEvent,
    StatusEvent,
    ToolRequestEvent,
    UsageEvent,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A session between two turns. ``declared_status`` is what the last turn's event said."""

    runs: tuple[Run, ...] = ()
    messages: tuple[Message, ...] = ()
    interactions: tuple[Interaction, ...] = ()
    revisions: tuple[PlanRevision, ...] = ()
    invocations: tuple[ToolInvocation, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    screenshots: tuple[DeclaredScreenshot, ...] = ()
    always: tuple[str, ...] = ()
    """Tools that run unasked from now on."""
    generation: int = 0
    declared_status: str | None = None

    @property
    def status(self) -> str:
        """The issue's status: declared, else by what is running or pending."""
        if self.runs and self.runs[-1].status == "running":
            return "in_progress"
        if self.declared_status is not None:
            return self.declared_status
        return "in_review" if any(one.status == "pending" for one in self.interactions) else "done"

    def with_run(self, run: Run) -> Memory:
        """Add a run, or replace the one of the same turn."""
        return replace(self, runs=(*self.runs[: run.turn - 1], run))

    def with_interaction(self, interaction: Interaction) -> Memory:
        """Add an interaction, or replace the one of the same id."""
        others = [one for one in self.interactions if one.id != interaction.id]
        at = next(
            (i for i, one in enumerate(self.interactions) if one.id == interaction.id), len(others)
        )
        return replace(self, interactions=(*others[:at], interaction, *others[at:]))

    def next_interaction_id(self) -> InteractionId:
        """The id for the next interaction."""
        return InteractionId(f"interaction-{len(self.interactions) + 1}")

    def superseded(self) -> Memory:
        """Let what is pending lapse: something else was said instead of an answer."""
        memory = self
        for one in self.interactions:
            if one.status == "pending" and not isinstance(one, ToolReview):
                memory = memory.with_interaction(replace(one, status="superseded"))
        return memory

    def with_invocation(self, tool: str, arguments: JsonObject) -> Memory:
        """Count one real call of a tool."""
        invocation = ToolInvocation(tool=tool, arguments=arguments)
        return replace(self, invocations=(*self.invocations, invocation))


Remembered = (
    MessageEvent
    | PlanEvent
    | QuestionEvent
    | ToolRequestEvent
    | ArtifactEvent
    | ScreenshotEvent
    | StatusEvent
)
"""The events that change more than the description of their run."""

_MEMORY: TypeAdapter[Memory] = TypeAdapter(Memory)


def store(memory: Memory) -> bytes:
    """The content of ``session.json``."""
    return _MEMORY.dump_json(memory)


def recall(data: bytes) -> Memory:
    """Read ``session.json`` back."""
    return _MEMORY.validate_json(data)


def apply(memory: Memory, run: Run, events: Iterable[Event]) -> tuple[Memory, Run]:
    """Take in the events of a turn, in order. Returns the run as its events describe it."""
    for event in events:
        memory, run = _apply_one(memory, run, event)
    return memory.with_run(run), run


def _apply_one(memory: Memory, run: Run, event: Event) -> tuple[Memory, Run]:
    match event:
        case UsageEvent():
            return memory, replace(run, usage=event.model_extra)
        case RuntimeEvent():
            return memory, _described(run, event)
        case _:
            return _remember(memory, run, event), run


def _described(run: Run, event: RuntimeEvent) -> Run:
    return replace(
        run,
        runtime_mode=event.mode or run.runtime_mode,
        adapter_type=event.adapter_type or run.adapter_type,
        provider=event.provider or run.provider,
        model=event.model or run.model,
        session_id=event.session_id or run.session_id,
    )


def _remember(memory: Memory, run: Run, event: Remembered) -> Memory:
    match event:
        case MessageEvent():
            message = Message(run_id=run.id, text=event.text)
            return replace(memory, messages=(*memory.messages, message))
        case PlanEvent() | QuestionEvent() | ToolRequestEvent():
            return _ask(memory, run, event)
        case ArtifactEvent():
            artifact = Artifact(name=event.name, path=event.path, mime_type=event.mime_type)
            return replace(memory, artifacts=(*memory.artifacts, artifact))
        case ScreenshotEvent():
            return _keep(memory, event)
        case StatusEvent():
            return replace(memory, declared_status=event.issue)


def _ask(memory: Memory, run: Run, event: PlanEvent | QuestionEvent | ToolRequestEvent) -> Memory:
    match event:
        case PlanEvent():
            return _propose(memory, run, event.body)
        case QuestionEvent():
            return memory.with_interaction(
                QuestionAsked(
                    id=memory.next_interaction_id(),
                    run_id=run.id,
                    status="pending",
                    question_id=event.id,
                    prompt=event.prompt,
                    options=event.options,
                )
            )
        case ToolRequestEvent():
            unasked = event.tool in memory.always
            review = ToolReview(
                id=memory.next_interaction_id(),
                run_id=run.id,
                status="unasked" if unasked else "pending",
                tool=event.tool,
                arguments=event.arguments,
            )
            memory = memory.with_interaction(review)
            return memory.with_invocation(event.tool, event.arguments) if unasked else memory


def _propose(memory: Memory, run: Run, body: str) -> Memory:
    """Keep a new version of the plan; a decision on an older one is no longer asked for."""
    number = len(memory.revisions) + 1
    revision = PlanRevision(id=f"revision-{number}", number=number, body=body, run_id=run.id)
    for one in memory.interactions:
        if isinstance(one, PlanConfirmation) and one.status == "pending":
            memory = memory.with_interaction(replace(one, status="superseded"))
    confirmation = PlanConfirmation(
        id=memory.next_interaction_id(),
        run_id=run.id,
        status="pending",
        # A plan without a word is an object that targets nothing.
        revision_id=revision.id if body.strip() else None,
    )
    return replace(memory, revisions=(*memory.revisions, revision)).with_interaction(confirmation)


def _keep(memory: Memory, event: ScreenshotEvent) -> Memory:
    screenshot = DeclaredScreenshot(
        id=event.id, label=event.label, path=picture_path(event), public=event.public
    )
    others = tuple(one for one in memory.screenshots if one.id != event.id)
    return replace(memory, screenshots=(*others, screenshot))


def picture_path(event: ScreenshotEvent) -> str:
    """Where a declared picture lies in the evidence."""
    return f"{'public' if event.public else 'screenshots'}/{event.id}.png"
