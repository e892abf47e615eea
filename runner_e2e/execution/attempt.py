"""One attempt: a fresh place, the flow, the teardown, whatever happens in between."""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from runner_e2e.billing import Lease
from runner_e2e.catalog import Variables, render_task
from runner_e2e.contracts.evidence import Leak
from runner_e2e.contracts.job_record import Resource
from runner_e2e.contracts.timestamps import format_timestamp, parse_timestamp
from runner_e2e.environments import TemporaryRoot
from runner_e2e.environments.daytona import IMAGE_VARIABLE
from runner_e2e.evidence import Ledger, write_atomically
from runner_e2e.execution.agent import Secrets
from runner_e2e.execution.packaging import OBSERVATION_FILE
from runner_e2e.execution.records import RESULT_FILE
from runner_e2e.execution.request import RunRequest
from runner_e2e.execution.snapshot import snapshot
from runner_e2e.execution.stages import Stage, stage_of
from runner_e2e.failures import (
    CleanupFailure,
    ExecutionError,
    Failure,
    combine,
    failure_of,
)
from runner_e2e.flows import (
    CancelToken,
    Deadline,
    FlowContext,
    FlowOutcome,
    Session,
    first_readable,
    run_flow,
)

NONCE_BYTES = 6
TRACEBACK_FILE = "logs/harness-bug.txt"


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
    stage: Stage | None = None
    """Where it played, which still holds the evidence."""

    @property
    def duration_ms(self) -> int:
        """How long it took."""
        span = parse_timestamp(self.finished_at) - parse_timestamp(self.started_at)
        return max(0, round(span.total_seconds() * 1000))

    @property
    def leases(self) -> tuple[Lease, ...]:
        """What it leased."""
        return self.stage.leases if self.stage is not None else ()

    @property
    def required(self) -> tuple[str, ...]:
        """The evidence that its target demands of a pass."""
        return self.stage.required if self.stage is not None else ()

    @property
    def leaks(self) -> tuple[Leak, ...]:
        """The secrets that were taken out of what it said. Whole after :meth:`hand_over`."""
        return self.stage.ledger.leaks if self.stage is not None else ()

    @property
    def turns(self) -> int:
        """How many turns were seen."""
        return len(self.outcome.turn_timings)

    def hand_over(self, target: Path) -> None:
        """Write the attempt's evidence below ``target``, still unredacted."""
        if self.stage is not None:
            self.stage.hand_over(target)
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
    on_resource: Callable[[Resource], None] = lambda _: None
    """Hears of what is made outside this machine, before anything else happens there."""

    def run(self) -> Attempt:
        """Run the flow and take everything down. Whatever fails becomes the failure."""
        started_at = now()
        stage: Stage | None = None
        session: Session | None = None
        left: CleanupFailure | None = None
        try:
            stage = stage_of(self.request, self.secrets, self.number, self.root, self._note)
            variables = self._variables(stage.workspace_path)
            session = stage.session(variables)
            outcome = self._drive(session, variables, stage.ledger)
        except Exception as error:  # noqa: BLE001 - whatever it was becomes a result with a class
            outcome = _nothing_observed(failure_of(error))
        finally:
            # Also on the way out of an interrupt that nobody turned into a cancellation.
            if session is not None:
                left = _closed(session)
        failure = combine(_cleaned(outcome.failure, stage), _cleaned(self._verify(stage), stage))
        if left is not None:
            failure = combine(failure, failure_of(left))
        return Attempt(
            number=self.number,
            started_at=started_at,
            finished_at=now(),
            outcome=outcome,
            failure=failure,
            clean=left is None,
            stage=stage,
        )

    def _verify(self, stage: Stage | None) -> Failure | None:
        """Look at what the attempt left. A harness that was interrupted has no time for it."""
        if stage is None or self.request.cancel.cancelled:
            return None
        try:
            stage.verify()
        except (ExecutionError, OSError) as error:
            return failure_of(error)
        return None

    def _note(self, sandbox_id: str, created_at: str, deleted_at: str | None) -> None:
        self.on_resource(
            Resource(
                kind="daytona_sandbox",
                id=sandbox_id,
                created_at=created_at,
                deleted_at=deleted_at,
            )
        )

    def _drive(self, session: Session, variables: Variables, ledger: Ledger) -> FlowOutcome:
        request = self.request
        timeouts = request.execution.task.attempt_timeout_ms
        context = FlowContext(
            execution=request.execution,
            deadline=Deadline.after(getattr(timeouts, request.execution.environment.id)),
            cancel=request.cancel,
            quote=lambda text: ledger.text(RESULT_FILE, text),
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
            daytona_image=self.request.environ.get(IMAGE_VARIABLE)
            if execution.environment.id == "daytona"
            else None,
        )


def _closed(session: Session) -> CleanupFailure | None:
    """Close a session; what went wrong. A full disk must not cost the result."""
    try:
        problems = session.close().problems
    except Exception as error:  # noqa: BLE001 - whatever it was, nobody knows what it left behind
        return CleanupFailure("close_failed", f"the session could not be closed: {error}")
    return CleanupFailure("survivors", "; ".join(problems)) if problems else None


def _cleaned(failure: Failure | None, stage: Stage | None) -> Failure | None:
    """Take secrets out of the words, which are cut where they are too many."""
    if failure is None or stage is None:
        return failure
    return replace(failure, message=stage.ledger.text(RESULT_FILE, failure.message))


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
