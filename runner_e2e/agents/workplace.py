"""A workplace whose agent is a real program: orders are rewritten, output becomes events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import orjson

from runner_e2e.agents.preset import Preset, Setup
from runner_e2e.agents.reading import Reading, Sums, json_lines
from runner_e2e.billing import Lease
from runner_e2e.contracts.scalars import JsonObject
from runner_e2e.contracts.vocabulary import EnvironmentId, LeaseOutcome
from runner_e2e.failures import ExecutionError, PermanentInfrastructure
from runner_e2e.flows.deadline import Deadline
from runner_e2e.flows.session import CleanupReport
from runner_e2e.flows.workplace import RunningTurn, TurnEnd, TurnOrder, Workplace
from runner_e2e.matchers import FileReader

MAX_OUTPUT_BYTES = 16 * 1024 * 1024
"""What is read of a turn's output; its end says how the turn went."""

_NOT_STARTED: Mapping[int, str] = {126: "is no program that may be run", 127: "was not found"}
"""How a shell ends that could not become the program."""


@dataclass(slots=True, kw_only=True)
class PresetTurn:
    """A turn of a real program."""

    inner: RunningTurn
    translate: Callable[[TurnEnd], TurnEnd]

    @property
    def producing(self) -> bool:
        """Whether it has written anything yet."""
        return self.inner.producing

    def wait(self, deadline: Deadline) -> TurnEnd | None:
        """Wait for the end; ``None`` when the deadline or a cancellation came first."""
        end = self.inner.wait(deadline)
        return None if end is None else self.translate(end)

    def stop(self) -> TurnEnd:
        """End it, with all it started."""
        return self.translate(self.inner.stop())

    def kill(self) -> None:
        """Send the signals of :meth:`stop` and wait for nothing."""
        self.inner.kill()


@dataclass(slots=True, kw_only=True)
class PresetWorkplace:
    """``inner`` with a preset's program in it.

    An order's ``command`` is the program, and what the profile wants it to be told.
    """

    inner: Workplace
    preset: Preset
    setup: Setup
    _session_id: str | None = None
    _unheard: bytes = b""
    """What was said in turns that ended before the model had said anything."""
    _sums: Sums = field(default_factory=Sums)

    @property
    def environment_id(self) -> EnvironmentId:
        """Where the inner place is."""
        return self.inner.environment_id

    @property
    def workspace_path(self) -> str:
        """The directory the agent starts in."""
        return self.inner.workspace_path

    @property
    def files(self) -> FileReader:
        """Reads workspace files."""
        return self.inner.files

    def begin_turn(self, order: TurnOrder) -> PresetTurn:
        """Start the program, going on with the session that it named."""
        command = self.preset.command(self.setup, order.command, self._session_id)
        prompt = self._unheard + order.prompt
        changed = replace(order, command=command, prompt=prompt, message_bytes=MAX_OUTPUT_BYTES)
        program = order.command[0]

        def translate(end: TurnEnd) -> TurnEnd:
            return self._read(program, prompt, end)

        return PresetTurn(inner=self.inner.begin_turn(changed), translate=translate)

    def _read(self, program: str, prompt: bytes, end: TurnEnd) -> TurnEnd:
        reading = self.preset.read(json_lines(end.stdout), self._sums)
        if reading.heard:
            self._session_id = reading.session_id or self._session_id
            self._unheard = b""
        elif self._session_id is None:
            # Its session may not be there to go on with, so the next one hears it all.
            self._unheard = prompt + b"\n\n"
        self._sums = reading.sums
        return replace(
            end,
            stdout=b"",
            events=end.events + self._events(end, reading),
            failure=end.failure or self._failure(program, end, reading),
        )

    def _failure(self, program: str, end: TurnEnd, reading: Reading) -> ExecutionError | None:
        """Why the turn failed. An exit code alone says less than the program did."""
        if end.exit_code is not None and end.exit_code in _NOT_STARTED and not end.stdout:
            return PermanentInfrastructure(
                "agent_not_started",
                f"{program} {_NOT_STARTED[end.exit_code]}",
                hint=f"install {self.preset.program}, or name it in the profile's command",
            )
        if end.exit_code is None or (end.exit_code != 0 and reading.failure is None):
            return None
        return reading.failure

    def _events(self, end: TurnEnd, reading: Reading) -> bytes:
        """What the program told, after what the agent itself wrote as events."""
        events: list[JsonObject] = []
        runtime: JsonObject = {"type": "runtime", "adapterType": self.preset.name}
        if reading.model is not None:
            runtime["model"] = reading.model
        if reading.session_id is not None:
            runtime["sessionId"] = reading.session_id
        if end.stdout:
            events.append(runtime)
        if reading.message is not None:
            events.append({"type": "message", "text": reading.message})
        usage = reading.usage(self.setup.prices)
        if usage is not None:
            events.append({"type": "usage", **usage})
        separator = b"\n" if end.events and not end.events.endswith(b"\n") else b""
        return separator + b"".join(orjson.dumps(event) + b"\n" for event in events)

    def keep_picture(self, path: str, name: str) -> bool:
        """Keep a PNG of the workspace."""
        return self.inner.keep_picture(path, name)

    def hand_over(self, target: Path) -> None:
        """Write the logs of all turns and the pictures."""
        self.inner.hand_over(target)

    def forget(self) -> None:
        """Empty the program's own memory, and let the next turn begin a session."""
        self.inner.forget()
        self._session_id, self._unheard = None, b""
        self._sums = Sums()

    def lease_of(self, turn: int) -> LeaseOutcome:
        """How the place of this turn came to be."""
        return self.inner.lease_of(turn)

    @property
    def leases(self) -> tuple[Lease, ...]:
        """What the inner place leases."""
        return self.inner.leases

    def close(self) -> CleanupReport:
        """Close the inner place."""
        return self.inner.close()
