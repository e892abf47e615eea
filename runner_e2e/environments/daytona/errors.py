"""What went wrong at Daytona, as errors with a class.

No message repeats an answer: a server may echo what it was sent.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from runner_e2e.failures import (
    ExecutionError,
    InfrastructureText,
    PermanentInfrastructure,
    TransientInfrastructure,
    class_of_exception,
    classify_http,
)

MAX_BODY = 65_536
_QUOTA = re.compile(
    r"(?:quota|limit) (?:has been )?(?:exceeded|reached)|exceeds? (?:the |your )?(?:\w+ )?quota"
    r"|quota exceeded|total (?:cpu|memory|disk|gpu) (?:limit|quota)",
    re.IGNORECASE,
)
_HINTS = {
    "credential_refused": "check DAYTONA_API_KEY and what it may do: runner-e2e doctor says more",
    "sandbox_quota": "other sandboxes of the organization must end first: runner-e2e sweep",
    "budget_exhausted": "the organization has to be topped up",
}


def refused(response: httpx.Response, doing: str) -> ExecutionError:
    """The error of an answer that is no success. ``doing`` says what was asked for."""
    body = InfrastructureText(response.text[:MAX_BODY])
    said = f"Daytona answered {response.status_code} to {doing}"
    failure_class, code = classify_http(response.status_code, body)
    if code in {"credential_refused", "request_refused", "rate_limited"} and _QUOTA.search(body):
        failure_class, code = "transient_infrastructure", "sandbox_quota"
    return _error(failure_class, code, said, retry_after(response))


def broken(error: Exception, doing: str) -> ExecutionError:
    """The error of a request that got no answer."""
    failure_class, code = class_of_exception(error)
    name = type(error).__name__
    return _error(failure_class, code, f"Daytona was not reached to {doing}: {name}", None)


def bad_answer(doing: str, reason: str) -> ExecutionError:
    """The error of an answer that makes no sense."""
    return TransientInfrastructure("bad_answer", f"Daytona's answer to {doing} is wrong: {reason}")


def _error(failure_class: str, code: str, said: str, wait: float | None) -> ExecutionError:
    hint = _HINTS.get(code)
    if failure_class == "transient_infrastructure":
        return TransientInfrastructure(code, said, hint=hint, retry_after=wait)
    return PermanentInfrastructure(code, said, hint=hint)


def retry_after(response: httpx.Response) -> float | None:
    """What the server asks to wait, in seconds: a number, or a date."""
    value = response.headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
