from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from runner_e2e.contracts.history import (
    INDEX_V1,
    BundleManifest,
    CampaignRows,
    CellSeries,
    HistoryIndex,
    IndexCounts,
    IndexRow,
)
from runner_e2e.contracts.vocabulary import CellState
from runner_e2e.history import History
from runner_e2e.site import assets, history_pages
from runner_e2e.site.history import kind_of_row
from runner_e2e.site.standing import standings
from runner_e2e.site.trends import charts, overall, suite_points
from tests.support import showcase as the
from tests.support.documents import (
    definition_hash,
    later,
    make_campaign,
    make_campaign_source,
    make_insights,
    make_plan,
    make_result,
)
from tests.support.hostile import MARKUP, plant
from tests.support.markup import Reader

CELLS = ("core.codex.local.hello", "core.codex.local.plan")


def published(*nights: tuple[CellState, CellState], lane: str | None = None) -> History:
    """A history of the two cells, the oldest night first."""
    history = History.empty(lane)
    for number, states in enumerate(nights):
        start = later(1440 * number)
        url = f"https://github.com/acme/agents/actions/runs/{number + 1}"
        plan = make_plan(CELLS, source=make_campaign_source(workflow_run_url=url))
        results = [
            make_result(
                cell,
                started_at=start,
                attempt=0 if state == "missing" else 1,
                status="passed" if state == "passed" else "failed",
            )
            for cell, state in zip(CELLS, states, strict=True)
        ]
        campaign = make_campaign(results, plan=plan, campaign_id=f"gha-{number + 1}-1")
        insights = make_insights(campaign, plan=plan)
        manifest = BundleManifest(
            schema="paperclip.runner-e2e.bundle/v1",
            campaign_id=campaign.campaign_id,
            files=(),
            bundle_digest="0" * 64,
        )
        history = history.add(campaign, insights, plan, manifest, public_url="x", lane=lane)
    return history


def pages_of(history: History, **options: Any) -> dict[str, Reader]:
    pages = history_pages(history.index, history.rows, history.series, **options)
    return {path: Reader(page) for path, page in pages.items()}


def row(*, selected: int = 3, passed: int = 3, unresolved: int = 0, **changes: Any) -> IndexRow:
    values: dict[str, Any] = {
        "campaign_id": "gha-1-1",
        "lane": None,
        "started_at": later(0),
        "generated_at": later(1),
        "run_attempt": 1,
        "sha": None,
        "complete": True,
        "cleanup_passed": True,
        "counts": IndexCounts(
            selected=selected,
            executed=selected - unresolved,
            passed=passed,
            failed=selected - passed,
            unresolved=unresolved,
            flaky=0,
        ),
        "cost_usd": 1.5,
        "cost_complete": True,
        "bundle_bytes": 1,
        "url": "campaigns/gha-1-1/",
    }
    return IndexRow(**values | changes)


def index_of(*rows: IndexRow) -> Reader:
    empty = History.empty()
    campaigns = CampaignRows(schema=INDEX_V1, campaigns=rows)
    return Reader(history_pages(empty.index, campaigns, {})["index.html"])


def test_the_same_history_gives_the_same_bytes() -> None:
    history = published(("passed", "failed"), ("failed", "missing"))
    one, two = (history_pages(history.index, history.rows, history.series) for _ in range(2))
    assert one == two
    assert list(one) == ["index.html", "cells/core.html"]


def test_an_empty_history_has_a_page_that_says_so() -> None:
    page = pages_of(History.empty())["index.html"]
    assert page.headline == "No campaigns yet"
    assert "No campaign has been published yet." in page.text


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, "passed"),
        ({"passed": 2}, "failed"),
        ({"passed": 2, "unresolved": 1}, "unresolved"),
        ({"passed": 1, "unresolved": 1}, "failed"),
        ({"cleanup_passed": False}, "unclean"),
        ({"selected": 0, "passed": 0}, "unresolved"),
    ],
)
def test_a_campaign_is_green_only_when_all_of_it_is(changes: dict[str, Any], kind: str) -> None:
    assert kind_of_row(row(**changes)) == kind


def test_a_cell_says_since_when_it_is_not_green_and_what_lies_between() -> None:
    history = published(
        ("passed", "passed"), ("failed", "passed"), ("missing", "passed"), ("failed", "passed")
    )
    red, green = standings(history.series["core"])
    assert (red.id, red.nights, red.since, red.last_green) == (
        CELLS[0],
        3,
        "gha-2-1",
        "gha-1-1",
    )
    assert (green.nights, green.since) == (0, None)
    page = pages_of(history)
    assert "3 campaigns" in page["index.html"].text
    assert page["cells/core.html"].headline == "1 of 2 cells not green"
    timeline = page["cells/core.html"].island["timelines"][CELLS[0]]
    nights = page["cells/core.html"].island["nights"]
    assert nights[timeline["s"]][0] == "gha-2-1"
    assert nights[timeline["g"]][0] == "gha-1-1"
    assert page["cells/core.html"].island["repository"] == "https://github.com/acme/agents"


def test_an_unresolved_night_is_not_green() -> None:
    history = published(("passed", "passed"), ("missing", "passed"))
    assert standings(history.series["core"])[0].kind == "unresolved"
    assert "1 unresolved" in pages_of(history)["index.html"].headline


def test_a_line_breaks_where_the_definition_changes() -> None:
    campaigns = [f"gha-{1000 - night}-1" for night in range(4)]
    series = the.make_series({CELLS[0]: ["passed"] * 4, CELLS[1]: ["passed"] * 4})
    cells = {
        name: tuple(
            the.make_outcome(each, definition_hash=definition_hash("core", 2 if n < 2 else 1))
            for n, each in enumerate(campaigns)
        )
        for name in series.cells
    }
    points = suite_points(series.model_copy(update={"cells": cells}), History.empty().index)
    (rate, *_) = charts(list(points.values()))
    assert rate.line.count("M") == 2
    assert rate.line.count("L") == 2
    assert rate.breaks.count("M") == 1
    assert rate.latest == "100%"


def test_a_partial_night_is_no_point_of_the_trend() -> None:
    series = the.make_series(
        {CELLS[0]: ["failed", "passed", "passed"], CELLS[1]: ["passed", "passed"]}
    )
    # The second cell's outcomes are the two newest nights', so the oldest one is partial.
    points = suite_points(series, History.empty().index)
    assert [point.selected for point in points.values()] == [2, 2]
    assert [point.green for point in points.values()] == [2, 1]


def test_the_whole_catalog_is_the_campaigns_that_ran_every_suite() -> None:
    one = suite_points(the.make_series({CELLS[0]: ["passed"] * 3}), History.empty().index)
    two = dict(list(one.items())[1:])
    points = overall({"a": one, "b": two})
    assert [point.selected for point in points] == [2, 2]
    assert overall({}) == []


def test_an_unpriced_run_makes_the_latest_cost_a_lower_bound() -> None:
    series = the.make_series({CELLS[0]: ["passed"]})
    cell = the.make_outcome("gha-1000-1", cost_usd=None)
    points = suite_points(
        series.model_copy(update={"cells": {CELLS[0]: (cell,), CELLS[1]: series.cells[CELLS[0]]}}),
        History.empty().index,
    )
    (cost,) = (each for each in charts(list(points.values())) if each.name == "Cost")
    assert cost.latest == "at least $0.02"


def test_a_rate_just_below_everything_never_reads_as_everything() -> None:
    cells: dict[str, list[CellState]] = {f"core.p{n}.local.c": ["passed"] for n in range(2000)}
    cells["core.p0.local.c"] = ["failed"]
    points = suite_points(the.make_series(cells), History.empty().index)
    assert charts(list(points.values()))[0].latest == "99.9%"


def test_rows_lead_to_their_bundle_whatever_their_lane() -> None:
    page = index_of(
        row(),
        row(campaign_id="gha-2-1", lane="pr-7", url="lanes/pr-7/campaigns/gha-2-1/"),
        row(campaign_id="gha-3-1", bundle_bytes=0, url="campaigns/gha-3-1/"),
        row(campaign_id="gha-4-1", url="../../etc/passwd"),
        row(campaign_id="gha-5-1", url="javascript:alert(1)"),
    )
    links = [attrs["href"] for tag, attrs in page.seen if tag == "a" and "href" in attrs]
    assert "./campaigns/gha-1-1/index.html" in links
    assert "./lanes/pr-7/campaigns/gha-2-1/index.html" in links
    assert not [link for link in links if link and "gha-3-1" in link]
    assert not [link for link in links if link and (".." in link or link.startswith("javascript:"))]
    assert "files pruned" in page.text


def test_a_night_does_not_lead_to_a_page_that_was_pruned() -> None:
    history = published(("passed", "failed"), ("failed", "missing"))
    newest, oldest = history.rows.campaigns
    pruned = oldest.model_copy(update={"bundle_bytes": 0})
    rows = history.rows.model_copy(update={"campaigns": (newest, pruned)})
    pages = history_pages(history.index, rows, history.series)
    nights = Reader(pages["cells/core.html"]).island["nights"]
    assert {night[0]: night[3] for night in nights} == {
        newest.campaign_id: 0,
        oldest.campaign_id: 1,
    }


def test_a_superseded_campaign_names_the_one_that_replaced_it() -> None:
    page = index_of(row(campaign_id="gha-1-2", run_attempt=2), row(superseded_by="gha-1-2"))
    assert "superseded by gha-1-2" in page.text
    assert [entry[3] for entry in page.island["rows"]] == [0, 1]


def test_a_model_change_is_marked_in_the_timeline() -> None:
    campaigns = ("gha-1000-1", "gha-999-1")
    series = the.make_series({CELLS[0]: ["passed", "passed"]})
    outcomes = (the.make_outcome(campaigns[0], model="new"), the.make_outcome(campaigns[1]))
    series = series.model_copy(update={"cells": {CELLS[0]: outcomes}})
    page = history_pages(*empty_documents(), {"core": series})["cells/core.html"]
    timeline = Reader(page).island["timelines"][CELLS[0]]["o"]
    assert timeline == [[1, 4, "1m00", "$0.02", 1, "", "", "new model"], [0, 4, "1m00", "$0.02"]]


def empty_documents() -> tuple[HistoryIndex, CampaignRows]:
    empty = History.empty()
    return empty.index, empty.rows


def test_pages_name_assets_that_exist() -> None:
    names = {name.removeprefix("assets/") for name in assets()}
    for path, page in pages_of(published(("passed", "failed"))).items():
        base = "../assets/" if path.startswith("cells/") else "assets/"
        used = {
            str(attrs.get("src") or attrs.get("href"))
            for tag, attrs in page.seen
            if (tag == "script" and "src" in attrs) or attrs.get("rel") == "stylesheet"
        }
        assert used == {base + name for name in names}


def test_markup_in_every_field_changes_no_page_of_history() -> None:
    history = published(("passed", "failed"), ("failed", "missing"))

    def planted(text: str) -> dict[str, Reader]:
        index, _ = plant(history.index, text)
        rows, _ = plant(history.rows, text)
        series: dict[str, CellSeries] = {
            suite: plant(each, text)[0] for suite, each in history.series.items()
        }
        pages = history_pages(index, rows, series, verdicts={CELLS[0]: text})
        assert MARKUP not in b"".join(pages.values()).decode()
        return {path: Reader(page) for path, page in pages.items()}

    plain, hostile = planted("\x00x"), planted(MARKUP)
    for path, page in hostile.items():
        # An address that is none loses its link; nothing may come in.
        more = Counter(tag for tag, _ in page.seen) - Counter(tag for tag, _ in plain[path].seen)
        assert more == Counter()
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", page.text)
