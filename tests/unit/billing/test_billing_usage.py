"""Every row of the tables of usage and of cost status."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.billing import add_usage, cost_status, join_usage, summarize_usage
from runner_e2e.contracts.base import dump
from runner_e2e.contracts.scalars import MAX_SAFE_INTEGER

ONE = ("run-1",)


def tokens(usage: dict[str, Any]) -> tuple[int, int, int]:
    summary = summarize_usage(usage, ONE)
    return summary.input_tokens, summary.output_tokens, summary.cached_input_tokens


@pytest.mark.parametrize("key", ["inputTokens", "input", "promptTokens"])
def test_input_tokens_have_three_names(key: str) -> None:
    assert tokens({key: 7}) == (7, 0, 0)


@pytest.mark.parametrize("key", ["outputTokens", "output", "completionTokens"])
def test_output_tokens_have_three_names(key: str) -> None:
    assert tokens({key: 7}) == (0, 7, 0)


@pytest.mark.parametrize("key", ["cachedInputTokens", "cacheReadTokens", "cachedReadTokens"])
def test_cached_tokens_have_three_names(key: str) -> None:
    assert tokens({"input": 1, key: 7}) == (1, 0, 7)


def test_the_first_name_that_holds_a_number_counts() -> None:
    assert tokens({"inputTokens": 1, "input": 2, "promptTokens": 3}) == (1, 0, 0)
    assert tokens({"inputTokens": None, "input": "2", "promptTokens": 3}) == (3, 0, 0)


@pytest.mark.parametrize(
    "value", [-1, "5", None, True, [5], {}, float("nan"), float("inf"), MAX_SAFE_INTEGER + 1, 1e300]
)
def test_what_is_no_honest_number_is_as_good_as_nothing(value: Any) -> None:
    summary = summarize_usage({"inputTokens": value, "costUsd": value}, ONE)
    assert summary.cost_status == "unavailable"
    assert summary.input_tokens == 0


@pytest.mark.parametrize("place", ["runDelta", "total", "cumulative"])
def test_a_measurement_may_lie_one_level_deeper(place: str) -> None:
    assert tokens({place: {"input": 3, "output": 4}}) == (3, 4, 0)


def test_the_usage_of_the_run_comes_before_running_sums() -> None:
    usage = {"cumulative": {"input": 300}, "total": {"input": 30}, "runDelta": {"input": 3}}
    assert tokens(usage) == (3, 0, 0)
    del usage["runDelta"]
    assert tokens(usage) == (30, 0, 0)


def test_a_measurement_without_tokens_is_passed_over() -> None:
    assert tokens({"runDelta": {"costUsd": 1}, "input": 5}) == (5, 0, 0)


@pytest.mark.parametrize("key", ["cacheAdjustedCostUsd", "costUsd", "providerCostUsd"])
def test_a_cost_has_three_names_on_the_usage_and_on_the_measurement(key: str) -> None:
    assert summarize_usage({key: 0.5, "input": 1}, ONE).reported_cost_usd == 0.5
    deeper = {"runDelta": {"input": 1, key: 0.25}}
    assert summarize_usage(deeper, ONE).reported_cost_usd == 0.25


def test_the_cost_on_the_usage_comes_before_the_one_on_the_measurement() -> None:
    usage = {"costUsd": 0.5, "runDelta": {"input": 1, "cacheAdjustedCostUsd": 0.25}}
    assert summarize_usage(usage, ONE).reported_cost_usd == 0.5


@pytest.mark.parametrize("key", ["amount", "total"])
@pytest.mark.parametrize("currency", [{"currency": "USD"}, {"currency": "usd"}, {}])
def test_a_cost_object_in_dollars_counts(key: str, currency: dict[str, str]) -> None:
    usage = {"input": 1, "cost": {key: 0.5, **currency}}
    assert summarize_usage(usage, ONE).reported_cost_usd == 0.5


@pytest.mark.parametrize("currency", ["EUR", 7, ""])
def test_another_currency_is_no_cost(currency: Any) -> None:
    usage = {"input": 1, "cost": {"amount": 0.5, "currency": currency}}
    assert summarize_usage(usage, ONE).cost_status == "unpriced"


def test_no_dollars_for_no_tokens_is_not_a_free_run() -> None:
    assert summarize_usage({"costUsd": 0}, ONE).cost_status == "unavailable"


def test_no_dollars_for_some_tokens_is_a_free_run() -> None:
    summary = summarize_usage({"costUsd": 0, "input": 5}, ONE)
    assert (summary.cost_status, summary.reported_cost_usd) == ("reported", 0)


def test_a_cost_without_tokens_is_reported() -> None:
    summary = summarize_usage({"costUsd": 0.1}, ONE)
    assert (summary.cost_status, summary.runs_with_token_usage) == ("reported", 0)


def test_the_total_is_input_cached_and_output() -> None:
    usage = {"input": 1, "output": 20, "cachedInputTokens": 300}
    assert summarize_usage(usage, ONE).total_tokens == 321


@pytest.mark.parametrize(
    ("runs", "priced", "with_tokens", "status"),
    [
        (2, 2, 2, "reported"),
        (2, 2, 0, "reported"),
        (2, 1, 2, "partial"),
        (2, 1, 0, "partial"),
        (2, 0, 1, "unpriced"),
        (2, 0, 0, "unavailable"),
    ],
)
def test_the_status_says_how_far_the_cost_covers_the_runs(
    runs: int, priced: int, with_tokens: int, status: str
) -> None:
    assert cost_status(run_count=runs, priced=priced, with_tokens=with_tokens) == status


def test_unlike_the_reference_no_runs_at_all_are_unavailable_and_not_reported() -> None:
    assert add_usage([]).cost_status == "unavailable"


def test_runs_are_counted_by_their_ids_or_by_their_entries_whichever_are_more() -> None:
    one = {"usage": {"input": 1, "costUsd": 1}}
    assert summarize_usage({"runs": [one]}, ("a", "b", "c")).run_count == 3
    assert summarize_usage({"runs": [one, one]}, ("a",)).run_count == 2
    assert summarize_usage(None, ()).run_count == 1
    assert summarize_usage({"runs": [one]}, ("a", "b")).cost_status == "partial"


@pytest.mark.parametrize("entry", [None, 5, {}, {"usage": None}, {"usage": [1]}, [], "x"])
def test_an_entry_without_usage_is_a_run_of_which_nothing_is_known(entry: Any) -> None:
    summary = summarize_usage({"runs": [entry, {"usage": {"input": 2, "costUsd": 1}}]}, ())
    assert (summary.run_count, summary.runs_with_reported_cost) == (2, 1)
    assert summary.cost_status == "partial"


def test_a_single_usage_stands_for_one_run_of_several() -> None:
    summary = summarize_usage({"input": 5, "costUsd": 1}, ("a", "b"))
    assert (summary.run_count, summary.cost_status) == (2, "partial")


def test_all_attempts_are_counted_and_a_silent_one_makes_the_sum_partial() -> None:
    usage, ids = join_usage(
        [(None, ("a",)), ({"input": 5, "costUsd": 0.5}, ("b",)), ({"runs": []}, ("c", "d"))]
    )
    assert ids == ("a", "b", "c", "d")
    summary = summarize_usage(usage, ids)
    assert (summary.run_count, summary.cost_status) == (4, "partial")
    assert summary.reported_cost_usd == 0.5


def test_an_attempt_that_never_had_a_run_keeps_its_place() -> None:
    usage, ids = join_usage([(None, ()), ({"input": 5, "costUsd": 0.5}, ("b",))])
    assert summarize_usage(usage, ids).cost_status == "partial"


def test_one_attempt_without_usage_has_none() -> None:
    assert join_usage([(None, ("a",))]) == (None, ("a",))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["runs", "usage", "total", "input", "costUsd", "cost", "amount", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(usage=st.dictionaries(st.sampled_from(["runs", "input", "costUsd", "cost"]), JSON))
def test_no_usage_that_an_agent_can_write_breaks_the_sum(usage: dict[str, Any]) -> None:
    summary = summarize_usage(usage, ("a",))
    assert summary.run_count >= max(1, summary.runs_with_reported_cost)
    dump(add_usage([summary, summary]))


@given(costs=st.lists(st.floats(min_value=0, max_value=1e6), max_size=20), seed=st.randoms())
def test_a_sum_of_money_does_not_depend_on_the_order(costs: list[float], seed: Any) -> None:
    parts = [summarize_usage({"input": 1, "costUsd": cost}, ONE) for cost in costs]
    shuffled = list(parts)
    seed.shuffle(shuffled)
    assert add_usage(parts) == add_usage(shuffled)
