from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.contracts.result import Source
from runner_e2e.site import text
from tests.support.documents import SHA, make_billing, make_source


@pytest.mark.parametrize(
    ("usd", "said"),
    [
        (0, "$0.00"),
        (0.01, "$0.01"),
        (1234.567, "$1,234.57"),
        (0.009, "$0.0090"),
        (0.00123, "$0.0012"),
        (0.0000012, "$0.000001"),
        (0.0000001, "<$0.000001"),
    ],
)
def test_money_never_rounds_a_real_amount_to_nothing(usd: float, said: str) -> None:
    assert text.money(usd) == said


def test_a_cost_that_is_not_whole_says_so() -> None:
    assert text.cost(1.5, complete=False) == "at least $1.50"
    assert text.cost(0, complete=False) == "unpriced"
    assert text.cost(0, complete=True) == "$0.00"
    assert text.cell_cost(make_billing(cost=None)) == "unpriced"
    assert text.cell_cost(None) == text.UNKNOWN


@pytest.mark.parametrize(
    ("milliseconds", "long", "short"),
    [
        (0, "0 ms", "0.0s"),
        (850, "850 ms", "0.8s"),
        (59_940, "59.9 s", "59.9s"),
        (59_960, "1 min 00 s", "1m00"),
        (245_000, "4 min 05 s", "4m05"),
        (3_599_600, "1 h 00 min", "1h00"),
        (7_620_000, "2 h 07 min", "2h07"),
    ],
)
def test_a_duration_never_shows_sixty(milliseconds: float, long: str, short: str) -> None:
    assert text.duration(milliseconds) == long
    assert text.short_duration(milliseconds) == short


def test_what_was_not_observed_is_a_dash() -> None:
    assert text.duration(None) == "\N{EN DASH}"


@pytest.mark.parametrize(
    ("value", "said"), [(0, "0"), (9_999, "9,999"), (12_345, "12.3 k"), (2_500_000, "2.5 M")]
)
def test_a_number_is_short(value: float, said: str) -> None:
    assert text.number(value) == said


def test_bidi_controls_and_hidden_characters_are_spelled_out() -> None:
    assert text.visible("exe\u202egnp.\u200b") == "exe\\u202egnp.\\u200b"
    assert (
        text.visible("a\x00b\x1bc\x85d\u2028e\ud800") == "a\\u0000b\\u001bc\\u0085d\\u2028e\ufffd"
    )
    assert text.visible("from\r\nWindows, over\rwritten") == "from\nWindows, over\\u000dwritten"
    assert text.visible("two\nlines\tand a tab") == "two\nlines\tand a tab"


@given(st.text(), st.integers(min_value=0, max_value=50))
def test_visible_text_is_bounded_and_can_be_encoded(raw: str, limit: int) -> None:
    shown = text.visible(raw, limit)
    assert len(shown.encode()) <= 6 * limit + 60
    assert not any(0x202A <= ord(char) <= 0x202E for char in shown)


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:text/html,x", "//evil", "https://a b", 'https://a"b', "ftp://a"],
)
def test_only_web_addresses_become_links(url: str) -> None:
    assert text.web_url(url) is None


def test_a_commit_is_linked_only_where_it_surely_is_one() -> None:
    repository = text.repository_url(make_source())
    assert repository == "https://github.com/acme/agents"
    assert text.commit_url(repository, SHA) == f"https://github.com/acme/agents/commit/{SHA}"
    assert text.commit_url(repository, "main") is None
    assert text.commit_url("javascript:x", SHA) is None
    assert text.repository_url(Source(sha=SHA, ref=None, workflow_run_url=None)) is None
    assert text.repository_url(make_source(workflow_run_url="https://ci.example/job/7")) is None


@pytest.mark.parametrize("path", ["../up.png", "/etc/passwd", "a//b", "a/./b", "a\\b", ""])
def test_evidence_never_leaves_the_report(path: str) -> None:
    assert text.evidence_href(path) is None


def test_evidence_is_quoted_and_never_a_scheme() -> None:
    assert text.evidence_href("javascript:alert(1)/a b?#.png") == (
        "./javascript%3Aalert%281%29/a%20b%3F%23.png"
    )
