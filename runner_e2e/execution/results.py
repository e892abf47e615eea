"""From attempts to a result: spent is what all attempts spent, the rest is the last one's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from runner_e2e.billing import (
    RunSpan,
    add_runtime,
    billing_summary,
    join_usage,
    runtime_usage,
    summarize_usage,
)
from runner_e2e.contracts.billing import BillingSummary, RuntimeUsage
from runner_e2e.contracts.evidence import EvidenceManifest
from runner_e2e.contracts.result import RESULT_V2, Result, Screenshot
from runner_e2e.execution.attempt import Attempt
from runner_e2e.execution.request import RunRequest
from runner_e2e.failures import Failure
from runner_e2e.flows import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An attempt after its evidence was packed and its root is gone."""

    attempt: Attempt
    failure: Failure | None
    clean: bool
    manifest: EvidenceManifest
    """The evidence that crossed the boundary."""

    @property
    def runs(self) -> tuple[Run, ...]:
        """The attempt's runs, as far as they were seen."""
        observation = self.attempt.outcome.observation
        return observation.runs if observation else ()


def runtime_of(request: RunRequest, judged: Judged) -> RuntimeUsage:
    """What one attempt used of its environment."""
    spans = [RunSpan(started_at=run.started_at, finished_at=run.finished_at) for run in judged.runs]
    return runtime_usage(
        request.execution.environment.id,
        spans,
        judged.attempt.leases,
        finished_at=judged.attempt.finished_at,
    )


def spent(judged: Judged) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """Usage and run ids of one attempt."""
    usage = {"runs": [{"runId": run.id, "usage": run.usage} for run in judged.runs]}
    return (
        usage if any(run.usage is not None for run in judged.runs) else None,
        tuple(run.id for run in judged.runs),
    )


def billing_of(request: RunRequest, attempts: Sequence[Judged]) -> BillingSummary | None:
    """What these attempts cost. ``None`` when no agent was ever started: nothing was spent."""
    if not any(one.runs for one in attempts):
        return None
    usage, run_ids = join_usage([spent(one) for one in attempts])
    runtime = add_runtime([runtime_of(request, one) for one in attempts])
    return billing_summary(summarize_usage(usage, run_ids), runtime)


def result_of(request: RunRequest, attempts: Sequence[Judged]) -> Result:
    """The result after these attempts; the last one decides."""
    last = attempts[-1]
    attempt, failure, execution = last.attempt, last.failure, request.execution
    observation = attempt.outcome.observation
    usage, run_ids = join_usage([spent(one) for one in attempts if one.runs])
    modes = {run.runtime_mode for run in last.runs}
    observed_mode = modes.pop() if len(modes) == 1 else None
    result = Result(
        schema=RESULT_V2,
        execution_id=execution.id,
        suite_id=execution.suite.id,
        suite_definition_hash=execution.suite_definition_hash,
        source=request.source,
        ranking_snapshot=execution.profile.ranking,
        attempt=attempt.number,
        status="failed" if failure else "passed",
        failure_class=failure.failure_class if failure else None,
        error=failure.message if failure else None,
        profile_id=execution.profile.id,
        environment_id=execution.environment.id,
        case_id=execution.task.id,
        provider=execution.profile.provider,
        model=execution.profile.model,
        runtime_mode=observed_mode or execution.profile.expected_runtime_mode,
        issue_id=observation.issue.id if observation else None,
        run_ids=run_ids or None,
        turn_timings=attempt.outcome.turn_timings or None,
        started_at=attempt.started_at,
        finished_at=attempt.finished_at,
        duration_ms=attempt.duration_ms,
        usage=usage,
        runtime_usage=add_runtime([runtime_of(request, one) for one in attempts]),
        billing=billing_of(request, attempts),
        matcher_results=attempt.outcome.matcher_results or None,
        screenshots=screenshots_of(last) or None,
        cleanup="passed" if last.clean else "failed",
    )
    identifier = observation.issue.identifier if observation else None
    # Written only where the target gives its tasks a name for people.
    return result.model_copy(update={"issue_identifier": identifier}) if identifier else result


def screenshots_of(judged: Judged) -> tuple[Screenshot, ...]:
    """The pictures that really lie in the evidence."""
    observation = judged.attempt.outcome.observation
    return tuple(
        Screenshot(
            id=one.id,
            label=one.label,
            file=one.path,
            publication="public-runner-fixture" if one.public else None,
        )
        for one in (observation.screenshots if observation else ())
        if one.path in judged.manifest.files
    )
