"""What a catalog was read from: a JSON tree that remembers where each part was written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from runner_e2e.errors import Problem

Step = str | int
Steps = tuple[Step, ...]
"""The way from the root to a value: keys and list indices."""

Position = tuple[int, int]
"""Line and column, both from 1."""


class Source(Protocol):
    """One file of a catalog."""

    @property
    def path(self) -> Path:
        """The file, as the person named it."""

    @property
    def value(self) -> Any:
        """Its content as JSON-compatible Python objects."""

    def position(self, path: Steps) -> Position:
        """Where the value at ``path`` begins or, where there is none, its nearest parent."""

    def key_position(self, path: Steps) -> Position:
        """Where the last key of ``path`` is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A value of a catalog and the way to it, so that a rule can point at what it objects to."""

    source: Source
    path: Steps

    def __truediv__(self, step: Step) -> Place:
        return Place(source=self.source, path=(*self.path, step))

    def problem(self, message: str, *, hint: str | None = None, key: bool = False) -> Problem:
        """Object to the value here, or with ``key`` to the key that names it."""
        locate = self.source.key_position if key else self.source.position
        line, column = locate(self.path)
        return Problem(
            file=str(self.source.path),
            line=line,
            column=column,
            message=f"{self.name}: {message}" if self.path else message,
            hint=hint,
        )

    @property
    def name(self) -> str:
        """The path in the form ``tasks[0].matchers[1].pattern``."""
        return path_name(self.path)


def path_name(path: Steps) -> str:
    """Write a path out as ``tasks[0].matchers[1].pattern``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")
