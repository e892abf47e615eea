"""Every way in which Daytona can fail has a class."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import httpx
import pytest

from runner_e2e.contracts.vocabulary import FAILURE_CLASSES
from runner_e2e.environments.daytona import DaytonaAccount, DaytonaClient, Pace
from runner_e2e.environments.daytona.errors import broken, refused
from runner_e2e.failures import ExecutionError
from tests.support.fake_daytona import FakeDaytona, Fault, fake_daytona

TRANSIENT = {408, 409, 423, 425, 429}
PERMANENT_5XX = {501, 505}

REQUEST = httpx.Request("GET", "http://127.0.0.1/")


def errors_of_httpx() -> list[type[Exception]]:
    found = [
        kind
        for _, kind in inspect.getmembers(httpx, inspect.isclass)
        if issubclass(kind, Exception)
    ]
    assert len(found) > 25
    return found


def an_error(kind: type[Exception]) -> Exception:
    if kind is httpx.HTTPStatusError:
        response = httpx.Response(503, request=REQUEST, text="")
        return httpx.HTTPStatusError("x", request=REQUEST, response=response)
    parameters = inspect.signature(kind.__init__).parameters
    return kind(*["x" for name in parameters if name == "message"])


@pytest.mark.parametrize("kind", errors_of_httpx(), ids=lambda kind: kind.__name__)
def test_every_exception_of_httpx_has_a_class_and_a_code(kind: type[Exception]) -> None:
    error = broken(an_error(kind), "look")
    assert error.failure_class in {"transient_infrastructure", "permanent_infrastructure"}
    assert error.code
    if issubclass(kind, httpx.TimeoutException):
        assert (error.failure_class, error.code) == ("transient_infrastructure", "timeout")
    if issubclass(kind, httpx.NetworkError):
        assert (error.failure_class, error.code) == ("transient_infrastructure", "connection_lost")


@pytest.mark.parametrize("status", [*range(300, 512), 520, 522, 524, 529, 599])
def test_every_status_has_a_class(status: int) -> None:
    error = refused(httpx.Response(status, text="no", request=REQUEST), "look")
    assert error.failure_class in FAILURE_CLASSES
    expected = status in TRANSIENT or (status >= 500 and status not in PERMANENT_5XX)
    assert (error.failure_class == "transient_infrastructure") == expected


@pytest.mark.parametrize(
    "message",
    [
        "Total CPU limit exceeded. Maximum allowed: 10.",
        "Total memory quota exceeded",
        "Organization quota has been exceeded",
    ],
)
@pytest.mark.parametrize("status", [400, 403, 429])
def test_a_quota_may_be_free_again(status: int, message: str) -> None:
    error = refused(httpx.Response(status, json={"message": message}, request=REQUEST), "create")
    assert (error.failure_class, error.code) == ("transient_infrastructure", "sandbox_quota")


def test_a_spend_cap_is_no_quota() -> None:
    text = "Budget has been exceeded"
    error = refused(httpx.Response(400, text=text, request=REQUEST), "create")
    assert (error.failure_class, error.code) == ("permanent_infrastructure", "budget_exhausted")


@pytest.mark.parametrize(
    ("value", "seconds"), [("7", 7.0), ("soon", None), ("", None), ("-3", None)]
)
def test_what_the_server_asks_to_wait_is_kept(value: str, seconds: float | None) -> None:
    response = httpx.Response(429, headers={"Retry-After": value}, request=REQUEST)
    assert refused(response, "create").retry_after == seconds


def test_a_date_says_how_long_to_wait() -> None:
    past = {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}
    assert refused(httpx.Response(429, headers=past, request=REQUEST), "x").retry_after == 0.0


def test_no_message_repeats_what_the_server_echoed() -> None:
    response = httpx.Response(422, json={"env": {"KEY": "planted-secret"}}, request=REQUEST)
    error = refused(response, "create a sandbox")
    assert "planted" not in f"{error.message} {error.hint}"


@pytest.fixture
def daytona() -> Iterator[FakeDaytona]:
    with fake_daytona() as fake:
        yield fake


@pytest.fixture
def client(daytona: FakeDaytona) -> Iterator[DaytonaClient]:
    account = DaytonaAccount.from_environ(daytona.environ)
    quick = DaytonaClient(account=account, pace=Pace(retry=0.01, poll=0.01))
    yield quick
    quick.close()


def test_what_changes_nothing_is_asked_three_times(
    daytona: FakeDaytona, client: DaytonaClient
) -> None:
    daytona.fail("list", *[Fault(status=502)] * 3)
    with pytest.raises(ExecutionError) as caught:
        list(client.find({}))
    assert caught.value.code == "provider_unavailable"
    assert len(daytona.calls) == 3


def test_what_is_refused_for_good_is_asked_once(
    daytona: FakeDaytona, client: DaytonaClient
) -> None:
    daytona.fail("list", Fault(status=403))
    with pytest.raises(ExecutionError) as caught:
        list(client.find({}))
    assert caught.value.code == "credential_refused"
    assert len(daytona.calls) == 1


def test_an_answer_without_sense_is_named_without_being_repeated(
    daytona: FakeDaytona, client: DaytonaClient
) -> None:
    made = daytona.create({"cpu": 1, "memory": 1, "disk": 1})
    daytona.living[0].document["cpu"] = "planted"
    with pytest.raises(ExecutionError) as caught:
        client.get(made["id"])
    assert caught.value.code == "bad_answer"
    assert "planted" not in caught.value.message


def test_a_key_never_follows_a_redirect(daytona: FakeDaytona, client: DaytonaClient) -> None:
    daytona.fail("list", Fault(status=302, headers={"Location": "http://127.0.0.1:1/"}))
    with pytest.raises(ExecutionError) as caught:
        list(client.find({}))
    assert caught.value.failure_class == "permanent_infrastructure"


def test_a_daytona_where_nothing_listens_may_be_back_in_a_minute() -> None:
    account = DaytonaAccount(api_key="k", api_url="http://127.0.0.1:9/api")
    nobody = DaytonaClient(account=account, pace=Pace(retry=0.01))
    with pytest.raises(ExecutionError) as caught:
        nobody.get("x")
    assert caught.value.failure_class == "transient_infrastructure"
    assert caught.value.code in {"connection_lost", "econnrefused"}
    nobody.close()


def test_a_key_is_in_no_repr() -> None:
    assert "dtn_" not in repr(DaytonaAccount(api_key="dtn_0123456789"))
