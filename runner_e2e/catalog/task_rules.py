"""What must hold of a case beyond its shape."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from operator import truediv
from typing import Any

from pydantic import ValidationError

from runner_e2e.catalog.expressions import compile_problems
from runner_e2e.catalog.fingerprints import sample_variables
from runner_e2e.catalog.rendering import task_document, typed
from runner_e2e.catalog.requirements import FLOW_KEYS, REQUIREMENTS, TOOL_RUNS, turns_after
from runner_e2e.catalog.source import Place
from runner_e2e.catalog.structure import Part, validate
from runner_e2e.catalog.templates import (
    VARIABLES,
    TemplateFault,
    render_json,
    render_text,
    variables_of,
)
from runner_e2e.catalog.vacuity import is_judged, vacuous_parts
from runner_e2e.catalog.wording import listed, nearest, problems_of
from runner_e2e.contracts.matcher import Matcher
from runner_e2e.contracts.scalars import JsonValue
from runner_e2e.contracts.task import FLOW_OPTIONS, TaskFixture
from runner_e2e.contracts.vocabulary import ToolReviewDecision
from runner_e2e.errors import Problem

_SAMPLE_VALUES: Mapping[str, str] = {
    **sample_variables("suite.profile.local.case", "profile", "local").mapping(),
    "marker": "E2E_OK_0123456789ab-1",
}
_EXPRESSION_FIELDS = {"message_regex": "pattern", "json_schema": "schema"}


def task_problems(part: Part[TaskFixture]) -> Iterator[Problem]:
    """Everything that is wrong with one case, shape apart."""
    if part.sound("flow"):
        yield from _flow_problems(part)
    document = task_document(part.model)
    for key, value in document.items():
        if key in {"id", "matchers"} or key not in part.raw or not part.sound(key):
            continue
        known = [name for name in VARIABLES if key != "marker" or name != "marker"]
        yield from template_problems(value, part.place / key, known)
    if part.sound("matchers"):
        for index, matcher in enumerate(document["matchers"]):
            yield from _matcher_problems(matcher, part.place / "matchers" / index)
    yield from _vacuity_problems(part, document)


def template_problems(value: JsonValue, place: Place, known: Collection[str]) -> Iterator[Problem]:
    """Every text below ``place`` that cannot be filled in."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from template_problems(item, place / key, known)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from template_problems(item, place / index, known)
    elif isinstance(value, str):
        yield from _text_problems(value, place, known)


def _text_problems(text: str, place: Place, known: Collection[str]) -> Iterator[Problem]:
    try:
        unknown = sorted(variables_of(text) - set(known))
        for name in unknown:
            yield place.problem(
                f"the template names {name!r}, which is not a variable here",
                hint=nearest(name, known) or f"there are {listed(known)}",
            )
        if not unknown:
            render_text(text, _SAMPLE_VALUES)
    except TemplateFault as fault:
        yield place.problem(f"the template {fault.message}")


def _matcher_problems(document: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    found = list(template_problems(dict(document), place, VARIABLES))
    yield from found
    if found:
        return
    try:
        matcher = typed(Matcher, render_json(dict(document), _SAMPLE_VALUES), "the matcher")
    except TemplateFault as fault:
        yield place.problem(f"filled in, {fault.message}")
        return
    field = _EXPRESSION_FIELDS.get(matcher.kind, "path")
    for message in compile_problems(matcher):
        yield (place / field).problem(message)


def _vacuity_problems(part: Part[TaskFixture], document: Mapping[str, Any]) -> Iterator[Problem]:
    """Checks that could only ever be green. What cannot be filled in was reported as such."""
    for key, value in document.items():
        if key not in part.raw or not part.sound(key):
            continue
        try:
            rendered = render_json(value, _SAMPLE_VALUES)
        except TemplateFault:
            continue
        for steps, reason in vacuous_parts({key: rendered}):
            yield reduce(truediv, steps, part.place).problem(reason)
    if part.sound("matchers", "flow", "flowOptions") and not is_judged(part.model):
        yield (part.place / "matchers").problem(
            f"nothing checks what the agent did: the flow {part.model.flow} needs a matcher here"
        )


def _flow_problems(part: Part[TaskFixture]) -> Iterator[Problem]:
    task = part.model
    rule = REQUIREMENTS[task.flow]
    for key in rule.required:
        if key not in part.raw:
            yield part.place.problem(f"the flow {task.flow} needs {key!r}")
    used = {*rule.required, *rule.optional, "turnTimeoutMs"}
    for key in FLOW_KEYS:
        if key in part.raw and key not in used:
            yield (part.place / key).problem(f"the flow {task.flow} has no use for this", key=True)
    runs = rule.runs
    if task.flow == "governed_tool_review" and "again" in (task.flow_options or {}):
        runs = 3  # the second call has a run of its own
    if runs is not None and task.expected_run_count != runs and part.sound("expectedRunCount"):
        yield (part.place / "expectedRunCount").problem(
            f"the flow {task.flow} has exactly {runs} runs, not {task.expected_run_count}"
        )
    if part.sound("flowOptions") and "flowOptions" in part.raw and "flowOptions" in used:
        yield from _option_problems(part, part.place / "flowOptions")


def _option_problems(part: Part[TaskFixture], place: Place) -> Iterator[Problem]:
    task = part.model
    model = FLOW_OPTIONS[task.flow]
    options = task.flow_options or {}
    try:
        validate(model, options)
    except ValidationError as error:
        yield from problems_of(error.errors(include_url=False), model, options, place)
        return
    if task.flow == "plan_revision_acceptance" and "revisedSteps" not in options:
        yield place.problem("the flow plan_revision_acceptance needs 'revisedSteps'")
    always = task.flow == "governed_tool_review" and task.tool_review_decision == "always"
    if always and "secondArguments" not in options:
        yield place.problem("the decision always needs 'secondArguments' for the second call")
    if task.flow == "governed_tool_review" and task.tool_review_decision is not None:
        yield from _tool_run_problems(task.tool_review_decision, options, place)
    if task.flow == "agent_chat":
        script: Any = options["script"]
        yield from _script_problems(part, script, place / "script")
    if "again" in options and task.tool_review_decision != "always":
        yield (place / "again").problem("only the decision always has a second call", key=True)
    question = options.get("question")
    if isinstance(question, dict) and task.question_answer is not None:
        choices = question["options"]
        label = task.question_answer.option_label
        if isinstance(choices, list) and label not in choices and "{" not in label:
            yield (place / "question" / "options").problem(
                f"the answer {label!r} is not one of the options",
                hint=nearest(label, map(str, choices)),
            )


def _tool_run_problems(
    decision: ToolReviewDecision, options: Mapping[str, Any], place: Place
) -> Iterator[Problem]:
    least, most = TOOL_RUNS[decision]
    count = options["invocations"]
    if count < least or (most is not None and count > most):
        bound = f"{least}" if least == most else f"at least {least}"
        yield (place / "invocations").problem(
            f"with the decision {decision} the tool runs {bound} times, not {count}"
        )


def _script_problems(
    part: Part[TaskFixture], script: Sequence[Any], place: Place
) -> Iterator[Problem]:
    """Counts that the script itself makes impossible."""
    turns = turns_after(script)
    for index, step in enumerate(script):
        idle = step.get("expect_idle")
        if idle is not None and idle["runs"] != turns[index]:
            yield (place / index / "expect_idle" / "runs").problem(
                f"there are {turns[index]} runs by then, of which the prompt is the first, "
                f"not {idle['runs']}"
            )
    wanted = part.model.expected_run_count
    if part.sound("expectedRunCount") and wanted != turns[-1]:
        yield (part.place / "expectedRunCount").problem(
            f"the script has {turns[-1]} runs, of which the prompt is the first, not {wanted}"
        )
