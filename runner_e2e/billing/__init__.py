"""What executions cost, as far as anybody reported it."""

from runner_e2e.billing.prices import (
    DAYTONA_PRICES,
    RuntimePrices,
    prices_at,
)
from runner_e2e.billing.runtime import (
    Lease,
    RunSpan,
    add_runtime,
    runtime_usage,
    unreported_runtime,
)
from runner_e2e.billing.totals import (
    billing_summary,
    billing_words,
    result_billing,
    sum_billing,
)
from runner_e2e.billing.usage import add_usage, cost_status, join_usage, summarize_usage

__all__ = [
    "DAYTONA_PRICES",
    "Lease",
    "RunSpan",
    "RuntimePrices",
    "add_runtime",
    "add_usage",
    "billing_summary",
    "billing_words",
    "cost_status",
    "join_usage",
    "prices_at",
    "result_billing",
    "runtime_usage",
    "sum_billing",
    "summarize_usage",
    "unreported_runtime",
]
