"""What GitHub refuses, said so that a person knows what to do."""

from __future__ import annotations

import traceback
from collections.abc import Callable

import pytest

from runner_e2e.errors import DocumentError, ExitCode, RunnerE2EError
from runner_e2e.github.errors import GithubError
from runner_e2e.github.source import RunSource
from tests.support.fake_github import TOKEN, Answer, FakeGithub, limited
from tests.unit.github.conftest import Opener

Act = Callable[[RunSource], object]


def run_of(source: RunSource) -> object:
    return source.run


@pytest.mark.parametrize(
    ("answer", "said", "hint"),
    [
        (limited(401, "Bad credentials"), "answered 401", "set GITHUB_TOKEN"),
        (limited(403, "Resource not accessible by integration"), "403", "actions: read"),
        (limited(404, "Not Found"), "answered 404", "may not see a private repository"),
        (limited(422, "Unprocessable"), "answered 422", "the API of a GitHub?"),
    ],
    ids=str,
)
def test_a_refusal_says_what_to_do(
    github: FakeGithub, open_run: Opener, answer: Answer, said: str, hint: str
) -> None:
    github.fail(answer)
    with pytest.raises(GithubError) as refused:
        run_of(open_run())
    assert refused.value.exit_code == ExitCode.USAGE
    assert said in refused.value.message
    assert f"run {github.run_id} in acme/agents" in refused.value.message
    assert hint in (refused.value.hint or "")


def test_a_token_that_may_read_runs_and_not_artifacts_is_told_so(
    github: FakeGithub, open_run: Opener
) -> None:
    github.fail(limited(403, "Resource not accessible by personal access token"), "/artifacts$")
    with pytest.raises(GithubError, match="page 1 of the artifacts"):
        list(open_run().artifacts())


def test_without_a_token_a_missing_run_may_be_a_private_one(
    github: FakeGithub, open_run: Opener
) -> None:
    github.fail(limited(404, "Not Found"))
    with pytest.raises(GithubError) as refused:
        run_of(open_run({"GITHUB_TOKEN": ""}))
    assert "there is no token" in (refused.value.hint or "")


def test_a_run_of_another_repository_is_not_found(github: FakeGithub, open_run: Opener) -> None:
    with pytest.raises(GithubError, match="in acme/other: GitHub answered 404"):
        run_of(open_run(locator=f"github:acme/other/{github.run_id}"))


def test_what_is_no_github_is_told_by_what_it_says(github: FakeGithub, open_run: Opener) -> None:
    github.fail(Answer(body=b"<html>Please log in"))
    with pytest.raises(DocumentError, match="it begins with '<html>Please log in'"):
        run_of(open_run())


@pytest.mark.parametrize(
    "body", [b"[]", b'{"id": "1"}', b'{"id": NaN}', b"[" * 100_000, b'{"run_attempt": -1}', b""]
)
def test_a_hostile_answer_is_an_error_and_no_traceback(
    github: FakeGithub, open_run: Opener, body: bytes
) -> None:
    github.fail(Answer(body=body))
    with pytest.raises(DocumentError):
        run_of(open_run())


def test_a_run_that_goes_on_is_refused_from_outside(github: FakeGithub, open_run: Opener) -> None:
    github.status = "in_progress"
    with pytest.raises(GithubError, match="has not ended: it is in progress") as refused:
        run_of(open_run({"GITHUB_RUN_ID": "7"}))
    assert f"gh run watch {github.run_id} --repo acme/agents" in (refused.value.hint or "")


def test_a_run_reads_itself_before_it_has_ended(github: FakeGithub, open_run: Opener) -> None:
    github.status = "in_progress"
    source = open_run({"GITHUB_RUN_ID": str(github.run_id), "GITHUB_RUN_ATTEMPT": "3"})
    assert source.run.status == "in_progress"
    assert source.campaign_id == f"gha-{github.run_id}-3"


def test_a_campaign_from_outside_is_named_after_the_newest_attempt(
    github: FakeGithub, open_run: Opener
) -> None:
    github.run_attempts = 4
    environ = {"GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "9"}
    assert open_run(environ).campaign_id == f"gha-{github.run_id}-4"


def test_an_absurd_number_of_attempts_is_not_asked_for(
    github: FakeGithub, open_run: Opener
) -> None:
    github.run_attempts = 1_000_000
    with pytest.raises(GithubError, match="1,000,000 attempts"):
        open_run().jobs()
    assert len(github.requests) == 1


@pytest.mark.parametrize(
    ("answer", "path"),
    [
        (limited(401, TOKEN), "/runs/"),
        (limited(403, TOKEN), "/artifacts$"),
        (limited(403, TOKEN), "/zip$"),
        (limited(429, TOKEN, Retry_After="99999"), "/zip$"),
        (Answer(status=301, headers={"Location": "http://127.0.0.1:1/"}), "/runs/"),
    ],
    ids=str,
)
def test_no_error_holds_the_token_or_a_signed_address(
    github: FakeGithub, open_run: Opener, told: list[str], answer: Answer, path: str
) -> None:
    github.add_artifact("runner-e2e-result-a1-s.a.local.c", b"no zip")
    github.fail(answer, path)
    with pytest.raises(RunnerE2EError) as refused:
        list(open_run().artifacts())
    said = "".join((*traceback.format_exception(refused.value), *told, refused.value.hint or ""))
    assert TOKEN not in said
    assert "s3cr3t" not in said
