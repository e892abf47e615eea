"""Whatever state a branch is in, what we say to do next leads out of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner_e2e.publishing import publish, rebuild
from runner_e2e.publishing.errors import PlaceTaken, UnreadableBranch
from tests.e2e.publishing.support import BRANCH, Bare, make_report, plain_page
from tests.e2e.publishing.test_maintenance import place

HALF = {
    "a broken index": {"index.json": b"{"},
    "a broken history": {"history.json": b"[]"},
    "both broken": {"index.json": b"", "history.json": b"\xff"},
    "a folder of campaigns without one": {"campaigns/note.txt": b"mine"},
    "a bundle without its manifest": {"campaigns/gha-9-1/campaign.json": b"{}"},
    "a broken lane": {"lanes/pull-9/index.json": b"{"},
}


@pytest.mark.parametrize("state", HALF)
def test_a_branch_without_bundles_is_made_anew_from_nothing(
    state: str, tmp_path: Path, server: Bare
) -> None:
    report = make_report(tmp_path, 1, ref="refs/pull/9/merge")
    server.write({f"e2e/{path}": data for path, data in HALF[state].items()})
    with pytest.raises(UnreadableBranch) as caught:
        publish(report, place(server), render=plain_page)
    assert "history rebuild" in (caught.value.hint or "")

    done = rebuild(place(server), render=plain_page)
    again = rebuild(place(server), render=plain_page)
    published = publish(report, place(server), render=plain_page)

    assert (done.status, again.status, published.status) == ("changed", "unchanged", "published")
    assert server.ids("e2e/") == server.ids("e2e/lanes/pull-9/") == ["gha-1-1"]


@pytest.mark.parametrize("document", ["history.json", "index.json", "cells/smoke.json"])
def test_what_is_nowhere_any_more_stops_no_later_publication(
    document: str, tmp_path: Path, server: Bare
) -> None:
    publish(make_report(tmp_path, 1), place(server), render=plain_page)
    bundle = [path for path in server.files() if "/campaigns/" in path]
    server.write({f"e2e/{document}": b"{", **dict.fromkeys(bundle)})
    squashed = server.git("commit-tree", f"{BRANCH}^{{tree}}", "-m", "x")
    server.git("update-ref", f"refs/heads/{BRANCH}", squashed)

    rebuild(place(server), render=plain_page)
    publish(make_report(tmp_path, 2), place(server), render=plain_page)
    publish(make_report(tmp_path, 3), place(server), render=plain_page)

    assert server.ids("e2e/")[:2] == ["gha-3-1", "gha-2-1"]


def test_where_nothing_is_ours_rebuilding_writes_nothing(server: Bare) -> None:
    tip = server.write({"e2e/index.html": b"somebody else's", "README.md": b"x"})

    assert rebuild(place(server), render=plain_page).status == "unchanged"
    assert server.tip() == tip


@pytest.mark.parametrize(
    "path", ["e2e", "e2e/campaigns", "e2e/cells", "e2e/assets", "e2e/campaigns/gha-1-1"]
)
def test_a_file_where_our_folder_goes_is_named(path: str, tmp_path: Path, server: Bare) -> None:
    server.write({path: b"mine"})

    with pytest.raises((PlaceTaken, UnreadableBranch)) as caught:
        publish(make_report(tmp_path, 1), place(server), render=plain_page)
    if isinstance(caught.value, UnreadableBranch):
        rebuild(place(server), render=plain_page)
        with pytest.raises(PlaceTaken) as caught:
            publish(make_report(tmp_path, 1), place(server), render=plain_page)

    assert f"{path} is a file" in caught.value.message
    assert "--prefix" in (caught.value.hint or "")


def test_a_folder_where_our_file_goes_is_named(tmp_path: Path, server: Bare) -> None:
    publish(make_report(tmp_path, 1), place(server), render=plain_page)
    server.write({"e2e/index.html": None, "e2e/index.html/x": b"mine"})

    with pytest.raises(PlaceTaken, match=r"e2e/index\.html is a folder"):
        publish(make_report(tmp_path, 2), place(server), render=plain_page)
