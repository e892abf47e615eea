"""What a cell is expected to take and to cost, from the history of its earlier runs."""

from __future__ import annotations

from collections.abc import Mapping

from runner_e2e.contracts.base import Document
from runner_e2e.contracts.scalars import Amount, Count, Milliseconds


class Estimate(Document):
    """Median and 90th percentile over ``runs`` measured runs; ``null`` where none reported it."""

    runs: Count
    duration_ms_median: Milliseconds | None
    duration_ms_p90: Milliseconds | None
    cost_usd_median: Amount | None
    cost_usd_p90: Amount | None


Estimates = Mapping[str, Estimate]
"""By execution id. A cell that is not in it is unknown, never free."""
