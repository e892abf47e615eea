"""Every row of the tables of runtime cost and of totals."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from runner_e2e.billing import (
    Lease,
    RunSpan,
    RuntimePrices,
    add_runtime,
    billing_summary,
    prices_at,
    result_billing,
    runtime_usage,
    sum_billing,
    summarize_usage,
    unreported_runtime,
)
from tests.support.documents import make_result

NOON = "2026-11-30T12:00:00.000Z"
ONE = "2026-11-30T13:00:00.000Z"
TWO = "2026-11-30T14:00:00.000Z"
HOUR = 3_600_000


def lease(**changes: Any) -> Lease:
    values: dict[str, Any] = {
        "acquired_at": NOON,
        "released_at": ONE,
        "cpu": 4,
        "memory_gib": 4,
        "disk_gib": 10,
    }
    return Lease(**values | changes)


def test_a_local_run_is_not_metered_and_has_no_lease() -> None:
    usage = runtime_usage("local", [RunSpan(started_at=NOON, finished_at=ONE)])
    assert (usage.cost_status, usage.cost_source) == ("not_metered", "local_not_metered")
    assert (usage.lease_duration_ms, usage.lease_count) == (None, 0)
    assert usage.agent_run_duration_ms == HOUR
    assert usage.estimated_list_cost_usd is None


@pytest.mark.parametrize(
    ("start", "end"), [(None, ONE), (NOON, None), ("nonsense", ONE), (ONE, NOON), (NOON, "")]
)
def test_a_run_without_two_good_times_adds_nothing(start: str | None, end: str | None) -> None:
    usage = runtime_usage("local", [RunSpan(started_at=start, finished_at=end)])
    assert usage.agent_run_duration_ms == 0


def test_an_hour_at_four_cores_four_gib_and_ten_gib_costs_the_check_value() -> None:
    usage = runtime_usage("daytona", [], [lease()])
    assert usage.estimated_list_cost_usd == pytest.approx(0.26748, abs=1e-12)
    assert (usage.cost_status, usage.cost_source) == ("estimated", "daytona_public_list_price")
    assert usage.pricing_as_of == "2026-08-27"
    assert usage.pricing_url == "https://www.daytona.io/pricing"
    assert (usage.cpu_cores, usage.memory_gib, usage.disk_gib) == (4, 4, 10)
    assert (usage.lease_duration_ms, usage.lease_count) == (HOUR, 1)


def test_leases_that_differ_in_size_show_none() -> None:
    usage = runtime_usage("daytona", [], [lease(), lease(cpu=8)])
    assert (usage.cpu_cores, usage.memory_gib) == (None, 4)
    assert usage.lease_duration_ms == 2 * HOUR


def test_without_a_lease_the_cost_is_unavailable_and_the_duration_unknown() -> None:
    usage = runtime_usage("daytona", [])
    assert (usage.cost_status, usage.cost_source) == ("unavailable", "provider_cost_unavailable")
    assert (usage.estimated_list_cost_usd, usage.lease_duration_ms) == (None, None)


@pytest.mark.parametrize(
    "change", [{"cpu": None}, {"memory_gib": None}, {"disk_gib": None}, {"acquired_at": "?"}]
)
def test_one_lease_that_cannot_be_priced_makes_the_cost_unavailable(change: Any) -> None:
    usage = runtime_usage("daytona", [], [lease(), lease(**change)])
    assert (usage.cost_status, usage.estimated_list_cost_usd) == ("unavailable", None)
    assert usage.lease_duration_ms is not None


def test_a_lease_ends_when_released_else_with_the_attempt_else_when_last_seen() -> None:
    opened = lease(released_at=None, updated_at=ONE)
    assert runtime_usage("daytona", [], [opened], finished_at=TWO).lease_duration_ms == 2 * HOUR
    assert runtime_usage("daytona", [], [opened]).lease_duration_ms == HOUR
    assert runtime_usage("daytona", [], [lease()], finished_at=TWO).lease_duration_ms == HOUR


def prices(as_of: str) -> RuntimePrices:
    return RuntimePrices(
        provider="daytona",
        as_of=as_of,
        url="https://example.test/prices",
        cpu_core_hour_usd=1,
        memory_gib_hour_usd=0,
        disk_gib_hour_usd=0,
    )


def test_a_lease_is_priced_by_the_newest_prices_of_its_day() -> None:
    table = (prices("2026-01-01"), prices("2026-06-01"))
    moments = {
        datetime(2025, 1, 1, tzinfo=UTC): "2026-01-01",
        datetime(2026, 5, 31, tzinfo=UTC): "2026-01-01",
        datetime(2026, 6, 1, tzinfo=UTC): "2026-06-01",
    }
    assert {moment: prices_at(moment, table).as_of for moment in moments} == moments


def test_a_result_without_runtime_usage_says_what_is_unknown() -> None:
    local, remote = unreported_runtime("local", 5), unreported_runtime("daytona", 5)
    assert (local.cost_status, remote.cost_status) == ("not_metered", "unavailable")
    assert local.agent_run_duration_ms == remote.agent_run_duration_ms == 5


def test_all_attempts_of_an_environment_are_added_up() -> None:
    first, second = (runtime_usage("daytona", [], [lease()]) for _ in range(2))
    both = add_runtime([first, second])
    assert both.lease_count == 2
    assert both.lease_duration_ms == 2 * HOUR
    assert both.estimated_list_cost_usd == pytest.approx(2 * 0.26748)
    assert (both.cpu_cores, both.pricing_as_of) == (4, "2026-08-27")


def test_an_attempt_without_a_price_leaves_the_sum_without_one() -> None:
    both = add_runtime([runtime_usage("daytona", [], [lease()]), runtime_usage("daytona", [])])
    assert (both.cost_status, both.estimated_list_cost_usd) == ("unavailable", None)
    assert both.lease_duration_ms == HOUR


def test_a_cell_adds_reported_and_estimated_cost() -> None:
    llm = summarize_usage({"input": 5, "costUsd": 0.5}, ("a",))
    summary = billing_summary(llm, runtime_usage("daytona", [], [lease()]))
    assert summary.reported_cost_usd == 0.5
    assert summary.estimated_runtime_cost_usd == pytest.approx(0.26748)
    assert summary.observed_and_estimated_cost_usd == pytest.approx(0.76748)
    assert summary.complete


@pytest.mark.parametrize(
    ("usage", "environment"),
    [
        ({"input": 5}, "local"),
        ({"costUsd": 1}, "local"),
        (None, "local"),
        ({"input": 5, "costUsd": 1}, "daytona"),
    ],
)
def test_a_cell_is_incomplete_while_anything_is_unknown(usage: Any, environment: Any) -> None:
    summary = billing_summary(summarize_usage(usage, ("a",)), runtime_usage(environment, []))
    assert not summary.complete


def test_an_aggregate_is_worked_out_from_usage_and_not_from_what_a_result_claims() -> None:
    result = make_result(cost=0.5)
    assert result.billing is not None
    lying = result.model_copy(
        update={"billing": result.billing.model_copy(update={"reported_cost_usd": 99})}
    )
    assert sum_billing([result_billing(lying)]).reported_llm_cost_usd == 0.5
    assert result_billing(lying).reported_cost_usd == 0.5


def test_an_aggregate_counts_tests_durations_and_complete_ones() -> None:
    priced, unpriced = make_result(cost=0.5), make_result(cost=None)
    total = sum_billing(map(result_billing, (priced, unpriced)))
    assert total.test_count == 2
    assert total.llm.cost_status == "partial"
    assert total.tests_with_complete_billing == 1
    assert total.observed_and_estimated_cost_usd == 0.5


def test_unlike_the_reference_an_empty_aggregate_is_unavailable() -> None:
    total = sum_billing([])
    assert (total.test_count, total.llm.run_count) == (0, 0)
    assert total.llm.cost_status == "unavailable"
