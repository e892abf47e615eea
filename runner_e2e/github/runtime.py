"""What GitHub Actions tells a step through its environment, read once and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from runner_e2e.contracts.plan import CampaignSource
from runner_e2e.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionsRuntime:
    """The run we are part of. On one's own machine everything is ``None`` and the attempt is 1."""

    source: CampaignSource
    run_id: str | None
    run_attempt: int
    output_file: Path | None
    summary_file: Path | None

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        """Read the environment of a step.

        ``RUNNER_E2E_SOURCE_SHA`` and ``RUNNER_E2E_SOURCE_REF`` name the code under test where that
        is not the code the workflow file came from. Raises :class:`UsageError` for a run attempt
        that is not a whole number from 1.
        """

        def value(*names: str) -> str | None:
            return next((environ[name] for name in names if environ.get(name, "").strip()), None)

        server, repository = value("GITHUB_SERVER_URL"), value("GITHUB_REPOSITORY")
        run_id = value("GITHUB_RUN_ID")
        url = None
        if server and repository and run_id:
            url = f"{server.rstrip('/')}/{repository}/actions/runs/{run_id}"
        attempt = value("GITHUB_RUN_ATTEMPT") or "1"
        if not (attempt.isascii() and attempt.isdigit() and int(attempt) >= 1):
            raise UsageError(
                f"GITHUB_RUN_ATTEMPT is {attempt!r}, not a whole number from 1",
                hint="GitHub sets it; leave it alone",
            )
        output, summary = value("GITHUB_OUTPUT"), value("GITHUB_STEP_SUMMARY")
        return cls(
            source=CampaignSource(
                sha=value("RUNNER_E2E_SOURCE_SHA", "GITHUB_SHA"),
                ref=value("RUNNER_E2E_SOURCE_REF", "GITHUB_REF"),
                workflow_run_url=url,
                event_name=value("GITHUB_EVENT_NAME"),
            ),
            run_id=run_id,
            run_attempt=int(attempt),
            output_file=Path(output) if output else None,
            summary_file=Path(summary) if summary else None,
        )
