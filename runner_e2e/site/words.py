"""What a cell is called on a page, and which of six kinds it looks like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from runner_e2e.contracts.insights import CellInsight
from runner_e2e.contracts.result import Result
from runner_e2e.contracts.vocabulary import CellState, FailureClass

Kind = Literal["failed", "unclean", "unresolved", "flaky", "passed", "unselected"]
"""How a cell is drawn; each kind has its own shape, word and colour. Worst first."""

KINDS: Mapping[Kind, str] = {
    "failed": "failed",
    "unclean": "clean-up failed",
    "unresolved": "unresolved",
    "flaky": "flaky",
    "passed": "passed",
    "unselected": "not selected",
}
"""The word of each kind, in the order in which people want to see them."""

STATE_WORDS: Mapping[CellState, str] = {
    "passed": "passed",
    "failed": "failed",
    "timed_out": "timed out",
    "job_timeout": "job timed out",
    "cancelled": "cancelled",
    "skipped": "skipped",
    "missing": "missing",
    "empty": "empty",
    "corrupt": "corrupt",
    "expired": "expired",
    "mismatched": "mismatched",
    "upload_failed": "upload failed",
}

STATE_MEANINGS: Mapping[CellState, str] = {
    "passed": "Every matcher held and nothing was left behind.",
    "failed": "The execution ran and did not pass.",
    "timed_out": "A turn did not end before its deadline.",
    "job_timeout": "The job ran into its own time limit and was stopped, so there is no result.",
    "cancelled": "The job was cancelled before it had a result.",
    "skipped": "The job never ran.",
    "missing": "The job was planned, and nothing of it was found.",
    "empty": "The job began and left a record, but no result.",
    "corrupt": "What was found cannot be trusted: unreadable, changed, or contradicting itself.",
    "expired": "The artifact was deleted before it was read.",
    "mismatched": "The result belongs to another commit, run, plan or definition.",
    "upload_failed": "The job ran, but its artifact did not arrive.",
}

CLASS_WORDS: Mapping[FailureClass, str] = {
    "candidate_failure": "candidate",
    "provider_variance": "provider",
    "transient_infrastructure": "infrastructure, transient",
    "permanent_infrastructure": "infrastructure, permanent",
    "secret_leak": "secret leak",
    "cleanup_failure": "clean-up",
}


def kind_of(insight: CellInsight | None, result: Result | None) -> Kind:
    """Draw green only what is green by every account: state, result and clean-up."""
    if insight is None or result is None:
        return "unresolved"
    if insight.state in ("failed", "timed_out"):
        return "failed"
    if insight.state != "passed":
        return "unresolved"
    if result.status != "passed":
        return "failed"
    if not result.green:
        return "unclean"
    return "flaky" if insight.flaky else "passed"
