"""What an execution used and cost, as its documents say it."""

from __future__ import annotations

from typing import Any

from runner_e2e.contracts.billing import BillingSummary, LlmUsage, RuntimeUsage
from runner_e2e.contracts.vocabulary import EnvironmentId


def make_llm_usage(*, cost: float | None = 0.02, runs: int = 1, tokens: int = 1_200) -> LlmUsage:
    """``cost`` in US dollars, ``None`` where the provider did not report one."""
    return LlmUsage(
        run_count=runs,
        runs_with_token_usage=runs if tokens else 0,
        runs_with_reported_cost=0 if cost is None else runs,
        input_tokens=tokens - tokens // 6,
        output_tokens=tokens // 6,
        cached_input_tokens=0,
        total_tokens=tokens,
        reported_cost_usd=cost or 0,
        cost_status="reported" if cost is not None else ("unpriced" if tokens else "unavailable"),
    )


def make_usage(*, cost: float | None = 0.02, tokens: int = 1_200) -> dict[str, Any]:
    """What an agent reports of one run, from which ``make_llm_usage`` follows."""
    usage: dict[str, Any] = {
        "inputTokens": tokens - tokens // 6,
        "outputTokens": tokens // 6,
        "cachedInputTokens": 0,
    }
    return usage if cost is None else usage | {"costUsd": cost}


def make_runtime_usage(
    environment: EnvironmentId = "local", *, duration_ms: int = 60_000
) -> RuntimeUsage:
    """What the environment was used for; daytona has one lease at list price."""
    if environment == "local":
        return RuntimeUsage(
            provider="local",
            agent_run_duration_ms=duration_ms,
            lease_duration_ms=None,
            lease_count=0,
            cost_status="not_metered",
            cost_source="local_not_metered",
        )
    return RuntimeUsage(
        provider="daytona",
        agent_run_duration_ms=duration_ms,
        lease_duration_ms=duration_ms,
        lease_count=1,
        cpu_cores=4,
        memoryGiB=4,
        diskGiB=10,
        estimated_list_cost_usd=round(0.26748 * duration_ms / 3_600_000, 6),
        cost_status="estimated",
        cost_source="daytona_public_list_price",
        pricing_as_of="2026-08-27",
        pricing_url="https://www.daytona.io/pricing",
    )


def make_billing(
    environment: EnvironmentId = "local",
    *,
    cost: float | None = 0.02,
    tokens: int = 1_200,
    duration_ms: int = 60_000,
) -> BillingSummary:
    """One execution's cost."""
    llm = make_llm_usage(cost=cost, tokens=tokens)
    runtime = make_runtime_usage(environment, duration_ms=duration_ms)
    estimate = runtime.estimated_list_cost_usd or 0
    return BillingSummary(
        llm=llm,
        runtime=runtime,
        reported_cost_usd=llm.reported_cost_usd,
        estimated_runtime_cost_usd=estimate,
        observed_and_estimated_cost_usd=llm.reported_cost_usd + estimate,
        complete=cost is not None and tokens > 0,
    )
