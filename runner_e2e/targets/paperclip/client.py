"""Calls to one Paperclip server over HTTP, as its local board user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
import orjson
from pydantic import TypeAdapter, ValidationError

from runner_e2e.failures import (
    ExecutionError,
    InfrastructureText,
    PermanentInfrastructure,
    TransientInfrastructure,
    class_of_exception,
    classify_http,
)

T = TypeVar("T")

CALL_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The body of a successful answer."""

    call: str
    content: bytes

    @property
    def json(self) -> Any:
        """The body as it is, for evidence and the JSON matchers."""
        try:
            return orjson.loads(self.content)
        except orjson.JSONDecodeError:
            raise self._unreadable() from None

    def read(self, kind: TypeAdapter[T]) -> T:
        """The body as a typed value."""
        try:
            return kind.validate_json(self.content)
        except ValidationError:
            raise self._unreadable() from None

    def _unreadable(self) -> PermanentInfrastructure:
        # The body is not quoted: parts of it are the agent's.
        return PermanentInfrastructure(
            "unexpected_answer",
            f"Paperclip's answer to {self.call} is not what this version is known to give",
            hint="pin a version of paperclipai that this target was measured with",
        )


class Refused(Exception):
    """Paperclip said no. ``status`` is its HTTP status."""

    def __init__(self, call: str, status: int) -> None:
        super().__init__(f"Paperclip answered {call} with {status}")
        self.status = status


class Client:
    """A connection to one server. Several threads may use it at once."""

    def __init__(self, base_url: str) -> None:
        self._http = httpx.Client(base_url=f"{base_url}/api", timeout=CALL_S, trust_env=False)

    def close(self) -> None:
        """Drop the connections."""
        self._http.close()

    def get(self, path: str, **query: str | int) -> Answer:
        """Read something."""
        return self._call("GET", path, params=query)

    def post(self, path: str, body: Any = None, *, timeout: float = CALL_S) -> Answer:
        """Create or do something. The body may hold a secret, so it is in no message."""
        return self._call("POST", path, json=body if body is not None else {}, timeout=timeout)

    def patch(self, path: str, body: Any, *, timeout: float = CALL_S) -> Answer:
        """Change something."""
        return self._call("PATCH", path, json=body, timeout=timeout)

    def delete(self, path: str) -> Answer:
        """Delete something."""
        return self._call("DELETE", path)

    def _call(self, method: str, path: str, **options: Any) -> Answer:
        call = f"{method} {_shape(path)}"
        try:
            response = self._http.request(method, path, **options)
        except httpx.HTTPError as error:
            failure_class, code = class_of_exception(error)
            raise _of_class(failure_class)(
                code, f"{call} failed: {type(error).__name__}"
            ) from error
        if response.is_success:
            return Answer(call=call, content=response.content)
        raise refusal(call, response.status_code) from Refused(call, response.status_code)


def refusal(call: str, status: int) -> ExecutionError:
    """The failure that an answer means. What the server says of it may quote the agent."""
    failure_class, code = classify_http(status, InfrastructureText(""))
    return _of_class(failure_class)(code, f"Paperclip answered {call} with {status}")


def refused_with(error: ExecutionError) -> int | None:
    """The HTTP status that a failure came from, ``None`` where it did not come from one."""
    cause = error.__cause__
    return cause.status if isinstance(cause, Refused) else None


def _of_class(failure_class: str) -> type[ExecutionError]:
    transient = failure_class == TransientInfrastructure.failure_class
    return TransientInfrastructure if transient else PermanentInfrastructure


def _shape(path: str) -> str:
    """A path without its ids, so that equal failures read the same."""
    parts = [
        ":id" if "-" in part and any(map(str.isdigit, part)) else part for part in path.split("/")
    ]
    return "/".join(parts)
