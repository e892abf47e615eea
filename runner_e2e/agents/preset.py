"""What a preset is: how one agent program is called, and how its output is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from runner_e2e.agents.reading import Reading, Sums
from runner_e2e.contracts.catalog import ModelPrices
from runner_e2e.contracts.scalars import JsonObject
from runner_e2e.contracts.vocabulary import PresetName
from runner_e2e.failures import PermanentInfrastructure


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a profile says of its agent. ``key`` names the variable that holds the account's key."""

    model: str
    provider: str
    key: str
    base_url: str | None = None
    prices: ModelPrices | None = None
    isolated: bool = False
    """The place is a sandbox of its own, so the program needs none inside it."""

    def address(self, preset: PresetName, known: Mapping[str, str]) -> str:
        """Where the model is. Raises permanent infrastructure ``bad_agent`` where nobody knows."""
        address = self.base_url or known.get(self.provider)
        if address is None:
            raise PermanentInfrastructure(
                "bad_agent",
                f"the preset {preset} knows no address of the provider {self.provider}",
                hint=f"set baseUrl, or take one of: {', '.join(known)}",
            )
        return address.rstrip("/")


class Preset(Protocol):
    """One agent program."""

    @property
    def name(self) -> PresetName:
        """What a catalog calls it."""

    @property
    def program(self) -> str:
        """Its name on PATH."""

    def key_variable(self, credential: str) -> str:
        """Where it looks for the key of the account, which the catalog calls ``credential``."""

    def environment(self, setup: Setup) -> dict[str, str]:
        """Its settings, without the key."""

    def command(
        self, setup: Setup, program: Sequence[str], session_id: str | None
    ) -> tuple[str, ...]:
        """Start a turn, its text on stdin. ``session_id`` is the one to go on with."""

    def read(self, lines: Sequence[JsonObject], before: Sums) -> Reading:
        """Read what it printed. ``before`` is what it said of the session's earlier turns."""


def shell(script: str, *arguments: str) -> tuple[str, ...]:
    """A command that prepares what only the place itself knows, then becomes the program.

    The script finds the arguments in ``$@``.
    """
    return ("/bin/sh", "-c", script, "runner-e2e", *arguments)
