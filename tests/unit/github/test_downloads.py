"""Archives: what cannot be had costs one cell, and what can is bounded."""

from __future__ import annotations

import re
import threading
import tracemalloc
from pathlib import Path

import pytest

from runner_e2e.campaigns import Broken, ZipTree, collect
from runner_e2e.github import downloads, source
from runner_e2e.github.errors import GithubError
from runner_e2e.github.patience import MAX_FAULTS, Patience
from runner_e2e.github.rest import GithubApi, Repository
from runner_e2e.github.runtime import ActionsRuntime
from runner_e2e.github.server import GithubServer
from runner_e2e.github.source import RunLocator, RunSource
from tests.support.artifacts import artifact_name, write_cell
from tests.support.documents import IDS, make_plan, make_result
from tests.support.fake_github import Answer, FakeGithub, Fault, QuickWait, Request, limited, zip_of
from tests.unit.github.conftest import Opener

NAME = artifact_name(IDS[0], 1)
PLAN = make_plan(IDS)
GONE = Answer(
    status=410, headers={"Content-Type": "application/json"}, body=b'{"message": "expired"}'
)


def states(found: object) -> list[tuple[str, str]]:
    assert isinstance(found, list)
    return [(a.state, a.reason) if isinstance(a, Broken) else ("", a.name) for a in found]


def test_an_artifact_that_is_listed_as_expired_is_not_asked_for(
    github: FakeGithub, open_run: Opener
) -> None:
    github.add_artifact(NAME, b"", expired=True)
    assert states(list(open_run().artifacts())) == [("expired", "the artifact has expired")]
    assert github.asked("/zip$") == 0


def test_an_artifact_that_expired_since_is_expired(github: FakeGithub, open_run: Opener) -> None:
    github.add_artifact(NAME, b"no zip")
    github.fail(GONE, "/zip$")
    assert states(list(open_run().artifacts())) == [("expired", "the artifact has expired")]


def test_an_expired_artifact_is_the_state_of_its_cell_and_of_no_other(
    tmp_path: Path, github: FakeGithub, open_run: Opener
) -> None:
    for execution_id in IDS:
        write_cell(tmp_path / execution_id, make_result(execution_id), plan=PLAN)
        github.add_cell(execution_id, tmp_path / execution_id)
    github.fail(GONE, "/artifacts/1001/zip$")
    found = collect([open_run()], PLAN)
    assert [found.cells[name][0].state for name in IDS] == ["passed", "expired", "passed"]


def test_an_artifact_that_was_deleted_since_costs_itself(
    github: FakeGithub, open_run: Opener
) -> None:
    row = github.add_artifact(NAME, b"no zip")
    github.archives.pop(row["id"])
    reason = "GitHub lists it and does not find it (404)"
    assert states(list(open_run().artifacts())) == [("corrupt", reason)]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=403, body=b"<Error><Code>AuthenticationFailed</Code></Error>"),
        Answer(status=404),
        Answer(status=503),
        Answer(hang_up=True),
        Answer(headers={"Content-Length": "9999"}, body=b"half"),
        Answer(body=b"other bytes than were uploaded"),
    ],
    ids=str,
)
def test_a_storage_that_fails_once_is_asked_again_by_a_new_address(
    tmp_path: Path, github: FakeGithub, open_run: Opener, answer: Answer
) -> None:
    write_cell(tmp_path, make_result(IDS[0]), plan=PLAN)
    github.add_cell(IDS[0], tmp_path)
    github.blob_faults.append(Fault(answer))
    (tree,) = open_run().artifacts()
    assert isinstance(tree, ZipTree)
    assert tree.path.read_bytes() == zip_of(tmp_path)
    assert github.asked("/zip$") == 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(status=503), "its storage answered 503"),
        (Answer(body=b"changed"), "its bytes are not those that were uploaded"),
        (Answer(hang_up=True), "remote protocol error"),
    ],
    ids=str,
)
def test_a_storage_that_always_fails_costs_one_artifact(
    github: FakeGithub, open_run: Opener, answer: Answer, reason: str
) -> None:
    github.add_artifact(NAME, b"no zip")
    github.add_artifact(artifact_name(IDS[1], 1), b"no zip either")
    github.blob_faults += [Fault(answer, pattern=re.compile("/blobs/1000$"), times=MAX_FAULTS)]
    bad, good = open_run().artifacts()
    assert bad == Broken(name=NAME, state="corrupt", reason=f"it cannot be downloaded: {reason}")
    assert isinstance(good, ZipTree)


def test_an_archive_that_says_that_it_is_huge_is_not_asked_for(
    github: FakeGithub, open_run: Opener
) -> None:
    github.add_artifact(NAME, b"no zip", size_in_bytes=downloads.MAX_ARTIFACT_BYTES + 1)
    ((state, reason),) = states(list(open_run().artifacts()))
    assert state == "corrupt"
    assert "more than" in reason
    assert github.asked("/zip$") == 0


def test_an_archive_that_is_longer_than_it_says_is_cut_off(
    github: FakeGithub, open_run: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "MAX_ARTIFACT_BYTES", 1_000)
    github.add_artifact(NAME, b"x" * 1_001, size_in_bytes=10)
    ((state, reason),) = states(list(open_run().artifacts()))
    assert (state, reason.startswith("1,001 bytes")) == ("corrupt", True)


def test_archives_that_are_too_much_together_are_refused_one_by_one(
    github: FakeGithub, open_run: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "MAX_TOTAL_BYTES", 25)
    for execution_id in IDS:
        github.add_artifact(artifact_name(execution_id, 1), b"x" * 10)
    found = list(open_run().artifacts())
    assert [isinstance(artifact, Broken) for artifact in found] == [False, False, True]
    assert github.asked("^/blobs/") == 2


def test_downloads_at_the_same_time_are_bounded(github: FakeGithub, open_run: Opener) -> None:
    """Each waits until eight are there; with a ninth, or with only seven, none would go on."""
    crowd = threading.Barrier(downloads.MAX_PARALLEL)

    def meet() -> None:
        crowd.wait(30)

    github.before_blob = meet
    for number in range(3 * downloads.MAX_PARALLEL):
        github.add_artifact(f"runner-e2e-result-a1-s.a.local.c{number}", b"no zip")
    assert len(list(open_run().artifacts())) == 3 * downloads.MAX_PARALLEL
    assert github.most_in_flight == downloads.MAX_PARALLEL


def test_one_slow_archive_does_not_hold_up_the_others(github: FakeGithub, open_run: Opener) -> None:
    count = 20
    others = threading.Event()

    def slowly() -> None:
        if github.asked("^/blobs/1000$") == 1 and not others.is_set():
            first = github.asked("^/blobs/") == 1
            if first:
                assert others.wait(30)
        if github.asked("^/blobs/") == count:
            others.set()

    github.before_blob = slowly
    for number in range(count):
        github.add_artifact(f"runner-e2e-result-a1-s.a.local.c{number:02}", b"no zip")
    assert not any(isinstance(found, Broken) for found in open_run().artifacts())


def test_a_drip_ends(
    github: FakeGithub, open_run: Opener, wait: QuickWait, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "MAX_SECONDS", 60)
    github.before_blob = lambda: wait.sleep(61)
    github.add_artifact(NAME, b"no zip")
    ((state, reason),) = states(list(open_run().artifacts()))
    assert (state, reason) == ("corrupt", "it cannot be downloaded: it took longer than 60 s")


def test_memory_does_not_grow_with_the_size_of_archives(
    github: FakeGithub, open_run: Opener
) -> None:
    github.add_artifact(NAME, bytes(48 * 2**20))
    run = open_run()
    assert run.run.id == github.run_id
    tracemalloc.start()
    try:
        (tree,) = run.artifacts()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(tree, ZipTree)
    assert tree.path.stat().st_size == 48 * 2**20
    assert peak < 16 * 2**20


def test_archives_are_gone_after_the_block(github: FakeGithub, open_run: Opener) -> None:
    github.add_artifact(NAME, b"no zip")
    with open_run() as run:
        (tree,) = run.artifacts()
        assert isinstance(tree, ZipTree)
        assert tree.path.exists()
        assert tree.path.parent.stat().st_mode & 0o077 == 0
    assert not tree.path.parent.exists()


def test_a_token_that_is_taken_away_meanwhile_ends_everything(
    github: FakeGithub, open_run: Opener
) -> None:
    github.add_artifact(NAME, b"no zip")
    github.add_artifact(artifact_name(IDS[1], 1), b"no zip")
    github.fail(Answer(status=401), "/1001/zip$")
    with pytest.raises(GithubError, match="answered 401"):
        list(open_run().artifacts())


def test_the_end_of_one_download_wakes_those_that_wait(github: FakeGithub, told: list[str]) -> None:
    """With the real clock: the first archive is to be waited for nearly an hour.

    Both are asked for before either is answered, or the second would wait for the first.
    """
    both = threading.Barrier(2)

    def meet(request: Request) -> None:
        if request.path.endswith("/zip"):
            both.wait(30)

    github.before_api = meet
    github.add_artifact(NAME, b"no zip")
    github.add_artifact(artifact_name(IDS[1], 1), b"no zip")
    github.fail(limited(403, Retry_After="3000"), "/1000/zip$")
    github.fail(Answer(status=401), "/1001/zip$")
    run = RunSource(
        RunLocator.parse(github.locator),
        GithubServer.from_environ(github.environ),
        ActionsRuntime.from_environ({}),
        tell=told.append,
    )
    with run, pytest.raises(GithubError, match="answered 401"):
        list(run.artifacts())


def test_an_answer_that_is_no_redirect_costs_one_artifact(
    github: FakeGithub, open_run: Opener
) -> None:
    github.add_artifact(NAME, b"no zip")
    github.fail(Answer(status=422), "/zip$")
    reason = "GitHub answered 422 instead of saying where it is"
    assert states(list(open_run().artifacts())) == [("corrupt", reason)]


def test_a_circle_of_redirects_costs_one_artifact(github: FakeGithub, open_run: Opener) -> None:
    github.add_artifact(NAME, b"no zip")
    github.fail(Answer(status=308, headers={"Location": "zip"}), "/zip$", times=99)
    assert states(list(open_run().artifacts())) == [("corrupt", "GitHub redirects in a circle")]


def test_a_connection_that_breaks_before_the_address_is_made_again(
    github: FakeGithub, open_run: Opener
) -> None:
    github.add_artifact(NAME, b"no zip")
    github.fail(Answer(hang_up=True), "/zip$")
    assert [type(found) for found in open_run().artifacts()] == [ZipTree]


def test_a_moved_archive_is_not_looked_for_on_another_host_with_the_token(
    github: FakeGithub, open_run: Opener
) -> None:
    github.add_artifact(NAME, b"no zip")
    elsewhere = f"http://{github.blob_host}/blobs/1000?sig=s3cr3t"
    github.fail(Answer(status=307, headers={"Location": elsewhere}), "/zip$")
    with pytest.raises(GithubError, match="where we did not go"):
        list(open_run().artifacts())
    assert github.asked("^/blobs/") == 0


def test_storage_in_the_clear_is_refused_to_an_api_with_tls(wait: QuickWait) -> None:
    server = GithubServer.from_environ({"GITHUB_SERVER_URL": "https://ghe.x"})
    api = GithubApi(server, Repository(owner="a", name="b"), Patience(wait, print))
    fetcher = downloads.Downloads(api)
    with pytest.raises(downloads.Gone, match=r"from blobs\.x in the clear"):
        fetcher._safe("http://blobs.x/1?sig=s3cr3t", NAME)
    assert fetcher._safe("https://blobs.x/1", NAME) == "https://blobs.x/1"
    fetcher.close()
    api.close()


def test_a_disk_that_takes_nothing_is_an_error_of_ours(
    github: FakeGithub, open_run: Opener, tmp_path: Path
) -> None:
    github.add_artifact(NAME, b"no zip")
    run = open_run()
    (artifact,) = run._listed
    with pytest.raises(GithubError, match="cannot be kept here: no such file or directory"):
        run._downloads.fetch(artifact, tmp_path / "missing" / "1.zip", label=NAME)
