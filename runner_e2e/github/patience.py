"""How long to wait for GitHub, and when to give up.

GitHub says "not now" in several ways: the primary limit with the time at which it is reset, the
secondary one with ``Retry-After`` or with nothing but a sentence. What to do about each is told at
https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api.
All requests of a process share one :class:`Patience`: a limit met by one holds them all.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Protocol, TypeVar

import httpx

from runner_e2e.github.errors import GithubUnavailable

T = TypeVar("T")

MAX_TOTAL_WAIT = 90 * 60.0
"""Seconds of all waits together. A primary limit is reset after an hour at most."""

MAX_FAULTS = 6
MAX_LIMITS = 20
"""How often one request may fail, and be put off, before it is given up."""

SECONDARY_WAIT = 60.0
"""What GitHub asks for where a secondary limit says no time; doubled each time."""

FOREVER = 1e7
LONGEST_BACKOFF = 20.0
MARGIN = 1.0
"""``Date`` and ``X-RateLimit-Reset`` are whole seconds."""

HTTP_FORBIDDEN, HTTP_TOO_MANY, HTTP_TIMEOUT, HTTP_SERVER_ERROR = 403, 429, 408, 500

_LIMIT_WORDS = re.compile(r"rate limit|abuse detection", re.IGNORECASE)
_JITTER = random.SystemRandom()


class Wait(Protocol):
    """A clock that only goes forward, and a way to let time pass on it."""

    def now(self) -> float:
        """Seconds since some moment."""

    def sleep(self, seconds: float) -> None:
        """Return after ``seconds``, or sooner when the work is given up."""

    def stop(self) -> None:
        """Let nobody sleep any more."""


class SystemWait:
    """The real one."""

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def now(self) -> float:
        """Seconds since the machine started."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Sleep, unless stopped."""
        self._stopped.wait(seconds)

    def stop(self) -> None:
        """Wake everybody up."""
        self._stopped.set()


class Limited(Exception):
    """GitHub asks us to wait ``seconds``; ``None`` where it does not say how long."""

    def __init__(self, seconds: float | None, what: str) -> None:
        super().__init__(what)
        self.seconds = seconds
        self.what = what


class Fault(Exception):
    """A failure that may pass: 5xx, a broken connection. The text says which."""


class Patience:
    """Shared by all threads. ``tell`` gets a line for every wait that a person would notice."""

    def __init__(self, wait: Wait, tell: Callable[[str], None]) -> None:
        self.wait = wait
        self.stopped = False
        self._tell = tell
        self._lock = threading.Lock()
        self._open_at = wait.now()
        self._spent = 0.0

    @property
    def spent(self) -> float:
        """Seconds waited so far. A limit that held several requests counts once."""
        return self._spent

    def ask(self, send: Callable[[], T]) -> T:
        """Call ``send`` until it neither is limited nor fails in a way that passes.

        Raises :class:`Fault` for the last of too many, and :class:`GithubUnavailable` where more
        would have to be waited than we do.
        """
        faults = limits = 0
        while True:
            self._pass_gate()
            if self.stopped:
                raise Fault("it was given up")
            try:
                return send()
            except Limited as limit:
                limits += 1
                if limits > MAX_LIMITS:
                    raise GithubUnavailable(
                        f"GitHub put one request off {MAX_LIMITS} times ({limit.what})",
                        hint="try again later, or with a token that has a higher limit",
                    ) from None
                self._hold(_seconds(limit, limits), limit.what)
            except Fault:
                faults += 1
                if faults >= MAX_FAULTS:
                    raise
                self._back_off(faults)

    def stop(self) -> None:
        """Give up: whoever waits goes on at once and tries nothing again."""
        self.stopped = True
        self.wait.stop()

    def _pass_gate(self) -> None:
        while not self.stopped and (left := self._open_at - self.wait.now()) > 0:
            self.wait.sleep(left)

    def _hold(self, seconds: float, what: str) -> None:
        with self._lock:
            opens = self.wait.now() + seconds
            longer = opens - max(self._open_at, self.wait.now())
            if longer <= 0:
                return
            self._spend(longer, what)
            self._open_at = opens
        self._tell(f"GitHub: {what}; going on in {minutes(seconds)}")

    def _back_off(self, faults: int) -> None:
        longest = min(LONGEST_BACKOFF, 0.5 * 2.0**faults)
        # Never less than half of it, or a fault of some seconds could use up all tries.
        seconds = _JITTER.uniform(longest / 2, longest)
        with self._lock:
            self._spend(seconds, "it fails again and again")
        self.wait.sleep(seconds)

    def _spend(self, seconds: float, what: str) -> None:
        if self._spent + seconds > MAX_TOTAL_WAIT:
            raise GithubUnavailable(
                f"GitHub: {what}; {minutes(self._spent)} were waited, and {minutes(seconds)} more "
                f"would be over the {minutes(MAX_TOTAL_WAIT)} that we wait",
                hint="try again later, or with a token that has a higher limit",
            )
        self._spent += seconds


def _seconds(limit: Limited, limits: int) -> float:
    if limit.seconds is None:
        return SECONDARY_WAIT * 2.0 ** (limits - 1) * _JITTER.uniform(1, 1.1)
    return max(limit.seconds, 0) + MARGIN


def minutes(seconds: float) -> str:
    """Say a duration as people do."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"  # noqa: PLR2004  words


def check(response: httpx.Response) -> None:
    """Raise :class:`Limited` or :class:`Fault` for an answer that asks to be asked again.

    The body must have been read. Every other answer, also a refusal, is the caller's.
    """
    status = response.status_code
    if status >= HTTP_SERVER_ERROR or status == HTTP_TIMEOUT:
        raise Fault(f"HTTP {status}")
    if status not in (HTTP_FORBIDDEN, HTTP_TOO_MANY):
        return
    headers = response.headers
    if (after := _retry_after(headers)) is not None:
        raise Limited(after, "it asks us to wait")
    if headers.get("x-ratelimit-remaining") == "0":
        if (reset := _reset(headers)) is not None:
            raise Limited(reset, "the limit of requests an hour is used up")
        raise Limited(None, "the limit of requests an hour is used up")
    if status == HTTP_TOO_MANY or _LIMIT_WORDS.search(response.text[:4096]):
        raise Limited(None, "too many requests in a short time")


def _retry_after(headers: httpx.Headers) -> float | None:
    """Read seconds or a date; by GitHub's own clock, since ours may be wrong."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text), FOREVER)
    return _until(text, headers)


def _reset(headers: httpx.Headers) -> float | None:
    text = headers.get("x-ratelimit-reset", "").strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 12):  # noqa: PLR2004  a year 33,000
        return None
    return int(text) - _server_time(headers)


def _until(text: str, headers: httpx.Headers) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() - _server_time(headers)
    except ValueError:
        return None


def _server_time(headers: httpx.Headers) -> float:
    try:
        return parsedate_to_datetime(headers.get("date", "")).timestamp()
    except ValueError:
        return time.time()
