from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from runner_e2e.contracts.base import parse
from runner_e2e.contracts.history import BundleManifest, Pointers
from runner_e2e.errors import PublishingError, RunnerE2EError
from runner_e2e.publishing import Destination, Publication, publish
from runner_e2e.publishing.errors import BundleConflict, PlaceTaken, UnreadableBranch
from tests.e2e.publishing.support import BRANCH, Bare, make_png, make_report, plain_page


def send(report: Path, server: Bare, prefix: str = "e2e", *, dry_run: bool = False) -> Publication:
    destination = Destination(
        branch=BRANCH,
        remote=server.url,
        prefix=prefix,
        base_url="https://acme.example/agents/",
        default_branch="main",
    )
    return publish(report, destination, dry_run=dry_run, render=plain_page)


def test_the_first_publication_makes_an_orphan_root_that_jekyll_leaves_alone(
    tmp_path: Path, server: Bare
) -> None:
    publication = send(make_report(tmp_path, 1, pictures={"final.png": make_png()}), server)

    assert publication.status == "published"
    assert publication.commit == server.tip()
    assert publication.url == "https://acme.example/agents/e2e/campaigns/gha-1-1/"
    assert server.roots() == [server.tip()]
    folder = "e2e/campaigns/gha-1-1"
    assert server.files() == sorted(
        [
            ".nojekyll",
            "e2e/assets/0123456789abcdef.css",
            f"{folder}/bundle-manifest.json",
            f"{folder}/campaign.json",
            f"{folder}/evidence/smoke.scripted.local.hello/attempt-1/final.png",
            f"{folder}/index.html",
            f"{folder}/insights.json",
            f"{folder}/junit.xml",
            f"{folder}/plan.json",
            f"{folder}/summary.md",
            "e2e/cells/smoke.json",
            "e2e/history.json",
            "e2e/index.html",
            "e2e/index.json",
            "e2e/latest-green.json",
            "e2e/latest.json",
        ]
    )
    assert set(publication.paths) == {path for path in server.files() if "campaigns/" in path}


def test_a_bundle_is_exactly_what_the_report_was(tmp_path: Path, server: Bare) -> None:
    report = make_report(tmp_path, 1)
    (report / "summary.md").write_bytes(b"one\r\ntwo\r\n\n")

    send(report, server)

    folder = "e2e/campaigns/gha-1-1/"
    manifest = parse(BundleManifest, server.read(f"{folder}bundle-manifest.json"), "manifest")
    assert {file.path for file in manifest.files} == {p.name for p in report.iterdir()}
    oid = server.git("rev-parse", f"{BRANCH}:{folder}summary.md")
    assert server.git("cat-file", "-s", oid) == "11"


def test_publishing_the_same_again_changes_nothing(tmp_path: Path, server: Bare) -> None:
    report = make_report(tmp_path, 1)
    first = send(report, server)

    second = send(report, server)

    assert second.status == "unchanged"
    assert second.commit == first.commit == server.tip()


def test_other_content_under_a_published_id_is_refused(tmp_path: Path, server: Bare) -> None:
    report = make_report(tmp_path, 1)
    before = send(report, server).commit
    (report / "summary.md").write_text("# greener than it was\n")

    with pytest.raises(BundleConflict, match="gha-1-1 was published before with other content"):
        send(report, server)

    assert server.tip() == before


def test_a_dry_run_says_what_it_would_do_and_pushes_nothing(tmp_path: Path, server: Bare) -> None:
    publication = send(make_report(tmp_path, 1), server, dry_run=True)

    assert publication.status == "dry_run"
    assert "e2e/campaigns/gha-1-1/campaign.json" in publication.paths
    assert server.git("for-each-ref") == ""


def test_a_backfilled_campaign_lands_in_place_and_does_not_become_latest(
    tmp_path: Path, server: Bare
) -> None:
    for run in (1, 3, 2):
        send(make_report(tmp_path, run), server)

    assert server.ids("e2e/") == ["gha-3-1", "gha-2-1", "gha-1-1"]
    latest = parse(Pointers, server.read("e2e/latest.json"), "latest.json")
    assert latest.overall is not None
    assert latest.overall.campaign_id == "gha-3-1"


def test_a_rerun_takes_the_place_of_its_run_and_a_late_first_attempt_does_not(
    tmp_path: Path, server: Bare
) -> None:
    send(make_report(tmp_path, 7, attempt=2, minutes=20_000), server)
    send(make_report(tmp_path, 7, attempt=1, status="failed"), server)

    rows = {row.campaign_id: row for row in server.rows("e2e/").campaigns}
    assert rows["gha-7-1"].superseded_by == "gha-7-2"
    assert rows["gha-7-2"].superseded_by is None
    assert [entry.campaign_id for entry in server.history("e2e/").campaigns] == ["gha-7-2"]
    assert "e2e/campaigns/gha-7-1/campaign.json" in server.files()


def test_a_pull_request_goes_to_its_own_lane_and_moves_no_pointer(
    tmp_path: Path, server: Bare
) -> None:
    send(make_report(tmp_path, 1), server)
    main = server.history("e2e/")

    publication = send(
        make_report(tmp_path, 2, ref="refs/pull/12/merge", event_name="pull_request"), server
    )

    assert publication.lane == "pull-12"
    assert publication.url == "https://acme.example/agents/e2e/lanes/pull-12/campaigns/gha-2-1/"
    assert server.history("e2e/") == main
    assert server.ids("e2e/lanes/pull-12/") == ["gha-2-1"]
    row = server.rows("e2e/").campaigns[0]
    assert (row.lane, row.url) == ("pull-12", "lanes/pull-12/campaigns/gha-2-1/")
    assert server.rows("e2e/lanes/pull-12/").campaigns[0].url == "campaigns/gha-2-1/"


def test_the_remotes_head_says_which_branch_is_the_default_one(
    tmp_path: Path, server: Bare
) -> None:
    server.git("symbolic-ref", "HEAD", "refs/heads/trunk")
    server.write({"README": b"x"}, branch="trunk")
    destination = Destination(branch=BRANCH, remote=server.url)

    trunk = publish(
        make_report(tmp_path, 1, ref="refs/heads/trunk"), destination, render=plain_page
    )
    other = publish(make_report(tmp_path, 2, ref="refs/heads/main"), destination, render=plain_page)

    assert (trunk.lane, other.lane) == (None, "branch-main")


def test_without_a_base_url_addresses_are_relative(tmp_path: Path, server: Bare) -> None:
    destination = Destination(branch=BRANCH, remote=server.url)

    publication = publish(make_report(tmp_path, 1), destination, render=plain_page)

    assert publication.url is None
    assert server.history().campaigns[0].public_url == "campaigns/gha-1-1/"


UNREADABLE: dict[str, Callable[[bytes], bytes]] = {
    "a trailing semicolon": lambda data: data.rstrip() + b";\n",
    "cut off": lambda data: data[: len(data) // 2],
    "empty": lambda _: b"",
    "conflict markers": lambda data: b"<<<<<<< HEAD\n" + data + b"=======\n{}\n>>>>>>> other\n",
    "another schema": lambda data: data.replace(b"/v1", b"/v9", 1),
    "a list": lambda _: b"[]\n",
}


@pytest.mark.parametrize("document", ["history.json", "index.json", "cells/smoke.json"])
@pytest.mark.parametrize("fault", UNREADABLE)
def test_a_document_that_cannot_be_read_stops_and_is_never_replaced(
    fault: str, document: str, tmp_path: Path, server: Bare
) -> None:
    send(make_report(tmp_path, 1), server)
    broken = UNREADABLE[fault](server.read(f"e2e/{document}"))
    tip = server.write({f"e2e/{document}": broken})

    with pytest.raises(UnreadableBranch, match=document) as caught:
        send(make_report(tmp_path, 2), server)

    assert "history rebuild" in str(caught.value.hint)
    assert server.tip() == tip


@pytest.mark.parametrize("document", ["history.json", "index.json", "cells/smoke.json"])
def test_a_missing_document_stops_too(document: str, tmp_path: Path, server: Bare) -> None:
    send(make_report(tmp_path, 1), server)
    tip = server.write({f"e2e/{document}": None})

    with pytest.raises(UnreadableBranch, match="missing"):
        send(make_report(tmp_path, 2), server)

    assert server.tip() == tip


def test_bundles_without_any_index_are_not_taken_for_an_empty_history(
    tmp_path: Path, server: Bare
) -> None:
    send(make_report(tmp_path, 1), server)
    tip = server.write({"e2e/index.json": None, "e2e/history.json": None})

    with pytest.raises(UnreadableBranch, match=r"no index\.json"):
        send(make_report(tmp_path, 2), server)

    assert server.tip() == tip


def test_valid_json_with_a_byte_order_mark_and_windows_line_ends_is_read(
    tmp_path: Path, server: Bare
) -> None:
    send(make_report(tmp_path, 1), server)
    index = json.loads(server.read("e2e/index.json"))
    edited = json.dumps(index, indent=2).replace("\n", "\r\n").encode()
    server.write({"e2e/index.json": b"\xef\xbb\xbf" + edited})

    send(make_report(tmp_path, 2), server)

    assert server.ids("e2e/") == ["gha-2-1", "gha-1-1"]


def test_files_that_are_not_ours_are_neither_replaced_nor_removed(
    tmp_path: Path, server: Bare
) -> None:
    tip = server.write({"index.html": b"my documentation", "docs/a.md": b"a"})

    with pytest.raises(PlaceTaken, match=r"index\.html"):
        send(make_report(tmp_path, 1), server, prefix="")
    assert server.tip() == tip

    send(make_report(tmp_path, 1), server, prefix="e2e")
    assert server.read("index.html").strip() == b"my documentation"
    assert ".nojekyll" not in server.files()


REFUSALS = {
    "a protected branch": (
        "echo 'error: GH006: Protected branch update failed for refs/heads/x.'; exit 1",
        "refused_by_policy",
    ),
    "a ruleset": ("echo 'error: GH013: Repository rule violations found'; exit 1", None),
    "a hook": ("echo 'commits must be signed'; exit 1", "refused_by_policy"),
    "a file too large": (
        "echo 'error: GH001: Large files detected.'; exit 1",
        "too_large",
    ),
    "a full disk": (
        "echo 'fatal: write error: No space left on device'; exit 1",
        "disk_full",
    ),
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_is_told_once_with_its_reason_and_a_hint(
    refusal: str, tmp_path: Path, server: Bare
) -> None:
    script, kind = REFUSALS[refusal]
    server.hook("pre-receive", f"echo x >> {tmp_path}/calls; {script} >&2")
    report = make_report(tmp_path, 1)

    with pytest.raises(PublishingError) as caught:
        send(report, server)

    assert caught.value.kind == (kind or "refused_by_policy")
    assert caught.value.exit_code == 10
    assert caught.value.hint
    assert (tmp_path / "calls").read_text() == "x\n"
    assert (report / "campaign.json").is_file()


def test_a_race_lost_inside_the_server_is_run_again(tmp_path: Path, server: Bare) -> None:
    # The first push meets a lock on the ref, as when another one is being written.
    server.git("pack-refs", "--all")
    lock = server.path / "refs" / "heads" / f"{BRANCH}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()
    server.hook("post-receive", "true")
    server.hook(
        "pre-receive",
        f"echo x >> {tmp_path}/calls; if [ $(wc -l < {tmp_path}/calls) = 2 ]; then rm {lock}; fi",
    )

    publication = send(make_report(tmp_path, 1), server)

    assert publication.status == "published"
    assert publication.tries == 2


@pytest.mark.parametrize(
    ("remote", "kind"),
    [
        ("upstream", "remote_not_found"),
        ("./nowhere.git", "remote_not_found"),
        ("file:///nowhere/at/all.git", "remote_not_found"),
    ],
)
def test_a_remote_that_is_not_there_is_named(remote: str, kind: str, tmp_path: Path) -> None:
    destination = Destination(branch=BRANCH, remote=remote, checkout=tmp_path)

    with pytest.raises(RunnerE2EError, match=remote.removeprefix("file://").strip("./")) as caught:
        publish(make_report(tmp_path, 1), destination, render=plain_page)

    assert caught.value.kind == kind
    assert caught.value.exit_code == 10


def test_a_big_document_is_refused_before_the_push_and_warned_of_from_half_on(
    tmp_path: Path, server: Bare, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = make_report(tmp_path, 1)
    size = (report / "campaign.json").stat().st_size
    monkeypatch.setattr("runner_e2e.publishing.budgets.FILE_BYTES", size * 2)
    warned = send(report, server)
    monkeypatch.setattr("runner_e2e.publishing.budgets.FILE_BYTES", size - 1)

    with pytest.raises(PublishingError, match=r"campaign\.json has") as caught:
        send(make_report(tmp_path, 2), server)

    assert any(warning.startswith("campaign.json has") for warning in warned.warnings)
    assert caught.value.kind == "too_large"
    assert server.ids("e2e/") == ["gha-1-1"]
