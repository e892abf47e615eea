"""``runner-e2e doctor``: what would end a campaign, before it costs anything."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from runner_e2e.cli import options, output
from runner_e2e.errors import ExitCode, RunnerE2EError

if TYPE_CHECKING:
    from runner_e2e.execution.checkup import Finding

_SIGNS = {"ok": "ok     ", "problem": "PROBLEM", "unknown": "unknown"}


def doctor(
    catalog: options.CatalogPath = options.DEFAULT_CATALOG,
    suite: options.Suites = None,
    group: options.Groups = None,
    profile: options.Profiles = None,
    environment: options.Environments = None,
    case: options.Cases = None,
    id: options.Ids = None,  # noqa: A002  the option's name
    all: options.All = False,  # noqa: A002  the option's name
    branch: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Also ask whether this branch may be published to."),
    ] = None,
    remote: Annotated[
        str, typer.Option(metavar="NAME-OR-URL", help="Where the branch is.")
    ] = "origin",
    json: options.Json = False,
) -> None:
    """Check accounts, images, programs and permissions of what would run.

    For executions at Daytona one small sandbox is made and deleted: a fraction of a cent.
    """
    from runner_e2e.catalog import load_catalog
    from runner_e2e.cli.plan import parse_selectors
    from runner_e2e.cli.signals import cancelled_by_signals
    from runner_e2e.execution.checkup import check_executions
    from runner_e2e.planning import select

    loaded = load_catalog(catalog)
    selectors = parse_selectors(
        all_=all,
        suite=suite,
        group=group,
        profile=profile,
        environment=environment,
        case=case,
        id=id,
    )
    executions = select(loaded, selectors)
    findings: list[Finding] = []
    with cancelled_by_signals() as cancel:
        for finding in check_executions(executions, os.environ, cancel):
            findings.append(finding)
            if not json:
                _tell(finding)
    if branch is not None:
        for finding in _publishing(branch, remote):
            findings.append(finding)
            if not json:
                _tell(finding)
    problems = sum(finding.state == "problem" for finding in findings)
    if json:
        output.answer_json({"findings": [_document(one) for one in findings]})
    else:
        output.answer(f"{len(findings)} checks, {problems} problems")
    output.finish(ExitCode.FAILED if problems else ExitCode.OK)


def _tell(finding: Finding) -> None:
    output.answer(f"{_SIGNS[finding.state]}  {finding.check} {finding.subject}: {finding.message}")
    if finding.fix is not None:
        output.answer(f"         fix: {finding.fix}")


def _document(finding: Finding) -> dict[str, str | None]:
    return {
        "check": finding.check,
        "subject": finding.subject,
        "state": finding.state,
        "message": finding.message,
        "fix": finding.fix,
    }


def _publishing(branch: str, remote: str) -> Iterator[Finding]:
    from runner_e2e.cli.publish import destination_from
    from runner_e2e.execution.checkup import Finding
    from runner_e2e.publishing import check_permission

    try:
        check_permission(destination_from(branch, remote, "", None, None), os.environ)
    except RunnerE2EError as error:
        fix = error.hint or "give the token the permission contents: write"
        yield Finding(
            check="publishing", subject=branch, state="problem", message=error.message, fix=fix
        )
    else:
        message = f"{remote} would take a commit on {branch}"
        yield Finding(check="publishing", subject=branch, state="ok", message=message)
