"""One execution a job, every one of them heard of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runner_e2e.github.workflow_policy.document import (
    Finding,
    Job,
    Step,
    Workflow,
    mapping,
    sole_expression,
)

_UPLOAD = "actions/upload-artifact"
_DOWNLOAD = "actions/download-artifact"


def matrices(workflow: Workflow) -> Iterator[Finding]:
    """A matrix neither stops early nor fails for being empty."""
    for job in workflow.jobs.values():
        if not job.matrix:
            continue
        strategy = mapping(job.tree.get("strategy"))
        if strategy.get("fail-fast") is not False:
            yield job.find(
                "fail-fast", "fail-fast: false, or one red execution cancels all others", "strategy"
            )
        if "outputs" in job.tree:
            yield job.find("leg-outputs", "of a matrix only the last job's survive", "outputs")
        planned = sole_expression(strategy.get("matrix")) or ""
        if "needs." in planned:
            if "||" not in planned:
                yield job.find(
                    "matrix-guard",
                    "fromJSON('') fails the run when the plan was skipped: "
                    "add || '{\"include\":[]}'",
                    "strategy",
                    "matrix",
                )
            if not re.search(r"has_jobs|contains\(", job.condition):
                yield job.find(
                    "matrix-guard", "an empty matrix fails the run: guard it with if", "if"
                )


def no_outputs_of_legs(workflow: Workflow) -> Iterator[Finding]:
    """Nobody relies on outputs of a matrix."""
    legs = [job.id for job in workflow.jobs.values() if job.matrix]
    for where, text in workflow.texts():
        for leg in legs:
            if f"needs.{leg}.outputs" in text:
                yield workflow.find(where, "leg-outputs", f"{leg} is a matrix and has no outputs")


def legs(workflow: Workflow) -> Iterator[Finding]:
    """What a job of the matrix must look like."""
    for job in workflow.jobs.values():
        if not job.is_leg:
            continue
        if sole_expression(job.tree.get("name")) != "matrix.executionId":
            yield job.find(
                "leg-name", "name: ${{ matrix.executionId }}; job history is read by it", "name"
            )
        for step in job.steps:
            if step.command == "run":
                yield from _running(step)
            if step.action == _DOWNLOAD:
                yield step.find("leg-download", "a leg downloads nothing")
        yield from _keeping(job)


def _running(step: Step) -> Iterator[Finding]:
    if sole_expression(step.tree.get("timeout-minutes")) != "matrix.timeoutMinutes":
        yield step.find(
            "leg-timeout", "timeout-minutes: ${{ matrix.timeoutMinutes }}", "timeout-minutes"
        )
    if sole_expression(step.inputs.get("id")) != "matrix.executionId":
        yield step.find("leg-arguments", "id: ${{ matrix.executionId }}", "with")
    for name in ("plan-digest", "definition-hashes"):
        if not sole_expression(step.inputs.get(name)):
            yield step.find("leg-arguments", f"without {name} the leg may run another plan", "with")


def _keeping(job: Job) -> Iterator[Finding]:
    run = next(step.index for step in job.steps if step.command == "run")
    kept = [step for step in job.steps[run:] if step.action == _UPLOAD]
    if not any("result" in str(step.inputs.get("name")) for step in kept):
        yield job.find("leg-result", "nothing keeps the result of the execution")
    for step in kept:
        if "matrix.executionId" not in str(step.inputs.get("name")):
            yield step.find(
                "artifact-name", "two legs must not share a name: add the execution id", "with"
            )
    sweeps = [step for step in job.steps[run + 1 :] if step.command == "sweep"]
    if not any("always()" in step.condition for step in sweeps):
        yield job.find(
            "sweep-always", "a step with if: always() must sweep what a killed execution left"
        )


def uploads(workflow: Workflow) -> Iterator[Finding]:
    """An artifact is there after a failure, or its absence is red."""
    for job in workflow.jobs.values():
        work = [step.index for step in job.steps if step.command in {"run", "aggregate"}]
        for step in job.steps:
            if step.action != _UPLOAD:
                continue
            if work and step.index > work[0] and "always()" not in step.condition:
                yield step.find("upload-always", "if: always(), or a failure leaves nothing", "if")
            if step.inputs.get("if-no-files-found") != "error":
                yield step.find(
                    "upload-missing",
                    "if-no-files-found: error, or nothing looks like enough",
                    "with",
                )
            if "github.run_attempt" not in str(step.inputs.get("name")):
                yield step.find(
                    "artifact-name", "a re-run cannot upload the same name: add the attempt", "with"
                )
            if re.search(r"(?m)^\s*(?:\./)?\.[^./]", str(step.inputs.get("path"))):
                yield step.find("upload-hidden", "hidden directories are not uploaded", "with")


RULES = (matrices, no_outputs_of_legs, legs, uploads)
