"""The closed sets of words in the documents. The wire contract fixes them."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import StringConstraints

CredentialName = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]*$")]
"""The contract's four names, plus any that a catalog declares."""

KNOWN_CREDENTIALS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "OPENROUTER_API_KEY",
    "DAYTONA_API_KEY",
)

Generation = Literal["legacy", "native"]
EnvironmentId = Literal["local", "daytona"]
PresetName = Literal["codex", "claude-code", "opencode"]
"""The agent programs that runner-e2e knows how to call."""
WorkMode = Literal["standard", "planning", "ask"]
Flow = Literal[
    "agent_chat",
    "governed_tool_review",
    "single_turn",
    "plan_revision_acceptance",
    "question_resume_completion",
    "plan_approval_completion",
    "warm_three_turn",
]
QualificationSource = Literal[
    "adapter_constant", "qualified_runner_profile", "openrouter_rankings_snapshot"
]
ToolReviewDecision = Literal["approve", "decline", "always", "restart"]

FailureClass = Literal[
    "candidate_failure",
    "provider_variance",
    "transient_infrastructure",
    "permanent_infrastructure",
    "secret_leak",
    "cleanup_failure",
]
Status = Literal["passed", "failed"]
Cleanup = Literal["not_started", "passed", "failed"]
LeaseOutcome = Literal["created", "resumed", "replacement", "unknown"]

LlmCostStatus = Literal["reported", "partial", "unpriced", "unavailable"]
RuntimeCostStatus = Literal["estimated", "unavailable", "not_metered"]
RuntimeCostSource = Literal[
    "daytona_public_list_price", "provider_cost_unavailable", "local_not_metered"
]

CellState = Literal[
    "passed",
    "failed",
    "timed_out",
    "job_timeout",
    "cancelled",
    "skipped",
    "missing",
    "empty",
    "corrupt",
    "expired",
    "mismatched",
    "upload_failed",
]
"""What became of a planned cell. The first three were executed; the rest are unresolved."""

EXECUTED_STATES: frozenset[CellState] = frozenset({"passed", "failed", "timed_out"})

FLOWS: tuple[Flow, ...] = get_args(Flow)
FAILURE_CLASSES: tuple[FailureClass, ...] = get_args(FailureClass)
CELL_STATES: tuple[CellState, ...] = get_args(CellState)
