"""Whatever GitHub says that there is, is found, or it is an error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from runner_e2e.campaigns import Broken, Tree
from runner_e2e.github.errors import GithubError
from tests.support.fake_github import FakeGithub
from tests.unit.github.conftest import Opener

LISTING = r"/runs/\d+/artifacts$"


def fill(github: FakeGithub, count: int, **changes: Any) -> list[str]:
    names = [f"runner-e2e-result-a1-s.a.local.c{number:04}" for number in range(count)]
    for name in names:
        github.add_artifact(name, b"", **changes)
    return names


def names_of(artifacts: Iterator[Tree | Broken]) -> list[str]:
    return [artifact.name.removesuffix("!") for artifact in artifacts]


def test_1200_artifacts_on_12_pages_are_all_found(github: FakeGithub, open_run: Opener) -> None:
    names = fill(github, 1_200, expired=True)
    assert names_of(open_run().artifacts()) == names
    assert github.asked(LISTING) == 12


def test_a_server_with_smaller_pages_than_asked_for_is_read_to_the_end(
    github: FakeGithub, open_run: Opener
) -> None:
    github.page_size = 30
    names = fill(github, 250, expired=True)
    assert names_of(open_run().artifacts()) == names


def test_a_full_last_page_is_not_followed_by_another_request(
    github: FakeGithub, open_run: Opener
) -> None:
    fill(github, 200, expired=True)
    assert len(names_of(open_run().artifacts())) == 200
    assert github.asked(LISTING) == 2


def test_a_run_without_artifacts_has_none(github: FakeGithub, open_run: Opener) -> None:
    assert names_of(open_run().artifacts()) == []
    assert github.asked(LISTING) == 1


def test_an_artifact_that_is_added_while_the_list_is_read_is_found(
    github: FakeGithub, open_run: Opener
) -> None:
    names = fill(github, 150, expired=True)

    def add(page: int) -> None:
        if page == 1 and len(github.artifacts) == 150:
            names.append("runner-e2e-result-a1-s.a.local.late")
            github.add_artifact(names[-1], b"", expired=True)

    github.after_page = add
    assert names_of(open_run().artifacts()) == names


def test_an_artifact_that_is_deleted_while_the_list_is_read_moves_none_out_of_sight(
    github: FakeGithub, open_run: Opener
) -> None:
    names = fill(github, 250, expired=True)

    def delete(page: int) -> None:
        if page == 1 and len(github.artifacts) == 250:
            del github.artifacts[0]

    github.after_page = delete
    assert names_of(open_run().artifacts()) == names[1:]


def test_a_list_that_never_agrees_with_its_own_count_is_an_error(
    github: FakeGithub, open_run: Opener
) -> None:
    fill(github, 101, expired=True)
    github.artifacts[100] = github.artifacts[0]
    with pytest.raises(GithubError, match=r"there are 101 artifacts of run .* and lists 100"):
        list(open_run().artifacts())


def test_results_of_every_run_attempt_are_read_and_nothing_else(
    github: FakeGithub, open_run: Opener
) -> None:
    kinds = ("plan-a1", "evidence-a1-s.a.local.c", "report-a1", "shard-a1-00")
    for kind in (*kinds, "result-a1-s.a.local.c", "result-a12-s.a.local.c"):
        github.add_artifact(f"runner-e2e-{kind}", b"no zip")
    github.add_artifact("somebody's own", b"no zip")
    assert names_of(open_run().artifacts()) == [
        "runner-e2e-result-a1-s.a.local.c",
        "runner-e2e-result-a12-s.a.local.c",
    ]
    assert github.asked(r"/zip$") == github.asked("^/blobs/") == 2


def test_two_artifacts_of_one_name_are_told_apart(github: FakeGithub, open_run: Opener) -> None:
    for _ in range(2):
        github.add_artifact("runner-e2e-result-a1-s.a.local.c", b"", expired=True)
    assert names_of(open_run().artifacts()) == [
        "1000/runner-e2e-result-a1-s.a.local.c",
        "1001/runner-e2e-result-a1-s.a.local.c",
    ]


def test_a_second_look_gives_the_same_and_downloads_nothing(
    github: FakeGithub, open_run: Opener
) -> None:
    github.add_artifact("runner-e2e-result-a1-s.a.local.c", b"no zip")
    source = open_run()
    first = list(source.artifacts())
    asked = len(github.requests)
    assert list(source.artifacts()) == first
    assert len(github.requests) == asked
