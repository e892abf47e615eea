"""One server process and its database: start, health, stop, restart, and nothing left behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import httpx

from runner_e2e.failures import ExecutionError, TransientInfrastructure, deadline_passed
from runner_e2e.flows import CancelToken, Deadline
from runner_e2e.targets.command import interrupted
from runner_e2e.targets.paperclip.account import Account
from runner_e2e.targets.paperclip.home import Home
from runner_e2e.targets.paperclip.package import Installation

BOOT_MS = 120_000
STOP_S = 10.0
"""How long a server may take to stop its database and itself: 6 s were seen."""
CANCELLED_STOP_S = 1.5
"""The same when a signal ends the harness, which has 5 s for everything."""
_CHUNK = 1024 * 1024
_POLL_S = 0.05
_HEALTH_WAIT_S = 5.0
_DYING_S = 1.0

EndProcesses = Callable[[float], tuple[int, ...]]
"""Ends every process of the execution, with so many seconds of grace; returns the survivors."""


@dataclass(slots=True, kw_only=True)
class Server:
    """A server in its home. ``marker`` is in the environment of all that it starts."""

    installation: Installation
    home: Home
    account: Account
    path: str
    marker: Mapping[str, str]
    end_processes: EndProcesses
    cancel: CancelToken
    port: int = 0
    """The port that the server really took: a busy one makes it take the next."""
    _process: subprocess.Popen[bytes] | None = None
    # Without a name, so that no agent can reach it.
    _log: IO[bytes] = field(default_factory=tempfile.TemporaryFile)

    @property
    def base_url(self) -> str:
        """Where the server listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int | None:
        """The process id of the running server."""
        return self._process.pid if self._process else None

    def start(self, deadline: Deadline) -> None:
        """Start the server and wait until it is healthy."""
        self._info_file.unlink(missing_ok=True)
        self._process = subprocess.Popen(
            [self.installation.node, self.installation.entry, "run", "--data-dir", self.home.data],
            cwd=self.home.user_home,
            env=self.home.environment(self.path, self.marker),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            umask=0o077,
            **self.account.popen,
        )
        self._wait_until_healthy(deadline.sooner(BOOT_MS))

    def stop(self) -> None:
        """Stop the server, its database and every agent, and wait for them to be gone."""
        process = self._process
        if process is None:
            return
        grace = CANCELLED_STOP_S if self.cancel.cancelled else STOP_S
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            process.wait(grace)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._process = None
        self._stop_orphaned_database()

    def close(self) -> tuple[str, ...]:
        """Stop everything for good. Returns what resisted."""
        self.stop()
        return tuple(f"process {pid} outlived SIGKILL" for pid in self.end_processes(0.0))

    def restart(self, deadline: Deadline) -> None:
        """Stop the server and start it again on the same data and ports."""
        self.stop()
        self.end_processes(0.5)
        self.start(deadline)

    def alive(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def gone_within(self, seconds: float) -> bool:
        """Whether the process is gone, or goes now: its connections break before it is dead."""
        if self._process is None:
            return True
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def log(self) -> Iterator[bytes]:
        """What the server printed, piece by piece."""
        self._log.seek(0)
        while chunk := self._log.read(_CHUNK):
            yield chunk

    def forget(self) -> None:
        """Drop the log."""
        self._log.close()

    @property
    def _info_file(self) -> Path:
        return self.home.instance / "runtime-info.json"

    def _wait_until_healthy(self, deadline: Deadline) -> None:
        while not self._healthy():
            if not self.alive():
                raise TransientInfrastructure(
                    "server_exited",
                    "the Paperclip server ended while it started; logs/server.log says why",
                )
            if deadline.passed:
                raise deadline_passed(
                    "the Paperclip server did not become healthy", turn_running=False
                )
            if self.cancel.wait(_POLL_S):
                raise interrupted()

    def _healthy(self) -> bool:
        try:
            self.port = int(json.loads(self._info_file.read_bytes())["port"])
            answer = httpx.get(
                f"{self.base_url}/api/health", timeout=_HEALTH_WAIT_S, trust_env=False
            )
        except (OSError, ValueError, TypeError, KeyError, httpx.HTTPError):
            return False
        if answer.status_code != httpx.codes.OK:
            return False
        with contextlib.suppress(ValueError, AttributeError):
            return bool(answer.json().get("status") == "ok")
        return False

    def _stop_orphaned_database(self) -> None:
        """End a database whose server was killed: no later server would stop it."""
        pid = self._database_pid()
        if pid is None or not _stands_in(pid, self.home.data):
            return
        for number in (signal.SIGINT, signal.SIGQUIT):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
            give_up = time.monotonic() + (1.0 if self.cancel.cancelled else 3.0)
            while _stands_in(pid, self.home.data) and time.monotonic() < give_up:
                time.sleep(_POLL_S)

    def _database_pid(self) -> int | None:
        with contextlib.suppress(OSError, ValueError):
            return int((self.home.instance / "db" / "postmaster.pid").read_text().split()[0])
        return None


def _stands_in(pid: int, directory: Path) -> bool:
    """Whether a living process works in the directory: the file with its id may be a lie."""
    try:
        return Path(f"/proc/{pid}/cwd").readlink().is_relative_to(directory)
    except OSError:
        return False


def lost(server: Server, error: ExecutionError) -> ExecutionError:
    """Say that the server is gone where that is why it did not answer."""
    if not server.gone_within(_DYING_S):
        return error
    return TransientInfrastructure(
        "server_lost", "the Paperclip server ended in the middle; logs/server.log says more"
    )
