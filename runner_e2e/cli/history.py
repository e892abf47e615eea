"""``runner-e2e history``: look at a published history, and keep the branch small."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from runner_e2e.cli import options, output
from runner_e2e.cli.publish import (
    DEFAULT_BRANCH,
    BaseUrl,
    Branch,
    MainBranch,
    Prefix,
    Remote,
    destination_from,
)

if TYPE_CHECKING:
    from runner_e2e.publishing import Maintenance

app = typer.Typer(
    help="Show, rebuild, prune and squash a published history.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done; push nothing.")]


@app.command()
def show(
    branch: Branch = DEFAULT_BRANCH,
    remote: Remote = "origin",
    prefix: Prefix = "",
    lane: Annotated[
        str | None, typer.Option(metavar="NAME", help="Another lane than the default one.")
    ] = None,
    json: options.Json = False,
) -> None:
    """List the published campaigns, newest first."""
    from runner_e2e.publishing import show as read_branch

    view = read_branch(destination_from(branch, remote, prefix, None, None), lane=lane)
    if json:
        output.answer_document(view.history.rows)
        return
    for row in view.history.rows.campaigns:
        state = "green" if row.counts.passed == row.counts.selected else "red"
        if row.superseded_by:
            state = "superseded"
        output.answer(
            f"{row.generated_at}  {state:<10}  {row.counts.passed}/{row.counts.selected}"
            f"  {row.campaign_id}"
        )
    lanes = f", lanes: {', '.join(view.lanes)}" if view.lanes else ""
    output.narrate(
        f"{len(view.history.rows.campaigns)} campaigns, {view.bundles} with their files"
        f" ({view.bundle_bytes / 1e6:.1f} MB){lanes}"
    )


@app.command()
def rebuild(
    branch: Branch = DEFAULT_BRANCH,
    remote: Remote = "origin",
    prefix: Prefix = "",
    base_url: BaseUrl = None,
    default_branch: MainBranch = None,
    dry_run: DryRun = False,
    json: options.Json = False,
) -> None:
    """Write every index and page anew from the bundles, which are only read."""
    from runner_e2e.publishing import rebuild as rebuild_branch

    destination = destination_from(branch, remote, prefix, base_url, default_branch)
    tell(rebuild_branch(destination, dry_run=dry_run), as_json=json)


@app.command()
def prune(
    branch: Branch = DEFAULT_BRANCH,
    remote: Remote = "origin",
    prefix: Prefix = "",
    base_url: BaseUrl = None,
    default_branch: MainBranch = None,
    keep: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many bundles keep their files.")
    ] = 30,
    max_age_days: Annotated[
        float | None, typer.Option(min=0, metavar="DAYS", help="And not older than this.")
    ] = None,
    dry_run: DryRun = False,
    json: options.Json = False,
) -> None:
    """Delete the files of old campaigns. What the history knows of them stays."""
    from runner_e2e.publishing import prune as prune_branch

    destination = destination_from(branch, remote, prefix, base_url, default_branch)
    done = prune_branch(destination, keep=keep, max_age_days=max_age_days, dry_run=dry_run)
    tell(done, as_json=json)


@app.command()
def squash(
    branch: Branch = DEFAULT_BRANCH,
    remote: Remote = "origin",
    prefix: Prefix = "",
    dry_run: DryRun = False,
    json: options.Json = False,
) -> None:
    """Forget the branch's past commits; its files stay as they are."""
    from runner_e2e.publishing import squash as squash_branch

    done = squash_branch(destination_from(branch, remote, prefix, None, None), dry_run=dry_run)
    tell(done, as_json=json)


def tell(done: Maintenance, *, as_json: bool) -> None:
    """Say what was done to the branch."""
    if as_json:
        output.answer_json(
            {
                "status": done.status,
                "commit": done.commit,
                "campaigns": list(done.campaigns),
                "lanes": list(done.lanes),
                "removed": list(done.removed),
                "warnings": list(done.warnings),
            }
        )
        return
    for name in (*done.campaigns, *done.lanes):
        output.narrate(f"  {name}")
    for warning in done.warnings:
        output.narrate(f"warning: {warning}")
    said = {
        "changed": f"done: the branch is at {done.commit}",
        "unchanged": "nothing to do",
        "dry_run": "nothing was pushed",
    }
    output.answer(said[done.status])
