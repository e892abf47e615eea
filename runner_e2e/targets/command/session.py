"""Driving a command agent: one process a turn, everything else kept here."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import IO, assert_never

from runner_e2e.catalog import OFFERED, Capability, RenderedTask
from runner_e2e.contracts.base import dump
from runner_e2e.contracts.scalars import JsonObject
from runner_e2e.contracts.timestamps import format_timestamp
from runner_e2e.failures import (
    CandidateFailure,
    ExecutionError,
    TransientInfrastructure,
    deadline_passed,
)
from runner_e2e.flows.deadline import CancelToken, Deadline
from runner_e2e.flows.session import (
    Accept,
    Answer,
    CleanupReport,
    Decide,
    DuplicateRun,
    Interaction,
    InteractionId,
    Message,
    Observation,
    PlanConfirmation,
    QuestionAsked,
    Reject,
    Reply,
    Run,
    RunStatus,
    ToolReview,
)
from runner_e2e.flows.workplace import RunningTurn, TurnEnd, TurnOrder, Workplace
from runner_e2e.matchers import FileRefused
from runner_e2e.targets.command.memory import Memory, apply, picture_path, recall, store
from runner_e2e.targets.command.observation import observation_of
from runner_e2e.targets.command.protocol import (
    PROTOCOL,
    ArtifactEvent,
    Cause,
    Event,
    GivenAnswer,
    ScreenshotEvent,
    ToolResult,
    TurnDocument,
    protocol_error,
    read_events,
)

ACCEPTED_TEXT = "The plan is accepted. Carry it out."
EXECUTED_TEXT = "The tool was executed. Its result is in the turn file."
COMMAND_CAPABILITIES = OFFERED["command"]
"""What it offers wherever its turns run."""

DECLINED_TEXT = "The tool call was declined. Go on without it."


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCommand:
    """The program to start each turn, its secrets already in place."""

    command: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended:
    """How a run came to its end."""

    status: RunStatus
    code: str | None = None
    reason: str | None = None


@dataclass(slots=True, kw_only=True)
class CommandSession:
    """A task on the command target.

    What it knows lies in a file without a name, so that a restart really reads it back and no agent
    can write it. Run ids carry the attempt, since a final result lists the runs of all attempts.
    """

    workplace: Workplace
    agent: AgentCommand
    execution_id: str
    attempt: int
    cancel_token: CancelToken
    quote: Callable[[str], str]
    """Takes secrets out of what the agent wrote before any of it is shown."""
    capabilities: frozenset[Capability] = COMMAND_CAPABILITIES
    _memory: Memory = field(default_factory=Memory)
    _file: IO[bytes] = field(default_factory=tempfile.TemporaryFile)
    _title: str = ""
    _running: RunningTurn | None = None
    _failure: ExecutionError | None = None
    """Why the last turn failed, where that is known."""
    _problems: list[str] = field(default_factory=list)

    def start(self, task: RenderedTask) -> None:
        """Begin the first turn with the prompt."""
        self._title = task.title
        self._begin("assigned", task.prompt)

    def wait_turn(self, turn: int, deadline: Deadline) -> Observation:
        """Wait until the turn is over and everything it started is gone."""
        if self._running is not None:
            end = self._running.wait(deadline)
            if end is not None:
                self._settle(end)
            elif self.cancel_token.cancelled:
                self._settle(self._running.stop())
            else:
                self._settle(self._running.stop(), late=True)
        if len(self._memory.runs) > turn:
            raise DuplicateRun(expected=turn, observed=len(self._memory.runs))
        if len(self._memory.runs) < turn:
            raise RuntimeError(f"turn {turn} was awaited before it was begun")
        self._raise_for(self._memory.runs[-1])
        return self.observe()

    def observe(self) -> Observation:
        """See how things stand; a turn that has just ended is taken in."""
        if self._running is not None:
            end = self._running.wait(Deadline.after(0))
            if end is not None:
                self._settle(end)
        memory = self._memory
        if self._running is not None and memory.runs:
            run = replace(memory.runs[-1], producing=self._running.producing)
            memory = memory.with_run(run)
        return observation_of(
            memory,
            issue_id=f"{self.execution_id}-{self.attempt}",
            title=self._title,
            files=self.workplace.files,
        )

    def reply(self, interaction: InteractionId, reply: Reply) -> None:
        """Answer what is pending; the agent's next turn begins with it."""
        pending = self._pending(interaction)
        match reply, pending:
            case Accept(), PlanConfirmation():
                self._change(self._memory.with_interaction(replace(pending, status="accepted")))
                self._begin("accepted", ACCEPTED_TEXT, interaction)
            case Reject(), PlanConfirmation():
                self._change(self._memory.with_interaction(replace(pending, status="rejected")))
                self._begin("rejected", reply.reason, interaction)
            case Answer(), QuestionAsked():
                answered = replace(pending, status="answered", answers=(reply.option,))
                self._change(self._memory.with_interaction(answered))
                answer = GivenAnswer(question_id=pending.question_id, option=reply.option)
                self._begin("answered", reply.option, interaction, answer=answer)
            case Decide(), ToolReview():
                self._decide(pending, reply)
            case _:
                raise RuntimeError(f"{type(reply).__name__} is no reply to {interaction}")

    def send(self, text: str) -> None:
        """Say something more; the agent's next turn begins with it."""
        self._change(self._memory.superseded())
        self._begin("message", text)

    def new_session(self) -> None:
        """Take the agent's own memory away: its state directory is empty from now on."""
        self.workplace.forget()
        self._change(replace(self._memory, generation=self._memory.generation + 1))

    def restart(self, deadline: Deadline) -> None:
        """Drop everything and rebuild it from the file. No server is there to wait for."""
        del deadline
        self._memory = Memory()
        self._file.seek(0)
        self._memory = recall(self._file.read())

    def cancel(self) -> None:
        """Send the running turn its end. Nothing is waited for."""
        running = self._running
        if running is not None:
            running.kill()

    def close(self) -> CleanupReport:
        """End the running turn and whatever is left of the others."""
        try:
            if self._running is not None:
                self._settle(self._running.stop())
            self._file.close()
        finally:
            # Also where nothing can be written down any more.
            report = self.workplace.close()
        return CleanupReport(problems=tuple(dict.fromkeys((*self._problems, *report.problems))))

    def _decide(self, review: ToolReview, reply: Decide) -> None:
        """Run the tool, or do not. The tool is ours: it gives a receipt and counts."""
        executed = reply.decision != "decline"
        decided = replace(review, status="approved" if executed else "declined")
        memory = self._memory.with_interaction(decided)
        output: JsonObject | None = None
        if executed:
            memory = memory.with_invocation(review.tool, review.arguments)
            output = {"receipt": f"{review.tool}-{len(memory.invocations)}"}
        if reply.decision == "always":
            memory = replace(memory, always=(*memory.always, review.tool))
        self._change(memory)
        result = ToolResult(
            tool=review.tool, arguments=review.arguments, executed=executed, output=output
        )
        if executed:
            self._begin("tool_executed", EXECUTED_TEXT, review.id, tool_result=result)
        else:
            self._begin("tool_declined", DECLINED_TEXT, review.id, tool_result=result)

    def _pending(self, interaction: InteractionId) -> Interaction:
        for one in self._memory.interactions:
            if one.id == interaction and one.status == "pending":
                return one
        raise RuntimeError(f"{interaction} is not pending")

    def _begin(
        self,
        cause: Cause,
        text: str,
        interaction: InteractionId | None = None,
        *,
        answer: GivenAnswer | None = None,
        tool_result: ToolResult | None = None,
    ) -> None:
        if self.cancel_token.cancelled:
            raise interrupted()
        turn = len(self._memory.runs) + 1
        document = TurnDocument(
            protocol=PROTOCOL,
            execution_id=self.execution_id,
            attempt=self.attempt,
            turn=turn,
            cause=cause,
            text=text,
            interaction_id=interaction,
            answer=answer,
            tool_result=tool_result,
        )
        submitted_at = format_timestamp(datetime.now(UTC))
        self._failure = None
        self._running = self.workplace.begin_turn(
            TurnOrder(
                turn=turn,
                command=self.agent.command,
                environment=self.agent.environment,
                prompt=text.encode(),
                document=dump(document),
            )
        )
        run = Run(
            id=f"attempt-{self.attempt}-run-{turn}",
            turn=turn,
            status="running",
            submitted_at=submitted_at,
            interaction_id=interaction,
            environment=self.workplace.environment_id,
            session_generation=self._memory.generation,
            lease=self.workplace.lease_of(turn),
        )
        self._change(replace(self._memory.with_run(run), declared_status=None))

    def _settle(self, end: TurnEnd, *, late: bool = False) -> None:
        """Take in a turn that is over."""
        self._running = None
        self._failure = end.failure
        self._problems += [f"{one} outlived SIGKILL" for one in end.survivors]
        run = replace(
            self._memory.runs[-1],
            started_at=end.started_at,
            finished_at=end.finished_at,
            producing=end.stdout_bytes > 0 or bool(end.events),
        )
        ended = self._ending(end, run.turn, late=late)
        memory = self._memory
        try:
            for event in self._events(end, run.turn):
                memory, run = apply(memory, run, [event])
        except CandidateFailure as error:
            if ended.status == "succeeded":
                ended = _Ended(status="failed", code=error.code, reason=error.message)
        if not end.events and end.stdout:
            message = Message(run_id=run.id, text=end.stdout.decode("utf-8", "replace"))
            memory = replace(memory, messages=(*memory.messages, message))
        run = replace(run, status=ended.status, code=ended.code, reason=ended.reason)
        self._change(memory.with_run(run))

    def _ending(self, end: TurnEnd, turn: int, *, late: bool) -> _Ended:
        if self.cancel_token.cancelled:
            return _Ended(
                status="cancelled", code="interrupted", reason=f"turn {turn} was interrupted"
            )
        if late:
            return _Ended(status="timed_out", code="deadline", reason=f"turn {turn} took too long")
        if end.failure is not None:
            return _Ended(status="failed", code=end.failure.code, reason=end.failure.message)
        if end.exit_code is None:
            return _Ended(status="cancelled", code="stopped", reason=f"turn {turn} was stopped")
        if end.exit_code == 0:
            return _Ended(status="succeeded")
        return _Ended(
            status="failed",
            code="agent_exit",
            reason=f"the agent ended turn {turn} with {_exit_words(end.exit_code)}",
        )

    def _events(self, end: TurnEnd, turn: int) -> Iterator[Event]:
        """Read the events; those that name a file must name one that is there."""
        if end.events_problem is not None:
            raise CandidateFailure("protocol_error", f"turn {turn}: {end.events_problem}")
        for line, event in read_events(end.events, turn, self.quote):
            if isinstance(event, ArtifactEvent) and not self._has_file(event.path):
                raise protocol_error(turn, line, f"the artifact {event.name} is no workspace file")
            if isinstance(event, ScreenshotEvent) and not self.workplace.keep_picture(
                event.path, picture_path(event)
            ):
                raise protocol_error(turn, line, f"the screenshot {event.id} is no workspace PNG")
            yield event

    def _has_file(self, path: str) -> bool:
        try:
            return self.workplace.files.has_file(path)
        except FileRefused:
            return False

    def _raise_for(self, run: Run) -> None:
        reason = run.reason or f"turn {run.turn} ended {run.status}"
        match run.status:
            case "succeeded":
                return
            case "cancelled":
                if run.code == "interrupted":
                    raise interrupted()
            case "timed_out":
                raise deadline_passed(reason, turn_running=True)
            case "failed" | "running":
                if self._failure is not None:
                    raise self._failure
                raise CandidateFailure(run.code or "run_failed", reason)
            case _ as never:
                assert_never(never)

    def _change(self, memory: Memory) -> None:
        """Keep a new state, also where a restart finds it."""
        self._file.seek(0)
        self._file.truncate()
        self._file.write(store(memory))
        self._memory = memory


def interrupted() -> TransientInfrastructure:
    """The failure of an execution that a signal ended."""
    return TransientInfrastructure("interrupted", "a signal ended the execution")


def _exit_words(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
