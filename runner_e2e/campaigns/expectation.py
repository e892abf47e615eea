"""What the plan lets a result claim: which cell it is of, and which run it comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from runner_e2e.contracts.plan import Plan, PlannedExecution
from runner_e2e.contracts.result import Source

RUN_IN_URL = re.compile(r"/actions/runs/([0-9]+)")
ARTIFACT_NAME = re.compile(r"^runner-e2e-[a-z]+-a([1-9][0-9]{0,8})-(.+)$")
NAMED_INSIDE = re.compile(rb'"executionId"\s*:\s*"([a-z0-9._-]{5,200})"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """The plan as a lookup. ``run_id`` is ``None`` for a plan made on one's own machine."""

    plan_digest: str
    source: Source
    run_id: str | None
    executions: Mapping[str, PlannedExecution]

    @classmethod
    def of(cls, plan: Plan) -> Expectation:
        """Index ``plan``."""
        found = RUN_IN_URL.search(plan.source.workflow_run_url or "")
        return cls(
            plan_digest=plan.digest,
            source=plan.source,
            run_id=found[1] if found else None,
            executions={entry.job.execution_id: entry for entry in plan.executions},
        )

    def foreign(self, source: Source | None) -> str | None:
        """Say why something of ``source`` belongs to another campaign, or nothing.

        The first version of a result may have no source at all; that is no contradiction.
        """
        if source is None:
            return None
        ours = self.source
        for what, said, planned in (
            ("commit", source.sha, ours.sha),
            ("ref", source.ref, ours.ref),
            ("workflow run", source.workflow_run_url, ours.workflow_run_url),
        ):
            if said != planned:
                return f"it is of {what} {said or 'none'}, the plan of {planned or 'none'}"[:400]
        return None

    def blame(self, path: str, data: bytes = b"") -> tuple[str, int] | None:
        """Guess which cell a bad file is of, and of which run attempt (0: unknown).

        The guess only gives a cell that has no trustworthy result a reason. It never makes a
        result, so an artifact's name may be used for it.
        """
        for part in reversed(re.split(r"[/!]", path)):
            name = part.removesuffix(".zip")
            if named := ARTIFACT_NAME.match(name):
                if named[2] in self.executions:
                    return named[2], int(named[1])
            elif name in self.executions:
                return name, 0
        inside = NAMED_INSIDE.search(data[:8192])
        if inside and (execution_id := inside[1].decode()) in self.executions:
            return execution_id, 0
        return None
