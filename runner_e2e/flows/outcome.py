"""What driving a task came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runner_e2e.contracts.result import MatcherResult, TurnTiming
from runner_e2e.contracts.timestamps import parse_timestamp
from runner_e2e.failures import Failure
from runner_e2e.flows.session import Observation, Run
from runner_e2e.matchers import Observed, ObservedArtifact


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowOutcome:
    """The end of a flow. ``failure`` is ``None`` for a pass.

    ``matcher_results`` is empty where the flow did not come as far as the matchers.
    """

    observation: Observation | None
    matcher_results: tuple[MatcherResult, ...]
    turn_timings: tuple[TurnTiming, ...]
    failure: Failure | None
    traceback: str | None = None
    """Where a bug of the harness itself showed, for whoever mends it."""


def observed(observation: Observation) -> Observed:
    """Give the matchers what they look at.

    A property of the runs counts only where every run shows it and all show the same.
    """
    runs = observation.runs
    last = runs[-1] if runs else None
    artifacts = observation.artifacts
    return Observed(
        message="\n".join(message.text for message in observation.messages),
        last_run_message=observation.said_in(last) if last else None,
        issue_status=observation.issue.status,
        run_statuses=tuple(run.status for run in runs),
        runtime_mode=_shared([run.runtime_mode for run in runs]),
        environment=_shared([run.environment for run in runs]),
        artifacts=None
        if artifacts is None
        else tuple(ObservedArtifact(name=one.name, mime_type=one.mime_type) for one in artifacts),
        files=observation.files,
        json=observation.json,
    )


def _shared(values: Sequence[str | None]) -> str | None:
    """The value of all runs; several different ones in one text; ``None`` if any is unknown."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return ", ".join(dict.fromkeys(known))


def turn_timings(runs: Sequence[Run]) -> tuple[TurnTiming, ...]:
    """Time each turn. Milliseconds, never below zero; ``None`` where a time was not observed."""
    return tuple(
        TurnTiming(
            turn=run.turn,
            submitted_at=run.submitted_at,
            run_started_at=run.started_at,
            run_finished_at=run.finished_at,
            scheduler_latency_ms=_between(run.submitted_at, run.started_at),
            run_duration_ms=_between(run.started_at, run.finished_at),
            response_latency_ms=_between(run.submitted_at, run.finished_at),
            run_id=run.id,
            lease_acquisition_outcome=run.lease,
        )
        for run in runs
    )


def _between(start: str | None, end: str | None) -> int | None:
    if start is None or end is None:
        return None
    seconds = (parse_timestamp(end) - parse_timestamp(start)).total_seconds()
    return max(0, round(seconds * 1000))
