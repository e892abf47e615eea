"""The place at Daytona: one sandbox for all turns of an attempt, or a fresh one for each."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from runner_e2e.billing import Lease
from runner_e2e.contracts.timestamps import format_timestamp
from runner_e2e.contracts.vocabulary import EnvironmentId, LeaseOutcome
from runner_e2e.environments.daytona import scripts
from runner_e2e.environments.daytona.client import DaytonaClient
from runner_e2e.environments.daytona.files import SandboxFiles
from runner_e2e.environments.daytona.leases import Held, Sandboxes
from runner_e2e.environments.daytona.toolbox import Toolbox
from runner_e2e.environments.daytona.turns import SandboxTurn
from runner_e2e.environments.logs import MAX_LOG_BYTES, CappedLog, save_logs
from runner_e2e.environments.pictures import Pictures
from runner_e2e.evidence import MAX_PNG_BYTES, Ledger
from runner_e2e.failures import TransientInfrastructure
from runner_e2e.flows.session import CleanupReport
from runner_e2e.flows.workplace import TurnOrder

MAX_CARRIED_BYTES = 256 * 1024 * 1024
"""What a turn may leave to the next one in another sandbox, packed."""


@dataclass(slots=True, kw_only=True)
class DaytonaWorkplace:
    """A workplace at Daytona. A sandbox is made when the first turn begins, not before."""

    sandboxes: Sandboxes
    ledger: Ledger
    program_files: Path
    """Files below this directory that a command names are taken along into the sandbox."""
    environment_id: EnvironmentId = "daytona"
    log_bytes: int = MAX_LOG_BYTES
    """How much of each stream of a turn is kept."""
    _held: Held | None = None
    _outcomes: dict[int, LeaseOutcome] = field(default_factory=dict)
    _turns: dict[int, SandboxTurn] = field(default_factory=dict)
    _pictures: Pictures = field(default_factory=Pictures)

    @property
    def _root(self) -> str:
        return f"/tmp/execution-{self.sandboxes.token}"  # noqa: S108 - a sandbox of its own

    @property
    def _client(self) -> DaytonaClient:
        return self.sandboxes.client

    @property
    def workspace_path(self) -> str:
        """The directory the agent starts in, as the agent sees it."""
        return f"{self._root}/workspace"

    @property
    def files(self) -> SandboxFiles:
        """Reads the workspace of the sandbox of the last turn."""
        return SandboxFiles(toolbox=self._toolbox, workspace=self.workspace_path)

    def _toolbox(self) -> Toolbox | None:
        return None if self._held is None else Toolbox.of(self._client, self._held.sandbox)

    def begin_turn(self, order: TurnOrder) -> SandboxTurn:
        """Lease a sandbox where none is held, and start the agent in it."""
        toolbox = self._lease(order.turn)
        directory = f"{self._root}/turns/{order.turn}"
        script = scripts.turn_script(
            directory=directory,
            workspace=self.workspace_path,
            environment=self._environment(order, directory),
            command=self._taken_along(toolbox, order.command),
        )
        toolbox.upload(f"{directory}/prompt.txt", order.prompt)
        toolbox.upload(f"{directory}/turn.json", order.document)
        toolbox.upload(f"{directory}/run.sh", script)
        session = f"runner-e2e-turn-{order.turn}"
        started_at = format_timestamp(datetime.now(UTC))
        held = self._held
        turn = SandboxTurn(
            client=self._client,
            toolbox=toolbox,
            alive=lambda: held is not None and self.sandboxes.alive(held),
            number=order.turn,
            directory=directory,
            token=self.sandboxes.token,
            session=session,
            command_id=toolbox.start(session, f"exec sh {directory}/run.sh"),
            message_bytes=order.message_bytes,
            redactor=self.ledger.redactor,
            started_at=started_at,
            stdout=self._log(order.turn, "stdout"),
            stderr=self._log(order.turn, "stderr"),
        )
        self._turns[order.turn] = turn
        return turn

    def _log(self, turn: int, stream: str) -> CappedLog:
        name = f"turns/{turn}/{stream}.log"
        return CappedLog(ledger=self.ledger, name=name, limit=self.log_bytes)

    def _lease(self, turn: int) -> Toolbox:
        """The sandbox for a turn: the one that is there, or the next one with its content."""
        if self._held is not None and self.sandboxes.options.reuse_lease:
            self._outcomes[turn] = "resumed"
            return Toolbox.of(self._client, self._held.sandbox)
        carried = None if self._held is None else self._give_up(self._held)
        self._held = self.sandboxes.create()
        self._outcomes[turn] = "created"
        toolbox = Toolbox.of(self._client, self._held.sandbox)
        _run(toolbox, scripts.prepare(self._root), "prepare the sandbox")
        if carried is not None:
            archive = f"{self._root}/carried.tgz"
            toolbox.upload(archive, carried)
            _run(toolbox, scripts.unpack(self._root, archive), "unpack what the last turn left")
        return toolbox

    def _taken_along(self, toolbox: Toolbox, command: Sequence[str]) -> list[str]:
        """The command, its files from beside the catalog uploaded."""
        taken = []
        for argument in command:
            path = Path(argument)
            if path.is_absolute() and path.is_relative_to(self.program_files) and path.is_file():
                place = f"{self._root}/program/{path.relative_to(self.program_files)}"
                toolbox.upload(place, path.read_bytes())
                _run(toolbox, f"chmod 700 {shlex.quote(place)}", "make the program executable")
                taken.append(place)
            else:
                taken.append(argument)
        return taken

    def _give_up(self, held: Held) -> bytes:
        """Fetch what a sandbox holds, then delete it."""
        toolbox = Toolbox.of(self._client, held.sandbox)
        archive = f"{self._root}/carried.tgz"
        _run(toolbox, scripts.pack(self._root, archive), "pack what the turn left")
        carried = toolbox.read(archive, MAX_CARRIED_BYTES + 1)
        if carried is None or len(carried) > MAX_CARRIED_BYTES:
            raise TransientInfrastructure(
                "sandbox_content",
                f"what a turn left cannot be carried on: it has no {MAX_CARRIED_BYTES} bytes",
                hint="set daytona.reuseLease, so that all turns share one sandbox",
            )
        problem = self.sandboxes.release(held)
        if problem is not None:
            raise TransientInfrastructure("sandbox_left", problem)
        self._held = None
        return carried

    def _environment(self, order: TurnOrder, directory: str) -> Mapping[str, str]:
        root = self._root
        return {
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            **order.environment,
            "HOME": f"{root}/home",
            "TMPDIR": f"{root}/tmp",  # noqa: S108 - a sandbox of its own
            "XDG_CACHE_HOME": f"{root}/home/.cache",
            "XDG_CONFIG_HOME": f"{root}/home/.config",
            "XDG_DATA_HOME": f"{root}/home/.local/share",
            "RUNNER_E2E_PROMPT_FILE": f"{directory}/prompt.txt",
            "RUNNER_E2E_TURN_FILE": f"{directory}/turn.json",
            "RUNNER_E2E_EVENTS": f"{directory}/events.jsonl",
            "RUNNER_E2E_STATE_DIR": f"{root}/state",
            "RUNNER_E2E_WORKSPACE": self.workspace_path,
            scripts.MARKER: self.sandboxes.token,
        }

    def keep_picture(self, path: str, name: str) -> bool:
        """Keep a PNG of the workspace as evidence; anything else is refused."""
        files = SandboxFiles(
            toolbox=self._toolbox, workspace=self.workspace_path, max_bytes=MAX_PNG_BYTES
        )
        return self._pictures.keep_from(files, path, name)

    def hand_over(self, target: Path) -> None:
        """Write what was kept of every turn below ``target``."""
        save_logs(self._turns, target)
        self._pictures.hand_over(target)

    def forget(self) -> None:
        """Empty the agent's state directory."""
        toolbox = self._toolbox()
        if toolbox is not None:
            _run(toolbox, scripts.empty(f"{self._root}/state"), "empty the state directory")

    def lease_of(self, turn: int) -> LeaseOutcome:
        """How the sandbox of this turn came to be."""
        return self._outcomes.get(turn, "unknown")

    @property
    def leases(self) -> tuple[Lease, ...]:
        """Every sandbox of the attempt."""
        return tuple(held.lease() for held in self.sandboxes.made)

    def close(self) -> CleanupReport:
        """Delete every sandbox, which ends all that runs there."""
        problems = self.sandboxes.close()
        cancel = self._client.cancel
        if cancel is None or not cancel.cancelled:
            # An interrupted one still has calls under way, whose sandboxes are to be deleted.
            self._client.close()
        return CleanupReport(problems=problems)


def _run(toolbox: Toolbox, script: str, doing: str) -> None:
    done = toolbox.execute(script, seconds=300)
    if done.exit_code != 0:
        raise TransientInfrastructure(
            "sandbox_command", f"the sandbox could not {doing}: exit code {done.exit_code}"
        )
