"""``runner-e2e publish``: put a report on a branch, with its history."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runner_e2e.cli import options, output
from runner_e2e.errors import UsageError

if TYPE_CHECKING:
    from contextlib import ExitStack

    from runner_e2e.publishing import Destination

DEFAULT_BRANCH = "runner-e2e"

Branch = Annotated[str, typer.Option(metavar="NAME", help="The branch; made when it is absent.")]
Remote = Annotated[
    str, typer.Option(metavar="NAME-OR-URL", help="A remote of this checkout, a URL or a path.")
]
Prefix = Annotated[str, typer.Option(metavar="DIR", help="The directory on the branch.")]
BaseUrl = Annotated[
    str | None, typer.Option(metavar="URL", help="Where the root of the branch is served.")
]
MainBranch = Annotated[
    str | None,
    typer.Option("--default-branch", metavar="NAME", help="Whose campaigns make the history."),
]


def publish(
    report: Annotated[
        Path | None,
        typer.Argument(metavar="[REPORT]", help="What aggregate wrote.", show_default=False),
    ] = None,
    from_run: Annotated[
        str | None,
        typer.Option(
            metavar="RUN_ID", help="The report of a workflow run; or github:OWNER/REPO/RUN_ID."
        ),
    ] = None,
    branch: Branch = DEFAULT_BRANCH,
    remote: Remote = "origin",
    prefix: Prefix = "",
    base_url: BaseUrl = None,
    default_branch: MainBranch = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be published; push nothing.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Publish a campaign. Repeating it changes nothing; the checkout is never touched."""
    from contextlib import ExitStack

    from runner_e2e.publishing import publish as publish_report

    destination = destination_from(branch, remote, prefix, base_url, default_branch)
    with ExitStack() as stack:
        directory = report_of(report, from_run, stack)
        done = publish_report(directory, destination, dry_run=dry_run)
    if json:
        output.answer_json(
            {
                "status": done.status,
                "campaignId": done.campaign_id,
                "lane": done.lane,
                "commit": done.commit,
                "url": done.url,
                "branch": destination.branch,
                "paths": list(done.paths),
                "warnings": list(done.warnings),
            }
        )
        return
    for path in done.paths:
        output.narrate(f"  {path}")
    said = {
        "published": f"published as {done.commit} on {destination.branch}",
        "unchanged": f"already published on {destination.branch}; nothing to do",
        "dry_run": f"would be published on {destination.branch}; nothing was pushed",
    }
    for warning in done.warnings:
        output.narrate(f"warning: {warning}")
    output.answer(said[done.status] + (f"\n{done.url}" if done.url else ""))


def report_of(report: Path | None, from_run: str | None, stack: ExitStack) -> Path:
    """Find the report: on this machine, or the one that a workflow run kept."""
    from tempfile import TemporaryDirectory

    from runner_e2e.cli.aggregate import RUN, open_run

    if report is not None and from_run is None:
        return report
    if from_run is None or report is not None:
        raise UsageError(
            "publish takes one report",
            hint="name the directory that aggregate wrote, or a run with --from-run",
        )
    if not from_run.startswith(RUN):
        repository = os.environ.get("GITHUB_REPOSITORY")
        if not repository:
            raise UsageError(
                f"--from-run {from_run} does not say whose run that is",
                hint="write github:OWNER/REPO/RUN_ID, or set GITHUB_REPOSITORY",
            )
        from_run = f"{RUN}{repository}/{from_run}"
    directory = Path(stack.enter_context(TemporaryDirectory(prefix="runner-e2e-report-")))
    open_run(from_run, stack).report(directory)
    return directory


def destination_from(
    branch: str, remote: str, prefix: str, base_url: str | None, default_branch: str | None
) -> Destination:
    """Read where to publish.

    The token has a variable of its own. One that lies about for another server, such as
    GITHUB_TOKEN, is never sent along.
    """
    from runner_e2e.github import ActionsRuntime
    from runner_e2e.publishing import Destination

    if default_branch is None:
        # The branch may live in another repository, whose own default branch says nothing here.
        default_branch = ActionsRuntime.from_environ(os.environ).default_branch()
    return Destination(
        branch=branch,
        remote=remote,
        prefix=prefix,
        base_url=base_url,
        default_branch=default_branch,
        token=os.environ.get("RUNNER_E2E_TOKEN") or None,
    )
