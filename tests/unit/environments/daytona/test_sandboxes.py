"""Making and deleting sandboxes, where the waits are too long for a whole execution."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from runner_e2e.contracts.catalog import DaytonaOptions
from runner_e2e.environments.daytona import (
    DaytonaAccount,
    DaytonaClient,
    Pace,
    Sandboxes,
    sweep_sandboxes,
)
from runner_e2e.environments.daytona.toolbox import Toolbox
from runner_e2e.failures import ExecutionError
from runner_e2e.flows import CancelToken
from tests.support.daytona_models import check_documents
from tests.support.fake_daytona import IMAGE, FakeDaytona, Fault, fake_daytona

TOKEN = "0" * 32
QUICK = Pace(poll=0.01, retry=0.01, start=0.2, delete=0.2)


@pytest.fixture
def daytona() -> Iterator[FakeDaytona]:
    with fake_daytona() as fake:
        yield fake
        check_documents(fake.documents)


class Make:
    """Makes the sandboxes of an attempt, and closes their clients."""

    def __init__(self, daytona: FakeDaytona) -> None:
        self.account = DaytonaAccount.from_environ(daytona.environ)
        self.clients: list[DaytonaClient] = []

    def __call__(
        self, *, cancel: CancelToken | None = None, options: DaytonaOptions | None = None
    ) -> Sandboxes:
        client = DaytonaClient(account=self.account, pace=QUICK, cancel=cancel)
        self.clients.append(client)
        return Sandboxes(
            client=client,
            token=TOKEN,
            execution_id="suite.profile.daytona.case",
            image=IMAGE,
            options=options or DaytonaOptions(),
            attempt_ms=60_000,
            note=lambda *_: None,
        )


@pytest.fixture
def sandboxes(daytona: FakeDaytona) -> Iterator[Make]:
    make = Make(daytona)
    yield make
    for client in make.clients:
        client.close()


def test_a_sandbox_that_is_stuck_deleting_is_named_after_a_bounded_wait(
    daytona: FakeDaytona, sandboxes: Make
) -> None:
    ours = sandboxes()
    held = ours.create()
    daytona.stuck_deleting = True
    (problem,) = ours.close()
    assert problem == f"sandbox {held.sandbox.id} is still destroying after 0 s"
    assert held.released_at is None
    daytona.stuck_deleting = False
    daytona.destroy(daytona.living[0])


def test_a_sandbox_that_never_starts_is_given_up_and_deleted(
    daytona: FakeDaytona, sandboxes: Make
) -> None:
    daytona.polls_until_started = 1_000_000
    ours = sandboxes()
    with pytest.raises(ExecutionError) as caught:
        ours.create()
    assert caught.value.code == "sandbox_start_timeout"
    assert caught.value.failure_class == "transient_infrastructure"
    assert ours.close() == ()
    assert daytona.living == []
    assert len(ours.made) == 1, "a sandbox that did not start is paid for all the same"


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("error", "sandbox_failed"),
        ("stopped", "sandbox_failed"),
        ("destroyed", "sandbox_failed"),
        ("build_failed", "sandbox_build_failed"),
    ],
)
def test_a_sandbox_that_starts_wrongly_is_deleted(
    daytona: FakeDaytona, sandboxes: Make, state: str, code: str
) -> None:
    daytona.start_state = state
    ours = sandboxes()
    with pytest.raises(ExecutionError) as caught:
        ours.create()
    assert caught.value.code == code
    assert ours.close() == ()
    assert daytona.living == []


def test_a_search_that_fails_after_a_failed_create_is_said(
    daytona: FakeDaytona, sandboxes: Make
) -> None:
    daytona.fail("create", Fault(status=500))
    daytona.fail("list", *[Fault(status=500)] * 3)
    ours = sandboxes()
    with pytest.raises(ExecutionError):
        ours.create()
    (problem,) = ours.close()
    assert "a failed create may have left a sandbox" in problem


def test_a_clear_no_to_a_create_starts_no_search(daytona: FakeDaytona, sandboxes: Make) -> None:
    daytona.fail("create", Fault(status=403))
    ours = sandboxes()
    with pytest.raises(ExecutionError):
        ours.create()
    assert ours.close() == ()
    assert [call.method for call in daytona.calls] == ["POST"]


@pytest.mark.parametrize("size", [0.5, 2.5, 0])
def test_a_size_that_daytona_does_not_know_is_refused_before_a_create(
    daytona: FakeDaytona, sandboxes: Make, size: float
) -> None:
    ours = sandboxes(options=DaytonaOptions(cpu=size))
    with pytest.raises(ExecutionError) as caught:
        ours.create()
    assert caught.value.code == "bad_sandbox_size"
    assert daytona.calls == []


def test_a_cancellation_ends_the_wait_for_a_create_and_what_comes_late_is_deleted(
    daytona: FakeDaytona, sandboxes: Make
) -> None:
    daytona.hold_creates.clear()
    cancel = CancelToken()
    ours = sandboxes(cancel=cancel)

    def interrupt() -> None:
        daytona.creating.wait()
        cancel.cancel()

    canceller = threading.Thread(target=interrupt)
    canceller.start()
    with pytest.raises(ExecutionError) as caught:
        ours.create()
    canceller.join()
    assert caught.value.code == "interrupted"
    daytona.hold_creates.set()
    for thread in threading.enumerate():
        if thread.name == "runner-e2e-daytona":
            thread.join()
    assert daytona.deleted.is_set()
    ours.close()
    assert daytona.living == []


def test_a_listing_is_read_to_its_last_page(daytona: FakeDaytona, sandboxes: Make) -> None:
    daytona.page_size = 2
    ours = sandboxes()
    for _ in range(5):
        ours.create()
    swept = sweep_sandboxes(ours.client, {TOKEN}, on_event=lambda _: None)
    assert (len(swept.deleted), swept.problems) == (5, ())
    assert daytona.living == []


def test_a_sweep_goes_on_after_one_that_resists(daytona: FakeDaytona, sandboxes: Make) -> None:
    ours = sandboxes()
    first = ours.create()
    ours.create()
    daytona.fail("delete", Fault(status=403))
    swept = sweep_sandboxes(ours.client, {TOKEN}, on_event=lambda _: None)
    assert len(swept.deleted) == 1
    assert first.sandbox.id in swept.problems[0]
    assert [one.id for one in daytona.living] == [first.sandbox.id]
    daytona.destroy(daytona.living[0])


def test_a_sweep_says_that_it_could_not_look(daytona: FakeDaytona, sandboxes: Make) -> None:
    daytona.fail("list", Fault(status=401))
    swept = sweep_sandboxes(sandboxes().client, {TOKEN}, on_event=lambda _: None)
    assert swept.problems[0].startswith("sandboxes cannot be swept")


def test_a_toolbox_in_clear_is_not_sent_the_key(daytona: FakeDaytona, sandboxes: Make) -> None:
    held = sandboxes().create()
    account = DaytonaAccount(api_key="k", api_url="https://daytona.example/api")
    secure = DaytonaClient(account=account)
    with pytest.raises(ExecutionError) as caught:
        Toolbox.of(secure, held.sandbox)
    assert caught.value.code == "bad_answer"
    secure.close()
    daytona.destroy(daytona.living[0])
