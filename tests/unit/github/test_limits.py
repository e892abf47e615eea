"""Being told to wait, and being told nothing."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from runner_e2e.github.errors import GithubUnavailable
from runner_e2e.github.patience import (
    MAX_FAULTS,
    MAX_LIMITS,
    MAX_TOTAL_WAIT,
    Limited,
    Patience,
    SystemWait,
)
from runner_e2e.github.source import RunSource
from tests.support.fake_github import TOKEN, Answer, FakeGithub, QuickWait, limited
from tests.unit.github.conftest import Opener

SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes."
NOON = 1_796_040_000
"""Seconds since 1970; the clock of this machine says something else."""


def at(seconds: float) -> str:
    return formatdate(NOON + seconds, usegmt=True)


def primary(status: int = 403, *, reset: int) -> Answer:
    return limited(
        status,
        "API rate limit exceeded for installation.",
        X_RateLimit_Remaining="0",
        X_RateLimit_Reset=str(NOON + reset),
        Date=at(0),
    )


@pytest.mark.parametrize(
    ("answer", "span"),
    [
        (primary(reset=1_700), (1_700, 1_702)),
        (primary(429, reset=1_700), (1_700, 1_702)),
        (primary(reset=-30), (0, 2)),
        (limited(429, Retry_After="37"), (37, 39)),
        (limited(403, SECONDARY, Retry_After="37"), (37, 39)),
        (limited(403, Retry_After=at(90), Date=at(0)), (90, 92)),
        (limited(403, SECONDARY), (60, 70)),
        (limited(403, "You have triggered an abuse detection mechanism."), (60, 70)),
        (limited(429), (60, 70)),
        (limited(429, Retry_After="soon"), (60, 70)),
        (limited(403, SECONDARY, X_RateLimit_Remaining="0", X_RateLimit_Reset="x"), (60, 70)),
        (Answer(status=502), (0.5, 1)),
        (Answer(status=503, body=b"<html>"), (0.5, 1)),
        (Answer(status=408), (0.5, 1)),
        (Answer(hang_up=True), (0.5, 1)),
        (Answer(headers={"Content-Length": "900"}, body=b'{"id": 1'), (0.5, 1)),
    ],
    ids=str,
)
def test_the_right_time_is_waited_and_the_request_made_again(
    github: FakeGithub,
    open_run: Opener,
    wait: QuickWait,
    answer: Answer,
    span: tuple[float, float],
) -> None:
    github.fail(answer)
    assert open_run().run.id == github.run_id
    assert len(wait.slept) == 1
    assert span[0] <= wait.slept[0] <= span[1]


def test_a_reset_without_a_readable_date_is_told_by_our_own_clock(
    github: FakeGithub, open_run: Opener, wait: QuickWait
) -> None:
    reset = str(int(time.time()) + 600)
    github.fail(limited(X_RateLimit_Remaining="0", X_RateLimit_Reset=reset, Date="today"))
    assert open_run().run.id == github.run_id
    assert 500 < wait.slept[0] <= 601


def test_a_secondary_limit_without_headers_is_waited_for_longer_each_time(
    github: FakeGithub, open_run: Opener, wait: QuickWait
) -> None:
    github.fail(limited(403, SECONDARY), times=3)
    assert open_run().run.id == github.run_id
    assert [int(seconds) // 60 for seconds in wait.slept] == [1, 2, 4]


def test_waits_between_faults_grow_are_random_and_end(
    github: FakeGithub, open_run: Opener, wait: QuickWait
) -> None:
    github.fail(Answer(status=502), times=MAX_FAULTS)
    with pytest.raises(GithubUnavailable, match=r"no answer from .* \(HTTP 502\)"):
        list(open_run().artifacts())
    assert len(wait.slept) == MAX_FAULTS - 1
    for number, seconds in enumerate(wait.slept, 1):
        assert 0.25 * 2**number <= seconds <= 0.5 * 2**number


def test_a_wait_that_is_longer_than_ours_is_refused_at_once(
    github: FakeGithub, open_run: Opener, wait: QuickWait
) -> None:
    github.fail(limited(429, Retry_After="9" * 400))
    with pytest.raises(GithubUnavailable, match="over the 90 min that we wait"):
        list(open_run().artifacts())
    assert wait.slept == []


def test_the_sum_of_all_waits_is_bounded(
    github: FakeGithub, open_run: Opener, wait: QuickWait
) -> None:
    github.fail(primary(reset=1_000), times=10)
    with pytest.raises(GithubUnavailable, match="were waited"):
        list(open_run().artifacts())
    assert MAX_TOTAL_WAIT - 1_010 < sum(wait.slept) <= MAX_TOTAL_WAIT


def test_a_limit_that_is_always_over_at_once_does_not_go_on_for_ever(
    github: FakeGithub, open_run: Opener
) -> None:
    github.fail(limited(429, Retry_After="0"), times=1_000)
    with pytest.raises(GithubUnavailable, match=f"off {MAX_LIMITS} times"):
        list(open_run().artifacts())


def test_a_limit_met_by_one_download_is_told_once_and_loses_nothing(
    github: FakeGithub, open_run: Opener, told: list[str]
) -> None:
    for number in range(30):
        github.add_artifact(f"runner-e2e-result-a1-s.a.local.c{number}", b"no zip")
    github.fail(primary(reset=3_000), "/zip$")
    source = open_run()
    assert len(list(source.artifacts())) == 30
    assert github.asked("^/blobs/") == 30
    source.__exit__(None, None, None)
    assert told[1:] == [
        "GitHub: the limit of requests an hour is used up; going on in 50 min",
        "waited 50 min for GitHub in all",
    ]


def test_a_limit_that_several_requests_meet_together_is_waited_for_once(
    wait: QuickWait, told: list[str]
) -> None:
    patience = Patience(wait, told.append)
    answers = iter([Limited(3_000, "it asks us to wait"), None])

    def send() -> str:
        if (answer := next(answers)) is None:
            return "done"
        # Meanwhile another thread was told the same.
        patience._hold(3_001, "it asks us to wait")
        raise answer

    assert patience.ask(send) == "done"
    assert patience.spent == sum(wait.slept) == 3_001
    assert len(told) == 1


def test_no_request_is_made_before_the_limit_of_another_is_over(
    wait: QuickWait, told: list[str]
) -> None:
    patience = Patience(wait, told.append)
    patience._hold(50, "it asks us to wait")
    assert patience.ask(wait.now) == 50


def test_nothing_is_told_of_a_run_without_waits(
    github: FakeGithub, open_run: Opener, told: list[str]
) -> None:
    source = open_run()
    assert list(source.artifacts()) == []
    source.__exit__(None, None, None)
    assert told == [f"run {github.run_id}: 0 result artifacts to read"]


def test_what_is_told_of_a_limit_holds_no_token(
    github: FakeGithub, open_run: Opener, told: list[str]
) -> None:
    github.fail(limited(403, f"{SECONDARY} {TOKEN}"))
    assert open_run().run.id == github.run_id
    assert told
    assert TOKEN not in "".join(told)


def test_the_real_wait_ends_when_the_work_is_given_up() -> None:
    wait = SystemWait()
    before = wait.now()
    wait.stop()
    wait.sleep(3_600)
    assert wait.now() - before < 60


def test_a_source_is_no_secret_to_print(github: FakeGithub, open_run: Opener) -> None:
    source: RunSource = open_run()
    assert TOKEN not in repr(source) + repr(vars(source)) + repr(github.environ["GITHUB_API_URL"])
