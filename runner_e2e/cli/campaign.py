"""``runner-e2e campaign``: plan, run and aggregate on this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runner_e2e.cli import aggregate, options, output
from runner_e2e.cli import plan as planning_command
from runner_e2e.cli.published import Where, judged, open_history
from runner_e2e.errors import ExitCode

if TYPE_CHECKING:
    from runner_e2e.catalog import Catalog
    from runner_e2e.contracts.catalog import MatrixExecution
    from runner_e2e.execution import RunRequest
    from runner_e2e.execution.local import LocalCampaign
    from runner_e2e.flows.deadline import CancelToken


def campaign(
    catalog: options.CatalogPath = options.DEFAULT_CATALOG,
    suite: options.Suites = None,
    group: options.Groups = None,
    profile: options.Profiles = None,
    environment: options.Environments = None,
    case: options.Cases = None,
    id: options.Ids = None,  # noqa: A002  the option's name
    all: options.All = False,  # noqa: A002  the option's name
    max_retries: options.MaxRetries = 1,
    confirm: options.Confirm = 0,
    confirm_budget: options.ConfirmBudget = None,
    max_parallel: options.MaxParallel = 4,
    max_cost: options.MaxCost = None,
    history: Where = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Results, and in DIR/report the report.")
    ] = Path("runner-e2e-results"),
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin anew; earlier results are set aside.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Plan, run and merge a campaign here. Repeating it runs only what is not finished yet."""
    from runner_e2e.catalog import load_catalog
    from runner_e2e.cli.live import live_table
    from runner_e2e.cli.signals import cancelled_by_signals
    from runner_e2e.execution.local import open_campaign, run_all

    selectors = planning_command.parse_selectors(
        all_=all,
        suite=suite,
        group=group,
        profile=profile,
        environment=environment,
        case=case,
        id=id,
    )
    loaded = load_catalog(catalog)
    published = open_history(history)
    planned = planning_command.make_plan(
        loaded,
        selectors,
        pick=planning_command.picked(loaded, selectors),
        allow_empty=False,
        max_retries=max_retries,
        confirm=planning_command.confirm_plan(confirm, confirm_budget),
        max_parallel=max_parallel,
        published=published,
        max_cost=max_cost,
    )
    with open_campaign(out, planned, fresh=fresh) as local:
        if local.set_aside:
            output.narrate(f"an earlier campaign was set aside in {local.set_aside}")
        done = {name: local.final(name) for name in local.plan.expected}
        waiting = {name for name, result in done.items() if result is None}
        if local.resumed:
            output.narrate(f"going on: {len(done) - len(waiting)} of {len(done)} are finished")
        demand_secrets([one for one in loaded.executions if one.id in waiting])
        with cancelled_by_signals() as cancel, live_table(done) as table:
            run_all(
                requests(loaded, local, waiting, cancel),
                max_parallel=max_parallel,
                cancel=cancel,
                on_progress=table.update,
            )
        merged = aggregate.merge(local.plan, [local.directory / "results"])
        verdicts = (
            judged(published, merged.campaign, merged.insights, local.plan) if published else None
        )
        code = aggregate.write(merged, local.plan, local.report, site=True, verdicts=verdicts)
        aggregate.tell(merged, local.report, as_json=json, verdicts=verdicts)
    if cancel.signal_number is not None:
        output.narrate("interrupted; the same command goes on from here")
        code = ExitCode(128 + cancel.signal_number)
    output.finish(code)


def demand_secrets(executions: list[MatrixExecution]) -> None:
    """Refuse to begin without a key that would only be missed in the middle."""
    from runner_e2e.errors import UsageError
    from runner_e2e.execution import missing_secrets

    missing = missing_secrets(executions, os.environ)
    if missing:
        raise UsageError(
            f"{', '.join(missing)} must be set: the agents of these executions use it",
            hint="export it, or select executions that need none",
        )


def requests(
    catalog: Catalog, local: LocalCampaign, waiting: set[str], cancel: CancelToken
) -> list[RunRequest]:
    """One request for each execution that has no final result, the longest first."""
    from runner_e2e.execution import RunRequest
    from runner_e2e.github import ActionsRuntime
    from runner_e2e.planning import longest_first

    runtime = ActionsRuntime.from_environ(os.environ)
    executions = {execution.id: execution for execution in catalog.executions}
    repeating = local.plan.confirm
    return [
        RunRequest(
            execution=executions[name],
            catalog_directory=catalog.directory,
            target=catalog.file.target,
            credentials=catalog.file.credentials,
            out=local.results(name),
            source=runtime.source,
            environ=os.environ,
            plan_digest=local.plan.digest,
            max_retries=local.plan.max_retries,
            repeats=repeating.repeats if repeating else 0,
            repeat_budget_usd=repeating.budget_usd if repeating else None,
            run_id=runtime.run_id,
            run_attempt=runtime.run_attempt,
            cancel=cancel,
        )
        for name in (item.job.execution_id for item in longest_first(local.plan.executions))
        if name in waiting
    ]
