"""A place in memory whose turns are written down beforehand, for tests that need no process."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runner_e2e.billing import Lease
from runner_e2e.catalog import Variables, load_catalog, render_task
from runner_e2e.contracts.catalog import MatrixExecution
from runner_e2e.contracts.vocabulary import EnvironmentId, LeaseOutcome
from runner_e2e.flows import (
    CancelToken,
    CleanupReport,
    Deadline,
    FlowContext,
    FlowOutcome,
    TurnEnd,
    TurnOrder,
    run_flow,
)
from runner_e2e.matchers import WorkspaceFiles
from runner_e2e.targets.command import AgentCommand, CommandSession
from tests.support.executions import write_catalog

NONCE = "0123456789ab-1"
ID = "smoke.scripted.local.case"


def lines(*events: dict[str, Any]) -> bytes:
    """Events as an agent writes them."""
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def ended(
    *events: dict[str, Any],
    stdout: bytes = b"",
    exit_code: int | None = 0,
    raw: bytes = b"",
    survivors: tuple[str, ...] = (),
) -> TurnEnd:
    """A turn that ended after these events."""
    return TurnEnd(
        exit_code=exit_code,
        stdout=stdout,
        stdout_bytes=len(stdout),
        events=lines(*events) + raw,
        events_problem=None,
        started_at="2026-11-30T20:00:00.000Z",
        finished_at="2026-11-30T20:00:01.500Z",
        survivors=survivors,
    )


@dataclass(slots=True)
class ScriptedTurn:
    """A turn that is over at once, or never where it has no end."""

    end: TurnEnd | None
    producing: bool = True
    killed: bool = False

    def wait(self, deadline: Deadline) -> TurnEnd | None:
        del deadline
        return ended(exit_code=None) if self.killed else self.end

    def stop(self) -> TurnEnd:
        return ended(exit_code=None)

    def kill(self) -> None:
        self.killed = True


Turn = TurnEnd | None | Callable[[TurnOrder], TurnEnd]


@dataclass(slots=True)
class ScriptedWorkplace:
    """Plays the turns in their order. ``orders`` keeps what was asked for."""

    workspace: Path
    turns: Sequence[Turn]
    environment_id: EnvironmentId = "local"
    orders: list[TurnOrder] = field(default_factory=list)
    forgotten: int = 0
    outcomes: tuple[LeaseOutcome, ...] = ()
    """How the place of each turn came to be, where it is one that can tell."""

    @property
    def workspace_path(self) -> str:
        return str(self.workspace)

    @property
    def files(self) -> WorkspaceFiles:
        return WorkspaceFiles(self.workspace)

    def begin_turn(self, order: TurnOrder) -> ScriptedTurn:
        self.orders.append(order)
        turn = self.turns[order.turn - 1]
        return ScriptedTurn(turn(order) if callable(turn) else turn)

    def keep_picture(self, path: str, name: str) -> bool:
        del name
        return path.endswith(".png")

    def hand_over(self, target: Path) -> None:
        del target

    def forget(self) -> None:
        self.forgotten += 1

    def lease_of(self, turn: int) -> LeaseOutcome:
        return self.outcomes[turn - 1] if self.outcomes else "unknown"

    @property
    def leases(self) -> tuple[Lease, ...]:
        return ()

    def close(self) -> CleanupReport:
        return CleanupReport()

    @property
    def documents(self) -> list[Any]:
        """The turn documents so far."""
        return [json.loads(order.document) for order in self.orders]


@dataclass(slots=True)
class Play:
    """A case, and the means to drive it through scripted turns."""

    directory: Path
    execution: MatrixExecution
    cancel: CancelToken = field(default_factory=CancelToken)

    @classmethod
    def of(cls, directory: Path, **case: Any) -> Play:
        """Load the one case that these options describe."""
        path = write_catalog(directory / "catalog", "", **case)
        workspace = directory / "workspace"
        workspace.mkdir(exist_ok=True)
        return cls(directory, load_catalog(path).executions[0])

    def place(self, *turns: Turn) -> ScriptedWorkplace:
        return ScriptedWorkplace(self.directory / "workspace", turns)

    def session(self, place: ScriptedWorkplace) -> CommandSession:
        return CommandSession(
            workplace=place,
            agent=AgentCommand(command=("agent",), environment={}),
            execution_id=self.execution.id,
            attempt=1,
            quote=str,
            cancel_token=self.cancel,
        )

    def run(self, *turns: Turn) -> FlowOutcome:
        """Drive the case through these turns."""
        session = self.session(self.place(*turns))
        try:
            return self.drive(session)
        finally:
            session.close()

    def drive(self, session: CommandSession) -> FlowOutcome:
        """Drive the case on a session."""
        variables = Variables(
            nonce=NONCE,
            execution_id=self.execution.id,
            profile_id="scripted",
            environment_id="local",
            environment_fixture_id="local",
            workspace_path=str(self.directory / "workspace"),
        )
        context = FlowContext(
            execution=self.execution, deadline=Deadline.after(60_000), cancel=self.cancel, quote=str
        )
        return run_flow(render_task(self.execution.task, variables), session, context)
