"""What a person reads first."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner_e2e.campaigns import Collection, aggregate
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.insights import CostInsight, Duplicate, Extra, Insights, UnreadableFile
from runner_e2e.contracts.plan import Plan
from runner_e2e.reports import append_step_summary, summary_budget, summary_markdown
from runner_e2e.reports.summary import SUMMARY_BYTES
from runner_e2e.reports.text import link
from runner_e2e.reports.wording import cells_of as pair
from runner_e2e.reports.wording import cost, strip
from tests.support.documents import (
    IDS,
    LOCAL_SOURCE,
    make_campaign,
    make_insights,
    make_plan,
    make_result,
)


def mixed() -> tuple[Campaign, Insights, Plan]:
    plan = make_plan(IDS, catalog=[*IDS, "other.scripted.local.hello"])
    results = [
        make_result(IDS[0], status="failed", error="it said no", minutes=1.2),
        make_result(IDS[1], status="failed", attempt=0, error="missing: nothing came"),
        make_result(IDS[2], attempt=2),
    ]
    campaign = make_campaign(results, plan=plan)
    return campaign, make_insights(campaign, plan=plan), plan


def test_the_outcome_comes_first_then_how_sure_it_is_then_the_failures() -> None:
    lines = summary_markdown(*mixed()).splitlines()
    assert lines[0] == "## ❌ 1 of 3 passed, 1 failed, 1 unresolved"
    assert "**2 of 3 resolved, coverage 1 of 2 suites**" in lines[2]
    assert "1 flaky · 1 retry" in lines[2]
    headings = [line for line in lines if line.startswith(("###", "<details>"))]
    assert headings == [
        "### Failed",
        "### Unresolved",
        "### Suites",
        "<details><summary>Flaky: passed, but not on the first attempt (1)</summary>",
        "<details><summary>All 3 cells</summary>",
    ]


def test_a_failure_is_told_with_its_class_code_and_a_short_error() -> None:
    campaign, insights, plan = mixed()
    cells = tuple(c.model_copy(update={"code": "matchers_failed"}) for c in insights.cells)
    text = summary_markdown(campaign, insights.model_copy(update={"cells": cells}), plan)
    assert (
        "| **hello**<br><sub>smoke · scripted · local</sub> "
        "| `candidate_failure`<br>`matchers_failed` | it said no | 1 | 1 min 12 s | $0.02 |"
    ) in text


def test_green_says_so_and_nothing_planned_is_not_green() -> None:
    campaign = make_campaign()
    text = summary_markdown(campaign, make_insights(campaign), make_plan())
    assert text.startswith("## ✅ All 3 passed\n")
    assert "Failed" not in text
    plan = make_plan([], catalog=[])
    empty = aggregate(plan, Collection(), campaign_id="local-1")
    nothing = summary_markdown(empty.campaign, empty.insights, plan)
    assert nothing.startswith("## ⚪ Nothing was planned, so nothing is known\n")
    assert "0 of 0 resolved, coverage 0 of 0 suites" in nothing


def test_only_unresolved_cells_are_no_failure_of_the_candidate() -> None:
    results = [make_result(IDS[0]), make_result(IDS[1], status="failed", attempt=0)]
    campaign = make_campaign(results)
    text = summary_markdown(campaign, make_insights(campaign), make_plan(IDS[:2]))
    assert text.startswith("## ⚠️ 1 of 2 passed, 1 unresolved\n")


def test_every_file_that_was_set_aside_is_named() -> None:
    campaign, insights, plan = mixed()
    insights = insights.model_copy(
        update={
            "extras": (
                Extra(execution_id="a.b.local.c", file="x/result.json", reason="it is not planned"),
            ),
            "unreadable": (UnreadableFile(file="odd.zip", reason="it is not a zip archive"),),
            "duplicates": (
                Duplicate(execution_id=IDS[0], chosen="two.json", others=("one.json",)),
                Duplicate(execution_id=IDS[1], chosen="", others=("old.json",)),
            ),
        }
    )
    text = summary_markdown(campaign, insights, plan)
    assert "Files that were set aside (4)" in text
    assert "- `odd.zip`: it is not a zip archive" in text
    assert f"- `{IDS[0]}`: `one.json` did not count, `two.json` did" in text
    assert f"- `{IDS[1]}`: `old.json` did not count, and no other did" in text


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (CostInsight(reported=3.2, at_least=3.207, unpriced=0), "$3.21"),
        (
            CostInsight(reported=1, at_least=1.5, unpriced=2),
            "at least $1.50 (2 runs without a price)",
        ),
        (CostInsight(reported=0, at_least=0, unpriced=1), "cost unknown (1 run without a price)"),
        (CostInsight(reported=0, at_least=0, unpriced=0), "$0.00"),
    ],
)
def test_a_bound_of_the_cost_is_called_one_and_unknown_is_not_free(
    known: CostInsight, said: str
) -> None:
    insights = mixed()[1].model_copy(update={"cost": known})
    assert cost(insights) == said


def test_one_failure_among_a_thousand_still_has_its_square() -> None:
    plan = make_plan([f"smoke.scripted.local.c{number}" for number in range(1000)])
    results = [make_result(cell) for cell in plan.expected]
    results[7] = make_result(plan.expected[7], status="failed")
    campaign = make_campaign(results, plan=plan)
    squares = strip(pair(campaign, make_insights(campaign, plan=plan)))
    assert squares == "🟩" * 23 + "🟥"


def test_only_plain_addresses_become_links() -> None:
    assert link("run", "https://github.com/a/b") == "[run](https://github.com/a/b)"
    for url in (
        None,
        "javascript:alert(1)",
        "https://user:pass@host/",
        "https://x.example/a)b",
        "https://x.example/a|b",
        "https://x.example/<b>",
    ):
        assert link("run", url) == "run"


def test_a_local_campaign_needs_no_address() -> None:
    plan = make_plan(IDS, source=LOCAL_SOURCE)
    campaign = make_campaign(plan=plan)
    assert "](" not in summary_markdown(campaign, make_insights(campaign, plan=plan), plan)


@pytest.mark.parametrize("held", [0, 1, 500_000, SUMMARY_BYTES - 1000, SUMMARY_BYTES])
def test_the_step_summary_counts_what_the_file_holds_already(tmp_path: Path, held: int) -> None:
    path = tmp_path / "summary"
    path.write_bytes(b"x" * held)
    budget = summary_budget(path)
    text = summary_markdown(*mixed(), budget=budget)
    assert append_step_summary(path, text) == (held < SUMMARY_BYTES)
    assert path.read_bytes().startswith(b"x" * held)
    assert path.stat().st_size <= SUMMARY_BYTES


@pytest.mark.parametrize("size", [1_048_575, 1_048_576, 1_048_577])
def test_a_step_summary_that_github_would_drop_whole_is_not_written(
    tmp_path: Path, size: int
) -> None:
    path = tmp_path / "summary"
    assert not append_step_summary(path, "x" * size)
    assert not path.exists()


def test_a_step_summary_goes_on_after_a_blank_line(tmp_path: Path) -> None:
    path = tmp_path / "summary"
    assert append_step_summary(path, "## one\n")
    assert append_step_summary(path, "## two\n")
    assert path.read_text() == "## one\n\n\n## two\n"
