"""Failure classes, their codes and what follows from each."""

from runner_e2e.failures.classes import (
    CandidateFailure,
    CleanupFailure,
    ExecutionError,
    Failure,
    PermanentInfrastructure,
    ProviderVariance,
    SecretLeak,
    TransientInfrastructure,
    combine,
    combine_scan,
    deadline_passed,
)
from runner_e2e.failures.infrastructure import (
    InfrastructureText,
    class_of_exception,
    classify_http,
    classify_text,
    failure_of,
)
from runner_e2e.failures.policy import POLICY, Policy

__all__ = [
    "POLICY",
    "CandidateFailure",
    "CleanupFailure",
    "ExecutionError",
    "Failure",
    "InfrastructureText",
    "PermanentInfrastructure",
    "Policy",
    "ProviderVariance",
    "SecretLeak",
    "TransientInfrastructure",
    "class_of_exception",
    "classify_http",
    "classify_text",
    "combine",
    "combine_scan",
    "deadline_passed",
    "failure_of",
]
