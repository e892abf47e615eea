from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runner_e2e.contracts.catalog import QuarantineEntry
from runner_e2e.contracts.vocabulary import CELL_STATES, CellState
from runner_e2e.site import assets, campaign_page
from runner_e2e.site.cells import lay_out
from runner_e2e.site.problems import problems
from tests.support import showcase as the
from tests.support.documents import make_campaign, make_insights, make_plan, make_result
from tests.support.markup import Reader


@pytest.fixture(scope="module")
def page() -> Reader:
    return Reader(campaign_page(*the.showcase()))


PRINT_DIGEST = """
import hashlib, time
def refuse(*_):
    raise AssertionError("a page asked what time it is")
from runner_e2e.site import campaign_page
from tests.support import showcase as the
documents = the.showcase()
series = {"core": the.make_series({the.FAILED: ["failed", "passed"]})}
verdicts = {the.FAILED: "regression", the.FLAKY: "flaky", the.PASSED: "stable"}
time.time = time.time_ns = time.localtime = time.gmtime = refuse
print(hashlib.sha256(campaign_page(*documents, series=series, verdicts=verdicts)).hexdigest())
"""


def test_no_clock_zone_locale_or_hash_seed_changes_a_byte() -> None:
    def digest(**environ: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", PRINT_DIGEST],
            env=os.environ | environ,
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    first = digest(PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C")
    assert len(first) == 65
    assert digest(PYTHONHASHSEED="2", TZ="Asia/Kathmandu", LC_ALL="C.UTF-8") == first


@pytest.mark.parametrize(
    ("execution_id", "kind"),
    [
        (the.FAILED, "failed"),
        (the.TIMED_OUT, "failed"),
        (the.MISSING, "unresolved"),
        (the.CANCELLED, "unresolved"),
        (the.FLAKY, "flaky"),
        (the.UNCLEAN, "unclean"),
        (the.PASSED, "passed"),
        (the.UNSELECTED, "unselected"),
    ],
)
def test_every_kind_of_cell_looks_like_itself(page: Reader, execution_id: str, kind: str) -> None:
    assert page.tile(execution_id)["class"] == f"t {kind}"
    assert page.island["cells"][execution_id]["k"] == kind


def test_an_excluded_combination_is_no_cell(page: Reader) -> None:
    assert the.EXCLUDED not in page.island["cells"]


@pytest.mark.parametrize("state", [each for each in CELL_STATES if each != "passed"])
@pytest.mark.parametrize("status", ["passed", "failed"])
def test_nothing_but_a_passed_state_looks_green(state: CellState, status: Any) -> None:
    plan = make_plan(["s.p.local.c"])
    campaign = make_campaign([make_result("s.p.local.c", status=status)], plan=plan)
    insights = make_insights(campaign, plan=plan, states={"s.p.local.c": state})
    reader = Reader(campaign_page(campaign, insights, plan))
    assert reader.tile("s.p.local.c")["class"] in ("t failed", "t unresolved")
    assert reader.headline in ("1 failed of 1", "1 unresolved of 1")


def test_a_passed_state_beside_a_failed_result_is_not_green() -> None:
    plan = make_plan(["s.p.local.c"])
    campaign = make_campaign([make_result("s.p.local.c", status="failed")], plan=plan)
    insights = make_insights(campaign, plan=plan, states={"s.p.local.c": "passed"})
    assert Reader(campaign_page(campaign, insights, plan)).tile("s.p.local.c")["class"] == (
        "t failed"
    )


def test_a_planned_cell_that_nobody_speaks_of_is_unresolved() -> None:
    plan = make_plan(["s.p.local.a", "s.p.local.b"])
    campaign = make_campaign([make_result("s.p.local.a")], plan=plan)
    reader = Reader(campaign_page(campaign, make_insights(campaign, plan=plan), plan))
    assert reader.tile("s.p.local.b")["class"] == "t unresolved"
    assert reader.headline == "1 unresolved of 1"


def test_a_campaign_that_contradicts_its_cells_is_not_green() -> None:
    plan = make_plan(["s.p.local.a"])
    campaign = make_campaign(plan=plan)
    insights = make_insights(campaign, plan=plan)
    doubted = campaign.model_copy(update={"passed": 0, "failed": 1})
    page = Reader(campaign_page(doubted, insights, plan))
    assert page.headline == "0 of 1 passed, and its cells say 1"


def test_the_headline_counts_what_is_red_by_kind(page: Reader) -> None:
    assert page.headline == "2 failed, 1 clean-up failed and 2 unresolved of 17"


def test_a_green_campaign_says_so_beside_its_coverage() -> None:
    ids = ("a.p.local.x", "a.p.local.y")
    plan = make_plan(ids, catalog=(*ids, "b.p.local.x"))
    campaign = make_campaign(plan=plan)
    reader = Reader(campaign_page(campaign, make_insights(campaign, plan=plan), plan))
    assert reader.headline == "All 2 passed"
    assert "1 of 2 suites" in reader.text
    assert "2 of 3 cells of the catalog" in reader.text
    assert "What needs a look" not in reader.text


def test_an_empty_campaign_is_not_green() -> None:
    plan = make_plan([], catalog=["a.p.local.x"])
    campaign = make_campaign([], plan=plan, complete=False)
    reader = Reader(campaign_page(campaign, make_insights(campaign, plan=plan), plan))
    assert reader.headline == "Nothing was selected"


def test_an_unpriced_run_makes_the_sum_a_lower_bound(page: Reader) -> None:
    assert "at least $" in page.text
    assert "1 run without a price, not free" in page.text


def test_what_nobody_priced_is_never_nothing() -> None:
    plan = make_plan(["s.p.local.a"])
    campaign = make_campaign([make_result("s.p.local.a", cost=None)], plan=plan)
    reader = Reader(campaign_page(campaign, make_insights(campaign, plan=plan), plan))
    assert "$0.00" not in reader.text
    assert reader.text.count("unpriced") == 3
    assert "none reported" in reader.island["cells"]["s.p.local.a"]["f"]


def test_failures_of_one_cause_are_told_once() -> None:
    ids = [f"s.p{n}.local.c" for n in range(5)]
    results = [
        make_result(each, status="failed", error=f"port {9000 + n} of 'h{n}' refused")
        for n, each in enumerate(ids[:4])
    ]
    results.append(make_result(ids[4], status="failed", error="another thing"))
    plan = make_plan(ids)
    campaign = make_campaign(results, plan=plan)
    matrices = lay_out(campaign, make_insights(campaign, plan=plan), plan, verdicts={}, series={})
    found = problems(cell for matrix in matrices for cell in matrix.cells)
    assert [len(problem.cells) for problem in found] == [4, 1]


def test_a_leak_is_told_before_everything_else() -> None:
    ids = ["s.p.local.a", "s.p.local.b"]
    results = [
        make_result(ids[0], status="failed"),
        make_result(ids[1], status="failed", failure_class="secret_leak", error="a key"),
    ]
    plan = make_plan(ids)
    campaign = make_campaign(results, plan=plan)
    matrices = lay_out(campaign, make_insights(campaign, plan=plan), plan, verdicts={}, series={})
    assert problems(matrices[0].cells)[0].blame == "secret leak"


def test_a_quarantine_is_told_until_its_last_day() -> None:
    def page_until(day: str) -> Reader:
        entry = QuarantineEntry(
            execution_id=the.FAILED, owner="ada", expires=day, reason="upstream bug"
        )
        campaign, insights, plan = the.showcase()
        suites = tuple(
            suite.model_copy(update={"quarantine": (entry,)}) if suite.id == "core" else suite
            for suite in plan.catalog.suites
        )
        catalog = plan.catalog.model_copy(update={"suites": suites})
        page = campaign_page(campaign, insights, plan.model_copy(update={"catalog": catalog}))
        return Reader(page)

    held = page_until("2026-11-30")
    assert "in quarantine" in held.text
    assert "ada until 2026-11-30: upstream bug" in held.island["cells"][the.FAILED]["f"]
    assert held.tile(the.FAILED)["class"] == "t failed"
    assert "in quarantine" not in page_until("2026-11-29").text


def test_only_pictures_declared_public_are_shown(page: Reader) -> None:
    sources = [attrs["src"] for tag, attrs in page.seen if tag == "img"]
    assert sources == [f"./evidence/{the.PASSED}/attempt-1/final-state.png"]


def test_a_picture_that_the_report_does_not_have_is_not_shown() -> None:
    campaign, insights, plan = the.showcase()
    page = Reader(campaign_page(campaign, insights.model_copy(update={"evidence": ()}), plan))
    assert not [tag for tag, _ in page.seen if tag == "img"]
    assert "g" not in page.island["cells"][the.PASSED]


def test_what_nobody_planned_is_listed_and_counted_nowhere(page: Reader) -> None:
    assert "old.a.local.b" in page.text
    assert "old.a.local.b" not in page.island["cells"]


def test_the_policy_allows_exactly_what_the_page_holds() -> None:
    page = campaign_page(*the.showcase()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    for tag in ("style", "script"):
        found = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert found
        digest = base64.b64encode(hashlib.sha256(found.group(1).encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;;" in policy.group(1)
    assert "unsafe" not in policy.group(1)
    assert "http" not in policy.group(1)


def test_a_published_page_names_assets_that_exist() -> None:
    reader = Reader(campaign_page(*the.showcase(), assets="../../assets"))
    (style,) = [attrs["href"] for _, attrs in reader.seen if attrs.get("rel") == "stylesheet"]
    (script,) = [attrs["src"] for tag, attrs in reader.seen if tag == "script" and "src" in attrs]
    assert {str(style)[6:], str(script)[6:]} == set(assets())


def test_nothing_is_loaded_and_no_handler_or_style_is_written_inline(page: Reader) -> None:
    for tag, attrs in page.seen:
        assert not [name for name in attrs if name.startswith("on") or name == "style"]
        if tag in ("img", "script", "link", "iframe", "object", "embed", "use"):
            target = attrs.get("src") or attrs.get("href") or ""
            assert target.startswith(("data:image/svg+xml,", "./")) or target == ""
