"""Figures and the words of strangers, said once for every sink."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.billing import billing_words
from runner_e2e.wording import UNKNOWN, brief, cell, cost, duration, money, one_line, visible
from tests.support.costs import make_billing


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
    assert money(usd) == said


def test_a_cost_that_is_not_whole_says_so() -> None:
    assert cost(1.5, complete=False) == "at least $1.50"
    assert cost(0, complete=False) == "unpriced"
    assert cost(0, complete=True) == "$0.00"
    assert billing_words(make_billing(cost=None)) == "unpriced"
    assert billing_words(make_billing(cost=0.5)) == "$0.50"
    assert billing_words(None) == UNKNOWN


@pytest.mark.parametrize(
    ("milliseconds", "said"),
    [
        (None, UNKNOWN),
        (0, "0 ms"),
        (850, "850 ms"),
        (59_940, "59.9 s"),
        (59_960, "1 min 00 s"),
        (245_000, "4 min 05 s"),
        (3_599_600, "1 h 00 min"),
        (7_620_000, "2 h 07 min"),
    ],
)
def test_a_duration_never_shows_sixty(milliseconds: float | None, said: str) -> None:
    assert duration(milliseconds) == said


def test_what_cannot_be_seen_is_spelled_out() -> None:
    assert visible("exe\u202egnp.\u200b") == "exe\\u202egnp.\\u200b"
    assert visible("a\x00b\x1bc\x85d\u2028e\ud800") == "a\\x00b\\x1bc\\x85d\\u2028e\\ud800"
    assert visible("soft\u00adhyphen, tag\U000e0041") == "soft\\xadhyphen, tag\\U000e0041"
    assert visible("from\r\nWindows, over\rwritten") == "from\nWindows, over\\rwritten"
    assert visible("two\nlines\tand a tab") == "two\nlines\tand a tab"


@given(st.text(), st.integers(min_value=0, max_value=50))
def test_brief_text_is_bounded_and_can_be_encoded(raw: str, limit: int) -> None:
    shown = brief(raw, limit)
    assert len(shown.encode()) <= 10 * limit + 60
    assert not any(0x202A <= ord(char) <= 0x202E for char in shown)


@given(st.text())
def test_a_cell_stays_in_its_row_and_mentions_nobody(raw: str) -> None:
    shown = cell(f"{raw} @octocat https://evil.example #7", 10_000)
    assert not set("\n|<") & set(shown)
    assert "@octocat" not in shown
    assert "https://" not in shown
    assert "\n" not in one_line(raw)
