"""Files of a workspace that an agent may have filled with traps."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from runner_e2e.catalog.expressions import ExpressionError, file_parts
from runner_e2e.matchers.observed import FileRefused

MAX_FILE_BYTES = 16 * 1024 * 1024


class WorkspaceFiles:
    """A :class:`FileReader` that cannot be led out of ``root``.

    Links are followed as long as they stay inside. The resolved path is then opened part by part
    without following links, so an agent that swaps one in the meantime is refused.
    """

    def __init__(self, root: Path, *, max_bytes: int = MAX_FILE_BYTES) -> None:
        self.root = root.resolve()
        self.max_bytes = max_bytes

    def has_file(self, path: str, /) -> bool:
        """Tell whether a regular file is there, of whatever size. Raises :class:`FileRefused`."""
        descriptor = self._open(path)
        if descriptor is None:
            return False
        os.close(descriptor)
        return True

    def read_file(self, path: str, /) -> bytes | None:
        """Return the whole file, or ``None`` where there is none. Raises :class:`FileRefused`."""
        descriptor = self._open(path)
        if descriptor is None:
            return None
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(self.max_bytes + 1)
        if len(data) > self.max_bytes:
            raise FileRefused(f"{path!r} is larger than {self.max_bytes} bytes")
        return data

    def _open(self, path: str) -> int | None:
        try:
            target = self.root.joinpath(*file_parts(path)).resolve()
        except (ExpressionError, OSError, RuntimeError, ValueError) as error:
            raise FileRefused(str(error)) from None
        if not target.is_relative_to(self.root):
            raise FileRefused(f"{path!r} is a link that leads out of the workspace")
        try:
            return self._open_parts(target.relative_to(self.root).parts)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise FileRefused(f"{path!r} cannot be read: {error.strerror}") from None

    def _open_parts(self, parts: tuple[str, ...]) -> int | None:
        directory = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in parts[:-1]:
                flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
                inner = os.open(part, flags, dir_fd=directory)
                os.close(directory)
                directory = inner
            name = parts[-1] if parts else "."
            # A FIFO without a writer must not hold us up.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            descriptor = os.open(name, flags, dir_fd=directory)
        finally:
            with suppress(OSError):
                os.close(directory)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
        return None
