"""What to run, for how long and in which matrix: from selectors to ``plan.json``."""

from runner_e2e.planning.forecast import (
    PlannedCost,
    PlannedTime,
    longest_first,
    planned_cost,
    planned_time,
    refuse_over,
)
from runner_e2e.planning.outputs import (
    MAX_OUTPUT_CHARACTERS,
    append_outputs,
    github_outputs,
    matrix_json,
)
from runner_e2e.planning.plan import PlanOptions, build_plan
from runner_e2e.planning.selection import (
    RERUN_KINDS,
    RerunKind,
    Selectors,
    parse_only,
    select,
    select_rerun,
)
from runner_e2e.planning.tables import (
    TABLE_HEADER,
    plan_headline,
    plan_summary_markdown,
    plan_table,
    table_rows,
)
from runner_e2e.planning.timing import MAX_SHARD, timeout_minutes
from runner_e2e.planning.warnings import environment_warning, hosted_warning

__all__ = [
    "MAX_OUTPUT_CHARACTERS",
    "MAX_SHARD",
    "RERUN_KINDS",
    "TABLE_HEADER",
    "PlanOptions",
    "PlannedCost",
    "PlannedTime",
    "RerunKind",
    "Selectors",
    "append_outputs",
    "build_plan",
    "environment_warning",
    "github_outputs",
    "hosted_warning",
    "longest_first",
    "matrix_json",
    "parse_only",
    "plan_headline",
    "plan_summary_markdown",
    "plan_table",
    "planned_cost",
    "planned_time",
    "refuse_over",
    "select",
    "select_rerun",
    "table_rows",
    "timeout_minutes",
]
