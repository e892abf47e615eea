"""Every sink survives whatever an agent wrote, and keeps to its budget."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.insights import Insights
from runner_e2e.contracts.matcher import MessageExact
from runner_e2e.contracts.plan import Plan
from runner_e2e.contracts.result import MatcherResult, Result
from runner_e2e.reports import (
    MARKER,
    comment_markdown,
    error_annotations,
    junit_xml,
    summary_markdown,
)
from runner_e2e.reports.annotate import PER_STEP
from runner_e2e.reports.comment import COMMENT_CHARACTERS
from runner_e2e.reports.summary import SUMMARY_BYTES
from runner_e2e.reports.text import command_message, cut_bytes, xml
from runner_e2e.wording import cell, visible
from tests.support.documents import make_campaign, make_insights, make_plan, make_result
from tests.support.hostile import MARKUP, plant
from tests.support.showcase import showcase

PAGE_URL = "https://acme.github.io/agents/e2e/"
HOSTILE = [
    "a|b\\|c||",
    "line one\nline two\r\nline three",
    "`` ` ``` ~~~",
    "</details></summary></table></pre>",
    "<!-- comment --> <img src=x onerror=alert(1)>",
    "@org/team @someone #123 GH-12 org/repo#5",
    "[click](javascript:alert(1)) ![x](https://evil.example/x.png)",
    "https://evil.example www.evil.example ftp://evil.example mailto:evil@evil.example",
    "\u202eexe.gnp \u2066\u200b\ufeff",
    "::error::boom\n::add-mask::x\n##[error]boom",
    "\x00\x08\x0b\x1b[31mred\x1b[0m\x7f\x85\ufffe",
    "]]> &amp; &#124; &lt;",
    "$x^2$ **bold** __bold__ *it* _it_ ~~no~~ # title > quote - item",
    MARKUP,
]
ALLOWED_TAGS = {
    *("h2", "h3", "p", "br", "strong", "em", "code", "table", "thead", "tbody", "tr", "th", "td"),
    *("details", "summary", "sub", "pre", "a", "ul", "li"),
}


def read_xml(text: str | bytes) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314  # that our own output can be read is the test


class Rendered(HTMLParser):
    """The page as a reader sees it: its tags, links, and text outside of code."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.text = ""
        self.rows: list[int] = []
        self._open: list[str] = []
        self.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]
        assert {name for name, _ in attrs} <= {"href", "style"}
        if tag == "tr":
            self.rows.append(0)
        elif tag in {"td", "th"}:
            self.rows[-1] += 1
        if tag != "br":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"code", "pre"} & set(self._open):
            self.text += data


def check_markdown(markdown: str) -> Rendered:
    """Assert that nothing in ``markdown`` acts but what is ours."""
    page = Rendered(markdown)
    assert page.tags <= ALLOWED_TAGS
    assert all(link.startswith(("https://github.com/acme/", PAGE_URL)) for link in page.links)
    assert set(page.rows) <= {4, 5, 6}
    assert not re.search(r"[@#]\w", page.text)
    assert not re.search(r"(?i)https?://|www\.\w|javascript:\w|gh-[0-9]", page.text)
    assert visible(markdown.replace("\u200b", "")) == markdown.replace("\u200b", "")
    return page


def hostile_campaign(text: str) -> tuple[Campaign, Insights, Plan]:
    """A campaign whose every free text is ``text``, with one cell of each kind."""
    ids = [f"smoke.scripted.local.{case}" for case in ("red", "dead", "green", "slow")]
    plan = make_plan(ids)
    missed = MatcherResult(
        matcher=MessageExact(kind="message_exact", expected=text), passed=False, detail=text
    )
    results = [
        make_result(ids[0], status="failed", error=text, model=text, matcher_results=(missed,)),
        make_result(ids[1], status="failed", attempt=0, error=text),
        make_result(ids[2], model=text, provider=text),
        make_result(ids[3], attempt=2),
    ]
    campaign = make_campaign(results, plan=plan)
    insights = make_insights(campaign, plan=plan)
    cells = tuple(
        insight.model_copy(update={"reason": text, "code": text, "file": text})
        for insight in insights.cells
    )
    suite = plan.catalog.suites[0].model_copy(update={"label": text, "description": text})
    catalog = plan.catalog.model_copy(update={"suites": (suite,)})
    return (
        campaign,
        insights.model_copy(update={"cells": cells}),
        plan.model_copy(update={"catalog": catalog}),
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_stays_what_it_was_meant_to_be(text: str) -> None:
    campaign, insights, plan = hostile_campaign(text)
    check_markdown(summary_markdown(campaign, insights, plan, page_url=PAGE_URL))
    comment = comment_markdown(campaign, insights, plan, page_url=PAGE_URL)
    assert comment.startswith(MARKER)
    check_markdown(comment)


def test_a_text_in_any_field_at_all_stays_text() -> None:
    shown = showcase()
    campaign, _ = plant(shown[0], MARKUP)
    insights, _ = plant(shown[1], MARKUP)
    plan, planted = plant(shown[2], MARKUP)
    assert planted
    check_markdown(summary_markdown(campaign, insights, plan))
    read_xml(junit_xml(campaign, insights, plan))
    for line in error_annotations(campaign, insights):
        assert re.fullmatch(r"::error title=[^\n\r:,]*::[^\n\r]*", line)


@pytest.mark.parametrize("text", HOSTILE)
def test_junit_can_be_read_back_with_what_was_illegal_made_visible(text: str) -> None:
    campaign, insights, plan = hostile_campaign(text)
    root = read_xml(junit_xml(campaign, insights, plan))
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.text == f"{visible(text)}\nmessage_exact: {visible(text)}"


@pytest.mark.parametrize("text", HOSTILE)
def test_an_annotation_is_one_command_on_one_line(text: str) -> None:
    campaign, insights, _ = hostile_campaign(text)
    lines = error_annotations(campaign, insights)
    assert len(lines) == 2
    for line in lines:
        assert re.fullmatch(r"::error title=[^\n\r:,]*::[^\n\r]*", line)


any_text = st.text(alphabet=st.characters(codec="utf-8") | st.sampled_from("|`@#<&\n\x1b\u202e"))


@given(st.text() | any_text)
def test_xml_holds_any_text(text: str) -> None:
    root = read_xml(f'<a b="{xml(text)}">{xml(text)}</a>')
    assert root.text == root.get("b") == visible(text) or not text


@given(st.text() | any_text)
@settings(deadline=None)
def test_a_table_cell_holds_any_text_in_one_row(text: str) -> None:
    page = Rendered(f"| a | b |\n|:--|:--|\n| {cell(text)} | end |\n")
    assert page.rows == [2, 2]
    assert page.tags == {"table", "thead", "tbody", "tr", "th", "td"}


@given(st.text() | any_text, st.integers(60, 200))
def test_a_cut_is_made_between_characters_and_says_so(text: str, limit: int) -> None:
    whole = text.encode("utf-8", "surrogatepass")
    cut = cut_bytes(text, limit)
    assert len(cut.encode("utf-8", "surrogatepass")) <= limit
    assert (cut == text) == (len(whole) <= limit)


@given(st.text())
def test_a_command_message_holds_no_line_break(text: str) -> None:
    assert not set(command_message(text)) & {"\n", "\r"}


EMOJI = "😀" * 40_000


def many(count: int, error: str) -> tuple[Campaign, Insights, Plan]:
    plan = make_plan([f"smoke.scripted.local.c{number:04}" for number in range(count)])
    results: list[Result] = [
        make_result(cell, status="failed", error=f"{number} {error}")
        for number, cell in enumerate(plan.expected)
    ]
    campaign = make_campaign(results, plan=plan)
    return campaign, make_insights(campaign, plan=plan), plan


def test_budgets_hold_for_a_thousand_failures_of_four_byte_characters() -> None:
    campaign, insights, plan = many(1024, EMOJI)
    summary = summary_markdown(campaign, insights, plan, page_url=PAGE_URL)
    assert len(summary.encode()) <= SUMMARY_BYTES
    assert "more failures did not fit here" in summary
    check_markdown(summary)
    comment = comment_markdown(campaign, insights, plan)
    assert len(comment.encode("utf-16-le")) // 2 <= COMMENT_CHARACTERS
    check_markdown(comment)
    lines = error_annotations(campaign, insights)
    assert len(lines) == PER_STEP
    assert lines[-1].endswith("1,015 more are in the summary")


def test_what_goes_first_where_there_is_little_room_is_the_end() -> None:
    campaign, insights, plan = many(30, "x" * 400)
    sections = [
        "30 failed",
        "resolved, coverage",
        "### Failed",
        "### Suites",
        "What the failures said",
        "All 30 cells",
    ]
    seen = []
    for budget in range(0, 60_000, 150):
        text = comment_markdown(campaign, insights, plan, budget=budget)
        assert len(text.encode("utf-16-le")) // 2 <= budget
        check_markdown(text)
        present = [section in text for section in sections]
        # Whatever is there, everything before it is there too, but for a block that could not
        # even begin.
        assert present[0] or not any(present[1:])
        seen.append(sum(present))
    assert (seen[0], seen[-1]) == (0, len(sections))


def test_a_huge_error_is_cut_and_says_so() -> None:
    campaign, insights, plan = many(1, "y" * 10_000_000)
    data = junit_xml(campaign, insights, plan)
    assert len(data) < 40_000
    assert b"[10,000,002 bytes in all, cut here]" in data
