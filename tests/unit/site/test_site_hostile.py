from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any

import pytest

from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.insights import CellInsight, Insights
from runner_e2e.contracts.plan import Plan
from runner_e2e.contracts.result import Result
from runner_e2e.site import campaign_page
from tests.support import showcase as the
from tests.support.documents import make_campaign, make_insights, make_plan, make_result
from tests.support.hostile import MARKUP, plant
from tests.support.markup import Reader

IDS = ("core.codex.local.hello", "core.codex.local.plan")


@cache
def full() -> tuple[Campaign, Insights, Plan]:
    """Two cells, red and green, in which every optional field is set."""
    showcase, _, _ = the.showcase()
    rich = next(each for each in showcase.results if each.execution_id == the.PASSED)
    extra: dict[str, Any] = {
        "matcher_results": the.matcher_results(passed=False),
        "turn_timings": rich.turn_timings,
        "screenshots": rich.screenshots,
        "issue_id": "id",
        "issue_identifier": "RUN-1",
    }
    suite = the.planned_suite(
        "core", "Core", profiles=the.PROFILES[:1], environments=the.ENVIRONMENTS[:1]
    )
    plan = make_plan(IDS, catalog=suite.execution_ids, suites=(suite,))
    results = [make_result(IDS[0], status="failed", **extra), make_result(IDS[1], **extra)]
    campaign = make_campaign(results, plan=plan)
    insights = make_insights(campaign, plan=plan)
    cells: tuple[CellInsight, ...] = tuple(
        each.model_copy(update={"code": "code", "reason": "reason", "file": "file"})
        for each in insights.cells
    )
    _, more, _ = the.showcase()
    insights = insights.model_copy(
        update={"cells": cells, "extras": more.extras, "duplicates": more.duplicates}
    )
    return campaign, insights, plan


def page_with(text: str) -> tuple[bytes, int]:
    campaign, in_campaign = plant(full()[0], text)
    insights, in_insights = plant(full()[1], text)
    plan, in_plan = plant(full()[2], text)
    page = campaign_page(campaign, insights, plan, verdicts={IDS[0]: text})
    return page, in_campaign + in_insights + in_plan


def shape(page: bytes) -> Counter[tuple[str, tuple[str, ...]]]:
    return Counter((tag, tuple(sorted(attrs))) for tag, attrs in Reader(page).seen)


def test_markup_in_every_field_changes_nothing_of_the_page() -> None:
    plain, _ = page_with("x.png")
    hostile, planted = page_with(MARKUP)
    assert planted > 60
    assert shape(hostile) - shape(plain) == Counter()
    # A name that is no picture's is no picture: that alone may be missing.
    missing = shape(plain) - shape(hostile)
    assert {tag for tag, _ in missing} <= {
        "section",
        "h2",
        "ul",
        "li",
        "a",
        "img",
        "p",
        "bdi",
        "small",
    }


def test_hostile_text_arrives_in_the_island_as_text() -> None:
    page, _ = page_with(MARKUP)
    island = Reader(page).scripts[0]
    assert not set("<>&\u2028\u2029") & set(island)
    cell = json.loads(island)["cells"][IDS[0]]
    assert cell["m"].startswith("</script><script>pwned=1</script>")
    assert "\\u202e\\u2028\\u2066\\x00" in cell["m"]


@pytest.mark.parametrize("raw", ["\u202e", "\u2066", "\u200b", "\x1b"])
def test_no_character_that_turns_or_hides_text_reaches_the_page(raw: str) -> None:
    page, _ = page_with(f"a{raw}b")
    assert raw not in page.decode()


def test_a_megabyte_in_every_field_stays_a_small_page() -> None:
    campaign, insights, plan = full()
    campaign = campaign.model_copy(
        update={"results": tuple(_huge(result) for result in campaign.results)}
    )
    page = campaign_page(campaign, insights, plan, verdicts={})
    assert len(page) < 150_000
    assert "(cut; 1,000,000 characters in all)" in page.decode()


def _huge(result: Result) -> Result:
    big = "\u202e" * 1_000_000
    return result.model_copy(
        update={"error": big, "provider": big, "model": big, "issue_identifier": big}
    )


def test_a_link_of_javascript_is_no_link() -> None:
    campaign, insights, plan = full()
    source = campaign.source.model_copy(update={"workflow_run_url": "javascript:pwned=1"})
    page = campaign_page(campaign.model_copy(update={"source": source}), insights, plan)
    targets = [attrs.get("href") or "" for tag, attrs in Reader(page).seen if tag == "a"]
    assert not [target for target in targets if "javascript" in target]
