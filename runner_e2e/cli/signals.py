"""Turning signals into a wish that the work ends, for as long as the work lasts."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner_e2e.flows.deadline import CancelToken

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def cancelled_by_signals() -> Iterator[CancelToken]:
    """Give a token that SIGINT, SIGTERM or SIGHUP cancels.

    The handler only notes the wish: what was begun is ended in order, with its clean-up, by whoever
    waits on the token. A second signal makes it urgent.
    """
    from runner_e2e.flows.deadline import CancelToken

    token = CancelToken()

    def note(number: int, _frame: FrameType | None) -> None:
        # A terminal that is closed is a request to end like any other: exit code 143.
        token.cancel(signal.SIGTERM if number == signal.SIGHUP else number)

    before = {number: signal.signal(number, note) for number in SIGNALS}
    try:
        yield token
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
