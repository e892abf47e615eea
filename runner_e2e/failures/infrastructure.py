"""Class and code of what third parties raise: the operating system, HTTP, their own words.

Nothing here may see what the candidate wrote. Exceptions are told apart by their type and
number; words are read only from text that the caller vouches for with :data:`InfrastructureText`.
"""

from __future__ import annotations

import errno
import re
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from typing import NewType

from runner_e2e.contracts.vocabulary import FailureClass
from runner_e2e.errors import Interrupted, RunnerE2EError
from runner_e2e.failures.classes import ExecutionError, Failure

InfrastructureText = NewType("InfrastructureText", str)
"""Text that a provider, a server or the operating system wrote, and no agent could have."""

Verdict = tuple[FailureClass, str]

TRANSIENT: FailureClass = "transient_infrastructure"
PERMANENT: FailureClass = "permanent_infrastructure"

TRANSIENT_ERRNOS = frozenset(
    {
        errno.ECONNRESET,
        errno.ECONNREFUSED,
        errno.ECONNABORTED,
        errno.EPIPE,
        errno.ETIMEDOUT,
        errno.EHOSTUNREACH,
        errno.EHOSTDOWN,
        errno.ENETUNREACH,
        errno.ENETDOWN,
        errno.ENETRESET,
        errno.EADDRINUSE,
        errno.EADDRNOTAVAIL,
        errno.EAGAIN,
        errno.EBUSY,
        errno.EINTR,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOBUFS,
        errno.ENOMEM,
        errno.ESTALE,
        errno.ETXTBSY,
    }
)
"""Another try may work: the network, or a resource of the machine that comes back."""

BUDGET = re.compile(
    r"budget has been exceeded|insufficient[_ ]quota|exceeded your current quota"
    r"|credit balance is too low|insufficient credits|spend(ing)? (cap|limit)|payment required",
    re.IGNORECASE,
)
"""A key over its spend cap. Providers say so under 400, 402, 403 and 429 alike."""

_ACTORS = (
    r"provider|server|bootstrap|browser|webserver|health|daytona|sandbox|ingress|preview"
    r"|connection|harness"
)
_TROUBLE = (
    r"temporar|timed out|time out|timeout|closed|failed|unavailable|interrupt|reset|refused"
    r"|create|start|connect"
)
_TRANSIENT_TEXT = (
    r"\b(?:429|5\d\d)\b|rate.?limit|ECONNRESET|ECONNREFUSED|socket hang up"
    r"|network (?:error|interruption|timeout)|service unavailable"
    rf"|(?:{_ACTORS}).*(?:{_TROUBLE})|(?:timed out|timeout).*(?:{_ACTORS})"
    r"|RPC call environmentSync(?:In|Out) timed out"
)

_CREDENTIAL_TEXT = (
    r"missing (?:credential|fixture secret)|invalid.*(?:credential|api key)|unauthorized|forbidden"
)
_INCOMPATIBLE_TEXT = (
    r"qualification|model.*(?:unsupported|incompatible)|artifact.*incompatible"
    r"|runner_remote_.*(?:incompatible|unavailable)|immutable image digest"
)

TEXT_RULES: tuple[tuple[re.Pattern[str], Verdict], ...] = (
    (
        re.compile(r"browser bootstrap failed before task creation", re.IGNORECASE),
        (TRANSIENT, "bootstrap_failed"),
    ),
    (BUDGET, (PERMANENT, "budget_exhausted")),
    (re.compile(_CREDENTIAL_TEXT, re.IGNORECASE), (PERMANENT, "credential_refused")),
    (re.compile(_INCOMPATIBLE_TEXT, re.IGNORECASE), (PERMANENT, "incompatible")),
    (re.compile(_TRANSIENT_TEXT, re.IGNORECASE), (TRANSIENT, "provider_unavailable")),
)
"""First match wins. There is no rule for leaks or cleanup: our own errors say those."""

MAX_TEXT = 1_048_576
MAX_LINE = 8_192


def classify_text(text: InfrastructureText) -> Verdict | None:
    """Read third-party text: its class and code, or ``None`` where it names nothing we know.

    Looks at the last 1 MiB and the first 8 KiB of each line: a rule takes time with the square of
    a line's length.
    """
    lines = [line[:MAX_LINE] for line in text[-MAX_TEXT:].splitlines()]
    for pattern, verdict in TEXT_RULES:
        if any(pattern.search(line) for line in lines):
            return verdict
    return None


FIRST_SERVER_ERROR = 500

HTTP_CODES: dict[int, Verdict] = {
    401: (PERMANENT, "credential_refused"),
    402: (PERMANENT, "budget_exhausted"),
    403: (PERMANENT, "credential_refused"),
    408: (TRANSIENT, "timeout"),
    409: (TRANSIENT, "conflict"),
    423: (TRANSIENT, "conflict"),
    425: (TRANSIENT, "provider_unavailable"),
    429: (TRANSIENT, "rate_limited"),
    501: (PERMANENT, "request_refused"),
    505: (PERMANENT, "request_refused"),
}


def classify_http(status: int, body: InfrastructureText) -> Verdict:
    """Class and code of an HTTP answer that is not a success, by its status.

    The body decides one thing only: a spend cap, which no retry mends.
    """
    if BUDGET.search(body[:MAX_TEXT]):
        return PERMANENT, "budget_exhausted"
    if status in HTTP_CODES:
        return HTTP_CODES[status]
    if status >= FIRST_SERVER_ERROR:
        return TRANSIENT, "provider_unavailable"
    return PERMANENT, "request_refused"


def class_of_exception(error: BaseException) -> Verdict:
    """Class and code of anything that was raised while an execution ran.

    What we do not know is a bug of the harness (``harness_bug``): it must not be booked as the
    candidate's, and a second attempt would meet it again.
    """
    for known in _chain(error):
        if isinstance(known, ExecutionError):
            return known.failure_class, known.code
    return _of_httpx(error) or _of_standard_library(error)


def failure_of(error: BaseException) -> Failure:
    """Turn anything that was raised into the failure it is, keeping its words."""
    failure_class, code = class_of_exception(error)
    known = next((link for link in _chain(error) if isinstance(link, ExecutionError)), None)
    return Failure(
        failure_class=failure_class,
        code=code,
        message=str(error) or type(error).__name__,
        retry_after=known.retry_after if known else None,
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and what it was raised from; a chain may loop, so each is seen once."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__


_STANDARD_LIBRARY: tuple[tuple[type[BaseException], Verdict], ...] = (
    (KeyboardInterrupt, (TRANSIENT, "interrupted")),
    (Interrupted, (TRANSIENT, "interrupted")),
    (TimeoutError, (TRANSIENT, "timeout")),
    (subprocess.TimeoutExpired, (TRANSIENT, "timeout")),
    (ssl.SSLCertVerificationError, (PERMANENT, "certificate_refused")),
    (ssl.SSLError, (TRANSIENT, "connection_lost")),
    (EOFError, (TRANSIENT, "connection_lost")),
    # A name that does not exist and a resolver that is down for a minute look the same.
    (socket.gaierror, (TRANSIENT, "name_resolution")),
    (MemoryError, (TRANSIENT, "enomem")),
)


def _of_standard_library(error: BaseException) -> Verdict:
    for kind, verdict in _STANDARD_LIBRARY:
        if isinstance(error, kind):
            return verdict
    if isinstance(error, RunnerE2EError):
        return PERMANENT, error.kind
    return _of_errno(error) if isinstance(error, OSError) else (PERMANENT, "harness_bug")


def _of_errno(error: OSError) -> Verdict:
    if error.errno is None:
        lost = isinstance(error, ConnectionError)
        return (TRANSIENT, "connection_lost") if lost else (PERMANENT, "os_error")
    code = errno.errorcode.get(error.errno, "os_error").lower()
    return (TRANSIENT if error.errno in TRANSIENT_ERRNOS else PERMANENT), code


_HTTPX: tuple[tuple[str, Verdict], ...] = (
    ("TimeoutException", (TRANSIENT, "timeout")),
    ("UnsupportedProtocol", (PERMANENT, "harness_bug")),
    ("LocalProtocolError", (PERMANENT, "harness_bug")),
    ("TransportError", (TRANSIENT, "connection_lost")),
    ("DecodingError", (TRANSIENT, "bad_answer")),
    ("TooManyRedirects", (PERMANENT, "request_refused")),
)
"""By the name in httpx, the narrow before the wide."""


def _of_httpx(error: BaseException) -> Verdict | None:
    """Class and code of an httpx error. Whoever raised one has imported httpx, so we need not."""
    httpx = sys.modules.get("httpx")
    if httpx is None:
        return None
    if isinstance(error, httpx.HTTPStatusError):
        body = error.response.text if error.response.is_closed else ""
        return classify_http(error.response.status_code, InfrastructureText(body))
    if any(isinstance(link, ssl.SSLCertVerificationError) for link in _chain(error)):
        return PERMANENT, "certificate_refused"
    for name, verdict in _HTTPX:
        if isinstance(error, getattr(httpx, name)):
            return verdict
    return None
