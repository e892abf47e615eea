"""Keeping an agent's output, however much of it there is, where the agent cannot reach it."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, Self

from runner_e2e.evidence import Ledger, StreamRedactor

MAX_LOG_BYTES = 5 * 1024 * 1024
TAIL_SHARE = 5


class CappedLog:
    """The beginning and the end of a stream; what was left out is said in between.

    Secrets are taken out before anything is cut, since half of one would be found by no scan; the
    ledger knows them by ``name``. It lies in a file without a name: an agent runs as our own user,
    so no path would be safe.
    """

    def __init__(self, *, ledger: Ledger, name: str, limit: int = MAX_LOG_BYTES) -> None:
        self._ledger = ledger
        self._name = name
        self._stream: StreamRedactor | None = ledger.redactor.stream()
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed by close()
        self._tail = limit // TAIL_SHARE
        self._head = limit - self._tail
        self._end = bytearray()
        self._clean = 0
        self.total = 0
        """Bytes that were written to it, secrets included."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, data: bytes) -> None:
        """Take the next piece of the stream."""
        self.total += len(data)
        if self._stream is not None:
            self._keep(self._stream.feed(data))

    def end(self, *, broken_off: bool = False) -> None:
        """Nothing more comes, or with ``broken_off`` nothing more is read. May be called twice."""
        stream, self._stream = self._stream, None
        if stream is not None:
            self._keep(stream.close(broken_off=broken_off))
            self._ledger.note(self._name, stream.findings)

    def _keep(self, data: bytes) -> None:
        room = max(0, self._head - self._clean)
        self._clean += len(data)
        if room:
            self._file.write(data[:room])
        if len(data) > room:
            self._end += data[room:]
            # Cut only now and then: one cut per piece would move the whole tail every time.
            if len(self._end) > 2 * self._tail:
                del self._end[: -self._tail]

    def save(self, path: Path) -> None:
        """Write what is kept to ``path``, which ends the stream."""
        self.end()
        tail = bytes(self._end[-self._tail :]) if self._end else b""
        dropped = self._clean - min(self._clean, self._head) - len(tail)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file.seek(0)
        with path.open("wb") as target:
            shutil.copyfileobj(self._file, target)
            if dropped:
                notice = f"\n[runner-e2e left {dropped} bytes of {self._clean} out here]\n"
                target.write(notice.encode())
            target.write(tail)

    def close(self) -> None:
        """Forget the stream."""
        self._file.close()


class Logged(Protocol):
    """A turn whose output is kept."""

    stdout: CappedLog
    stderr: CappedLog


def save_logs(turns: Mapping[int, Logged], target: Path) -> None:
    """Write the output of every turn below ``target``; all of it is let go, whatever fails."""
    with contextlib.ExitStack() as kept:
        for number, turn in turns.items():
            directory = target / "turns" / str(number)
            kept.enter_context(turn.stdout).save(directory / "stdout.log")
            kept.enter_context(turn.stderr).save(directory / "stderr.log")
