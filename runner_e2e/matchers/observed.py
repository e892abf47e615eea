"""What the matchers look at. ``None`` is what the target cannot observe, never an empty value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from runner_e2e.contracts.scalars import JsonValue


class FileRefused(Exception):
    """A path leads out of the workspace, or to something that is no readable file."""


class FileReader(Protocol):
    """Reads below the workspace. Both raise :class:`FileRefused`."""

    def has_file(self, path: str, /) -> bool:
        """Tell whether a regular file is there, of whatever size."""

    def read_file(self, path: str, /) -> bytes | None:
        """Return the whole file, or ``None`` where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedArtifact:
    """Something the agent published."""

    name: str
    mime_type: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The end of an execution, as far as the target could see it."""

    message: str | None = None
    """Everything the agent said, in order, joined by newlines."""
    last_run_message: str | None = None
    """What it said in its last run."""
    issue_status: str | None = None
    run_statuses: tuple[str, ...] | None = None
    runtime_mode: str | None = None
    environment: str | None = None
    artifacts: tuple[ObservedArtifact, ...] | None = None
    files: FileReader | None = None
    json: JsonValue = None
    """``{issue, run, comments, interactions}`` for the JSON matchers."""
