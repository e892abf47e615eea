"""Whether a report is what ``aggregate`` writes: every figure is counted again from its parts."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from runner_e2e.campaigns.build import add_up_cells, build_campaign
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.insights import CellInsight, Insights
from runner_e2e.contracts.plan import Plan, plan_digest
from runner_e2e.contracts.result import Result
from runner_e2e.contracts.vocabulary import EXECUTED_STATES
from runner_e2e.errors import DocumentError


def check_report(campaign: Campaign, insights: Insights, plan: Plan) -> None:
    """Refuse documents that ``aggregate`` cannot have written together.

    A campaign is a function of the plan and its results, and so are the sums of its insights.
    Raises :class:`DocumentError` naming the first value that is not what the others say.
    """
    for source, reason in (
        ("plan.json", _plan_problem(plan)),
        ("campaign.json", _campaign_problem(campaign, plan)),
        ("insights.json", _insights_problem(insights, campaign, plan)),
    ):
        if reason is not None:
            raise DocumentError(
                source,
                reason,
                hint="a report is published as `runner-e2e aggregate` wrote it; aggregate again",
            )


def _plan_problem(plan: Plan) -> str | None:
    return None if plan_digest(plan) == plan.digest else "its digest is not that of its content"


def _campaign_problem(campaign: Campaign, plan: Plan) -> str | None:
    if tuple(result.execution_id for result in campaign.results) != plan.expected:
        return "its results are not one for each execution of plan.json"
    counted = build_campaign(plan, campaign.results, campaign.campaign_id)
    path = _difference(campaign, counted, "")
    return None if path is None else f"its {path} is not what its results and plan.json come to"


def _insights_problem(insights: Insights, campaign: Campaign, plan: Plan) -> str | None:
    if insights.campaign_id != campaign.campaign_id:
        return f"it belongs to {insights.campaign_id}, campaign.json is {campaign.campaign_id}"
    if insights.plan_digest != plan.digest:
        return "it was made from another plan.json"
    if tuple(cell.execution_id for cell in insights.cells) != plan.expected:
        return "its cells are not one for each execution of plan.json"
    for cell, result in zip(insights.cells, campaign.results, strict=True):
        if not _agree(cell, result):
            flaky = "flaky and " if cell.flaky else ""
            return f"{cell.execution_id} is {flaky}{cell.state} in it, and its result is not"
    sums = add_up_cells(plan, campaign, insights.cells)
    for name in ("coverage", "counts", "cost"):
        path = _difference(getattr(insights, name), getattr(sums, name), name)
        if path is not None:
            return f"its {path} is not what its cells come to"
    return None


def _agree(cell: CellInsight, result: Result) -> bool:
    """Whether a cell ended as its result says. Only one that ran and left nothing has passed."""
    return (
        (cell.state in EXECUTED_STATES) == (result.attempt > 0)
        and (cell.state == "passed") == result.green
        and cell.flaky == (result.green and result.attempt > 1)
    )


def _difference(written: Any, counted: Any, path: str) -> str | None:
    """Where two values begin to differ, as ``suites[0].passed``; ``None`` where they do not."""
    if written == counted:
        return None
    if isinstance(written, BaseModel):
        for name, field in type(written).model_fields.items():
            below = f"{path}.{field.alias or name}".removeprefix(".")
            found = _difference(getattr(written, name), getattr(counted, name), below)
            if found is not None:
                return found
    if isinstance(written, tuple) and len(written) == len(counted):
        for index, (one, other) in enumerate(zip(written, counted, strict=True)):
            found = _difference(one, other, f"{path}[{index}]")
            if found is not None:
                return found
    return path
