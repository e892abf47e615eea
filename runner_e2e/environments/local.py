"""The place on this machine: a workspace, a home and a state directory inside a temporary root."""

from __future__ import annotations

import contextlib
import errno
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from runner_e2e.billing import Lease
from runner_e2e.contracts.timestamps import format_timestamp
from runner_e2e.contracts.vocabulary import EnvironmentId, LeaseOutcome
from runner_e2e.environments.logs import MAX_LOG_BYTES, CappedLog, save_logs
from runner_e2e.environments.pictures import Pictures
from runner_e2e.environments.processes import MARKER, end_marked
from runner_e2e.environments.roots import TemporaryRoot, make_writable, remove_tree
from runner_e2e.environments.turns import LocalTurn
from runner_e2e.evidence import MAX_PNG_BYTES, Ledger
from runner_e2e.failures import (
    CandidateFailure,
    ExecutionError,
    PermanentInfrastructure,
    TransientInfrastructure,
)
from runner_e2e.flows.deadline import CancelToken
from runner_e2e.flows.session import CleanupReport
from runner_e2e.flows.workplace import TurnOrder
from runner_e2e.matchers import WorkspaceFiles

INHERITED = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
)
"""What an agent gets of the harness's own environment. No credential has such a name."""

RESERVED = frozenset({"HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"})
RESERVED_PREFIX = "RUNNER_E2E_"

_NOT_STARTABLE = frozenset(
    {errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ENOTDIR, errno.EPERM, errno.E2BIG}
)
_TAMPERED = _NOT_STARTABLE | {errno.EEXIST, errno.EISDIR, errno.ELOOP, errno.ENOTEMPTY}


@dataclass(slots=True, kw_only=True)
class LocalWorkplace:
    """A workplace inside ``root``. ``ambient`` is the environment of the harness."""

    root: TemporaryRoot
    ambient: Mapping[str, str]
    cancel: CancelToken
    ledger: Ledger
    environment_id: EnvironmentId = "local"
    log_bytes: int = MAX_LOG_BYTES
    """How much of each stream of a turn is kept."""
    _turns: dict[int, LocalTurn] = field(default_factory=dict)
    _pictures: Pictures = field(default_factory=Pictures)

    def __post_init__(self) -> None:
        for directory in ("workspace", "home", "tmp", "state", "turns"):
            (self.root.path / directory).mkdir(mode=0o700)

    @property
    def workspace_path(self) -> str:
        """The directory the agent starts in."""
        return str(self.root.path / "workspace")

    def begin_turn(self, order: TurnOrder) -> LocalTurn:
        """Start the agent in its own session and process group."""
        directory = self.root.path / "turns" / str(order.turn)
        started_at = format_timestamp(datetime.now(UTC))
        try:
            directory.mkdir(parents=True)
            (directory / "prompt.txt").write_bytes(order.prompt)
            (directory / "turn.json").write_bytes(order.document)
            (directory / "events.jsonl").touch(exist_ok=False)
            with contextlib.ExitStack() as opened:
                stdout = opened.enter_context(self._log(order.turn, "stdout"))
                stderr = opened.enter_context(self._log(order.turn, "stderr"))
                process = self._start(order, directory)
                opened.pop_all()
        except OSError as error:
            raise self._not_started(order, error) from error
        except ValueError as error:  # a NUL byte in the command or in a variable
            raise PermanentInfrastructure(
                "agent_not_started", f"the agent cannot be started: {error}"
            ) from error
        turn = LocalTurn(
            process=process,
            events=directory / "events.jsonl",
            root=self.root.path,
            token=self.root.token,
            cancel=self.cancel,
            prompt=order.prompt,
            message_bytes=order.message_bytes,
            redactor=self.ledger.redactor,
            started_at=started_at,
            stdout=stdout,
            stderr=stderr,
        )
        self._turns[order.turn] = turn
        return turn

    def _log(self, turn: int, stream: str) -> CappedLog:
        name = f"turns/{turn}/{stream}.log"
        return CappedLog(ledger=self.ledger, name=name, limit=self.log_bytes)

    def _start(self, order: TurnOrder, directory: Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            order.command,
            cwd=self.workspace_path,
            env=self._environment(order, directory),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def _environment(self, order: TurnOrder, directory: Path) -> dict[str, str]:
        root = self.root.path
        given = {name: self.ambient[name] for name in INHERITED if name in self.ambient}
        return {
            "LANG": "C.UTF-8",
            **given,
            "TERM": "dumb",
            **order.environment,
            "HOME": str(root / "home"),
            "TMPDIR": str(root / "tmp"),
            "XDG_CACHE_HOME": str(root / "home" / ".cache"),
            "XDG_CONFIG_HOME": str(root / "home" / ".config"),
            "XDG_DATA_HOME": str(root / "home" / ".local" / "share"),
            "RUNNER_E2E_PROMPT_FILE": str(directory / "prompt.txt"),
            "RUNNER_E2E_TURN_FILE": str(directory / "turn.json"),
            "RUNNER_E2E_EVENTS": str(directory / "events.jsonl"),
            "RUNNER_E2E_STATE_DIR": str(root / "state"),
            "RUNNER_E2E_WORKSPACE": self.workspace_path,
            MARKER: self.root.token,
        }

    def _not_started(self, order: TurnOrder, error: OSError) -> Exception:
        """Tell a wrong command from a machine in trouble.

        An agent that ran before and cannot be started now removed itself or its workspace.
        """
        if error.errno not in (_TAMPERED if self._turns else _NOT_STARTABLE):
            return error
        kind: type[ExecutionError] = CandidateFailure if self._turns else PermanentInfrastructure
        return kind(
            "agent_not_started",
            f"{order.command[0]} cannot be started: {error.strerror}",
            hint="name a program on PATH, or one beside the catalog, in the profile's command",
        )

    @property
    def files(self) -> WorkspaceFiles:
        """The workspace, without a way out of it."""
        return WorkspaceFiles(Path(self.workspace_path))

    def keep_picture(self, path: str, name: str) -> bool:
        """Keep a PNG of the workspace as evidence; anything else is refused."""
        files = WorkspaceFiles(Path(self.workspace_path), max_bytes=MAX_PNG_BYTES)
        return self._pictures.keep_from(files, path, name)

    def hand_over(self, target: Path) -> None:
        """Write what was kept of every turn below ``target``."""
        save_logs(self._turns, target)
        self._pictures.hand_over(target)

    def forget(self) -> None:
        """Empty the agent's state directory."""
        state = self.root.path / "state"
        problem = remove_tree(state)
        if problem is not None:
            make_writable(state)
            problem = remove_tree(state)
        if problem is None:
            state.mkdir(mode=0o700)
        else:
            raise TransientInfrastructure("state_left", problem)

    def lease_of(self, turn: int) -> LeaseOutcome:
        """A directory of this machine is no lease."""
        del turn
        return "unknown"

    @property
    def leases(self) -> tuple[Lease, ...]:
        """Nothing here is paid for."""
        return ()

    def close(self) -> CleanupReport:
        """End what still runs."""
        try:
            for turn in self._turns.values():
                turn.stop()
        finally:
            survivors = end_marked(self.root.token, self.root.path)
        return CleanupReport(problems=tuple(f"process {pid} outlived SIGKILL" for pid in survivors))
