"""What GitHub Actions tells a step through its environment, read once and checked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from runner_e2e.contracts.plan import CampaignSource
from runner_e2e.errors import UsageError

_GRAMMAR = {
    "GITHUB_SERVER_URL": r"https?://[A-Za-z0-9.\-]+(:[0-9]{1,5})?/?",
    "GITHUB_REPOSITORY": r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}",
    "GITHUB_RUN_ID": r"[1-9][0-9]{0,18}",
    "GITHUB_RUN_ATTEMPT": r"[1-9][0-9]{0,8}",
}
"""What we build addresses and ids from must look as GitHub writes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionsRuntime:
    """The run we are part of. On one's own machine everything is ``None`` and the attempt is 1."""

    source: CampaignSource
    run_id: str | None
    run_attempt: int
    output_file: Path | None
    summary_file: Path | None
    event_file: Path | None

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        """Read the environment of a step.

        ``RUNNER_E2E_SOURCE_SHA`` and ``RUNNER_E2E_SOURCE_REF`` name the code under test where that
        is not the code the workflow file came from. Raises :class:`UsageError` for a value that
        GitHub would never set.
        """

        def value(*names: str) -> str | None:
            return next((environ[name] for name in names if environ.get(name, "").strip()), None)

        def path(name: str) -> Path | None:
            text = value(name)
            return Path(text) if text else None

        for name, grammar in _GRAMMAR.items():
            text = value(name)
            if text is not None and not re.fullmatch(grammar, text):
                raise UsageError(
                    f"{name} is {text!r}, which GitHub would never set",
                    hint="leave the variables of GitHub Actions alone, or unset them here",
                )
        server, repository = value("GITHUB_SERVER_URL"), value("GITHUB_REPOSITORY")
        run_id = value("GITHUB_RUN_ID")
        url = None
        if server and repository and run_id:
            url = f"{server.rstrip('/')}/{repository}/actions/runs/{run_id}"
        return cls(
            source=CampaignSource(
                sha=value("RUNNER_E2E_SOURCE_SHA", "GITHUB_SHA"),
                ref=value("RUNNER_E2E_SOURCE_REF", "GITHUB_REF"),
                workflow_run_url=url,
                event_name=value("GITHUB_EVENT_NAME"),
            ),
            run_id=run_id,
            run_attempt=int(value("GITHUB_RUN_ATTEMPT") or 1),
            output_file=path("GITHUB_OUTPUT"),
            summary_file=path("GITHUB_STEP_SUMMARY"),
            event_file=path("GITHUB_EVENT_PATH"),
        )

    def default_branch(self) -> str | None:
        """The default branch of the repository that the event came from.

        ``None`` where there is no event, or none that says so: then somebody else has to know.
        """
        if self.event_file is None:
            return None
        try:
            name = json.loads(self.event_file.read_bytes())["repository"]["default_branch"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return name if isinstance(name, str) and name else None
