"""Requests go to the host that was configured, and to storage without the token."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from runner_e2e.campaigns import Broken, ZipTree, aggregate, collect
from runner_e2e.github.errors import GithubError
from tests.support.artifacts import artifact_name, job_row, write_cell
from tests.support.documents import IDS, make_plan, make_result
from tests.support.fake_github import OWNER, REPO, TOKEN, Answer, FakeGithub
from tests.unit.github.conftest import Opener

NAME = artifact_name(IDS[0], 1)


@pytest.fixture
def addresses(monkeypatch: pytest.MonkeyPatch) -> set[tuple[Any, ...]]:
    """Everything that this process connects to."""
    seen: set[tuple[Any, ...]] = set()
    connect = socket.create_connection

    def noting(address: tuple[Any, ...], *args: Any, **more: Any) -> socket.socket:
        seen.add(address)
        return connect(address, *args, **more)

    monkeypatch.setattr(socket, "create_connection", noting)
    return seen


def test_a_whole_campaign_asks_the_configured_host_and_its_storage_only(
    tmp_path: Path, github: FakeGithub, open_run: Opener, addresses: set[tuple[Any, ...]]
) -> None:
    plan = make_plan(IDS)
    for execution_id in IDS:
        write_cell(tmp_path / execution_id, make_result(execution_id), plan=plan)
        github.add_cell(execution_id, tmp_path / execution_id)
        github.add_job(job_row(execution_id))
    # What an API says about its own addresses is not believed.
    for artifact in github.artifacts:
        artifact["archive_download_url"] = "https://api.github.com/repos/evil/evil/zip"
    source = open_run()
    merged = aggregate(
        plan, collect([source], plan), campaign_id=source.campaign_id, jobs=source.jobs()
    )
    assert merged.campaign.passed == 3
    ports = {int(host.rpartition(":")[2]) for host in (github.api_host, github.blob_host)}
    assert addresses == {("127.0.0.1", port) for port in ports}
    assert {request.host for request in github.requests} == {github.api_host, github.blob_host}


def test_the_token_goes_to_the_api_and_not_to_storage(github: FakeGithub, open_run: Opener) -> None:
    github.add_artifact(NAME, b"no zip")
    assert len(list(open_run().artifacts())) == 1
    told = {request.host: "" for request in github.requests}
    for request in github.requests:
        told[request.host] += str(request)
    assert f"Bearer {TOKEN}" in told[github.api_host]
    assert TOKEN not in told[github.blob_host]
    assert "authorization" not in told[github.blob_host]


def test_other_tokens_of_the_environment_go_nowhere(
    github: FakeGithub, open_run: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_JWT_TOKEN", "planted-jwt")
    monkeypatch.setenv("GITHUB_TOKEN", "planted-other")
    assert open_run().run.id == github.run_id
    assert "planted" not in str(github.requests)


def test_ghapi_prints_nothing_even_when_asked(
    github: FakeGithub,
    open_run: Opener,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GHAPI_DEBUG", "1")
    assert open_run().run.id == github.run_id
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_an_api_that_sends_us_elsewhere_is_not_followed(
    github: FakeGithub, open_run: Opener, status: int
) -> None:
    elsewhere = f"http://{github.blob_host}/blobs/1"
    github.fail(Answer(status=status, headers={"Location": elsewhere}), "/runs/")
    with pytest.raises(GithubError, match="where we did not go"):
        list(open_run().artifacts())
    assert github.asked("^/blobs/") == 0


def test_a_redirect_out_of_http_is_not_followed(github: FakeGithub, open_run: Opener) -> None:
    github.fail(Answer(status=301, headers={"Location": "file:///etc/passwd"}), times=99)
    with pytest.raises(GithubError):
        list(open_run().artifacts())


def test_a_repository_that_was_renamed_is_found_on_the_same_host(
    github: FakeGithub, open_run: Opener
) -> None:
    github.add_artifact(NAME, b"no zip")
    base = f"{github.api_url}/repos/{OWNER}/{REPO}/actions"
    for path, kind in ((f"runs/{github.run_id}", ""), ("artifacts/1000/zip", "zip")):
        moved = Answer(status=301, headers={"Location": f"{base}/{path}"})
        github.fail(moved, f"/repos/{OWNER}/old-name/.*{kind}$")
    source = open_run(locator=f"github:{OWNER}/old-name/{github.run_id}")
    assert source.run.id == github.run_id
    github.fail(
        Answer(status=301, headers={"Location": f"{base}/runs/{github.run_id}/artifacts"}),
        "/old-name/actions/runs/.*/artifacts$",
    )
    assert [type(found) for found in source.artifacts()] == [ZipTree]


def test_a_circle_of_redirects_ends(github: FakeGithub, open_run: Opener) -> None:
    round_and_round = f"{github.api_url}/repos/{OWNER}/{REPO}/actions/runs/{github.run_id}"
    github.fail(Answer(status=301, headers={"Location": round_and_round}), times=99)
    with pytest.raises(GithubError, match="in a circle"):
        list(open_run().artifacts())


@pytest.mark.parametrize(
    "location",
    ["file:///etc/passwd", "ftp://127.0.0.1/x", "http://a:b@127.0.0.1/x", "http://[", "//:x/"],
)
def test_an_archive_that_is_nowhere_costs_one_cell(
    github: FakeGithub, open_run: Opener, location: str
) -> None:
    github.add_artifact(NAME, b"no zip")
    github.fail(Answer(status=302, headers={"Location": location}), "/zip$", times=99)
    (found,) = open_run().artifacts()
    assert isinstance(found, Broken)
    assert found.state == "corrupt"
