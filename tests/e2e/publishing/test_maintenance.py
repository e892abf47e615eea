from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from runner_e2e.errors import UsageError
from runner_e2e.publishing import Destination, prune, publish, rebuild, show, squash
from runner_e2e.publishing.errors import RefusedByPolicy, UnreadableBranch
from tests.e2e.publishing.support import BRANCH, Bare, make_png, make_report, plain_page


def place(server: Bare) -> Destination:
    return Destination(
        branch=BRANCH, remote=server.url, prefix="e2e", base_url="https://acme.example"
    )


def send(tmp_path: Path, server: Bare, *runs: int, **source: Any) -> None:
    for run in runs:
        report = make_report(tmp_path, run, pictures={"a.png": make_png()}, **source)
        publish(report, place(server), render=plain_page)


def contents(server: Bare) -> dict[str, str]:
    listing = server.git("ls-tree", "-r", f"refs/heads/{BRANCH}").splitlines()
    return {line.split("\t")[1]: line.split()[2] for line in listing}


def bundle_files(server: Bare, run: int, lane: str = "") -> set[str]:
    folder = f"e2e/{lane}campaigns/gha-{run}-1/"
    return {path.removeprefix(folder) for path in server.files() if path.startswith(folder)}


def test_show_tells_what_was_published(tmp_path: Path, server: Bare) -> None:
    send(tmp_path, server, 1, 2)
    send(tmp_path, server, 3, ref="refs/pull/9/merge")

    view = show(place(server))
    lane = show(place(server), lane="pull-9")

    assert view.commit == server.tip()
    assert view.lanes == ("pull-9",)
    assert (view.bundles, view.history.index.latest_campaign_id) == (3, "gha-2-1")
    assert view.bundle_bytes == sum(row.bundle_bytes for row in view.history.rows.campaigns)
    assert [row.campaign_id for row in lane.history.rows.campaigns] == ["gha-3-1"]


def test_show_of_a_branch_that_is_not_there_is_an_empty_history(server: Bare) -> None:
    view = show(place(server))

    assert view.commit is None
    assert view.history.rows.campaigns == ()


@pytest.mark.parametrize("lane", ["../..", "", "a/b", "Main"])
def test_a_lane_that_can_be_none_is_refused(lane: str, server: Bare) -> None:
    with pytest.raises(UsageError, match="not the name of a lane"):
        show(place(server), lane=lane)


def test_pruning_deletes_old_bundles_and_keeps_what_history_knows(
    tmp_path: Path, server: Bare
) -> None:
    send(tmp_path, server, 1, 2, 3, 4)
    server.write({"e2e/campaigns/gha-1-1/note.txt": b"mine", "other.txt": b"mine"})
    history = server.history("e2e/")

    done = prune(place(server), keep=2, render=plain_page)

    assert done.campaigns == ("gha-2-1", "gha-1-1")
    assert bundle_files(server, 1) == {"bundle-manifest.json", "note.txt"}
    assert bundle_files(server, 2) == {"bundle-manifest.json"}
    assert "evidence/smoke.scripted.local.hello/attempt-1/a.png" in bundle_files(server, 3)
    assert "other.txt" in server.files()
    assert server.history("e2e/") == history
    rows = {row.campaign_id: row.bundle_bytes for row in server.rows("e2e/").campaigns}
    assert [name for name, size in rows.items() if size == 0] == ["gha-2-1", "gha-1-1"]
    assert set(done.removed) == {
        f"e2e/campaigns/gha-{run}-1/{name}"
        for run in (1, 2)
        for name in bundle_files(server, 3) - {"bundle-manifest.json"}
    }


def test_pruning_again_changes_nothing(tmp_path: Path, server: Bare) -> None:
    send(tmp_path, server, 1, 2, 3)
    first = prune(place(server), keep=1, render=plain_page)

    second = prune(place(server), keep=1, render=plain_page)

    assert (first.status, second.status) == ("changed", "unchanged")
    assert second.commit == server.tip()


def test_what_a_pointer_names_is_never_pruned(tmp_path: Path, server: Bare) -> None:
    send(tmp_path, server, 1)
    for run in (2, 3):
        publish(make_report(tmp_path, run, status="failed"), place(server), render=plain_page)

    prune(place(server), keep=0, render=plain_page)

    assert "campaign.json" in bundle_files(server, 1)
    assert "campaign.json" not in bundle_files(server, 2)
    assert "campaign.json" in bundle_files(server, 3)


def test_bundles_go_by_age_too(tmp_path: Path, server: Bare) -> None:
    send(tmp_path, server, 1, 10, 20)

    done = prune(
        place(server),
        max_age_days=15,
        now=datetime(2026, 12, 20, tzinfo=UTC),
        render=plain_page,
    )

    assert done.campaigns == ("gha-1-1",)


def test_a_lane_that_nobody_published_to_for_long_goes_as_a_whole(
    tmp_path: Path, server: Bare
) -> None:
    send(tmp_path, server, 1, ref="refs/pull/9/merge")
    send(tmp_path, server, 80, ref="refs/pull/10/merge")
    send(tmp_path, server, 2)
    server.write({"e2e/lanes/pull-9/mine.txt": b"mine"})

    done = prune(place(server), now=datetime(2027, 3, 10, tzinfo=UTC), render=plain_page)

    assert done.lanes == ("pull-9",)
    left = [path for path in server.files() if path.startswith("e2e/lanes/pull-9/")]
    assert left == ["e2e/lanes/pull-9/mine.txt"]
    assert "campaign.json" in bundle_files(server, 80, "lanes/pull-10/")
    assert "gha-1-1" in server.ids("e2e/")


def test_a_manifest_that_points_out_of_its_bundle_deletes_nothing(
    tmp_path: Path, server: Bare
) -> None:
    send(tmp_path, server, 1, 2)
    path = "e2e/campaigns/gha-1-1/bundle-manifest.json"
    manifest = json.loads(server.read(path))
    manifest["files"][0]["path"] = "x/../../../../other.txt"
    tip = server.write({path: json.dumps(manifest).encode(), "other.txt": b"mine"})

    with pytest.raises(UnreadableBranch, match="outside of its bundle"):
        prune(place(server), keep=0, render=plain_page)

    assert server.tip() == tip


def test_a_pruned_campaign_published_again_is_a_no_op(tmp_path: Path, server: Bare) -> None:
    send(tmp_path, server, 1, 2)
    prune(place(server), keep=0, render=plain_page)
    tip = server.tip()

    send(tmp_path, server, 1)

    assert server.tip() == tip


def test_squashing_leaves_the_same_files_on_a_new_root(tmp_path: Path, server: Bare) -> None:
    send(tmp_path, server, 1, 2, 3)
    before = contents(server)

    done = squash(place(server))

    assert done.status == "changed"
    assert contents(server) == before
    assert server.roots() == [server.tip()]
    assert squash(place(server)).status == "unchanged"
    send(tmp_path, server, 4)
    assert len(server.ids("e2e/")) == 4


def test_squashing_loses_no_campaign_that_arrives_meanwhile(tmp_path: Path, server: Bare) -> None:
    send(tmp_path, server, 1, 2)
    late = Bare(tmp_path / "late.git")
    late.git("fetch", "--quiet", server.url, f"{BRANCH}:{BRANCH}")
    publish(make_report(tmp_path, 3), place(late), render=plain_page)
    # The server gets the third campaign in the moment before it would take the squashed branch.
    server.git("fetch", "--quiet", late.url, f"{BRANCH}:refs/late")
    server.hook(
        "update",
        "unset GIT_QUARANTINE_PATH; if git rev-parse -q --verify refs/late; then "
        f"git update-ref {f'refs/heads/{BRANCH}'} refs/late && git update-ref -d refs/late; fi",
    )

    squash(place(server))

    assert server.ids("e2e/") == ["gha-3-1", "gha-2-1", "gha-1-1"]
    assert server.roots() == [server.tip()]


def test_a_branch_whose_index_is_broken_is_not_squashed(tmp_path: Path, server: Bare) -> None:
    send(tmp_path, server, 1, 2)
    tip = server.write({"e2e/index.json": b"{"})

    with pytest.raises(UnreadableBranch):
        squash(place(server))

    assert server.tip() == tip


def test_a_server_that_forbids_new_roots_says_so(tmp_path: Path, server: Bare) -> None:
    send(tmp_path, server, 1, 2)
    server.git("config", "receive.denyNonFastForwards", "true")

    with pytest.raises(RefusedByPolicy):
        squash(place(server))


BROKEN = {
    "history.json": b"{",
    "index.json": b"<<<<<<< HEAD\n",
    "cells/smoke.json": b"",
    "latest.json": b"[",
    "index.html": b"defaced",
}


@pytest.mark.parametrize("document", BROKEN)
def test_rebuilding_makes_a_broken_document_as_it_was(
    document: str, tmp_path: Path, server: Bare
) -> None:
    send(tmp_path, server, 1, 2, 3)
    send(tmp_path, server, 4, ref="refs/pull/9/merge")
    before = contents(server)
    server.write({f"e2e/{document}": BROKEN[document]})

    done = rebuild(place(server), render=plain_page)

    assert done.status == "changed"
    assert contents(server) == before


def test_rebuilding_what_is_whole_changes_nothing(tmp_path: Path, server: Bare) -> None:
    send(tmp_path, server, 1, 2)
    send(tmp_path, server, 3, ref="refs/heads/topic")

    done = rebuild(place(server), render=plain_page)

    assert done.status == "unchanged"
    assert done.warnings == ()


def test_rebuilding_makes_everything_again_from_bundles_alone(tmp_path: Path, server: Bare) -> None:
    send(tmp_path, server, 1, 2, 3)
    before = contents(server)
    gone = [path for path in before if "campaigns/" not in path and path != ".nojekyll"]
    server.write(dict.fromkeys(gone))
    squashed = server.git("commit-tree", f"{BRANCH}^{{tree}}", "-m", "x")
    server.git("update-ref", f"refs/heads/{BRANCH}", squashed)

    rebuild(place(server), render=plain_page)

    assert contents(server) == before


@pytest.mark.parametrize("document", ["history.json", "index.json", "cells/smoke.json"])
def test_rebuilding_finds_what_was_pruned_in_the_branchs_past(
    document: str, tmp_path: Path, server: Bare
) -> None:
    send(tmp_path, server, 1, 2, 3)
    prune(place(server), keep=1, render=plain_page)
    before = contents(server)
    server.write({f"e2e/{document}": b"{"})
    server.write({"unrelated.txt": b"x"})
    server.write({"unrelated.txt": None})

    done = rebuild(place(server), render=plain_page)

    assert contents(server) == before
    assert len(done.warnings) == 1


def test_a_bundle_that_was_changed_is_left_out_with_a_warning(tmp_path: Path, server: Bare) -> None:
    send(tmp_path, server, 1, 2)
    row = server.rows("e2e/").campaigns[1]
    server.write({"e2e/campaigns/gha-1-1/campaign.json": b"{}", "e2e/latest.json": b"["})

    done = rebuild(place(server), render=plain_page)

    assert done.campaigns == ("gha-2-1",)
    assert "gha-1-1/campaign.json: it is not what its manifest says" in done.warnings[0]
    assert row in server.rows("e2e/").campaigns


@pytest.mark.parametrize("what", [prune, squash, rebuild])
def test_a_dry_run_of_maintenance_changes_nothing(
    what: object, tmp_path: Path, server: Bare
) -> None:
    send(tmp_path, server, 1, 2, 3)
    tip = server.write({"e2e/latest.json": b"["})
    assert callable(what)

    options = {"keep": 0} if what is prune else {}
    done = what(place(server), dry_run=True, **options)

    assert done.status == "dry_run"
    assert server.tip() == tip
