"""Totals: of one execution, and of a suite or a campaign."""

from __future__ import annotations

from collections.abc import Iterable

from runner_e2e.billing.runtime import unreported_runtime
from runner_e2e.billing.usage import add_usage, exact_sum, summarize_usage
from runner_e2e.contracts.billing import (
    AggregateBillingSummary,
    BillingSummary,
    LlmUsage,
    RuntimeUsage,
)
from runner_e2e.contracts.result import Result
from runner_e2e.wording import UNKNOWN, cost


def billing_summary(llm: LlmUsage, runtime: RuntimeUsage) -> BillingSummary:
    """Sum up one execution. ``complete`` means that every run told its tokens and its price."""
    estimated = runtime.estimated_list_cost_usd or 0
    return BillingSummary(
        llm=llm,
        runtime=runtime,
        reported_cost_usd=llm.reported_cost_usd,
        estimated_runtime_cost_usd=estimated,
        observed_and_estimated_cost_usd=exact_sum((llm.reported_cost_usd, estimated)),
        complete=(
            llm.run_count > 0
            and llm.runs_with_token_usage == llm.run_count
            and llm.runs_with_reported_cost == llm.run_count
            and runtime.cost_status != "unavailable"
        ),
    )


def result_billing(result: Result) -> BillingSummary:
    """Work out the cost of a result from its usage; a stored summary is not trusted."""
    runtime = result.runtime_usage or unreported_runtime(result.environment_id, result.duration_ms)
    return billing_summary(summarize_usage(result.usage, result.run_ids or ()), runtime)


def sum_billing(summaries: Iterable[BillingSummary]) -> AggregateBillingSummary:
    """Sum up what :func:`result_billing` says of results.

    The sums do not depend on their order; of none they are ``unavailable``.
    """
    parts = list(summaries)
    llm = add_usage(part.llm for part in parts)
    estimated = exact_sum(part.estimated_runtime_cost_usd for part in parts)
    return AggregateBillingSummary(
        test_count=len(parts),
        agent_run_duration_ms=exact_sum(part.runtime.agent_run_duration_ms for part in parts),
        lease_duration_ms=exact_sum(part.runtime.lease_duration_ms or 0 for part in parts),
        llm=llm,
        reported_llm_cost_usd=llm.reported_cost_usd,
        estimated_runtime_cost_usd=estimated,
        observed_and_estimated_cost_usd=exact_sum((llm.reported_cost_usd, estimated)),
        tests_with_complete_billing=sum(part.complete for part in parts),
    )


def billing_words(billing: BillingSummary | None) -> str:
    """What one execution cost, as far as it is known."""
    if billing is None:
        return UNKNOWN
    return cost(billing.observed_and_estimated_cost_usd, complete=billing.complete)
