"""The jobs around the matrix: merged always, published once, started on purpose."""

from __future__ import annotations

from collections.abc import Iterator

from runner_e2e.github.workflow_policy.document import Finding, Job, Workflow, mapping


def aggregation(workflow: Workflow) -> Iterator[Finding]:
    """Merged whatever happened, and only with a plan."""
    jobs = workflow.jobs.values()
    executing = [job.id for job in jobs if job.is_leg or job.calls == "execute.yml"]
    planning = [job.id for job in jobs if "plan" in job.commands()]
    for job in jobs:
        if "aggregate" not in job.commands():
            continue
        if "always()" not in job.condition:
            yield job.find(
                "aggregate-always", "without always() a red or cancelled leg skips it", "if"
            )
        for needed in (*planning, *executing):
            if needed not in job.needs:
                yield job.find("aggregate-needs", f"it must wait for {needed}", "needs")
        for plan in planning:
            if f"needs.{plan}.result == 'success'" not in job.condition:
                yield job.find("aggregate-always", f"there must be a plan of {plan}", "if")
            if not any(
                step.script and f"needs.{plan}.outputs.matrix == ''" in step.condition
                for step in job.steps
            ):
                yield job.find(
                    "dropped-output",
                    "GitHub drops an output in which a secret's value occurs: "
                    "a step must fail when the matrix came back empty",
                )
    if executing and planning and not any("aggregate" in job.commands() for job in jobs):
        yield workflow.find(("jobs",), "aggregate-always", "no job merges the results")


def all_attempts(workflow: Workflow) -> Iterator[Finding]:
    """Merging and publishing see the artifacts of every run attempt."""
    for job in workflow.jobs.values():
        if not job.commands() & {"aggregate", "publish"}:
            continue
        for step in job.steps:
            if step.action == "actions/download-artifact" and not (
                step.inputs.get("run-id") and step.inputs.get("github-token")
            ):
                yield step.find(
                    "all-attempts",
                    "add run-id and github-token: without, one attempt is seen",
                    "with",
                )


def publication(workflow: Workflow) -> Iterator[Finding]:
    """Published whatever the campaign came to."""
    for job in workflow.jobs.values():
        if job.publishes and job.needs and "always()" not in job.condition:
            yield job.find("publish-always", "without always() a red campaign stays unseen", "if")


def concurrency(workflow: Workflow) -> Iterator[Finding]:
    """No publisher is thrown away."""
    rule = "concurrency"
    top = workflow.tree.get(rule)
    if workflow.callable and top is not None and "github.run_id" not in str(_group(top)):
        yield workflow.find(
            (rule,), rule, "a called workflow shares no group; its callers choose one"
        )
    for job in workflow.jobs.values():
        own = job.tree.get(rule)
        if workflow.callable and own is not None:
            yield job.find(rule, "a called workflow shares no group; its callers choose one", rule)
        if job.publishes:
            yield from _publisher(job, top, own)


def _publisher(job: Job, top: object, own: object) -> Iterator[Finding]:
    for part in (top, own):
        if mapping(part).get("cancel-in-progress", False) is not False:
            yield job.find("concurrency", "a publisher is never cancelled", "concurrency")
    if own is not None and mapping(own).get("queue") != "max":
        yield job.find(
            "concurrency", "queue: max, or the second waiting publisher is dropped", "concurrency"
        )
    if not job.workflow.callable and own is None:
        yield job.find("concurrency", "publishers take turns: give the job a group with queue: max")


def _group(value: object) -> object:
    return mapping(value).get("group") if isinstance(value, dict) else value


def schedules(workflow: Workflow) -> Iterator[Finding]:
    """Off the busy minutes, and only where somebody switched it on."""
    rows = workflow.events.get("schedule")
    for index, row in enumerate(rows if isinstance(rows, list) else ()):
        minute = str(mapping(row).get("cron", "")).split(" ")[0]
        if not minute.isdigit() or int(minute) % 15 == 0:
            yield workflow.find(
                ("on", "schedule", index),
                "schedule",
                "at full and quarter hours GitHub delays and drops runs: take an odd minute",
            )
    if rows:
        for job in workflow.jobs.values():
            if not job.needs and "vars." not in job.condition:
                yield job.find(
                    "schedule", "a fork would spend at night: ask a repository variable in if"
                )


RULES = (aggregation, all_attempts, publication, concurrency, schedules)
