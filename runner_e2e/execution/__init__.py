"""One execution: attempts, retries, evidence, its result and its record."""

from runner_e2e.execution.agent import missing_secrets
from runner_e2e.execution.request import Backoff, RunOutcome, RunRequest
from runner_e2e.execution.run import run_execution
from runner_e2e.execution.sweep import SweepReport, sweep

__all__ = [
    "Backoff",
    "RunOutcome",
    "RunRequest",
    "SweepReport",
    "missing_secrets",
    "run_execution",
    "sweep",
]
