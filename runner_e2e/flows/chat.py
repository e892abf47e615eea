"""The agent chat flow: a script of steps in one conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from runner_e2e.contracts.task import (
    Approve,
    ChatOptions,
    ChatStep,
    ExpectIdle,
    ExpectTasks,
    NewSession,
    Restart,
    Revise,
    Say,
    Stop,
)
from runner_e2e.failures import PermanentInfrastructure, deadline_passed
from runner_e2e.flows.checks import latest_plan, require
from runner_e2e.flows.deadline import CancelToken
from runner_e2e.flows.session import Accept, Observation, Reject
from runner_e2e.flows.steps import Drive
from runner_e2e.matchers import normalise

POLL_S = 0.05


@dataclass(slots=True)
class _Chat:
    """The conversation so far. The first turn is the task's prompt."""

    drive: Drive
    pause: CancelToken
    turns: int = 1

    def idle(self) -> Observation:
        """Wait until nothing runs."""
        return self.drive.turn(self.turns)

    def step(self, step: ChatStep) -> None:
        """Do one step of the script."""
        session = self.drive.session
        match step:
            case Say():
                self.say(step)
            case ExpectIdle():
                found = len(self.idle().runs)
                wanted = step.expect_idle.runs
                require(found == wanted, "run_count", f"there were {found} runs, not {wanted}")
            case NewSession():
                self.idle()
                session.new_session()
            case Restart():
                self.restart()
            case Stop():
                self.stop()
            case Approve():
                confirmation, _ = latest_plan(self.idle())
                session.reply(confirmation.id, Accept())
                self.turns += 1
            case Revise():
                confirmation, _ = latest_plan(self.idle())
                session.reply(confirmation.id, Reject(reason=step.revise))
                self.turns += 1
            case ExpectTasks():
                self.count_tasks(step.expect_tasks)
            case _ as never:
                assert_never(never)

    def say(self, step: Say) -> None:
        """Send a message. Only one that expects something waits for its reply."""
        self.idle()
        self.drive.session.send(step.say)
        self.turns += 1
        if step.expect is None:
            return
        observation = self.idle()
        reply = normalise(observation.said_in(observation.runs[-1]))
        require(
            normalise(step.expect) in reply,
            "reply_differs",
            f"the reply of turn {self.turns} does not contain what the script expects",
        )

    def restart(self) -> None:
        """Restart the target; what was observed before must be observed after."""
        before = self.idle()
        self.drive.session.restart(self.drive.deadline)
        after = self.drive.session.observe()
        require(
            (after.issue.id, after.runs, after.messages, after.interactions)
            == (before.issue.id, before.runs, before.messages, before.interactions),
            "lost_in_restart",
            "the conversation is not the same after the restart",
        )

    def stop(self) -> None:
        """Stop the turn while it demonstrably does something."""
        session, deadline = self.drive.session, self.drive.deadline
        while True:
            run = session.observe().runs[-1]
            require(run.status == "running", "stopped_too_late", "the turn ended before the stop")
            if run.producing:
                break
            if deadline.passed:
                session.wait_turn(self.turns, deadline)
                raise deadline_passed("the turn wrote nothing to stop at", turn_running=True)
            if self.pause.wait(POLL_S):
                session.wait_turn(self.turns, deadline)
        session.cancel()
        run = self.idle().runs[-1]
        require(run.status == "cancelled", "stopped_too_late", f"the stopped turn {run.status}")

    def count_tasks(self, wanted: int) -> None:
        """Count the tasks the agent made."""
        found = self.idle().tasks_created
        if found is None:
            raise PermanentInfrastructure(
                "not_observed", "this target cannot observe the tasks that a script expects"
            )
        require(found == wanted, "task_count", f"there were {found} tasks, not {wanted}")


def agent_chat(drive: Drive, pause: CancelToken) -> Observation:
    """Play the script and wait until the conversation rests."""
    options = drive.task.options
    if not isinstance(options, ChatOptions):
        raise TypeError(f"flowOptions are {type(options).__name__}, not ChatOptions")
    chat = _Chat(drive, pause)
    for step in options.script:
        chat.step(step)
    return chat.idle()
