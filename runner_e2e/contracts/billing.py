"""What a run cost, as far as anybody reported it. Unknown is never zero: see ``cost_status``."""

from __future__ import annotations

from pydantic import Field

from runner_e2e.contracts.base import Document, Omittable
from runner_e2e.contracts.scalars import Amount, Count, HttpUrl, Milliseconds
from runner_e2e.contracts.vocabulary import (
    EnvironmentId,
    LlmCostStatus,
    RuntimeCostSource,
    RuntimeCostStatus,
)


class RuntimeUsage(Document):
    """Contract: ``RunnerE2ERuntimeUsage``. What the environment was used for, and at what price."""

    provider: EnvironmentId
    agent_run_duration_ms: Milliseconds
    lease_duration_ms: Milliseconds | None
    lease_count: Count
    cpu_cores: Omittable[Amount] = None
    memory_gib: Omittable[Amount] = Field(default=None, alias="memoryGiB")
    disk_gib: Omittable[Amount] = Field(default=None, alias="diskGiB")
    estimated_list_cost_usd: Omittable[Amount] = None
    cost_status: RuntimeCostStatus
    cost_source: RuntimeCostSource
    pricing_as_of: Omittable[str] = None
    pricing_url: Omittable[HttpUrl] = None


class LlmUsage(Document):
    """Contract: ``RunnerE2EBillingSummary["llm"]``. Tokens and reported model spend."""

    run_count: Count
    runs_with_token_usage: Count
    runs_with_reported_cost: Count
    input_tokens: Count
    output_tokens: Count
    cached_input_tokens: Count
    total_tokens: Count
    reported_cost_usd: Amount
    cost_status: LlmCostStatus


class BillingSummary(Document):
    """Contract: ``RunnerE2EBillingSummary``. One execution's cost."""

    llm: LlmUsage
    runtime: RuntimeUsage
    reported_cost_usd: Amount
    estimated_runtime_cost_usd: Amount
    observed_and_estimated_cost_usd: Amount
    complete: bool


class AggregateBillingSummary(Document):
    """Contract: ``RunnerE2EAggregateBillingSummary``. A suite's or a campaign's cost."""

    test_count: Count
    agent_run_duration_ms: Milliseconds
    lease_duration_ms: Milliseconds
    llm: LlmUsage
    reported_llm_cost_usd: Amount
    estimated_runtime_cost_usd: Amount
    observed_and_estimated_cost_usd: Amount
    tests_with_complete_billing: Count
