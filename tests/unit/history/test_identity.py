from __future__ import annotations

import pytest

from runner_e2e.contracts.plan import CampaignSource
from runner_e2e.history import lane_of, run_attempt, run_identity
from tests.support.documents import make_campaign, make_campaign_source, make_plan


def source(url: str | None) -> CampaignSource:
    return make_campaign_source(workflow_run_url=url)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://github.com/acme/agents/actions/runs/15", ("github.com", "acme/agents", "15")),
        (
            "https://GHE.example:8443/a/b/actions/runs/7/attempts/3",
            ("ghe.example:8443", "a/b", "7"),
        ),
        ("https://ci.example/builds/15", None),
        ("https://github.com/acme/agents/actions/runs/x", None),
        (None, None),
    ],
)
def test_the_run_is_read_from_its_address(
    url: str | None, expected: tuple[str, str, str] | None
) -> None:
    run = run_identity(source(url))

    assert (None if run is None else (run.server, run.repository, run.run_id)) == expected


@pytest.mark.parametrize(
    ("url", "campaign_id", "attempt"),
    [
        ("https://github.com/a/b/actions/runs/15/attempts/4", "gha-15-2", 4),
        ("https://github.com/a/b/actions/runs/15", "gha-15-2", 2),
        ("https://github.com/a/b/actions/runs/15", "gha-99-2", 1),
        ("https://github.com/a/b/actions/runs/15", "nightly", 1),
        (None, "gha-15-2", 2),
        (None, "local-2026-11-30T02-00-00-000Z", 1),
    ],
)
def test_the_run_attempt_comes_from_the_address_then_from_the_campaigns_id(
    url: str | None, campaign_id: str, attempt: int
) -> None:
    campaign = make_campaign(plan=make_plan(source=source(url)), campaign_id=campaign_id)

    assert run_attempt(campaign) == attempt


@pytest.mark.parametrize(
    ("ref", "event", "default", "lane"),
    [
        (None, None, "main", None),
        ("refs/heads/main", "schedule", "main", None),
        ("refs/heads/main", "schedule", "refs/heads/main", None),
        ("refs/heads/main", "schedule", None, None),
        ("refs/heads/topic", "push", None, None),
        ("refs/heads/topic", "push", "main", "branch-topic"),
        ("refs/tags/v1.2", "push", "main", "tag-v1.2"),
        ("refs/pull/12/merge", "pull_request", "main", "pull-12"),
        ("refs/pull/12/head", "workflow_dispatch", None, "pull-12"),
        ("refs/heads/main", "pull_request_target", "main", "pull-requests"),
        (None, "pull_request", "main", "pull-requests"),
    ],
)
def test_the_lane_of_a_campaign(
    ref: str | None, event: str | None, default: str | None, lane: str | None
) -> None:
    assert lane_of(make_campaign_source(ref=ref, event_name=event), default) == lane


def test_two_branches_never_share_a_lane_and_a_lane_is_one_safe_directory() -> None:
    names = ["a/b", "a-b", "A-b", "a--b", "../../x", "ä", "x" * 300, "x" * 301, ".hidden", "a b"]
    lanes = [lane_of(make_campaign_source(ref=f"refs/heads/{n}"), "main") for n in names]

    assert len(set(lanes)) == len(names)
    for lane in lanes:
        assert lane is not None
        assert lane.startswith("branch-")
        assert "/" not in lane
        assert len(lane) < 100
