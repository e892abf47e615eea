from __future__ import annotations

from datetime import UTC, datetime

import pytest

from runner_e2e.contracts.base import dump
from runner_e2e.contracts.history import HistoryCampaign
from runner_e2e.history import History, prunable
from runner_e2e.history.records import history_campaign
from runner_e2e.history.retention import retain
from tests.support.documents import make_campaign
from tests.unit.history.test_history import OTHER, Night, kept, publish


def entries(count: int) -> list[HistoryCampaign]:
    return [history_campaign(make_campaign(campaign_id=f"c{n}"), f"u/{n}") for n in range(count)]


def names(campaigns: tuple[HistoryCampaign, ...]) -> list[str]:
    return [campaign.campaign_id for campaign in campaigns]


def test_the_newest_stay_within_the_byte_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    campaigns = entries(20)
    size = len(dump(campaigns[0]))
    monkeypatch.setattr("runner_e2e.history.retention.HISTORY_BYTES", 14 * size + size // 2)

    assert names(retain(campaigns, [f"c{n}" for n in range(20)])) == [f"c{n}" for n in range(14)]


def test_at_least_ten_stay_whatever_they_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner_e2e.history.retention.HISTORY_BYTES", 1)

    assert len(retain(entries(20), [f"c{n}" for n in range(20)])) == 10


def test_what_stays_has_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner_e2e.history.retention.HISTORY_BYTES", 10**9)
    campaigns = [campaign for campaign in entries(9) if campaign.campaign_id != "c4"]

    # c4 was dropped earlier, so what is older than it does not come back in its place.
    assert names(retain(campaigns, [f"c{n}" for n in range(9)])) == ["c0", "c1", "c2", "c3"]


def test_a_pointers_campaign_stays_however_old_and_so_does_the_one_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("runner_e2e.history.retention.HISTORY_BYTES", 1)
    greens = [Night(run=run) for run in (1, 2, 3)]
    reds = [Night(run=run, status="failed") for run in range(10, 30)]

    history = publish(*greens, *reds)

    assert kept(history)[-2:] == ["gha-3-1", "gha-2-1"]
    assert len(kept(history)) == 12


def test_a_green_run_that_turns_red_in_its_rerun_gives_the_pointer_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("runner_e2e.history.retention.HISTORY_BYTES", 1)
    reds = [Night(run=run, status="failed") for run in range(10, 30)]
    history = publish(Night(run=1), Night(run=2), *reds)

    history = publish(Night(run=2, attempt=2, day=40, status="failed"), start=history)

    assert history.index.latest_green_campaign_id == "gha-1-1"


def test_dropping_does_not_depend_on_the_order_of_arrival(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("runner_e2e.history.retention.HISTORY_BYTES", 1)
    nights = [Night(run=run, ids=OTHER) for run in range(1, 25)]

    forward, backward = publish(*nights), publish(*reversed(nights))

    assert forward.files() == backward.files()
    assert kept(forward) == [f"gha-{run}-1" for run in range(24, 14, -1)]


def test_bundles_beyond_the_newest_may_go_but_never_what_a_pointer_names() -> None:
    history = publish(*(Night(run=run, status="failed") for run in range(2, 7)), Night(run=1))

    gone = prunable(history.rows.campaigns, named=history.named(), keep=2)

    assert gone == ("gha-4-1", "gha-3-1", "gha-2-1")


def test_bundles_may_go_by_age_and_only_once() -> None:
    history = publish(*(Night(run=run) for run in (1, 2, 3))).pruned({"gha-1-1"})
    oldest = datetime(2026, 12, 3, tzinfo=UTC)

    assert prunable(history.rows.campaigns, named=(), oldest=oldest) == ("gha-2-1",)


def test_the_index_of_500_campaigns_fits_in_256_kib() -> None:
    ids = [f"core-compatibility.profile-{n}.local.case" for n in range(100)]
    documents = Night(run=15_000_000_001, day=1, ids=ids, status="failed").documents()
    row = History.empty().add(*documents, public_url="").rows.campaigns[0]

    assert len(dump(row)) * 500 < 256 * 1024 - 100
