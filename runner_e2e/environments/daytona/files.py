"""The workspace of a sandbox, read from outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from runner_e2e.catalog.expressions import ExpressionError, file_parts
from runner_e2e.environments.daytona.scripts import ABSENT_EXIT, FOREIGN_EXIT, locate
from runner_e2e.environments.daytona.toolbox import Toolbox
from runner_e2e.matchers import FileRefused

MAX_FILE_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxFiles:
    """A :class:`FileReader`. Links are followed as long as they stay in the workspace.

    The sandbox says where a link leads, so an agent with its machine in hand could lie; what it
    could show us that way is a file of its own machine, which it may as well have copied.
    """

    toolbox: Callable[[], Toolbox | None]
    """``None`` where there is no sandbox."""
    workspace: str
    max_bytes: int = MAX_FILE_BYTES

    def has_file(self, path: str, /) -> bool:
        """Tell whether a regular file is there. Raises :class:`FileRefused`."""
        return self._locate(path) is not None

    def read_file(self, path: str, /) -> bytes | None:
        """Return the whole file, or ``None`` where there is none. Raises :class:`FileRefused`."""
        found = self._locate(path)
        if found is None:
            return None
        toolbox, place, size = found
        if size > self.max_bytes:
            raise FileRefused(f"{path!r} is larger than {self.max_bytes} bytes")
        data = toolbox.read(place, self.max_bytes + 1)
        if data is not None and len(data) > self.max_bytes:
            raise FileRefused(f"{path!r} is larger than {self.max_bytes} bytes")
        return data

    def _locate(self, path: str) -> tuple[Toolbox, str, int] | None:
        try:
            relative = "/".join(file_parts(path))
        except ExpressionError as error:
            raise FileRefused(str(error)) from None
        toolbox = self.toolbox()
        if toolbox is None:
            return None
        done = toolbox.execute(locate(self.workspace, f"./{relative}"))
        if done.exit_code == FOREIGN_EXIT:
            raise FileRefused(f"{path!r} is a link that leads out of the workspace")
        if done.exit_code == ABSENT_EXIT:
            return None
        place, _, size = done.result.strip().rpartition("\n")
        if done.exit_code or not place or not size.strip().isdecimal():
            raise FileRefused(f"{path!r} cannot be looked at in the sandbox")
        return toolbox, place, int(size)
