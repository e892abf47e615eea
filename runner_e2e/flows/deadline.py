"""Points in time that waiting ends at, and the wish to stop early."""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """A moment of the monotonic clock, in seconds."""

    at: float

    @classmethod
    def after(cls, milliseconds: float) -> Deadline:
        """The moment ``milliseconds`` from now."""
        return cls(at=time.monotonic() + milliseconds / 1000)

    def sooner(self, milliseconds: float | None) -> Deadline:
        """This deadline, or the one ``milliseconds`` from now where that comes first."""
        if milliseconds is None:
            return self
        return Deadline(at=min(self.at, Deadline.after(milliseconds).at))

    @property
    def remaining(self) -> float:
        """Seconds left, never below zero."""
        return max(0.0, self.at - time.monotonic())

    @property
    def passed(self) -> bool:
        """Whether the moment is over."""
        return self.remaining <= 0


def first_readable(tokens: Sequence[CancelToken], seconds: float | None) -> list[CancelToken]:
    """Wait until one of the tokens is cancelled. Returns those that are, none after ``seconds``."""
    poll = select.poll()  # select() itself knows no descriptor above 1023
    for token in tokens:
        poll.register(token, select.POLLIN)
    poll.poll(None if seconds is None else seconds * 1000)
    return [token for token in tokens if token.cancelled]


class CancelToken:
    """The wish of a signal, or of a caller, that an execution ends now.

    Any number of threads may wait on one token. :meth:`cancel` takes no lock, so a signal handler
    may call it while it interrupts whoever is waiting: it sets a number and writes to a pipe that
    nobody ever drains, which makes the read end ready for all waiters and for good.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._signal: int | None = None
        self._times = 0

    def cancel(self, signal_number: int | None = None) -> None:
        """Ask for the end. The first signal is the one remembered; asking twice means at once."""
        if self._times == 0:
            self._signal = signal_number
        self._times += 1
        with contextlib.suppress(BlockingIOError):  # full: whoever waits was woken long ago
            os.write(self._write, b"x")

    @property
    def cancelled(self) -> bool:
        """Whether anybody asked."""
        return self._times > 0

    @property
    def urgent(self) -> bool:
        """Whether somebody asked again: no grace is left for anything."""
        return self._times > 1

    @property
    def signal_number(self) -> int | None:
        """The first signal that asked, ``None`` where it was a caller."""
        return self._signal

    def fileno(self) -> int:
        """A file descriptor that is readable once the token is cancelled."""
        return self._read

    def wait(self, seconds: float | None) -> bool:
        """Sleep for ``seconds`` (``None``: for ever), or until cancelled. Tell whether it was."""
        return bool(first_readable([self], seconds))

    def __del__(self) -> None:
        for descriptor in (self._read, self._write):
            with contextlib.suppress(OSError):
                os.close(descriptor)
