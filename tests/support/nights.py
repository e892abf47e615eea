"""Histories of one cell in a few letters, and campaigns that differ from night to night."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from runner_e2e.contracts.base import dump
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.history import (
    BUNDLE_V1,
    CELLS_V1,
    BundleManifest,
    CellCampaign,
    CellOutcome,
    CellSeries,
)
from runner_e2e.contracts.insights import CellInsight, Confirmation, Insights
from runner_e2e.contracts.plan import Plan
from runner_e2e.history import History, campaign_path
from tests.support.documents import (
    IDS,
    definition_hash,
    later,
    make_campaign,
    make_campaign_source,
    make_insights,
    make_plan,
    make_result,
    make_source,
)

CELL = IDS[0]
LETTERS: dict[str, dict[str, Any]] = {
    "G": {"state": "passed"},
    "L": {"state": "passed", "attempt": 2, "flaky": True},
    "R": {"state": "failed", "failure_class": "candidate_failure"},
    "T": {"state": "timed_out", "failure_class": "candidate_failure", "code": "deadline"},
    "V": {"state": "failed", "failure_class": "provider_variance"},
    "r": {
        "state": "failed",
        "failure_class": "candidate_failure",
        "confirm_passed": 1,
        "confirm_failed": 1,
    },
    "B": {
        "state": "failed",
        "failure_class": "candidate_failure",
        "confirm_passed": 0,
        "confirm_failed": 2,
    },
    "I": {"state": "failed", "failure_class": "transient_infrastructure"},
    "S": {"state": "failed", "failure_class": "secret_leak"},
    "C": {"state": "failed", "failure_class": "cleanup_failure"},
    "M": {"state": "missing", "failure_class": "permanent_infrastructure", "attempt": 0},
}
"""Green, green Late, Red, Timed out, provider Variance, red but contradicted, red and confirmed
(Broken), Infrastructure, Secret leak, Clean-up, Missing."""


def sha_of(night: int) -> str:
    """The commit of a night."""
    return f"{night:040x}"


def night_id(night: int) -> str:
    """The campaign of a night, counted from 0."""
    return f"night-{night:03}"


def outcome(letter: str, night: int, **changes: Any) -> CellOutcome:
    """One night of one cell."""
    values: dict[str, Any] = {
        "campaign_id": night_id(night),
        "attempt": 1,
        "flaky": False,
        "definition_hash": definition_hash("smoke"),
        "model": "scripted-1",
        "duration_ms": 60_000,
        "cost_usd": 0.02,
    }
    return CellOutcome(**values | LETTERS[letter] | changes)


def outcomes(letters: str, **changes: Any) -> tuple[CellOutcome, ...]:
    """Nights in the order in which they came; the outcomes newest first, as the series has them."""
    return tuple(outcome(letter, night, **changes) for night, letter in enumerate(letters))[::-1]


def campaigns(count: int) -> dict[str, CellCampaign]:
    """The campaigns of so many nights."""
    return {
        night_id(night): CellCampaign(
            generated_at=later(1440 * night), sha=sha_of(night), run_attempt=1
        )
        for night in range(count)
    }


def make_series(cells: dict[str, Iterable[CellOutcome]]) -> CellSeries:
    """The series of a suite."""
    known = {key: tuple(value) for key, value in cells.items()}
    nights = 1 + max(
        (int(each.campaign_id.removeprefix("night-")) for one in known.values() for each in one),
        default=-1,
    )
    return CellSeries(schema=CELLS_V1, suite_id="smoke", campaigns=campaigns(nights), cells=known)


Night = tuple[Campaign, Insights, Plan]


def make_night(
    night: int,
    letters: str,
    ids: Sequence[str] = IDS,
    *,
    cost: float | None = 0.02,
    **plan_changes: Any,
) -> Night:
    """A campaign in which each of ``ids`` ended as its letter says."""
    start, sha = later(1440 * night), sha_of(night)
    run_url = f"https://github.com/acme/agents/actions/runs/{1000 + night}"
    plan = make_plan(
        ids,
        source=make_campaign_source(sha=sha, workflow_run_url=run_url),
        created_at=start,
        **plan_changes,
    )
    results, cells = [], []
    for execution_id, letter in zip(ids, letters, strict=True):
        said = LETTERS[letter]
        attempt = said.get("attempt", 1)
        passed = said["state"] == "passed"
        results.append(
            make_result(
                execution_id,
                status="passed" if passed or letter == "C" else "failed",
                failure_class=None if letter == "C" else said.get("failure_class"),
                cleanup="failed" if letter == "C" else "passed",
                attempt=attempt,
                cost=cost,
                started_at=start,
                source=make_source(sha=sha, workflow_run_url=run_url),
            )
        )
        repeats = said.get("confirm_passed", 0) + said.get("confirm_failed", 0)
        cells.append(
            CellInsight(
                execution_id=execution_id,
                state=said["state"],
                code=said.get("code"),
                flaky=said.get("flaky", False),
                confirm=Confirmation(
                    repeats=repeats, passed=said["confirm_passed"], failed=said["confirm_failed"]
                )
                if repeats
                else None,
            )
        )
    campaign = make_campaign(results, plan=plan, campaign_id=f"gha-{1000 + night}-1")
    insights = make_insights(campaign, plan=plan).model_copy(update={"cells": tuple(cells)})
    return campaign, insights, plan


def write_night(directory: Path, night: Night) -> Path:
    """Write the three documents of a report."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, document in zip(("campaign", "insights", "plan"), night, strict=True):
        (directory / f"{name}.json").write_bytes(dump(document))
    return directory


def publish_nights(root: Path, nights: Iterable[Night]) -> History:
    """Write what publishing them would leave below a prefix, except for the pages."""
    history = History.empty()
    for campaign, insights, plan in nights:
        folder = campaign_path(campaign.campaign_id)
        manifest = BundleManifest(
            schema=BUNDLE_V1,
            campaign_id=campaign.campaign_id,
            files=(),
            bundle_digest="0" * 64,
        )
        history = history.add(campaign, insights, plan, manifest, public_url=folder)
        write_night(root / folder, (campaign, insights, plan))
    for path, data in history.files().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return history
