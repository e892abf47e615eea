from __future__ import annotations

import gc
import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner_e2e.contracts.base import dump, parse
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.history import (
    BUNDLE_V1,
    BundleManifest,
    CampaignRows,
    CellSeries,
    HistoryIndex,
    Pointers,
)
from runner_e2e.contracts.insights import Insights
from runner_e2e.contracts.plan import Plan
from runner_e2e.errors import DocumentError
from runner_e2e.history import History
from tests.support.artifacts import digest_of
from tests.support.costs import make_billing
from tests.support.documents import (
    IDS,
    later,
    make_campaign,
    make_campaign_source,
    make_insights,
    make_plan,
    make_result,
)

CLOCKS = {"now", "utcnow", "today", "time", "time_ns", "monotonic", "perf_counter", "localtime"}
OTHER = ("other.scripted.local.hello",)
MANIFEST = BundleManifest(
    schema=BUNDLE_V1,
    campaign_id="any",
    files=(digest_of("campaign.json", b"{}"), digest_of("plan.json", b"{}\n")),
    bundle_digest="0" * 64,
)


@dataclass(frozen=True, kw_only=True)
class Night:
    """One campaign of workflow run ``run``, in the night ``day``."""

    run: int
    attempt: int = 1
    day: float | None = None
    status: Literal["passed", "failed"] = "passed"
    ids: Sequence[str] = IDS
    catalog: Sequence[str] | None = None

    @property
    def id(self) -> str:
        return f"gha-{self.run}-{self.attempt}"

    def documents(self) -> tuple[Campaign, Insights, Plan, BundleManifest]:
        url = f"https://github.com/acme/agents/actions/runs/{self.run}"
        plan = make_plan(
            self.ids,
            catalog=self.catalog,
            source=make_campaign_source(workflow_run_url=url),
        )
        start = later((self.run if self.day is None else self.day) * 1440)
        results = [
            make_result(name, started_at=start, status=self.status) for name in plan.expected
        ]
        campaign = make_campaign(results, plan=plan, campaign_id=self.id)
        return campaign, make_insights(campaign, plan=plan), plan, MANIFEST


def publish(*nights: Night, lane: str | None = None, start: History | None = None) -> History:
    history = start or History.empty()
    for night in nights:
        history = history.add(*night.documents(), public_url=f"u/{night.id}", lane=lane)
    return history


def kept(history: History) -> list[str]:
    return [entry.campaign_id for entry in history.index.campaigns]


def test_an_empty_history_names_nothing_and_reads_no_clock() -> None:
    index = History.empty().index

    assert index.updated_at == "1970-01-01T00:00:00.000Z"
    assert (index.latest_campaign_id, index.latest_green_campaign_id) == (None, None)


def test_campaigns_stand_newest_first_whatever_came_first() -> None:
    history = publish(Night(run=2), Night(run=3), Night(run=1))

    assert kept(history) == ["gha-3-1", "gha-2-1", "gha-1-1"]
    assert [row.campaign_id for row in history.rows.campaigns] == kept(history)
    assert history.index.updated_at == history.index.campaigns[0].generated_at


def test_a_red_campaign_moves_latest_and_not_latest_green() -> None:
    history = publish(Night(run=1), Night(run=2, status="failed"))

    assert history.index.latest_campaign_id == "gha-2-1"
    assert history.index.latest_green_campaign_id == "gha-1-1"
    assert history.index.latest_green_by_suite == {"smoke": "gha-1-1"}


def test_a_suite_can_be_green_in_a_campaign_that_covers_not_everything() -> None:
    whole = (*IDS, *OTHER)
    history = publish(Night(run=1, ids=whole), Night(run=2, ids=IDS, catalog=whole))

    assert history.index.latest_green_campaign_id == "gha-1-1"
    assert history.index.latest_green_by_suite == {"other": "gha-1-1", "smoke": "gha-2-1"}


def test_a_later_attempt_replaces_its_run_everywhere_but_in_the_list_of_all() -> None:
    history = publish(Night(run=1), Night(run=2), Night(run=2, attempt=2, day=4, status="failed"))

    assert kept(history) == ["gha-2-2", "gha-1-1"]
    assert history.index.latest_green_campaign_id == "gha-1-1"
    marks = {row.campaign_id: row.superseded_by for row in history.rows.campaigns}
    assert marks == {"gha-2-2": None, "gha-2-1": "gha-2-2", "gha-1-1": None}
    outcomes = history.series["smoke"].cells[IDS[0]]
    assert [outcome.campaign_id for outcome in outcomes] == ["gha-2-2", "gha-1-1"]
    assert set(history.series["smoke"].campaigns) == {"gha-2-2", "gha-1-1"}


def test_a_late_lower_attempt_is_listed_and_otherwise_ignored() -> None:
    before = publish(Night(run=1), Night(run=2, attempt=2, day=4))
    after = publish(Night(run=2), start=before)

    assert after.index == before.index
    assert after.series == before.series
    assert after.row("gha-2-1") is not None


def test_a_later_attempt_replaces_even_when_its_results_are_older() -> None:
    history = publish(Night(run=2), Night(run=2, attempt=2, day=1))

    assert kept(history) == ["gha-2-2"]


def test_runs_of_two_servers_with_one_number_are_two_runs() -> None:
    ours = Night(run=1).documents()
    url = "https://ghe.example/acme/agents/actions/runs/1"
    source = make_campaign_source(workflow_run_url=url)
    plan = make_plan(source=source)
    campaign = make_campaign(plan=plan, campaign_id="gha-1-2")
    theirs = (campaign, make_insights(campaign, plan=plan), plan, MANIFEST)

    history = History.empty().add(*ours, public_url="a").add(*theirs, public_url="b")

    assert all(row.superseded_by is None for row in history.rows.campaigns)
    assert {row.run.server for row in history.rows.campaigns if row.run} == {
        "github.com",
        "ghe.example",
    }


def test_local_campaigns_are_keyed_by_their_id() -> None:
    plan = make_plan(
        source=make_campaign_source(sha=None, ref=None, workflow_run_url=None, event_name=None)
    )
    history = History.empty()
    for name in ("local-a", "local-b", "local-a"):
        campaign = make_campaign(plan=plan, campaign_id=name)
        insights = make_insights(campaign, plan=plan)
        history = history.add(campaign, insights, plan, MANIFEST, public_url=name)

    assert sorted(kept(history)) == ["local-a", "local-b"]
    assert history.rows.campaigns[0].run is None


NIGHTS = (
    Night(run=1),
    Night(run=2),
    Night(run=2, attempt=2, day=6, status="failed"),
    Night(run=3, status="failed"),
    Night(run=4, ids=OTHER),
)


def test_every_order_of_arrival_gives_the_same_bytes() -> None:
    expected = publish(*NIGHTS).files()

    for order in itertools.permutations(NIGHTS):
        assert publish(*order).files() == expected


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(NIGHTS), max_size=10))
def test_adding_again_changes_nothing(nights: list[Night]) -> None:
    once = publish(*dict.fromkeys(nights))

    assert publish(*nights).files() == once.files()


def test_documents_come_back_as_they_were_written() -> None:
    files = publish(*NIGHTS).files()

    again = History.read(files.get)

    assert again.files() == files
    assert sorted(files) == [
        "cells/other.json",
        "cells/smoke.json",
        "history.json",
        "index.json",
        "latest-green.json",
        "latest.json",
    ]


def test_each_document_says_what_it_is() -> None:
    files = publish(Night(run=1)).files()

    assert parse(HistoryIndex, files["history.json"], "").schema_.endswith("history/v1")
    assert parse(CampaignRows, files["index.json"], "").schema_.endswith("index/v1")
    assert parse(CellSeries, files["cells/smoke.json"], "").schema_.endswith("cells/v1")
    assert parse(Pointers, files["latest.json"], "").schema_.endswith("pointer/v1")


def test_pointers_give_address_and_commit_of_what_they_name() -> None:
    latest, green = publish(Night(run=1), Night(run=2, status="failed")).pointers()

    assert latest.overall is not None
    assert latest.overall.public_url == "u/gha-2-1"
    assert green.overall is not None
    assert green.suites["smoke"] == green.overall
    assert green.overall.campaign_id == "gha-1-1"


def test_a_suite_that_was_never_green_has_an_empty_pointer() -> None:
    _, green = publish(Night(run=1, status="failed")).pointers()

    assert green.overall is None
    assert green.suites == {"smoke": None}


@pytest.mark.parametrize("path", ["history.json", "index.json", "cells/smoke.json"])
@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"schema":"x/v1"}', None])
def test_a_document_that_is_gone_or_unreadable_is_named_and_stops(
    path: str, data: bytes | None
) -> None:
    files: dict[str, bytes | None] = dict(publish(Night(run=1)).files())
    files[path] = data

    with pytest.raises(DocumentError, match=path) as caught:
        History.read(files.get)

    assert "history rebuild" in str(caught.value.hint)


def test_another_lane_gets_a_row_here_and_nothing_else() -> None:
    before = publish(Night(run=1))

    after = publish(Night(run=2, status="failed"), lane="pull-7", start=before)

    assert after.index == before.index
    assert after.series == before.series
    row = after.row("gha-2-1")
    assert row is not None
    assert (row.lane, row.url) == ("pull-7", "lanes/pull-7/campaigns/gha-2-1/")


def test_a_lane_of_its_own_keeps_its_own_history() -> None:
    history = publish(Night(run=2), lane="pull-7", start=History.empty("pull-7"))

    assert kept(history) == ["gha-2-1"]
    assert history.rows.campaigns[0].url == "campaigns/gha-2-1/"


def test_what_was_pruned_loses_its_bundle_and_nothing_else() -> None:
    before = publish(Night(run=1), Night(run=2))

    after = before.pruned({"gha-1-1"})

    assert [row.bundle_bytes for row in after.rows.campaigns] == [5, 0]
    assert after.index == before.index


def test_keeping_some_campaigns_is_as_if_the_others_had_never_come() -> None:
    history = publish(*NIGHTS).keeping({"gha-1-1", "gha-3-1"})

    assert history.files() == publish(NIGHTS[0], NIGHTS[3]).files()


def test_documents_of_two_campaigns_are_refused() -> None:
    campaign, insights, plan, manifest = Night(run=1).documents()
    other = Night(run=2).documents()

    with pytest.raises(DocumentError, match="belongs to gha-2-1"):
        History.empty().add(campaign, other[1], plan, manifest, public_url="")
    with pytest.raises(DocumentError, match="another plan"):
        History.empty().add(campaign, insights, other[2], manifest, public_url="")
    with pytest.raises(DocumentError, match="results are not one for each"):
        History.empty().add(
            campaign.model_copy(update={"results": campaign.results[:1]}),
            *(insights, plan, manifest),
            public_url="",
        )


def test_cells_keep_their_last_60_outcomes_and_the_campaigns_they_name() -> None:
    history = publish(*(Night(run=run, ids=OTHER) for run in range(1, 71)))

    outcomes = history.series["other"].cells[OTHER[0]]
    assert [o.campaign_id for o in outcomes] == [f"gha-{run}-1" for run in range(70, 10, -1)]
    assert list(history.series["other"].campaigns) == [o.campaign_id for o in outcomes]
    assert len(history.rows.campaigns) == 70


def test_an_outcome_has_no_cost_unless_all_of_it_was_priced() -> None:
    plan = make_plan(OTHER)
    campaign = make_campaign([make_result(OTHER[0], cost=None)], plan=plan)
    insights = make_insights(campaign, plan=plan)

    history = History.empty().add(campaign, insights, plan, MANIFEST, public_url="")

    assert history.series["other"].cells[OTHER[0]][0].cost_usd is None
    assert history.rows.campaigns[0].cost_complete is False


def test_no_record_believes_what_a_result_sums_up_itself() -> None:
    plan = make_plan(OTHER)
    lying = make_result(OTHER[0], cost=25, billing=make_billing(cost=0.000001))
    campaign = make_campaign([lying], plan=plan)
    insights = make_insights(campaign, plan=plan)

    history = History.empty().add(campaign, insights, plan, MANIFEST, public_url="")

    assert history.index.campaigns[0].executions[0].billing.reported_cost_usd == 25
    assert history.series["other"].cells[OTHER[0]][0].cost_usd == 25


def test_a_cell_that_reported_no_bill_is_unavailable_and_not_free() -> None:
    plan = make_plan(OTHER)
    result = make_result(OTHER[0], status="failed", usage=None, billing=None, runtime_usage=None)
    campaign = make_campaign([result], plan=plan)

    history = History.empty().add(
        campaign, make_insights(campaign, plan=plan), plan, MANIFEST, public_url=""
    )

    billing = history.index.campaigns[0].executions[0].billing
    assert (billing.complete, billing.llm.cost_status) == (False, "unavailable")


def test_a_series_that_names_an_unknown_campaign_does_no_harm() -> None:
    files = publish(Night(run=1), Night(run=2)).files()
    series = parse(CellSeries, files["cells/smoke.json"], "cells")
    strange = series.model_copy(update={"campaigns": {"gha-2-1": series.campaigns["gha-2-1"]}})
    files["cells/smoke.json"] = dump(strange)

    history = publish(Night(run=3), start=History.read(files.get))

    outcomes = history.series["smoke"].cells[IDS[0]]
    assert [outcome.campaign_id for outcome in outcomes] == ["gha-3-1", "gha-2-1"]


def test_no_clock_is_read() -> None:
    asked: list[str] = []

    def watch(_frame: object, event: str, function: object) -> None:
        name = getattr(function, "__name__", "")
        if event == "c_call" and name in CLOCKS:
            asked.append(name)

    documents = [night.documents() for night in NIGHTS]
    previous = sys.getprofile()
    # Hypothesis times the garbage collector, wherever that happens to run.
    gc.disable()
    sys.setprofile(watch)
    try:
        history = History.empty()
        for one in documents:
            history = history.add(*one, public_url="u")
        History.read(history.files().get).pruned({"gha-1-1"}).keeping({"gha-1-1"}).files()
    finally:
        sys.setprofile(previous)
        gc.enable()

    assert asked == []
