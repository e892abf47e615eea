"""How long a job may take, and which matrix it belongs to."""

from __future__ import annotations

from collections.abc import Sequence

from runner_e2e.contracts.plan import Plan
from runner_e2e.contracts.vocabulary import EnvironmentId

HARNESS_MS = 90_000
"""What the harness needs around an attempt. Reference 2.4."""
JOB_MS = 5 * 60_000
"""What a job needs around its attempts. Reference 2.4."""
FLOOR_MINUTES: dict[EnvironmentId, int] = {"local": 25, "daytona": 40}
"""No job is given less. Reference 2.4."""

UPLOAD_MINUTES = 10
"""What a job has beyond its execution, to upload what it left and to sweep."""
HOSTED_MINUTES = 360
"""The longest job on a runner of GitHub's own; ``timeout-minutes`` cannot raise it."""
MAX_MINUTES = 5 * 24 * 60
"""The longest job on a self-hosted runner."""

_MINUTE_MS = 60_000

MAX_SHARD = 256
"""Jobs of one GitHub matrix; nobody can raise it."""


def timeout_minutes(
    attempt_timeout_ms: int, environment_id: EnvironmentId, max_retries: int, repeats: int = 0
) -> int:
    """``timeout-minutes`` of a job: every attempt may use its whole time, and the job some more.

    ``repeats`` of a failure are attempts like any other.
    """
    attempts = (1 + max_retries + repeats) * (attempt_timeout_ms + HARNESS_MS)
    return max(FLOOR_MINUTES[environment_id], -(-(attempts + JOB_MS) // _MINUTE_MS))


def job_timeout(plan: Plan) -> int:
    """``timeout-minutes`` of all jobs of a plan: expressions of GitHub cannot add."""
    longest = max((item.job.timeout_minutes for item in plan.executions), default=0)
    return longest + UPLOAD_MINUTES


def assign_shards(durations: Sequence[tuple[str, float]], shard_size: int) -> tuple[int, ...]:
    """The shard of each execution, given its id and expected duration in milliseconds.

    Dealt out in turn, longest first, so that no shard gets all the slow ones and each starts with
    its slowest. No shard has more than ``shard_size``, and sizes differ by one at most.
    """
    count = -(-len(durations) // shard_size)
    order = sorted(
        range(len(durations)), key=lambda index: (-durations[index][1], durations[index][0])
    )
    shards = [0] * len(durations)
    for position, index in enumerate(order):
        shards[index] = position % count
    return tuple(shards)


def share(total: int, count: int) -> tuple[int, ...]:
    """Split ``total`` into ``count`` parts that differ by one at most, each at least one."""
    return tuple(max(1, total // count + (index < total % count)) for index in range(count))
