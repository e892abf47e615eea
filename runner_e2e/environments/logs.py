"""Keeping an agent's output, however much of it there is."""

from __future__ import annotations

from pathlib import Path
from typing import Self

HEAD_BYTES = 4 * 1024 * 1024
TAIL_BYTES = 1024 * 1024


class CappedLog:
    """A file with the beginning and the end of a stream; what was left out is said in between."""

    def __init__(self, path: Path, *, head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("xb", buffering=0)
        self._head = head
        self._tail = tail
        self._end = bytearray()
        self.total = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, data: bytes) -> None:
        """Take the next piece of the stream."""
        room = max(0, self._head - self.total)
        self.total += len(data)
        if room:
            self._file.write(data[:room])
        if len(data) > room:
            self._end += data[room:]
            # Cut only now and then: one cut per piece would move the whole tail every time.
            if len(self._end) > 2 * self._tail:
                del self._end[: -self._tail]

    def close(self) -> None:
        """Write the end of the stream."""
        tail = bytes(self._end[-self._tail :])
        dropped = self.total - self._head - len(tail)
        if dropped > 0:
            notice = f"\n[runner-e2e left {dropped} bytes of {self.total} out here]\n"
            self._file.write(notice.encode())
        self._file.write(tail)
        self._file.close()
