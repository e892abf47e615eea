"""Driving a task through its flow and judging the end."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from runner_e2e.catalog import RenderedTask, needs_of
from runner_e2e.contracts.catalog import MatrixExecution
from runner_e2e.contracts.result import MatcherResult
from runner_e2e.contracts.vocabulary import Flow
from runner_e2e.failures import (
    CandidateFailure,
    ExecutionError,
    Failure,
    PermanentInfrastructure,
    failure_of,
)
from runner_e2e.flows.chat import agent_chat
from runner_e2e.flows.deadline import CancelToken, Deadline
from runner_e2e.flows.outcome import FlowOutcome, observed, turn_timings
from runner_e2e.flows.session import Observation, Session
from runner_e2e.flows.steps import (
    Drive,
    Step,
    governed_tool_review,
    plan_approval_completion,
    plan_revision_acceptance,
    question_resume_completion,
    single_turn,
    warm_three_turn,
)
from runner_e2e.matchers import evaluate

_STEPS: Mapping[Flow, Step] = {
    "single_turn": single_turn,
    "plan_revision_acceptance": plan_revision_acceptance,
    "plan_approval_completion": plan_approval_completion,
    "question_resume_completion": question_resume_completion,
    "warm_three_turn": warm_three_turn,
    "governed_tool_review": governed_tool_review,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowContext:
    """What a flow needs besides the task and the session."""

    execution: MatrixExecution
    deadline: Deadline
    cancel: CancelToken
    quote: Callable[[str], str]
    """Takes secrets out of what the agent said before any of it is shown."""


def run_flow(task: RenderedTask, session: Session, context: FlowContext) -> FlowOutcome:
    """Drive the task and judge it. Every way it can end is in the outcome; nothing is raised."""
    try:
        _refuse_unsupported(task, session)
        session.start(task)
        drive = Drive(task=task, session=session, deadline=context.deadline)
        if task.fixture.flow == "agent_chat":
            final = agent_chat(drive, context.cancel)
        else:
            final = _STEPS[task.fixture.flow](drive)
        return _judge(task, final, context)
    except Exception as error:  # noqa: BLE001 - whatever it was becomes a result with a class
        return _broken_off(session, failure_of(error))


def _refuse_unsupported(task: RenderedTask, session: Session) -> None:
    """The catalog refuses by the same table, but a session may offer less than its target."""
    missing = {needed for needed, _ in needs_of(task.fixture)} - session.capabilities
    if missing:
        raise PermanentInfrastructure(
            "unsupported_flow", f"the target does not offer: {', '.join(sorted(missing))}"
        )


def _broken_off(session: Session, failure: Failure) -> FlowOutcome:
    """Keep what could be seen of a flow that did not reach its end."""
    try:
        observation: Observation | None = session.observe()
    except Exception:  # noqa: BLE001 - the failure that is already there says more
        observation = None
    return FlowOutcome(
        observation=observation,
        matcher_results=(),
        turn_timings=turn_timings(observation.runs) if observation else (),
        failure=failure,
        traceback=traceback.format_exc() if failure.code == "harness_bug" else None,
    )


def _judge(task: RenderedTask, final: Observation, context: FlowContext) -> FlowOutcome:
    results = evaluate(task.matchers, observed(final), context.quote)
    violations = broken_invariants(task, final, context.execution)
    error = _failure(results, violations)
    return FlowOutcome(
        observation=final,
        matcher_results=results,
        turn_timings=turn_timings(final.runs),
        failure=failure_of(error) if error else None,
    )


def _failure(results: tuple[MatcherResult, ...], violations: list[str]) -> ExecutionError | None:
    """A wrong answer is said first, then everything that was wrong beside it."""
    failed = [f"{one.matcher.kind} did not match" for one in results if not one.passed]
    if failed:
        return CandidateFailure("matcher_failed", "; ".join(failed + violations))
    return CandidateFailure("invariant_broken", "; ".join(violations)) if violations else None


def broken_invariants(
    task: RenderedTask, final: Observation, execution: MatrixExecution
) -> list[str]:
    """What must hold at the end of every flow, each breach in one sentence."""
    fixture, profile = task.fixture, execution.profile
    found: list[str] = []
    if len(final.runs) != fixture.expected_run_count:
        found.append(f"{len(final.runs)} runs happened, {fixture.expected_run_count} were expected")
    if final.issue.status != fixture.expected_terminal_state.issue:
        found.append(
            f"the issue is {final.issue.status}, not {fixture.expected_terminal_state.issue}"
        )
    if final.pending:
        found.append(f"{len(final.pending)} interactions are still pending")
    for run in final.runs:
        stopped = fixture.flow == "agent_chat" and run.code == "stopped"
        if run.status != fixture.expected_terminal_state.run and not stopped:
            found.append(f"run {run.turn} {run.status}")
        if run.environment not in (None, execution.environment.id):
            found.append(f"run {run.turn} was in the environment {run.environment}")
        if run.runtime_mode not in (None, profile.expected_runtime_mode):
            found.append(f"run {run.turn} used the {run.runtime_mode} runtime")
        expected = profile.expected_runtime_metadata
        if run.adapter_type not in (None, expected.adapter_type):
            found.append(f"run {run.turn} used another adapter type")
        if run.provider not in (None, expected.provider):
            found.append(f"run {run.turn} used another provider")
    return found
