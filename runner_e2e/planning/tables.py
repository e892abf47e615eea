"""A plan for people: rows of a table, and Markdown for the job summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runner_e2e.contracts.plan import Plan, PlannedExecution
from runner_e2e.planning.forecast import (
    PlannedCost,
    cost_of,
    expected_ms,
    planned_cost,
    planned_time,
)
from runner_e2e.planning.warnings import hosted_warning
from runner_e2e.wording import cell, one_line

TABLE_HEADER = (
    "ID",
    "SUITE",
    "GENERATION",
    "PROVIDER",
    "MODEL",
    "CREDENTIALS",
    "TURNS",
    "TIMEOUT",
    "TIME",
    "COST",
)
"""The columns of :func:`table_rows`."""

MAX_SUMMARY_ROWS = 256
"""Executions listed one by one in a job summary; a suite's totals always stand there."""


def table_rows(plan: Plan) -> list[tuple[str, ...]]:
    """One row an execution, in catalog order. What history does not know is ``?``."""
    generations = {
        (suite.id, profile.id): profile.generation
        for suite in plan.catalog.suites
        for profile in suite.profiles
    }
    return [
        (
            item.job.execution_id,
            item.job.suite_id,
            generations[item.job.suite_id, item.job.profile_id],
            item.provider,
            item.model,
            _credentials(item),
            str(item.turns),
            f"{item.job.timeout_minutes} min",
            _time(item),
            _cost(item),
        )
        for item in plan.executions
    ]


def plan_table(plan: Plan) -> str:
    """The rows under their header, in columns as wide as they need, and the plan in a sentence."""
    # Free text of the catalog must not begin a line: the line could be a command to the runner.
    rows = [TABLE_HEADER, *(tuple(map(one_line, row)) for row in table_rows(plan))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join([*lines, "", plan_headline(plan)])


def _credentials(item: PlannedExecution) -> str:
    name = item.job.credential_name
    return f"{name},DAYTONA_API_KEY" if item.job.needs_daytona else name


def _time(item: PlannedExecution) -> str:
    expected = expected_ms(item)
    return "?" if expected is None else _duration(expected)


def _cost(item: PlannedExecution) -> str:
    """The median, and the 90th percentile behind it."""
    estimate = item.estimate
    if estimate is None or estimate.cost_usd_median is None:
        return "?"
    high = "" if estimate.cost_usd_p90 is None else f"..{estimate.cost_usd_p90:.4f}"
    return f"${estimate.cost_usd_median:.4f}{high}"


def plan_headline(plan: Plan) -> str:
    """The plan in one sentence."""
    executions = plan.executions
    if not executions:
        return "0 planned"
    daytona = sum(item.job.needs_daytona for item in executions)
    turns = sum(item.turns for item in executions)
    suites = len({item.job.suite_id for item in executions})
    return (
        f"{len(executions)} planned ({len(executions) - daytona} local, {daytona} Daytona), "
        f"{turns} turns, {suites} of {len(plan.catalog.suites)} suites, "
        f"{_money(planned_cost(plan))}, {_wall_time(plan)}{_confirm(plan)}"
    )


def _confirm(plan: Plan) -> str:
    """What failures may add; a plan of all passes costs none of it."""
    if plan.confirm is None:
        return ""
    times = "once" if plan.confirm.repeats == 1 else f"up to {plan.confirm.repeats} times"
    budget = plan.confirm.budget_usd
    capped = "" if budget is None else f" for ${budget:.2f} each"
    return f", failures repeated {times}{capped}"


def _money(cost: PlannedCost) -> str:
    """What it is expected to cost. With anything unknown in it, a sum is only a bound."""
    if not cost.known:
        return "cost unknown"
    high = f"${cost.p90:.2f} with every cell at its 90th percentile"
    if cost.unknown:
        return f"at least ${cost.median:.2f} ({high}; {cost.unknown} of unknown cost)"
    return f"about ${cost.median:.2f} ({high})"


def _wall_time(plan: Plan) -> str:
    time = planned_time(plan)
    if not time.known:
        return "time unknown"
    bound = f"at least {_duration(time.wall_ms)}" if time.unknown else _about(time.wall_ms)
    unknown = f" ({time.unknown} of unknown time)" if time.unknown else ""
    return f"{bound} at {time.parallel} in parallel{unknown}"


def _about(milliseconds: float) -> str:
    return f"about {_duration(milliseconds)}"


_MINUTE_S = 60


def _duration(milliseconds: float) -> str:
    """``45 s`` or ``12 min``: an estimate is no stopwatch."""
    seconds = round(milliseconds / 1000)
    return f"{seconds} s" if seconds < 2 * _MINUTE_S else f"{round(seconds / _MINUTE_S)} min"


def plan_summary_markdown(plan: Plan) -> str:
    """The plan for the job summary: totals, a row a suite, and the executions folded away."""
    lines = ["## Plan", "", plan_headline(plan) + ".", ""]
    warning = hosted_warning(plan)
    if warning:
        lines += ["> [!WARNING]", f"> {cell(warning, 500)}", ""]
    if plan.executions:
        lines += _markdown_table(
            ("Suite", "Planned", "Of", "Turns", "Longest job", "Cost"), _suite_rows(plan), right=5
        )
        lines += ["", *_execution_list(plan)]
    lines += ["", f"Plan `{plan.digest}`", ""]
    return "\n".join(lines)


def _suite_rows(plan: Plan) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for suite in plan.catalog.suites:
        chosen = [item for item in plan.executions if item.job.suite_id == suite.id]
        longest = max((item.job.timeout_minutes for item in chosen), default=0)
        rows.append(
            (
                suite.label,
                str(len(chosen)),
                str(suite.expected_matrix_size),
                str(sum(item.turns for item in chosen)),
                f"{longest} min" if chosen else "-",
                _suite_cost(chosen) if chosen else "-",
            )
        )
    return rows


def _suite_cost(chosen: Sequence[PlannedExecution]) -> str:
    cost = cost_of(chosen)
    if not cost.known:
        return "unknown"
    bound = "at least" if cost.unknown else "about"
    return f"{bound} ${cost.median:.2f}"


def _execution_list(plan: Plan) -> list[str]:
    rows = table_rows(plan)
    shown = rows[:MAX_SUMMARY_ROWS]
    left = len(rows) - len(shown)
    title = f"The first {len(shown)} executions" if left else "The executions"
    lines = [f"<details><summary>{title}</summary>", ""]
    lines += _markdown_table(tuple(name.capitalize() for name in TABLE_HEADER), shown)
    if left:
        lines += ["", f"{left} more are in plan.json."]
    return [*lines, "", "</details>"]


def _markdown_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, right: int = 0
) -> list[str]:
    """``right`` columns at the end hold numbers."""
    rule = [":---"] * (len(header) - right) + ["---:"] * right
    table = [header, rule, *([cell(text) for text in row] for row in rows)]
    return [f"| {' | '.join(row)} |" for row in table]
