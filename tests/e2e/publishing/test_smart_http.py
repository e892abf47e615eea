from __future__ import annotations

import base64
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner_e2e.errors import ExitCode
from runner_e2e.publishing import Destination, Publication, publish
from runner_e2e.publishing.errors import NetworkFailed, PermissionMissing
from tests.e2e.publishing.git_server import TOKEN, USER, GitServer, git_server
from tests.e2e.publishing.support import (
    BRANCH,
    Bare,
    clean_environment,
    git,
    make_report,
    plain_page,
)
from tests.e2e.publishing.test_many_publishers import released_together

ENCODED = base64.b64encode(f"{USER}:{TOKEN}".encode()).decode()


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[GitServer]:
    with git_server(tmp_path / "hosted") as running:
        yield running


@pytest.fixture
def server(tmp_path: Path) -> Bare:
    bare = Bare(tmp_path / "hosted" / "agents.git")
    bare.git("config", "http.receivepack", "true")
    return bare


def send(report: Path, hosted: GitServer, *, token: str | None = TOKEN) -> Publication:
    destination = Destination(branch=BRANCH, remote=hosted.address("agents.git"), token=token)
    return publish(report, destination, render=plain_page)


@pytest.mark.parametrize("round_", [1, 2, 3])
def test_24_publishers_land_through_a_real_git_server(
    round_: int, tmp_path: Path, server: Bare, hosted: GitServer
) -> None:
    runs = range(round_ * 100, round_ * 100 + 24)
    remote = hosted.address("agents.git").replace("//", f"//{USER}:{TOKEN}@", 1)
    reports = [make_report(tmp_path, run) for run in runs]

    answers = released_together(remote, reports, tmp_path / "out")

    assert {answer["status"] for answer in answers.values()} == {"published"}, answers
    assert sorted(server.ids("e2e/")) == sorted(f"gha-{run}-1" for run in runs)
    assert len(server.roots()) == 1


def test_a_missing_token_is_told_at_once(tmp_path: Path, server: Bare, hosted: GitServer) -> None:
    with pytest.raises(PermissionMissing) as caught:
        send(make_report(tmp_path, 1), hosted, token=None)

    assert caught.value.exit_code is ExitCode.PUBLISHING
    assert len(hosted.requests) <= 2
    assert server.git("for-each-ref") == ""


def test_a_token_that_may_only_read_is_not_tried_twice(
    tmp_path: Path, server: Bare, hosted: GitServer
) -> None:
    hosted.faults.forbid_push = True

    with pytest.raises(PermissionMissing, match="403") as caught:
        send(make_report(tmp_path, 1), hosted)

    assert caught.value.hint is not None
    assert "contents: write" in caught.value.hint
    assert sum("git-receive-pack" in request for request in hosted.requests) == 1
    assert server.git("for-each-ref") == ""


def test_a_server_that_is_away_for_a_moment_is_waited_for(
    tmp_path: Path, server: Bare, hosted: GitServer
) -> None:
    send(make_report(tmp_path, 1), hosted)
    hosted.requests.clear()
    hosted.faults.unavailable = 1

    publication = send(make_report(tmp_path, 2), hosted)

    assert publication.status == "published"
    assert server.ids() == ["gha-2-1", "gha-1-1"]


def test_a_push_whose_answer_got_lost_is_recognised_and_not_repeated(
    tmp_path: Path, server: Bare, hosted: GitServer
) -> None:
    send(make_report(tmp_path, 1), hosted)
    hosted.faults.lose_answer = 1

    publication = send(make_report(tmp_path, 2), hosted)

    assert publication.status == "published"
    assert publication.commit == server.tip()
    assert server.git("rev-list", "--count", BRANCH) == "2"
    assert server.ids() == ["gha-2-1", "gha-1-1"]


def test_an_address_where_nobody_listens_fails_with_the_report_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner_e2e.publishing.patience.NETWORK_TRIES", 2)
    report = make_report(tmp_path, 1)
    with git_server(tmp_path) as gone:
        url = gone.address("agents.git")

    with pytest.raises(NetworkFailed) as caught:
        publish(report, Destination(branch=BRANCH, remote=url, token=TOKEN), render=plain_page)

    assert caught.value.retryable
    assert (report / "campaign.json").is_file()


def test_a_server_without_partial_clones_is_read_whole(
    tmp_path: Path, server: Bare, hosted: GitServer
) -> None:
    server.git("config", "uploadpack.allowFilter", "false")
    for run in (1, 2, 3):
        send(make_report(tmp_path, run), hosted)

    assert server.ids() == ["gha-3-1", "gha-2-1", "gha-1-1"]


def test_an_old_server_that_gives_out_no_object_by_its_id_is_read_whole(
    tmp_path: Path, server: Bare, hosted: GitServer
) -> None:
    hosted.faults.old_protocol = True
    for run in (1, 2, 3):
        send(make_report(tmp_path, run), hosted)

    assert server.ids() == ["gha-3-1", "gha-2-1", "gha-1-1"]


def test_blobs_that_are_not_needed_are_not_downloaded(
    tmp_path: Path, server: Bare, hosted: GitServer
) -> None:
    send(make_report(tmp_path, 1), hosted)
    server.write({f"other/{n}.bin": os.urandom(100_000) for n in range(50)})
    hosted.sent = 0

    send(make_report(tmp_path, 2), hosted)

    assert hosted.sent < 200_000
    assert len([path for path in server.files() if path.startswith("other/")]) == 50


def arguments_of_all_processes() -> str:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().decode("utf-8", "replace"))
        except OSError:  # it ended while we looked
            continue
    return "\n".join(found)


@pytest.mark.parametrize("given", ["as a token", "in the address", "by actions/checkout"])
def test_a_token_is_in_no_argument_no_file_and_no_message(
    given: str,
    tmp_path: Path,
    server: Bare,
    hosted: GitServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", None)
    url = hosted.address("agents.git")
    token = None
    remote = url
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    if given == "as a token":
        token = TOKEN
    elif given == "in the address":
        remote = url.replace("//", f"//{USER}:{TOKEN}@", 1)
    else:
        git(checkout, "init", "--quiet")
        git(checkout, "remote", "add", "origin", url)
        header = f"AUTHORIZATION: basic {ENCODED}"
        git(checkout, "config", f"http.{hosted.url}/.extraheader", header)
        remote = "origin"
    seen: list[str] = []
    looked = threading.Event()
    # The server's hook holds the push until every process and every file has been looked at.
    pushing, go = tmp_path / "pushing", tmp_path / "go"
    os.mkfifo(pushing)
    os.mkfifo(go)
    server.hook("pre-receive", f"echo > {pushing}; read _ < {go}; echo refused >&2; exit 1")

    def look() -> None:
        pushing.read_text()
        seen.append(arguments_of_all_processes())
        files = (path for path in temporary.rglob("*") if path.is_file())
        seen.extend(path.read_bytes().decode("latin-1") for path in files)
        looked.set()
        go.write_text("go\n")

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    destination = Destination(branch=BRANCH, remote=remote, token=token, checkout=checkout)
    with pytest.raises(Exception, match="refuse") as caught:
        publish(make_report(tmp_path, 1), destination, render=plain_page)
    watcher.join()

    assert looked.is_set()
    assert any("git-remote-http" in text or "remote-http" in text for text in seen)
    everything = "\n".join([*seen, str(caught.value), repr(destination) if token else ""])
    assert TOKEN not in everything
    assert ENCODED not in everything
    assert list(temporary.iterdir()) == []


def test_the_users_own_credential_helper_and_insteadof_are_obeyed(
    tmp_path: Path, server: Bare, hosted: GitServer
) -> None:
    config = tmp_path / "gitconfig"
    config.write_text(
        f'[url "{hosted.url}/"]\n\tinsteadOf = work:\n'
        f'[credential]\n\thelper = "!f() {{ echo username={USER}; echo password={TOKEN}; }}; f"\n'
        "[commit]\n\tgpgSign = true\n[push]\n\tgpgSign = true\n\tfollowTags = true\n"
        "[core]\n\tautocrlf = true\n"
    )
    environ = clean_environment() | {"GIT_CONFIG_GLOBAL": str(config)}

    publish(
        make_report(tmp_path, 1),
        Destination(branch=BRANCH, remote="work:agents.git"),
        render=plain_page,
        environ=environ,
    )

    assert server.ids() == ["gha-1-1"]
    assert server.read("campaigns/gha-1-1/summary.md") == b"# gha-1-1\n"
