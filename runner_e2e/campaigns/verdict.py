"""The exit code of a campaign."""

from __future__ import annotations

from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.insights import Insights
from runner_e2e.contracts.result import Result
from runner_e2e.errors import ExitCode
from runner_e2e.failures import POLICY

PRECEDENCE = (
    ExitCode.SECRET_LEAK,
    ExitCode.CLEANUP_FAILED,
    ExitCode.UNRESOLVED,
    ExitCode.PERMANENT_INFRASTRUCTURE,
    ExitCode.TRANSIENT_INFRASTRUCTURE,
    ExitCode.FAILED,
)
"""Where several apply, the first one is said."""


def exit_code(campaign: Campaign, insights: Insights) -> ExitCode:
    """Say how the campaign ended. One that selected nothing is not green."""
    if not campaign.selected:
        return ExitCode.NOTHING_SELECTED
    codes = {code for result in campaign.results for code in _codes(result)}
    if insights.counts.unresolved:
        codes.add(ExitCode.UNRESOLVED)
    return next((code for code in PRECEDENCE if code in codes), ExitCode.OK)


def _codes(result: Result) -> set[ExitCode]:
    """What one executed result asks for. A cell without one is not its own failure."""
    if result.attempt == 0 or result.green:
        return set()
    codes = set()
    if result.status == "failed":
        failure_class = result.failure_class
        codes.add(POLICY[failure_class].exit_code if failure_class else ExitCode.FAILED)
    if result.status == "passed" or result.cleanup == "failed":
        codes.add(ExitCode.CLEANUP_FAILED)
    return codes
