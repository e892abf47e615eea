"""``runner-e2e lint-workflow``: are the workflows of a repository fit to hold its secrets?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from runner_e2e.cli import options, output
from runner_e2e.errors import ExitCode, UsageError


def lint_workflow(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE...", help="Workflow files.", show_default=False),
    ] = None,
    rules: Annotated[
        bool, typer.Option("--rules", help="List the rules and why each is there.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Check campaign workflows: authorisation, secrets, pins, legs, aggregation, publication."""
    from runner_e2e.github import workflow_policy

    if rules:
        width = max(map(len, workflow_policy.REASONS))
        for name, reason in workflow_policy.REASONS.items():
            output.answer(f"{name:<{width}}  {reason}")
        return
    if not files:
        raise UsageError("no file was named", hint="for example .github/workflows/*.yml")
    findings = workflow_policy.check_workflows(files)
    if json:
        output.answer_json({"findings": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            output.answer(str(finding))
        output.narrate(f"{len(files)} files, {len(findings)} findings")
    output.finish(ExitCode.FAILED if findings else ExitCode.OK)
