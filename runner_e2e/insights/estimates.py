"""What a cell is expected to take and to cost, from what it took and cost before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from runner_e2e.contracts.catalog import MatrixExecution
from runner_e2e.contracts.estimates import Estimate, Estimates
from runner_e2e.contracts.history import CellOutcome, CellSeries
from runner_e2e.insights.formulas import median, percentile
from runner_e2e.insights.trials import RECENT, is_measured

HIGH = 0.9
"""The share of runs that stay below the figure for a bad day."""


def estimate_cell(
    outcomes: Sequence[CellOutcome], *, definition_hash: str, model: str
) -> Estimate | None:
    """Estimate from the last 14 measured outcomes, newest first; ``None`` where there are none.

    Runs of another model say nothing, since its price is another. Runs of an older definition are
    taken only where the present one has none: a guess that is a little off guards a budget better
    than no guess after every change of a prompt. Failures count, they are paid for as well.
    """
    same_model = [each for each in outcomes if is_measured(each) and each.model == model]
    present = [each for each in same_model if each.definition_hash == definition_hash]
    taken = (present or same_model)[:RECENT]
    if not taken:
        return None
    durations = [each.duration_ms for each in taken]
    costs = [each.cost_usd for each in taken if each.cost_usd is not None]
    return Estimate(
        runs=len(taken),
        duration_ms_median=median(durations),
        duration_ms_p90=percentile(HIGH, durations),
        cost_usd_median=median(costs),
        cost_usd_p90=percentile(HIGH, costs),
    )


def estimate_executions(
    executions: Iterable[MatrixExecution], series: Mapping[str, CellSeries]
) -> Estimates:
    """Estimate each execution that history knows. ``series`` is by suite id."""
    estimates = {}
    for execution in executions:
        suite = series.get(execution.suite.id)
        found = estimate_cell(
            suite.cells.get(execution.id, ()) if suite else (),
            definition_hash=execution.suite_definition_hash,
            model=execution.profile.model,
        )
        if found is not None:
            estimates[execution.id] = found
    return estimates
