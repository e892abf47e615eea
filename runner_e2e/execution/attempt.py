"""One attempt: a fresh place, the flow, the teardown, whatever happens in between."""

from __future__ import annotations

import contextlib
import secrets
import select
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from runner_e2e.catalog import Variables, render_task
from runner_e2e.contracts.base import canonical_json
from runner_e2e.contracts.job_record import Resource
from runner_e2e.contracts.timestamps import format_timestamp
from runner_e2e.environments import LocalWorkplace, TemporaryRoot
from runner_e2e.evidence import write_atomically
from runner_e2e.execution.agent import Secrets, agent_command
from runner_e2e.execution.packaging import OBSERVATION_FILE
from runner_e2e.execution.request import RunRequest
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
    run_flow,
)
from runner_e2e.targets.command import CommandSession

NONCE_BYTES = 6


def now() -> str:
    """The time as documents write it."""
    return format_timestamp(datetime.now(UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A finished attempt whose private evidence still lies in its root."""

    number: int
    started_at: str
    finished_at: str
    duration_ms: int
    outcome: FlowOutcome
    failure: Failure | None
    clean: bool
    """Nothing was left behind so far; the root is still to be deleted."""


@dataclass(slots=True, kw_only=True)
class Attempting:
    """The parts of an attempt that must be taken down again, in reverse."""

    request: RunRequest
    secrets: Secrets
    number: int
    root: TemporaryRoot

    @property
    def evidence(self) -> Path:
        """Where evidence gathers before it crosses the redaction boundary."""
        return self.root.path / "private"

    def run(self) -> Attempt:
        """Run the flow and take the session down. Whatever fails becomes the failure."""
        started_at = now()
        begun = datetime.now(UTC)
        clean = True
        try:
            session, outcome = self._drive()
        except Exception as error:  # noqa: BLE001 - whatever it was becomes a result with a class
            session, outcome = None, _nothing_observed(failure_of(error))
        failure = outcome.failure
        if session is not None:
            report = session.close()
            if report.problems:
                clean = False
                left = CleanupFailure("survivors", "; ".join(report.problems))
                failure = combine(failure, failure_of(left))
        try:
            self._keep_observation(outcome)
        except OSError as error:
            failure = combine(failure, failure_of(error))
        return Attempt(
            number=self.number,
            started_at=started_at,
            finished_at=now(),
            duration_ms=round((datetime.now(UTC) - begun).total_seconds() * 1000),
            outcome=outcome,
            failure=failure,
            clean=clean,
        )

    def _drive(self) -> tuple[Session, FlowOutcome]:
        request = self.request
        if request.target.kind != "command":
            raise PermanentInfrastructure(
                "unsupported_target", f"the target {request.target.kind} cannot be run here"
            )
        workplace = LocalWorkplace(root=self.root, ambient=request.environ, cancel=request.cancel)
        variables = self._variables(workplace.workspace_path)
        task = render_task(request.execution.task, variables)
        agent = agent_command(request.execution, variables, self.secrets)
        session = CommandSession(
            workplace=workplace,
            agent=agent,
            execution_id=request.execution.id,
            attempt=self.number,
            cancel_token=request.cancel,
            memory_file=self.root.path / "session" / "session.json",
        )
        timeouts = request.execution.task.attempt_timeout_ms
        context = FlowContext(
            execution=request.execution,
            deadline=Deadline.after(getattr(timeouts, request.execution.environment.id)),
            cancel=request.cancel,
        )
        with cancelling(session, request.cancel):
            return session, run_flow(task, session, context)

    def _variables(self, workspace: str) -> Variables:
        execution = self.request.execution
        return Variables(
            nonce=f"{secrets.token_hex(NONCE_BYTES)}-{self.number}",
            execution_id=execution.id,
            profile_id=execution.profile.id,
            environment_id=execution.environment.id,
            environment_fixture_id=execution.environment.id,
            workspace_path=workspace,
            daytona_image=None,
        )

    def _keep_observation(self, outcome: FlowOutcome) -> None:
        if outcome.observation is not None:
            write_atomically(
                self.evidence / OBSERVATION_FILE, canonical_json(outcome.observation.json)
            )


def _nothing_observed(failure: Failure) -> FlowOutcome:
    return FlowOutcome(observation=None, matcher_results=(), turn_timings=(), failure=failure)


@contextlib.contextmanager
def cancelling(session: Session, cancel: CancelToken) -> Iterator[None]:
    """Pass a cancellation on to the session at once, also while its own thread is blocked."""
    done = CancelToken()

    def watch() -> None:
        ready, _, _ = select.select([cancel, done], [], [])
        if cancel in ready:
            session.cancel()

    thread = threading.Thread(target=watch, name="runner-e2e-cancel", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.cancel()
        thread.join()


def root_resource(root: TemporaryRoot, deleted_at: str | None = None) -> Resource:
    """A root as the job record lists it: by name, since a path says too much of a machine."""
    return Resource(
        kind="temporary_root", id=root.path.name, created_at=root.created_at, deleted_at=deleted_at
    )
