"""``runner-e2e run``: exactly one execution, as a job of the matrix runs it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runner_e2e.cli import options, output
from runner_e2e.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from runner_e2e.catalog import Catalog
    from runner_e2e.contracts.catalog import MatrixExecution
    from runner_e2e.execution import RunOutcome


def run(
    id: Annotated[  # noqa: A002  the option's name
        str, typer.Option("--id", metavar="ID", help="The execution.", show_default=False)
    ],
    catalog: options.CatalogPath = options.DEFAULT_CATALOG,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the result artifact goes.")
    ] = Path("runner-e2e-result"),
    plan_digest: Annotated[
        str | None, typer.Option(metavar="SHA256", help="Written into the job record.")
    ] = None,
    definition_hash: Annotated[
        str | None,
        typer.Option(metavar="SHA256", help="Refuse to run another definition of the suite."),
    ] = None,
    max_retries: options.MaxRetries = 1,
    confirm: options.Confirm = 0,
    confirm_budget: options.ConfirmBudget = None,
    max_cost: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="USD", help="Begin neither retry nor repeat once so much is spent."
        ),
    ] = None,
    timeout_minutes: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="When the job around this one is cut off."),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the workspace for a look.")] = False,
    json: options.Json = False,
) -> None:
    """Run one execution and write its result, record and evidence."""
    from runner_e2e.catalog import load_catalog
    from runner_e2e.cli.signals import cancelled_by_signals
    from runner_e2e.execution import RunRequest, run_execution
    from runner_e2e.github import ActionsRuntime

    if plan_digest is not None and not _is_digest(plan_digest):
        raise UsageError(
            f"--plan-digest {plan_digest!r} is not 64 hexadecimal digits",
            hint="take it from the plan, or leave it out",
        )
    loaded = load_catalog(catalog)
    execution = find(loaded, id, definition_hash)
    runtime = ActionsRuntime.from_environ(os.environ)
    with cancelled_by_signals() as cancel:
        outcome = run_execution(
            RunRequest(
                execution=execution,
                catalog_directory=loaded.directory,
                target=loaded.file.target,
                credentials=loaded.file.credentials,
                out=out,
                source=runtime.source,
                environ=os.environ,
                plan_digest=plan_digest,
                max_retries=max_retries,
                repeats=confirm,
                repeat_budget_usd=confirm_budget,
                max_cost_usd=max_cost,
                run_id=runtime.run_id,
                run_attempt=runtime.run_attempt,
                keep=keep,
                deadline_minutes=timeout_minutes,
                cancel=cancel,
            ),
            on_event=output.narrate,
        )
    tell(outcome, out, as_json=json)
    if cancel.signal_number is not None:
        output.finish(ExitCode(128 + cancel.signal_number))
    output.finish(exit_code(outcome))


def _is_digest(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")  # noqa: PLR2004  SHA-256


def find(catalog: Catalog, execution_id: str, definition_hash: str | None) -> MatrixExecution:
    """The execution, if the catalog here is still the one that was planned."""
    from runner_e2e.planning import Selectors, select

    executions = select(catalog, Selectors.parse(id=(execution_id,)))
    if len(executions) > 1:
        raise UsageError(
            f"run takes one execution, not {len(executions)}",
            hint="`runner-e2e campaign` runs several",
        )
    (execution,) = executions
    if definition_hash not in {None, execution.suite_definition_hash}:
        raise UsageError(
            f"suite {execution.suite.id} is not the one that was planned: its definition hash is "
            f"{execution.suite_definition_hash}, the plan's {definition_hash}",
            hint="check out the commit that was planned, or plan again",
        )
    return execution


def exit_code(outcome: RunOutcome) -> ExitCode:
    """What one result means for the process."""
    from runner_e2e.failures import POLICY

    result = outcome.result
    if result.green:
        return ExitCode.OK
    return POLICY[result.failure_class or "cleanup_failure"].exit_code


def tell(outcome: RunOutcome, out: Path, *, as_json: bool) -> None:
    """Say how it ended and why."""
    result = outcome.result
    if as_json:
        output.answer_document(result)
        return
    line = f"{result.execution_id}: {result.status} in {result.duration_ms / 1000:.1f} s"
    if result.failure_class:
        line += f" ({result.failure_class})"
    if result.error:
        line += f"\n{output.quote(result.error)}"
    output.answer(f"{line}\nresult: {out / 'result.json'}")
