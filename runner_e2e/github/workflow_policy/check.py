"""All rules over all files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from runner_e2e.github.workflow_policy import calls, campaign, legs, secrets, trust
from runner_e2e.github.workflow_policy.document import Finding, Workflow

Rule = Callable[[Workflow], Iterator[Finding]]

_RULES: tuple[Rule, ...] = (
    *trust.RULES,
    *secrets.RULES,
    *legs.RULES,
    *campaign.RULES,
    *calls.RULES,
)


def check_workflows(paths: Iterable[Path]) -> tuple[Finding, ...]:
    """Every breach in every file, in the order of the files and of their lines.

    Raises :class:`~runner_e2e.errors.UsageError` for a file that is no workflow.
    """
    findings: list[Finding] = []
    for path in paths:
        workflow = Workflow.read(path)
        findings += sorted({finding for rule in _RULES for finding in rule(workflow)})
    return tuple(findings)
