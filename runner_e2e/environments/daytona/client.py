"""Daytona's API over httpx: the few calls that are needed, each bounded and interruptible.

The official client is not used: see ``docs/decisions/0021-a-client-of-our-own-for-daytona.md``.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx
from pydantic import ValidationError

from runner_e2e.contracts.base import Document
from runner_e2e.environments.daytona.account import DaytonaAccount
from runner_e2e.environments.daytona.documents import Sandbox, SandboxOrder, SandboxPage
from runner_e2e.environments.daytona.errors import bad_answer, broken, refused
from runner_e2e.failures import ExecutionError, TransientInfrastructure
from runner_e2e.flows.deadline import CancelToken, first_readable

D = TypeVar("D", bound=Document)
T = TypeVar("T")

NOT_FOUND = 404
PAGE_SIZE = 100
MAX_PAGES = 1000
MAX_ANSWER_BYTES = 16 * 1024 * 1024
_TRIES = 3
_RETRIED = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long things may take, in seconds."""

    request: float = 30.0
    create: float = 120.0
    """The answer to a create, which may wait for a machine."""
    start: float = 300.0
    """From the answer until the sandbox runs."""
    delete: float = 120.0
    """Until a deleted sandbox is really gone."""
    poll: float = 1.0
    retry: float = 0.5
    """The first wait before something harmless is asked again."""
    lost: float = 30.0
    """How long a sandbox may be silent before it counts as lost."""
    grace: float = 5.0
    """How long an agent may take to obey SIGTERM."""
    cancelled: float = 2.0
    """What may be waited for, all in all, once a signal ends the harness."""


@dataclass(slots=True, kw_only=True)
class DaytonaClient:
    """An account's sandboxes. With ``cancel``, a cancellation ends every wait at once."""

    account: DaytonaAccount
    pace: Pace = field(default_factory=Pace)
    cancel: CancelToken | None = None
    http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        # Redirects are not followed, since the key would go with them.
        self.http = httpx.Client(
            headers={"Authorization": f"Bearer {self.account.api_key}"},
            timeout=self.pace.request,
            trust_env=True,
        )

    def close(self) -> None:
        """Give the connections up."""
        self.http.close()

    def create(self, order: SandboxOrder, *, late: Callable[[Sandbox], None]) -> Sandbox:
        """Ask for a sandbox, once: a failed call may have made one all the same.

        ``late`` receives one that was made after a cancellation had ended the wait.
        """
        doing = "create a sandbox"

        def send() -> Sandbox:
            response = self._send(
                "POST",
                f"{self.account.api_url}/sandbox",
                doing,
                json=order.document(),
                timeout=self.pace.create,
            )
            return self.read(Sandbox, response, doing)

        return self.interruptible(send, late=late)

    def get(self, sandbox_id: str) -> Sandbox | None:
        """Look at a sandbox; ``None`` where there is none any more."""
        doing = f"look at sandbox {sandbox_id}"
        response = self.repeated("GET", self._url(sandbox_id), doing, missing=True)
        if response.status_code == NOT_FOUND:
            return None
        return self.read(Sandbox, response, doing)

    def delete(self, sandbox_id: str) -> None:
        """Ask for a sandbox's end; that it is gone already is fine. Also after a cancellation."""
        doing = f"delete sandbox {sandbox_id}"
        self.repeated("DELETE", self._url(sandbox_id), doing, missing=True, urgent=True)

    def find(self, labels: Mapping[str, str]) -> Iterator[Sandbox]:
        """Every sandbox with these labels, as the server says. Also after a cancellation.

        Labels of the answer are for the caller to check again: a server that ignored the filter
        would have us delete what is not ours.
        """
        doing = "list sandboxes"
        url = f"{self.account.api_url}/sandbox"
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            query = {"labels": json.dumps(dict(labels)), "limit": str(PAGE_SIZE)}
            if cursor is not None:
                query["cursor"] = cursor
            response = self.repeated("GET", url, doing, params=query, urgent=True)
            page = self.read(SandboxPage, response, doing)
            yield from page.items
            cursor = page.next_cursor
            if not cursor:
                return
        raise bad_answer(doing, f"there are more than {MAX_PAGES} pages")

    def read(self, kind: type[D], response: httpx.Response, doing: str) -> D:
        """Read an answer. Raises transient infrastructure ``bad_answer``."""
        try:
            return kind.model_validate_json(response.content)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"])) or "the document"
            raise bad_answer(doing, f"{place}: {first['type']}") from None

    def repeated(
        self,
        method: str,
        url: str,
        doing: str,
        *,
        missing: bool = False,
        urgent: bool = False,
        **options: Any,
    ) -> httpx.Response:
        """Send what may be sent again, at most three times.

        With ``missing`` a 404 is an answer; with ``urgent`` it is sent in spite of a cancellation.
        """
        wait = self.pace.retry
        for last in (False,) * (_TRIES - 1) + (True,):
            try:
                if urgent:
                    return self._send(method, url, doing, missing=missing, **options)
                return self.interruptible(
                    lambda: self._send(method, url, doing, missing=missing, **options)
                )
            except ExecutionError as error:
                pause = max(wait, error.retry_after or 0.0)
                worth = error.failure_class == "transient_infrastructure" and not self._stopped
                if last or not worth or error.code == "interrupted" or pause > self.pace.request:
                    raise
                self.sleep(pause)
                wait *= 2
        raise AssertionError("the last try returns or raises")

    def _send(
        self, method: str, url: str, doing: str, *, missing: bool = False, **options: Any
    ) -> httpx.Response:
        if self._stopped:
            options["timeout"] = self.pace.cancelled
        try:
            response = self.http.request(method, url, **options)
        except httpx.HTTPError as error:
            raise broken(error, doing) from error
        if response.is_success or (missing and response.status_code == NOT_FOUND):
            return response
        raise refused(response, doing)

    def _url(self, sandbox_id: str) -> str:
        return f"{self.account.api_url}/sandbox/{sandbox_id}"

    @property
    def _stopped(self) -> bool:
        return self.cancel is not None and self.cancel.cancelled

    def sleep(self, seconds: float) -> None:
        """Wait, or not if somebody cancels."""
        if self.cancel is None:
            time.sleep(seconds)
        else:
            self.cancel.wait(seconds)

    def background(self, call: Callable[[], object]) -> None:
        """Do something that nobody waits for, and whose failure changes nothing."""

        def run() -> None:
            with suppress(ExecutionError):
                call()

        threading.Thread(target=run, name="runner-e2e-daytona", daemon=True).start()

    def interruptible(
        self, call: Callable[[], T], *, late: Callable[[T], None] = lambda _: None
    ) -> T:
        """Return what ``call`` returns, or raise ``interrupted`` as soon as somebody cancels.

        The call itself goes on in its thread; what it then still returns goes to ``late``.
        """
        if self.cancel is None:
            return call()
        task = _Task(call=call, late=late)
        thread = threading.Thread(target=task.run, name="runner-e2e-daytona", daemon=True)
        thread.start()
        first_readable([self.cancel, task.done], None)
        value: T = task.outcome()
        return value


@dataclass(slots=True, kw_only=True)
class _Task:
    """A call in a thread of its own."""

    call: Callable[[], Any]
    late: Callable[[Any], None]
    done: CancelToken = field(default_factory=CancelToken)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _finished: bool = False
    _given_up: bool = False
    _value: Any = None
    _error: BaseException | None = None

    def run(self) -> None:
        try:
            value, error = self.call(), None
        except Exception as caught:  # noqa: BLE001 - it is raised where it is waited for
            value, error = None, caught
        with self._lock:
            self._value, self._error, self._finished = value, error, True
            given_up = self._given_up
        if given_up and error is None:
            with suppress(ExecutionError):  # a sweep finds what it could not see to
                self.late(value)
        self.done.cancel()

    def outcome(self) -> Any:
        with self._lock:
            if not self._finished:
                self._given_up = True
                raise TransientInfrastructure("interrupted", "a signal ended the execution")
        if self._error is not None:
            raise self._error
        return self._value
