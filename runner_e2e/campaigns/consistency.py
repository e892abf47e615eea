"""Whether a report is what ``aggregate`` writes: every figure is counted again from its parts."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ValidationError

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
    try:
        _check_plan(plan)
        _check_campaign(campaign, plan)
        _check_insights(insights, campaign, plan)
    except ValidationError as error:
        # Sums of hostile figures can leave the range that every document of ours keeps.
        raise _refused("campaign.json", f"its results come to no {error.title} at all") from None


def _refused(source: str, reason: str) -> DocumentError:
    return DocumentError(
        source,
        reason,
        hint="a report is published as `runner-e2e aggregate` wrote it; aggregate again",
    )


def _check_plan(plan: Plan) -> None:
    if plan_digest(plan) != plan.digest:
        raise _refused("plan.json", "its digest is not that of its content")


def _check_campaign(campaign: Campaign, plan: Plan) -> None:
    source = "campaign.json"
    if tuple(result.execution_id for result in campaign.results) != plan.expected:
        raise _refused(source, "its results are not one for each execution of plan.json")
    counted = build_campaign(plan, campaign.results, campaign.campaign_id)
    path = _difference(campaign, counted, "")
    if path is not None:
        raise _refused(source, f"its {path} is not what its results and plan.json come to")


def _check_insights(insights: Insights, campaign: Campaign, plan: Plan) -> None:
    source = "insights.json"
    if insights.campaign_id != campaign.campaign_id:
        said = f"it belongs to {insights.campaign_id}, campaign.json is {campaign.campaign_id}"
        raise _refused(source, said)
    if insights.plan_digest != plan.digest:
        raise _refused(source, "it was made from another plan.json")
    if tuple(cell.execution_id for cell in insights.cells) != plan.expected:
        raise _refused(source, "its cells are not one for each execution of plan.json")
    for cell, result in zip(insights.cells, campaign.results, strict=True):
        if not _agree(cell, result):
            state = f"flaky and {cell.state}" if cell.flaky else cell.state
            raise _refused(source, f"{cell.execution_id} is {state} in it, and its result is not")
    sums = add_up_cells(plan, campaign, insights.cells)
    for name in ("coverage", "counts", "cost"):
        path = _difference(getattr(insights, name), getattr(sums, name), name)
        if path is not None:
            raise _refused(source, f"its {path} is not what its cells come to")


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
