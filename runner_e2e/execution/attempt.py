"""One attempt: a fresh place, the flow, the teardown, whatever happens in between."""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from runner_e2e.catalog import Variables, render_task
from runner_e2e.contracts.timestamps import format_timestamp, parse_timestamp
from runner_e2e.environments import LocalWorkplace, TemporaryRoot
from runner_e2e.evidence import write_atomically
from runner_e2e.execution.agent import Secrets, agent_command
from runner_e2e.execution.packaging import OBSERVATION_FILE
from runner_e2e.execution.request import RunRequest
from runner_e2e.execution.snapshot import snapshot
from runner_e2e.failures import (
    CleanupFailure,
    Failure,
    PermanentInfrastructure,
    combine,
    failure_of,
)
from runner_e2e.flows import (
    CancelToken,
    Deadline,
    FlowContext,
    FlowOutcome,
    Session,
    Workplace,
    first_readable,
    run_flow,
)
from runner_e2e.targets.command import CommandSession

NONCE_BYTES = 6
TRACEBACK_FILE = "logs/harness-bug.txt"
MAX_LOGS_BYTES = 40 * 1024 * 1024
"""Both logs of all turns together: what fits into the evidence beside everything else."""
MAX_LOG_BYTES = 5 * 1024 * 1024


def now() -> str:
    """The time as documents write it."""
    return format_timestamp(datetime.now(UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A finished attempt. Nothing of it runs any more."""

    number: int
    started_at: str
    finished_at: str
    outcome: FlowOutcome
    failure: Failure | None
    clean: bool
    """Nothing was left behind so far; its directories are still to be deleted."""
    workplace: Workplace | None = None
    """The place, which still holds the evidence."""

    @property
    def duration_ms(self) -> int:
        """How long it took."""
        span = parse_timestamp(self.finished_at) - parse_timestamp(self.started_at)
        return max(0, round(span.total_seconds() * 1000))

    @property
    def turns(self) -> int:
        """How many turns were seen."""
        return len(self.outcome.turn_timings)

    def hand_over(self, target: Path) -> None:
        """Write the attempt's evidence below ``target``, still unredacted."""
        if self.workplace is not None:
            self.workplace.hand_over(target)
        if self.outcome.observation is not None:
            data = snapshot(self.outcome.observation.json)
            write_atomically(target / OBSERVATION_FILE, data)
        if self.outcome.traceback is not None:
            write_atomically(target / TRACEBACK_FILE, self.outcome.traceback.encode())


def not_begun(number: int, error: Exception) -> Attempt:
    """An attempt for which not even a place could be made."""
    moment, failure = now(), failure_of(error)
    return Attempt(
        number=number,
        started_at=moment,
        finished_at=moment,
        outcome=_nothing_observed(failure),
        failure=failure,
        clean=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempting:
    """What an attempt is made with."""

    request: RunRequest
    secrets: Secrets
    number: int
    root: TemporaryRoot

    def run(self) -> Attempt:
        """Run the flow and take everything down. Whatever fails becomes the failure."""
        started_at = now()
        workplace: LocalWorkplace | None = None
        session: CommandSession | None = None
        problems: tuple[str, ...] = ()
        try:
            workplace = self._workplace()
            variables = self._variables(workplace.workspace_path)
            session = self._session(workplace, variables)
            outcome = self._drive(session, variables)
        except Exception as error:  # noqa: BLE001 - whatever it was becomes a result with a class
            outcome = _nothing_observed(failure_of(error))
        finally:
            # Also on the way out of an interrupt that nobody turned into a cancellation.
            if session is not None:
                problems = session.close().problems
        failure = outcome.failure
        if problems:
            left = CleanupFailure("survivors", "; ".join(problems))
            failure = combine(failure, failure_of(left))
        return Attempt(
            number=self.number,
            started_at=started_at,
            finished_at=now(),
            outcome=outcome,
            failure=failure,
            clean=not problems,
            workplace=workplace,
        )

    def _workplace(self) -> LocalWorkplace:
        request, execution = self.request, self.request.execution
        if request.target.kind != "command":
            raise PermanentInfrastructure(
                "unsupported_target", f"the target {request.target.kind} cannot be run here"
            )
        if execution.environment.id != "local":
            raise PermanentInfrastructure(
                "unsupported_environment",
                f"the command target cannot run in {execution.environment.id}",
            )
        share = MAX_LOGS_BYTES // (2 * execution.task.expected_run_count)
        return LocalWorkplace(
            root=self.root,
            ambient=request.environ,
            cancel=request.cancel,
            log_bytes=min(MAX_LOG_BYTES, share),
        )

    def _session(self, workplace: LocalWorkplace, variables: Variables) -> CommandSession:
        request = self.request
        return CommandSession(
            workplace=workplace,
            agent=agent_command(request.execution, variables, self.secrets),
            execution_id=request.execution.id,
            attempt=self.number,
            cancel_token=request.cancel,
        )

    def _drive(self, session: Session, variables: Variables) -> FlowOutcome:
        request = self.request
        timeouts = request.execution.task.attempt_timeout_ms
        context = FlowContext(
            execution=request.execution,
            deadline=Deadline.after(getattr(timeouts, request.execution.environment.id)),
            cancel=request.cancel,
        )
        with cancelling(session, request.cancel):
            return run_flow(render_task(request.execution.task, variables), session, context)

    def _variables(self, workspace: str) -> Variables:
        execution = self.request.execution
        return Variables(
            nonce=f"{secrets.token_hex(NONCE_BYTES)}-{self.number}",
            execution_id=execution.id,
            profile_id=execution.profile.id,
            environment_id=execution.environment.id,
            environment_fixture_id=execution.environment.id,
            workspace_path=workspace,
        )


def _nothing_observed(failure: Failure) -> FlowOutcome:
    return FlowOutcome(observation=None, matcher_results=(), turn_timings=(), failure=failure)


@contextlib.contextmanager
def cancelling(session: Session, cancel: CancelToken) -> Iterator[None]:
    """Pass a cancellation on to the session at once, also while its own thread is blocked."""
    done = CancelToken()

    def watch() -> None:
        if cancel in first_readable([cancel, done], None):
            session.cancel()

    thread = threading.Thread(target=watch, name="runner-e2e-cancel", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.cancel()
        thread.join()
