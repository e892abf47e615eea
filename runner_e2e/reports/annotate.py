"""Annotations: the few lines that GitHub shows beside the run."""

from __future__ import annotations

from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.insights import Insights
from runner_e2e.reports.text import command_message, command_property, cut_bytes
from runner_e2e.reports.wording import cells_of, outcome, worst_first

PER_STEP = 10
"""GitHub shows ten errors of a step and fifty of a run, and drops the rest without a word."""
MESSAGE_BYTES = 2_000


def error_annotations(
    campaign: Campaign, insights: Insights, *, limit: int = PER_STEP
) -> list[str]:
    """Workflow commands, a line each, the worst first; the last one counts what has no room."""
    cells = cells_of(campaign, insights)
    red = [
        *worst_first(cell for cell in cells if cell.failed),
        *(cell for cell in cells if cell.unresolved),
    ]
    shown = red if len(red) <= limit else red[: limit - 1]
    lines = []
    for cell in shown:
        kind = cell.insight.code or cell.failure
        title = command_property(f"{cell.insight.execution_id}: {kind}"[:200])
        message = command_message(cut_bytes(cell.explanation, MESSAGE_BYTES))
        lines.append(f"::error title={title}::{message}")
    if len(shown) < len(red):
        rest = f"{outcome(campaign, insights)}; {len(red) - len(shown):,} more are in the summary"
        lines.append(f"::error title=runner-e2e::{command_message(rest)}")
    return lines
