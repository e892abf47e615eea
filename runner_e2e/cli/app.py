"""All commands under one name."""

from __future__ import annotations

from typing import Annotated

import typer

from runner_e2e import __version__
from runner_e2e.cli import (
    aggregate,
    campaign,
    catalog,
    compare,
    doctor,
    gate,
    history,
    lint_workflow,
    plan,
    publish,
    site,
    sweep,
)
from runner_e2e.cli import run as run_one

app = typer.Typer(
    name="runner-e2e",
    help=(
        "Paid end-to-end campaigns of AI agents: planned, run, judged and published.\n\n"
        "Exit codes: 0 green, 1 candidate failures, 2 usage or catalog, 3 nothing selected, "
        "4/5 infrastructure, 6 secret leak, 7 clean-up failed, 8 unresolved cells, 9 budget, "
        "10 publishing, 70 a bug of ours, 130/143 interrupted."
    ),
    no_args_is_help=True,
    add_completion=False,
    # Rich help looks better and takes 200 ms more, which is longer than most commands here.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"runner-e2e {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Give the program its options."""


app.command("plan")(plan.plan)
app.command("run")(run_one.run)
app.command("campaign")(campaign.campaign)
app.command("aggregate")(aggregate.aggregate)
app.command("compare")(compare.compare)
app.command("gate")(gate.gate)
app.command("publish")(publish.publish)
app.command("sweep")(sweep.sweep)
app.command("doctor")(doctor.doctor)
app.command("lint-workflow")(lint_workflow.lint_workflow)
app.add_typer(catalog.app, name="catalog")
app.add_typer(history.app, name="history")
app.add_typer(site.app, name="site")
