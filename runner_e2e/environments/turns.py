"""One turn of a command agent as a process of this machine."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from runner_e2e.contracts.timestamps import format_timestamp
from runner_e2e.environments.logs import CappedLog
from runner_e2e.environments.processes import KILL_WAIT_S, end_marked, signal_group
from runner_e2e.evidence import Redactor
from runner_e2e.flows.deadline import CancelToken, Deadline
from runner_e2e.flows.workplace import MAX_EVENTS_BYTES, MAX_MESSAGE_BYTES, TurnEnd
from runner_e2e.matchers import FileRefused, WorkspaceFiles

GRACE_S = 5.0
"""How long an agent may take to obey SIGTERM at its deadline."""
CANCELLED_GRACE_S = 1.0
"""The same when a signal ends the harness, which has 5 s for everything."""
LEFTOVER_GRACE_S = 0.5
"""The same for what an agent left running when its turn ended."""
_CHUNK = 65536
_TICK_S = 1.0
_EXIT_POLL_S = 0.05


@dataclass(slots=True)
class _Kill:
    """The kill that is under way: KILL follows TERM at ``kill_at``."""

    kill_at: float
    killed: bool = False


@dataclass(slots=True, kw_only=True)
class LocalTurn:
    """A started agent. It is driven by :meth:`wait`: nobody else reads its output."""

    process: subprocess.Popen[bytes]
    events: Path
    root: Path
    token: str
    cancel: CancelToken
    prompt: bytes
    message_bytes: int
    redactor: Redactor
    started_at: str
    stdout: CappedLog
    stderr: CappedLog
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    _message: bytearray = field(default_factory=bytearray)
    _exit_descriptor: int | None = None
    _exited: bool = False
    _end: TurnEnd | None = None
    _kill: _Kill | None = None
    _reaping: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        for stream, events in (
            (self.process.stdin, selectors.EVENT_WRITE),
            (self.process.stdout, selectors.EVENT_READ),
            (self.process.stderr, selectors.EVENT_READ),
        ):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream, events)
        self._selector.register(self.cancel, selectors.EVENT_READ)
        if sys.platform == "linux":
            # Readable at the exit, and the process stays a zombie: its group id stays its own.
            self._exit_descriptor = os.pidfd_open(self.process.pid)
            self._selector.register(self._exit_descriptor, selectors.EVENT_READ)

    @property
    def producing(self) -> bool:
        """Whether it has written anything yet."""
        if self.stdout.total or self.stderr.total:
            return True
        try:
            return self.events.lstat().st_size > 0
        except OSError:
            return False

    def wait(self, deadline: Deadline) -> TurnEnd | None:
        """Pump the streams until the agent is gone, the deadline passes or somebody cancels."""
        while True:
            end = self._step(deadline)
            if end is not None:
                return end
            if self._kill is None and (self.cancel.cancelled or deadline.passed):
                return None

    def stop(self) -> TurnEnd:
        """End the agent and all it started: TERM, a grace, KILL."""
        self.kill()
        while True:
            end = self._step(None)
            if end is not None:
                return end

    def kill(self) -> None:
        """Send TERM now; KILL follows from :meth:`wait` or :meth:`stop`. Any thread may call."""
        with self._reaping:
            if self._exited or self._kill is not None:
                return
            self._kill = _Kill(kill_at=time.monotonic() + self._grace)
            signal_group(self.process.pid, signal.SIGTERM)

    @property
    def _grace(self) -> float:
        if self.cancel.urgent:
            return 0.0
        return CANCELLED_GRACE_S if self.cancel.cancelled else GRACE_S

    def _step(self, deadline: Deadline | None) -> TurnEnd | None:
        if self._end is None:
            self._pump(self._seconds_to_sleep(deadline))
            self._follow_up_kill()
            if self._exited or self._resists:
                self._end = self._finish()
        return self._end

    @property
    def _resists(self) -> bool:
        """Whether SIGKILL was sent and did not end it: stuck in the kernel."""
        kill = self._kill
        return kill is not None and kill.killed and time.monotonic() > kill.kill_at + KILL_WAIT_S

    def _seconds_to_sleep(self, deadline: Deadline | None) -> float:
        seconds = _TICK_S if self._exit_descriptor is not None else _EXIT_POLL_S
        if deadline is not None and self._kill is None:
            seconds = 0.0 if self.cancel.cancelled else min(seconds, deadline.remaining)
        if self._kill is not None and not self._kill.killed:
            seconds = min(seconds, max(0.0, self._kill.kill_at - time.monotonic()))
        return seconds

    def _follow_up_kill(self) -> None:
        kill = self._kill
        if kill is None or kill.killed:
            return
        if self.cancel.cancelled:  # perhaps only since the TERM
            kill.kill_at = min(kill.kill_at, time.monotonic() + self._grace)
        if time.monotonic() >= kill.kill_at:
            kill.killed = True
            with self._reaping:
                if not self._exited:
                    signal_group(self.process.pid, signal.SIGKILL)

    def _pump(self, seconds: float) -> None:
        for key, _ in self._selector.select(seconds):
            stream = key.fileobj
            if stream is self.process.stdin:
                self._feed(self.process.stdin)
            elif stream is self.process.stdout:
                self._drain(self.process.stdout, self.stdout)
            elif stream is self.process.stderr:
                self._drain(self.process.stderr, self.stderr)
            elif stream is self.cancel:
                # It stays readable for good; keep it and every later wait would spin.
                self._selector.unregister(self.cancel)
            else:
                self._exited = True
        if self._exit_descriptor is None:
            self._exited = self.process.poll() is not None

    def _feed(self, stream: IO[bytes]) -> None:
        try:
            written = os.write(stream.fileno(), self.prompt[:_CHUNK])
            self.prompt = self.prompt[written:]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it does not read its stdin; the text also lies in a file
            self.prompt = b""
        if not self.prompt:
            self._forget(stream)

    def _drain(self, stream: IO[bytes], log: CappedLog) -> bool:
        """Read one piece. False at the end of the stream or when nothing is there now."""
        try:
            data = os.read(stream.fileno(), _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._forget(stream)
            return False
        log.write(data)
        if log is self.stdout:
            # Some more than is wanted, to see what lies across the cut.
            wanted = self.message_bytes + self.redactor.scanner.overlap
            self._message += data[: max(0, wanted - len(self._message))]
        return True

    def _forget(self, stream: IO[bytes]) -> None:
        self._selector.unregister(stream)
        stream.close()

    def _finish(self) -> TurnEnd:
        """The leader is gone: end what it left, read what is left in the pipes, reap."""
        finished_at = format_timestamp(datetime.now(UTC))
        grace = 0.0 if self.cancel.cancelled or self._kill else LEFTOVER_GRACE_S
        signal_group(self.process.pid, signal.SIGTERM if grace else signal.SIGKILL)
        survivors = end_marked(self.token, self.root, grace=grace)
        with self._reaping:
            signal_group(self.process.pid, signal.SIGKILL)
            code = self.process.wait() if self._exited else None
        self._close()
        events, problem = self._read_events()
        return TurnEnd(
            exit_code=None if self._kill else code,
            stdout=self.redactor.whole(bytes(self._message), self.message_bytes),
            stdout_bytes=self.stdout.total,
            events=events,
            events_problem=problem,
            started_at=self.started_at,
            finished_at=finished_at,
            survivors=tuple(f"process {pid}" for pid in survivors),
        )

    def _close(self) -> None:
        streams = ((self.process.stdout, self.stdout), (self.process.stderr, self.stderr))
        for stream, log in streams:
            # A survivor may hold the pipe open and write for ever: a full pipe is 1 MiB at most.
            for _ in range(2 * MAX_MESSAGE_BYTES // _CHUNK):
                if stream is None or stream.closed or not self._drain(stream, log):
                    break
            log.end(broken_off=stream is not None and not stream.closed)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None and not stream.closed:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        if self._exit_descriptor is not None:
            os.close(self._exit_descriptor)
        self._selector.close()

    def _read_events(self) -> tuple[bytes, str | None]:
        files = WorkspaceFiles(self.events.parent, max_bytes=MAX_EVENTS_BYTES)
        try:
            data = files.read_file(self.events.name)
        except FileRefused as error:
            return b"", str(error)
        return (b"", "the event file is no plain file any more") if data is None else (data, None)
