"""What one execution is asked to do, and what it came to."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runner_e2e.contracts.catalog import MatrixExecution, Target
from runner_e2e.contracts.job_record import JobRecord
from runner_e2e.contracts.result import Result, Source
from runner_e2e.flows import CancelToken


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """The waits between attempts, in seconds.

    One blip of the network can outlast two attempts in a row, so the first wait is at least
    ``first``; all waits together are at most ``total``.
    """

    first: float = 20.0
    total: float = 120.0

    def wait(self, *, spent: float, retry: int, retry_after: float | None) -> float | None:
        """The wait before the ``retry``-th retry (from 1), after ``spent`` seconds of waiting.

        Doubles with each retry, with as much again as jitter. A server that asks for more than
        what is left gets no further attempt: ``None``.
        """
        left = self.total - spent
        if retry_after is not None and retry_after > left:
            return None
        base = self.first * 2.0 ** (retry - 1)
        jittered = base * (1 + random.random())  # noqa: S311 - spreads load, guards nothing
        return max(min(jittered, left), retry_after or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One execution to run. ``out`` receives the result artifact; it is ours alone.

    ``deadline_minutes`` is the time-out of the job around us, ``None`` where there is none.
    ``environ`` is where the secrets are; ``credentials`` are names that the catalog declares
    beyond the contract's four. A final failure of the candidate is repeated up to ``repeats``
    times, until one passes, as long as all of them cost no more than ``repeat_budget_usd``.
    Neither retry nor repeat is begun once ``max_cost_usd`` is spent; a turn that runs is not cut.
    ``keep`` leaves the temporary root for a person to look at.
    """

    execution: MatrixExecution
    catalog_directory: Path
    target: Target
    out: Path
    source: Source
    environ: Mapping[str, str] = field(repr=False)
    plan_digest: str | None = None
    max_retries: int = 1
    repeats: int = 0
    repeat_budget_usd: float | None = None
    max_cost_usd: float | None = None
    run_id: str | None = None
    run_attempt: int = 1
    keep: bool = False
    deadline_minutes: int | None = None
    credentials: tuple[str, ...] = ()
    cancel: CancelToken = field(default_factory=CancelToken)
    backoff: Backoff = Backoff()
    temporary_directory: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """The final result and the record beside it, as they were written."""

    result: Result
    record: JobRecord
