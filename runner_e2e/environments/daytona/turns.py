"""One turn of a command agent inside a sandbox."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from runner_e2e.contracts.timestamps import format_timestamp
from runner_e2e.environments.daytona import scripts
from runner_e2e.environments.daytona.client import DaytonaClient
from runner_e2e.environments.daytona.toolbox import Toolbox
from runner_e2e.environments.logs import CappedLog
from runner_e2e.evidence import Redactor
from runner_e2e.failures import ExecutionError, TransientInfrastructure
from runner_e2e.flows.deadline import Deadline
from runner_e2e.flows.workplace import MAX_EVENTS_BYTES, TurnEnd

FIRST_POLL_S = 0.1
"""The first pause between two questions; it doubles up to the usual one."""
MAX_STREAM_BYTES = 64 * 1024 * 1024
"""How much of a stream is fetched; its log keeps less."""


@dataclass(slots=True, kw_only=True)
class SandboxTurn:
    """A started agent, watched by asking again and again."""

    client: DaytonaClient
    toolbox: Toolbox
    alive: Callable[[], bool]
    """Whether the sandbox is still there."""
    number: int
    directory: str
    token: str
    session: str
    command_id: str
    message_bytes: int
    redactor: Redactor
    started_at: str
    stdout: CappedLog
    stderr: CappedLog
    _end: TurnEnd | None = None
    _silent_since: float | None = None

    @property
    def producing(self) -> bool:
        """Whether it has written anything yet."""
        names = ("stdout.log", "stderr.log", "events.jsonl")
        paths = [f"{self.directory}/{name}" for name in names]
        try:
            return self.toolbox.execute(scripts.sizes(paths)).result.strip() not in {"", "0"}
        except ExecutionError:
            return False

    def wait(self, deadline: Deadline) -> TurnEnd | None:
        """Ask until the agent is gone, the deadline passes or somebody cancels."""
        pause = FIRST_POLL_S
        while (end := self._look()) is None:
            if self._stopped or deadline.passed:
                return None
            self.client.sleep(min(pause, self.client.pace.poll, deadline.remaining))
            pause *= 2
        return end

    def _look(self) -> TurnEnd | None:
        """The end, once it has come."""
        if self._end is None:
            self._end = self._ask()
        return self._end

    def _ask(self) -> TurnEnd | None:
        try:
            code = self.toolbox.exit_code(self.session, self.command_id)
        except ExecutionError as error:
            return None if error.code == "interrupted" else self._doubt(error)
        self._silent_since = None
        return None if code is None else self._collect(code)

    def _doubt(self, error: ExecutionError) -> TurnEnd | None:
        """Tell a network in trouble from a sandbox that is gone, which ends the turn."""
        now = time.monotonic()
        if self._silent_since is None:
            self._silent_since = now
        try:
            alive = self.alive()
        except ExecutionError:
            alive = True
        if error.code == "credential_refused" and alive:
            return self._ended(None, failure=error)
        if alive and now - self._silent_since < self.client.pace.lost:
            return None
        lost = f"the sandbox was lost in the middle of turn {self.number}"
        return self._ended(None, failure=TransientInfrastructure("sandbox_lost", lost))

    def stop(self) -> TurnEnd:
        """End the agent: TERM, a grace, KILL. After a cancellation its sandbox dies instead."""
        if self._end is None and not self._stopped:
            self._end = self._stop()
        if self._end is None:
            self._end = self._ended(None)
        return self._end

    def _stop(self) -> TurnEnd:
        pace = self.client.pace
        try:
            for signal, seconds in (("TERM", pace.grace), ("KILL", pace.grace)):
                self.toolbox.execute(scripts.signal_marked(self.token, signal))
                if self._gone_within(seconds):
                    break
            return self._collect(None)
        except ExecutionError as error:
            return self._ended(None, failure=None if error.code == "interrupted" else error)

    def _gone_within(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while self.toolbox.exit_code(self.session, self.command_id) is None:
            if time.monotonic() >= until:
                return False
            self.client.sleep(min(self.client.pace.poll, 0.25))
        return True

    def kill(self) -> None:
        """Send TERM and wait for nothing. A cancellation ends the whole sandbox anyway."""
        if self._end is None and not self._stopped:
            script = scripts.signal_marked(self.token, "TERM")
            self.client.background(lambda: self.toolbox.execute(script))

    @property
    def _stopped(self) -> bool:
        return self.client.cancel is not None and self.client.cancel.cancelled

    def _collect(self, code: int | None) -> TurnEnd:
        """The agent is gone: end what it left and fetch what it wrote."""
        finished_at = _now()
        try:
            self.toolbox.execute(scripts.signal_marked(self.token, "KILL"))
            events = self.toolbox.read(f"{self.directory}/events.jsonl", MAX_EVENTS_BYTES + 1)
            message = self._fetch("stdout.log", self.stdout)
            self._fetch("stderr.log", self.stderr)
        except ExecutionError as error:
            failure = None if error.code == "interrupted" else error
            return self._ended(None, failure=failure, finished_at=finished_at)
        problem = None
        if events is None:
            problem = "the event file is no plain file any more"
        elif len(events) > MAX_EVENTS_BYTES:
            events, problem = b"", f"it wrote more than {MAX_EVENTS_BYTES} bytes of events"
        return self._ended(
            code, message=message, events=events or b"", problem=problem, finished_at=finished_at
        )

    def _fetch(self, name: str, log: CappedLog) -> bytes:
        """Keep a stream in its log; returns its beginning."""
        # Some more than is wanted, to see what lies across the cut.
        wanted = self.message_bytes + self.redactor.scanner.overlap
        message, broken_off = bytearray(), False
        for piece in self.toolbox.download(f"{self.directory}/{name}") or ():
            log.write(piece)
            message += piece[: max(0, wanted - len(message))]
            if log.total > MAX_STREAM_BYTES:
                broken_off = True
                break
        log.end(broken_off=broken_off)
        return self.redactor.whole(bytes(message), self.message_bytes)

    def _ended(
        self,
        code: int | None,
        *,
        message: bytes = b"",
        events: bytes = b"",
        problem: str | None = None,
        failure: ExecutionError | None = None,
        finished_at: str | None = None,
    ) -> TurnEnd:
        return TurnEnd(
            exit_code=code,
            stdout=message,
            stdout_bytes=self.stdout.total,
            events=events,
            events_problem=problem,
            started_at=self.started_at,
            finished_at=finished_at or _now(),
            failure=failure,
        )


def _now() -> str:
    return format_timestamp(datetime.now(UTC))
