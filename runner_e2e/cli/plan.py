"""``runner-e2e plan``: what would run, as a table, a matrix, step outputs or plan.json."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runner_e2e.cli import options, output
from runner_e2e.cli.published import Published, Where, open_history
from runner_e2e.errors import NothingSelected, UsageError

if TYPE_CHECKING:
    from runner_e2e.catalog import Catalog
    from runner_e2e.contracts.catalog import MatrixExecution
    from runner_e2e.contracts.plan import ConfirmPlan, Plan
    from runner_e2e.planning import Selectors

    Pick = Callable[[], tuple[MatrixExecution, ...]]


class Format(StrEnum):
    """How the plan is printed."""

    TABLE = "table"
    MATRIX = "matrix"
    GITHUB = "github"


def plan(
    catalog: options.CatalogPath = options.DEFAULT_CATALOG,
    suite: options.Suites = None,
    group: options.Groups = None,
    profile: options.Profiles = None,
    environment: options.Environments = None,
    case: options.Cases = None,
    id: options.Ids = None,  # noqa: A002  the option's name
    all: options.All = False,  # noqa: A002  the option's name
    rerun: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Run what is red in this campaign.json again."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="With --rerun: failed, unresolved, flaky. Default: failed,unresolved.",
        ),
    ] = None,
    allow_empty: options.AllowEmpty = False,
    max_retries: options.MaxRetries = 1,
    confirm: options.Confirm = 0,
    confirm_budget: options.ConfirmBudget = None,
    max_parallel: options.MaxParallel = 20,
    max_cost: options.MaxCost = None,
    history: Where = None,
    shard_size: Annotated[
        int, typer.Option(min=1, max=256, metavar="N", help="Executions in one GitHub matrix.")
    ] = 256,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write plan.json here.")
    ] = None,
    format: Annotated[  # noqa: A002  the option's name
        Format, typer.Option(help="github writes the outputs of a workflow step.")
    ] = Format.TABLE,
    json: options.Json = False,
) -> None:
    """Print what would run. Nothing is run and nothing is paid for."""
    from runner_e2e.catalog import load_catalog
    from runner_e2e.evidence.files import write_atomically
    from runner_e2e.memory import without_garbage_search

    flags = {
        "suite": suite,
        "group": group,
        "profile": profile,
        "environment": environment,
        "case": case,
        "id": id,
    }
    bare = not any((*flags.values(), all))
    # Only a look is free of charge; whatever a machine acts on must be asked for by name.
    bare = bare and not (json or out) and format is Format.TABLE
    with without_garbage_search():
        loaded = load_catalog(catalog)
        if rerun:
            if any((*flags.values(), all)):
                raise UsageError("--rerun cannot be combined with selectors", hint="leave them out")
            selectors, pick = again(loaded, rerun, only or ())
        elif only:
            raise UsageError(
                "--only says what to take of a campaign, and --rerun names none",
                hint="name its campaign.json with --rerun",
            )
        else:
            selectors = parse_selectors(all_=all or bare, **flags)
            pick = picked(loaded, selectors, listing=bare)
        planned = make_plan(
            loaded,
            selectors,
            pick=pick,
            allow_empty=allow_empty,
            max_retries=max_retries,
            confirm=confirm_plan(confirm, confirm_budget),
            max_parallel=max_parallel,
            shard_size=shard_size,
            published=open_history(history),
            max_cost=max_cost,
        )
    if out:
        from runner_e2e.contracts.base import dump

        write_atomically(out, dump(planned))
    show(planned, format, as_json=json)


def confirm_plan(repeats: int, budget_usd: float | None) -> ConfirmPlan | None:
    """Read ``--confirm`` and its budget. Raises :class:`UsageError` for a budget of nothing."""
    from runner_e2e.contracts.plan import ConfirmPlan

    if repeats:
        return ConfirmPlan(repeats=repeats, budget_usd=budget_usd)
    if budget_usd is not None:
        raise UsageError(
            "--confirm-budget caps the repeats of failures, and none were asked for",
            hint="say how many with --confirm, or leave it out",
        )
    return None


def parse_selectors(*, all_: bool, **flags: list[str] | None) -> Selectors:
    """Read the selectors of a command line."""
    from runner_e2e.planning import Selectors

    return Selectors.parse(all_=all_, **{name: values or () for name, values in flags.items()})


def picked(catalog: Catalog, selectors: Selectors, *, listing: bool = False) -> Pick:
    """Select by the selectors; a listing also shows suites that only run when they are named."""
    from runner_e2e.planning import select

    return lambda: select(catalog, selectors, listing=listing)


def again(catalog: Catalog, report: Path, only: Sequence[str]) -> tuple[Selectors, Pick]:
    """Select from an earlier campaign; the insights beside it say more exactly how cells ended."""
    from runner_e2e.cli.documents import read_document
    from runner_e2e.contracts.campaign import Campaign
    from runner_e2e.contracts.insights import Insights
    from runner_e2e.planning import Selectors, parse_only, select_rerun

    campaign = read_document(Campaign, report)
    beside = report.with_name("insights.json")
    insights = read_document(Insights, beside) if beside.exists() else None
    kinds = parse_only(only)
    return Selectors(rerun=campaign.campaign_id), lambda: select_rerun(
        catalog, campaign, insights, only=kinds
    )


def make_plan(
    catalog: Catalog,
    selectors: Selectors,
    *,
    pick: Pick,
    allow_empty: bool,
    max_retries: int,
    max_parallel: int,
    confirm: ConfirmPlan | None = None,
    shard_size: int = 256,
    published: Published | None = None,
    max_cost: float | None = None,
) -> Plan:
    """Select and plan, now and for the run we are in. Raises above ``max_cost`` (US dollars)."""
    from datetime import UTC, datetime

    from runner_e2e import __version__
    from runner_e2e.contracts.timestamps import format_timestamp
    from runner_e2e.github import ActionsRuntime
    from runner_e2e.insights import estimate_executions
    from runner_e2e.planning import PlanOptions, build_plan, environment_warning, refuse_over

    try:
        executions = pick()
    except NothingSelected:
        if not allow_empty:
            raise
        executions = ()
    plan_options = PlanOptions(
        created_at=format_timestamp(datetime.now(UTC)),
        source=ActionsRuntime.from_environ(os.environ).source,
        tool_version=__version__,
        max_retries=max_retries,
        confirm=confirm,
        shard_size=shard_size,
        max_parallel=max_parallel,
    )
    series = published.history.series if published else {}
    estimates = estimate_executions(executions, series)
    planned = build_plan(catalog, executions, selectors, plan_options, estimates)
    warn(environment_warning(planned, catalog.file.target))
    if max_cost is not None:
        warn(refuse_over(planned, max_cost))
    return planned


def warn(warning: str | None) -> None:
    """Say what is wrong with a plan that stays a plan."""
    if warning:
        output.narrate(f"warning: {warning}")


def show(plan: Plan, format_: Format, *, as_json: bool) -> None:
    """Print the plan in the form that was asked for."""
    from runner_e2e import planning

    warn(planning.hosted_warning(plan))
    if format_ is Format.GITHUB:
        from runner_e2e.github import ActionsRuntime

        runtime = ActionsRuntime.from_environ(os.environ)
        if runtime.output_file is None:
            raise UsageError(
                "--format github writes to the file that $GITHUB_OUTPUT names, and it is not set",
                hint="on your own machine use --format matrix or --json",
            )
        planning.append_outputs(runtime.output_file, planning.github_outputs(plan))
        if runtime.summary_file:
            from runner_e2e.reports import append_step_summary

            append_step_summary(runtime.summary_file, planning.plan_summary_markdown(plan))
    if as_json:
        output.answer_document(plan)
    elif format_ is Format.MATRIX:
        output.answer(planning.matrix_json(plan))
    else:
        output.answer(planning.plan_table(plan))
