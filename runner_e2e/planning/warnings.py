"""What is wrong with a plan that nevertheless can be planned."""

from __future__ import annotations

from runner_e2e.catalog import ENVIRONMENTS
from runner_e2e.contracts.catalog import Target
from runner_e2e.contracts.plan import Plan
from runner_e2e.errors import UsageError
from runner_e2e.planning.timing import HOSTED_MINUTES, MAX_MINUTES, UPLOAD_MINUTES, job_timeout


def refuse_endless(plan: Plan) -> None:
    """Raise :class:`UsageError` for a job that no runner would let come to its end."""
    longest = job_timeout(plan)
    if longest > MAX_MINUTES:
        raise UsageError(
            f"the longest job may take {longest} minutes; GitHub ends every job after "
            f"{MAX_MINUTES}, which is five days",
            hint="lower attemptTimeoutMs or --max-retries, or select other executions",
        )


def hosted_warning(plan: Plan) -> str | None:
    """What GitHub's own runners will not do. A runner of your own may take five days."""
    over = [
        item
        for item in plan.executions
        if item.job.timeout_minutes + UPLOAD_MINUTES > HOSTED_MINUTES
    ]
    if not over:
        return None
    return (
        f"{len(over)} of {len(plan.executions)} jobs may take up to {job_timeout(plan)} minutes; "
        f"GitHub's own runners end a job after {HOSTED_MINUTES}, and its result is lost: use a "
        "runner of your own, or lower attemptTimeoutMs or --max-retries"
    )


def environment_warning(plan: Plan, target: Target) -> str | None:
    """Executions that would be refused where they run."""
    there = ENVIRONMENTS[target.kind]
    lost = [item for item in plan.executions if item.job.environment_id not in there]
    if not lost:
        return None
    names = ", ".join(sorted({item.job.environment_id for item in lost}))
    return (
        f"{len(lost)} of {len(plan.executions)} executions cannot run yet: the {target.kind} "
        f"target has no {names}"
    )
