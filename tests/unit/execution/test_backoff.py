from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.execution import Backoff


@given(st.integers(1, 10))
def test_all_waits_together_are_between_20_and_120_seconds(retries: int) -> None:
    backoff, spent = Backoff(), 0.0
    for retry in range(1, retries + 1):
        wait = backoff.wait(spent=spent, retry=retry, retry_after=None)
        assert wait is not None
        spent += wait
    assert 20 <= spent <= 120


@given(st.floats(0, 120))
def test_a_server_that_asks_for_a_wait_gets_at_least_that(asked: float) -> None:
    wait = Backoff().wait(spent=0, retry=1, retry_after=asked)
    assert wait is not None
    assert asked <= wait <= 120


@given(st.floats(0, 120), st.floats(0.001, 10_000))
def test_a_server_that_asks_for_more_than_is_left_gets_no_retry(spent: float, more: float) -> None:
    assert Backoff().wait(spent=spent, retry=1, retry_after=120 - spent + more) is None


def test_two_jobs_that_failed_together_do_not_return_together() -> None:
    waits = {Backoff().wait(spent=0, retry=1, retry_after=None) for _ in range(20)}
    assert len(waits) > 1
