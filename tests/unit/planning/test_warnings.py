"""What GitHub would do to a plan that is too long, and what a target would do to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner_e2e.contracts.catalog import CommandTarget, PaperclipTarget
from runner_e2e.contracts.plan import Plan
from runner_e2e.errors import UsageError
from runner_e2e.planning import (
    environment_warning,
    github_outputs,
    hosted_warning,
    plan_summary_markdown,
)
from tests.support.catalogs import TASK, catalog_tree, load_tree
from tests.support.documents import make_plan, make_planned_execution
from tests.support.plans import plan_of

MINUTE = 60_000


def plan_of_minutes(*minutes: int) -> Plan:
    items = [make_planned_execution(f"smoke.a.local.c{n}") for n in range(len(minutes))]
    executions = tuple(
        item.model_copy(update={"job": item.job.model_copy(update={"timeout_minutes": timeout})})
        for item, timeout in zip(items, minutes, strict=True)
    )
    return make_plan([item.job.execution_id for item in executions], executions=executions)


def test_six_hours_are_what_a_hosted_runner_gives_to_a_job_with_its_upload() -> None:
    assert hosted_warning(plan_of_minutes(350, 20)) is None
    assert github_outputs(plan_of_minutes(350, 20))["job_timeout"] == "360"
    plan = plan_of_minutes(351, 400, 20)
    warning = hosted_warning(plan)
    assert warning is not None
    assert warning.startswith("2 of 3 jobs may take up to 410 minutes; ")
    assert "after 360" in warning
    assert "> [!WARNING]\n> 2 of 3 jobs" in plan_summary_markdown(plan)
    assert "[!WARNING]" not in plan_summary_markdown(plan_of_minutes(20))


@pytest.mark.parametrize(("minutes", "planned"), [(7000, True), (7200, False), (10**9, False)])
def test_no_runner_gives_a_job_more_than_five_days(
    tmp_path: Path, minutes: int, planned: bool
) -> None:
    timeouts = {"local": minutes * MINUTE, "daytona": 1}
    catalog = load_tree(tmp_path, catalog_tree(tasks=[{**TASK, "attemptTimeoutMs": timeouts}]))
    if planned:
        assert hosted_warning(plan_of(catalog, max_retries=0))
        return
    with pytest.raises(UsageError, match="GitHub ends every job after 7200") as caught:
        plan_of(catalog, max_retries=0)
    assert caught.value.hint is not None
    assert "attemptTimeoutMs" in caught.value.hint


def test_executions_that_a_target_cannot_run_yet_are_told_before_they_are_begun() -> None:
    items = [make_planned_execution(name) for name in ("s.a.local.c", "s.a.daytona.c")]
    plan = make_plan([item.job.execution_id for item in items], executions=tuple(items))
    assert environment_warning(plan, CommandTarget(kind="command")) is None
    assert environment_warning(plan, PaperclipTarget(kind="paperclip", version="1")) == (
        "1 of 2 executions cannot run yet: the paperclip target has no daytona"
    )
