"""Every row of the tables of third-party failures, and where ours differs on purpose."""

from __future__ import annotations

import errno
import socket
import ssl
import subprocess

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.contracts.vocabulary import FailureClass
from runner_e2e.errors import Interrupted, UsageError
from runner_e2e.failures import (
    CandidateFailure,
    InfrastructureText,
    SecretLeak,
    class_of_exception,
    classify_http,
    classify_text,
    failure_of,
)
from runner_e2e.failures.infrastructure import TRANSIENT_ERRNOS

TRANSIENT = "transient_infrastructure"
PERMANENT = "permanent_infrastructure"


def text_class(text: str) -> str | None:
    verdict = classify_text(InfrastructureText(text))
    return verdict[0] if verdict else None


@pytest.mark.parametrize(
    "text",
    [
        "browser bootstrap failed before task creation",
        "browser bootstrap failed: New Task button timed out after a Vite 504",
        "HTTP 429",
        "got 503 from upstream",
        "rate limit reached",
        "rate-limited",
        "read ECONNRESET",
        "connect ECONNREFUSED 127.0.0.1:3100",
        "socket hang up",
        "network error",
        "network interruption",
        "network timeout",
        "Service Unavailable",
        "Daytona preview connection timed out",
        "provider request timed out during generation",
        "ECONNRESET during a poll",
        "runner_ingress_unavailable while reading the cursor",
        "Daytona lease release: provider returned 503",
        "RPC call environmentSyncIn timed out after 330000ms",
        "RPC call environmentSyncOut timed out after 330000ms",
        "timeout while waiting for the sandbox",
        *(
            f"the {actor} {trouble}"
            for actor in (
                *("provider", "server", "bootstrap", "browser", "webserver", "health", "daytona"),
                *("sandbox", "ingress", "preview", "connection", "harness"),
            )
            for trouble in (
                *("is temporarily away", "timed out", "time out", "timeout", "closed", "failed"),
                *("unavailable", "interrupted", "reset", "refused", "could not create"),
                *("did not start", "cannot connect"),
            )
        ),
    ],
)
def test_third_party_trouble_that_passes_is_transient(text: str) -> None:
    assert text_class(text) == TRANSIENT


@pytest.mark.parametrize(
    "text",
    [
        "missing credential OPENAI_API_KEY",
        "missing fixture secret reference",
        "invalid provider credential",
        "invalid API key",
        "401 Unauthorized",
        "Forbidden",
        "model qualification is absent",
        "the model is unsupported",
        "model x incompatible with this adapter",
        "artifact is incompatible",
        "runner_remote_pack incompatible",
        "runner_remote_pack unavailable",
        "not an immutable image digest",
    ],
)
def test_third_party_trouble_that_stays_is_permanent(text: str) -> None:
    assert text_class(text) == PERMANENT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "timed out waiting for issue X and heartbeat run terminal state",
        "RPC call run.attach timed out",
        "marker matcher failed",
        "run count mismatch",
        "wrong plan step count",
        "5030 tokens",
        "observed 1512 words",
    ],
)
def test_a_text_without_a_known_trouble_has_no_class_of_its_own(text: str) -> None:
    assert text_class(text) is None


def test_a_rule_never_reaches_across_lines() -> None:
    assert text_class("the provider\nhas answered; the door is closed") is None


def test_unlike_the_reference_no_text_can_claim_a_leak_or_a_failed_cleanup() -> None:
    assert text_class("secret leak in final.log") is None
    assert text_class("cleanup invariant failure") is None
    assert text_class("teardown left a lease, release it") is None


def test_unlike_the_reference_a_failed_cleanup_is_classed_by_the_error_that_was_raised() -> None:
    assert class_of_exception(SecretLeak("leak", "in a file"))[0] == "secret_leak"


@pytest.mark.parametrize(
    "text",
    [
        "Budget has been exceeded! Current cost: 10.0",
        "You exceeded your current quota, please check your plan",
        "insufficient_quota",
        "Your credit balance is too low",
        "This key is over its spend limit",
    ],
)
def test_a_key_over_its_budget_is_permanent_whatever_the_status(text: str) -> None:
    assert classify_text(InfrastructureText(text)) == (PERMANENT, "budget_exhausted")
    for status in (400, 402, 403, 429, 500):
        verdict = classify_http(status, InfrastructureText(text))
        assert verdict == (PERMANENT, "budget_exhausted")


@pytest.mark.parametrize(
    ("status", "failure_class"),
    [
        *((status, TRANSIENT) for status in (408, 409, 423, 425, 429, 500, 502, 503, 504, 529)),
        *((status, PERMANENT) for status in (400, 401, 402, 403, 404, 410, 422, 501, 505)),
    ],
)
def test_an_http_answer_is_classed_by_its_status(status: int, failure_class: FailureClass) -> None:
    assert classify_http(status, InfrastructureText(""))[0] == failure_class


def test_a_long_line_of_actors_does_not_take_the_square_of_its_length() -> None:
    assert text_class("server " * 150_000) is None


@pytest.mark.parametrize("number", sorted(errno.errorcode))
def test_every_operating_system_error_has_a_class_and_its_name_as_code(number: int) -> None:
    error = OSError(number, "x")
    expected = (
        (TRANSIENT if number in TRANSIENT_ERRNOS else PERMANENT),
        ("timeout" if isinstance(error, TimeoutError) else errno.errorcode[number].lower()),
    )
    assert class_of_exception(error) == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ConnectionResetError(errno.ECONNRESET, "x"), (TRANSIENT, "econnreset")),
        (ConnectionError("no number"), (TRANSIENT, "connection_lost")),
        (OSError("no number"), (PERMANENT, "os_error")),
        (OSError(99_999, "strange"), (PERMANENT, "os_error")),
        (OSError(errno.ENOSPC, "full"), (PERMANENT, "enospc")),
        (socket.gaierror(socket.EAI_NONAME, "unknown"), (TRANSIENT, "name_resolution")),
        (TimeoutError(), (TRANSIENT, "timeout")),
        (subprocess.TimeoutExpired("git", 3), (TRANSIENT, "timeout")),
        (ssl.SSLCertVerificationError(1, "expired"), (PERMANENT, "certificate_refused")),
        (ssl.SSLError(1, "closed"), (TRANSIENT, "connection_lost")),
        (EOFError(), (TRANSIENT, "connection_lost")),
        (MemoryError(), (TRANSIENT, "enomem")),
        (KeyboardInterrupt(), (TRANSIENT, "interrupted")),
        (Interrupted(15, "asked to stop"), (TRANSIENT, "interrupted")),
        (UsageError("no such path"), (PERMANENT, "usage")),
        (CandidateFailure("protocol_error", "line 3"), ("candidate_failure", "protocol_error")),
    ],
)
def test_an_exception_is_classed_by_its_type_and_number(
    error: BaseException, expected: tuple[FailureClass, str]
) -> None:
    assert class_of_exception(error) == expected


def test_unlike_the_reference_an_unknown_exception_is_never_the_candidates() -> None:
    assert class_of_exception(KeyError("server failed 503")) == (PERMANENT, "harness_bug")


def test_an_error_keeps_the_class_it_was_raised_from() -> None:
    error = RuntimeError("wrapped")
    error.__cause__ = CandidateFailure("deadline", "turn 1", retry_after=4)
    assert class_of_exception(error) == ("candidate_failure", "deadline")
    assert failure_of(error).retry_after == 4


def test_a_chain_of_causes_that_loops_ends() -> None:
    one, two = RuntimeError("one"), RuntimeError("two")
    one.__cause__, two.__cause__ = two, one
    assert class_of_exception(one) == (PERMANENT, "harness_bug")


def httpx_errors() -> list[type[Exception]]:
    """Everything that httpx can raise over a request."""
    found: list[type[Exception]] = []
    stack: list[type[Exception]] = [httpx.RequestError]
    while stack:
        kind = stack.pop()
        found.append(kind)
        stack.extend(kind.__subclasses__())
    return [kind for kind in found if kind.__module__.startswith("httpx")]


@pytest.mark.parametrize("kind", httpx_errors(), ids=lambda kind: kind.__name__)
def test_every_httpx_error_has_a_class(kind: type[Exception]) -> None:
    failure_class, code = class_of_exception(kind("x"))
    permanent = {
        httpx.UnsupportedProtocol: "harness_bug",
        httpx.LocalProtocolError: "harness_bug",
        httpx.TooManyRedirects: "request_refused",
        httpx.RequestError: "harness_bug",
    }
    if kind in permanent:
        assert (failure_class, code) == (PERMANENT, permanent[kind])
    else:
        assert failure_class == TRANSIENT
        assert code in {"timeout", "connection_lost", "bad_answer"}


def test_a_refused_certificate_under_httpx_is_permanent() -> None:
    error = httpx.ConnectError("x")
    error.__cause__ = ssl.SSLCertVerificationError(1, "self-signed")
    assert class_of_exception(error) == (PERMANENT, "certificate_refused")


@pytest.mark.parametrize(("status", "failure_class"), [(503, TRANSIENT), (404, PERMANENT)])
def test_an_http_status_error_is_classed_by_its_answer(
    status: int, failure_class: FailureClass
) -> None:
    request = httpx.Request("GET", "http://127.0.0.1/")
    response = httpx.Response(status, request=request, text="x")
    with pytest.raises(httpx.HTTPStatusError) as caught:
        response.raise_for_status()
    assert class_of_exception(caught.value)[0] == failure_class


def test_a_failure_without_words_is_named_by_its_type() -> None:
    assert failure_of(TimeoutError()).message == "TimeoutError"


TRIGGERS = (
    *("secret leak in final.log", "cleanup failed", "teardown", "lease release", "unauthorized"),
    *("HTTP 503", "429", "ECONNRESET", "the server failed", "provider timed out", "rate limit"),
    *("missing credential", "invalid api key", "immutable image digest", "model unsupported"),
    *("browser bootstrap failed before task creation", "Budget has been exceeded"),
)


@given(words=st.lists(st.sampled_from(TRIGGERS) | st.text(max_size=20), max_size=6))
def test_what_the_candidate_wrote_never_moves_a_class(words: list[str]) -> None:
    said = "\n".join(words)
    assert class_of_exception(CandidateFailure("matcher_failed", said))[0] == "candidate_failure"
    assert class_of_exception(SecretLeak("leak", said))[0] == "secret_leak"
    assert class_of_exception(RuntimeError(said)) == (PERMANENT, "harness_bug")
    assert class_of_exception(OSError(errno.ECONNRESET, said)) == (TRANSIENT, "econnreset")
