"""How often to try again, and how long to wait in between."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from runner_e2e.errors import PublishingError
from runner_e2e.publishing.errors import LostRace

T = TypeVar("T")

RACE_SECONDS = 300.0
"""So long others may be faster. Somebody wins every round, so this is hundreds of publishers."""

NETWORK_TRIES = 6
_JITTER = random.SystemRandom()


class Patience:
    """How long to wait and when to give up. Waits are random, or all would come back at once.

    The wait after a lost race grows from the time that a try takes: among many publishers, or on a
    busy machine, a try takes long, and there short waits would only make everybody slower.
    """

    def __init__(self) -> None:
        self.tries = 0
        self._races = 0
        self._breaks = 0
        self._began = time.monotonic()
        self._end = self._began + RACE_SECONDS

    def begin(self) -> None:
        """Count one more try."""
        self.tries += 1
        self._began = time.monotonic()

    def wait(self, failure: PublishingError) -> None:
        """Sleep before the next try, or raise ``failure`` when there is none."""
        now = time.monotonic()
        if isinstance(failure, LostRace):
            if now > self._end:
                raise failure
            took = now - self._began
            longest = min(max(2.0, 8 * took), (0.05 + took / 2) * 2**self._races)
            self._races = min(self._races + 1, 10)
        else:
            self._breaks += 1
            if self._breaks >= NETWORK_TRIES:
                raise failure
            longest = min(20.0, 0.5 * 2**self._breaks)
        time.sleep(_JITTER.uniform(0, longest))


def patiently(action: Callable[[], T]) -> T:
    """Do something again while it fails for a reason that passes. Raises its last error."""
    patience = Patience()
    while True:
        patience.begin()
        try:
            return action()
        except PublishingError as failure:
            if not failure.retryable:
                raise
            patience.wait(failure)
