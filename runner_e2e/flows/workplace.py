"""Where the turns of a command agent run: the seam between a target and an environment.

Everything crosses it as bytes, since the place may be another machine. ``environments`` implements
it, ``targets.command`` uses it, ``execution`` brings the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from runner_e2e.billing import Lease
from runner_e2e.contracts.vocabulary import EnvironmentId, LeaseOutcome
from runner_e2e.failures import ExecutionError
from runner_e2e.flows.deadline import Deadline
from runner_e2e.flows.session import CleanupReport
from runner_e2e.matchers import FileReader

MAX_MESSAGE_BYTES = 1024 * 1024
MAX_EVENTS_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOrder:
    """One turn to run. ``prompt`` goes to stdin and, like ``document``, into a file."""

    turn: int
    command: tuple[str, ...]
    environment: Mapping[str, str]
    prompt: bytes
    document: bytes
    """The content of ``$RUNNER_E2E_TURN_FILE``."""
    message_bytes: int = MAX_MESSAGE_BYTES
    """How much of the output is wanted back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnd:
    """A turn that is over, with nothing of it still running."""

    exit_code: int | None
    """``None`` when it was killed by us; negative for another signal, as in ``subprocess``."""
    stdout: bytes
    """The output, up to the order's ``message_bytes``."""
    stdout_bytes: int
    """How much there was in all."""
    events: bytes
    """At most :data:`MAX_EVENTS_BYTES` and one byte, so that too much can be told."""
    events_problem: str | None
    """Why the event file could not be read: no regular file any more, say."""
    started_at: str
    finished_at: str
    survivors: tuple[str, ...] = ()
    """Processes that outlived the kill."""
    failure: ExecutionError | None = None
    """Why it failed, where more is known than its exit code: the sandbox died, say."""


class RunningTurn(Protocol):
    """A turn that was started."""

    @property
    def producing(self) -> bool:
        """Whether it has written anything yet."""

    def wait(self, deadline: Deadline) -> TurnEnd | None:
        """Wait for the end; ``None`` when the deadline or a cancellation came first."""

    def stop(self) -> TurnEnd:
        """End it, with all it started."""

    def kill(self) -> None:
        """Send the signals of :meth:`stop` and wait for nothing. Any thread may call this."""


class Workplace(Protocol):
    """An isolated place with a workspace, a state directory and room for turns."""

    @property
    def environment_id(self) -> EnvironmentId:
        """What a catalog calls it."""

    @property
    def workspace_path(self) -> str:
        """The directory the agent starts in, as the agent sees it."""

    @property
    def files(self) -> FileReader:
        """Reads workspace files without ever leaving the workspace."""

    def begin_turn(self, order: TurnOrder) -> RunningTurn:
        """Start the agent. Raises an execution error when it cannot be started."""

    def keep_picture(self, path: str, name: str) -> bool:
        """Keep a PNG of the workspace as evidence ``name``, as it is now. False for no PNG."""

    def hand_over(self, target: Path) -> None:
        """Write the logs of all turns and the pictures below ``target``, still unredacted.

        Called once, after :meth:`close`; nothing is kept any longer.
        """

    def forget(self) -> None:
        """Empty the state directory: the agent's own memory."""

    def lease_of(self, turn: int) -> LeaseOutcome:
        """How the place of this turn came to be."""

    @property
    def leases(self) -> tuple[Lease, ...]:
        """What is paid for by the hour, as far as it was used until now."""

    def close(self) -> CleanupReport:
        """End every process of this place and say what resisted."""
