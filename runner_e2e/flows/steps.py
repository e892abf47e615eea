"""Six of the seven flows: what happens between the first turn and the last.

Each flow returns the observation of its last turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from runner_e2e.catalog import Capability, RenderedTask
from runner_e2e.contracts.task import PlanOptions, QuestionOptions, ToolReviewOptions, WarmOptions
from runner_e2e.contracts.vocabulary import ToolReviewDecision
from runner_e2e.flows.checks import check_plan, latest_plan, only_pending, require
from runner_e2e.flows.deadline import Deadline
from runner_e2e.flows.session import (
    Accept,
    Answer,
    Decide,
    Observation,
    QuestionAsked,
    Reject,
    Session,
    ToolReview,
)
from runner_e2e.matchers import FileRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """A task on a session, until a deadline."""

    task: RenderedTask
    session: Session
    deadline: Deadline

    def turn(self, number: int) -> Observation:
        """Wait for a turn, at most as long as one may take."""
        return self.session.wait_turn(
            number, self.deadline.sooner(self.task.fixture.turn_timeout_ms)
        )


def single_turn(drive: Drive) -> Observation:
    """One run and its answer."""
    return drive.turn(1)


def plan_revision_acceptance(drive: Drive) -> Observation:
    """A plan, a better plan, its execution: three runs."""
    options = _options(drive, PlanOptions)
    first, draft = latest_plan(drive.turn(1))
    markers = _present(drive.task.plan_markers)
    check_plan(draft, marker=markers.draft, steps=options.draft_steps)
    drive.session.reply(first.id, Reject(reason=_present(drive.task.revision_request)))
    second, revised = latest_plan(drive.turn(2))
    require(second.id != first.id, "plan_unchanged", "the same confirmation is pending again")
    require(revised.id != draft.id, "plan_unchanged", "the plan was not revised")
    check_plan(
        revised,
        marker=markers.revised,
        steps=_present(options.revised_steps),
        without=markers.draft,
    )
    drive.session.reply(second.id, Accept())
    return drive.turn(3)


def plan_approval_completion(drive: Drive) -> Observation:
    """A plan and its execution: two runs."""
    options = _options(drive, PlanOptions)
    confirmation, plan = latest_plan(drive.turn(1))
    markers = _present(drive.task.plan_markers)
    check_plan(plan, marker=markers.draft, steps=options.draft_steps)
    drive.session.reply(confirmation.id, Accept())
    return drive.turn(2)


def question_resume_completion(drive: Drive) -> Observation:
    """A question, its answer, the completion: two runs, perhaps with a restart in between."""
    expected = _options(drive, QuestionOptions).question
    answer = _present(drive.task.question_answer)
    asked = only_question(drive.turn(1))
    require(asked.status == "pending", "question_not_pending", "the question waits for nobody")
    require(
        (asked.question_id, asked.prompt, asked.options)
        == (expected.id, expected.prompt, expected.options),
        "question_differs",
        f"the question is not the one of the case: {expected.id}, {list(expected.options)}",
    )
    if drive.task.fixture.restart_server_before_question_answer:
        drive.session.restart(drive.deadline)
        again = only_question(drive.session.observe())
        require(again == asked, "lost_in_restart", "another question is pending after the restart")
    drive.session.reply(asked.id, Answer(option=answer.option_label))
    final = drive.turn(2)
    answered = only_question(final)
    require(
        answered.id == asked.id
        and answered.status == "answered"
        and answered.answers == (answer.option_label,),
        "answer_lost",
        "the one question does not have exactly the one answer that was given",
    )
    require(
        final.runs[-1].interaction_id == asked.id,
        "answer_lost",
        "the last run does not continue from the answered question",
    )
    require(
        answer.expected_marker in final.said_in(final.runs[-1]).replace("\\_", "_"),
        "answer_marker",
        "the last run does not say what the answered question asks for",
    )
    return final


def only_question(observation: Observation) -> QuestionAsked:
    """The one question there ever was."""
    questions = [one for one in observation.interactions if isinstance(one, QuestionAsked)]
    require(questions, "interaction_missing", "the turn ended without a question")
    require(
        len(questions) == 1 == len(observation.interactions),
        "interaction_unexpected",
        f"there are {len(observation.interactions)} interactions, not one question",
    )
    return questions[0]


def warm_three_turn(drive: Drive) -> Observation:
    """Three turns in one workspace, the file checked byte by byte after each."""
    options = _options(drive, WarmOptions)
    observation: Observation | None = None
    for turn, status in enumerate(("in_review", "in_review", "done"), start=1):
        if turn > 1:
            drive.session.send(drive.task.followups[turn - 2])
        observation = drive.turn(turn)
        require(
            observation.issue.status == status,
            "issue_status",
            f"the issue is {observation.issue.status} after turn {turn}, not {status}",
        )
        _check_file(observation, options, turn)
    final: Observation = _present(observation)
    if Capability.LEASES in drive.session.capabilities:
        leases = [run.lease for run in final.runs]
        require(
            leases == ["created", "resumed", "resumed"],
            "lease_lost",
            f"the turns did not share one sandbox: {', '.join(leases)}",
        )
    return final


def _check_file(observation: Observation, options: WarmOptions, turn: int) -> None:
    expected = "".join(f"{line}\n" for line in options.lines[:turn]).encode()
    try:
        content = observation.files.read_file(options.file) if observation.files else None
    except FileRefused:
        content = None
    require(content is not None, "file_missing", f"{options.file} is not there after turn {turn}")
    require(
        content == expected,
        "file_differs",
        f"{options.file} does not have exactly {turn} of its lines after turn {turn}",
    )


def governed_tool_review(drive: Drive) -> Observation:
    """A tool call that a person decides on: two runs, and as many real calls as the case says."""
    options = _options(drive, ToolReviewOptions)
    decision: ToolReviewDecision = _present(drive.task.fixture.tool_review_decision)
    first = drive.turn(1)
    review = only_pending(first, ToolReview, "a tool call to decide on")
    require(
        (review.tool, review.arguments) == (options.tool, options.arguments),
        "tool_request_differs",
        f"the call is not the one of the case: {options.tool} with its arguments",
    )
    check_invocations(first, 0)
    if decision == "restart":
        drive.session.restart(drive.deadline)
        again = only_pending(drive.session.observe(), ToolReview, "a tool call to decide on")
        require(again == review, "lost_in_restart", "another call is pending after the restart")
    drive.session.reply(review.id, _DECISIONS[decision])
    final = drive.turn(2)
    if options.again is not None:
        drive.session.send(options.again)
        final = drive.turn(3)
    check_invocations(final, options.invocations)
    if decision == "always" and options.second_arguments is not None:
        last = _present(final.tool_invocations)[-1]
        require(
            (last.tool, last.arguments) == (options.tool, options.second_arguments),
            "tool_request_differs",
            "the second call does not have the arguments of the case",
        )
    return final


_DECISIONS: Mapping[ToolReviewDecision, Decide] = {
    "approve": Decide(decision="approve"),
    "restart": Decide(decision="approve"),
    "decline": Decide(decision="decline"),
    "always": Decide(decision="always"),
}


def check_invocations(observation: Observation, count: int) -> None:
    """Check how often the tool really ran."""
    found = len(_present(observation.tool_invocations))
    require(found == count, "tool_invocations", f"the tool ran {found} times, not {count}")


def _options(drive: Drive, kind: type[Any]) -> Any:
    options = drive.task.options
    if not isinstance(options, kind):
        raise TypeError(f"flowOptions are {type(options).__name__}, not {kind.__name__}")
    return options


def _present(value: Any) -> Any:
    """A part of the task that the catalog's validation table demands for this flow."""
    if value is None:
        raise TypeError("a part of the task that its flow needs is not there")
    return value


Step = Callable[[Drive], Observation]
