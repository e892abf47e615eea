"""Plans made from catalogs the way the command line makes them."""

from __future__ import annotations

from typing import Any

from runner_e2e.catalog import Catalog
from runner_e2e.contracts.estimates import Estimates
from runner_e2e.contracts.plan import CampaignSource, Plan
from runner_e2e.planning import PlanOptions, Selectors, build_plan, select


def plan_options(**changes: Any) -> PlanOptions:
    """A plan made on one's own machine."""
    values: dict[str, Any] = {
        "created_at": "2026-11-30T02:00:00.000Z",
        "source": CampaignSource(sha=None, ref=None, workflow_run_url=None, event_name=None),
        "tool_version": "0.1.0",
    }
    return PlanOptions(**{**values, **changes})


def plan_of(catalog: Catalog, estimates: Estimates | None = None, **changes: Any) -> Plan:
    """Everything that the catalog has."""
    selectors = Selectors.parse(all_=True)
    executions = select(catalog, selectors)
    return build_plan(catalog, executions, selectors, plan_options(**changes), estimates or {})
