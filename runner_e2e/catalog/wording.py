"""Say what pydantic found in the words of somebody who writes a catalog."""

from __future__ import annotations

import difflib
import re
import types
from collections.abc import Iterable
from itertools import islice
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from runner_e2e.catalog.quoting import quotable
from runner_e2e.catalog.source import Place
from runner_e2e.contracts.base import lower_first, plainly
from runner_e2e.contracts.scalars import PATTERN_WORDS, SEGMENT
from runner_e2e.errors import Problem

_QUOTED = re.compile(r"'([^']*)'")
_MAX_SHOWN = 60
_MAX_CANDIDATES = 500
_MAX_COMPARED = 256

_PATTERNS = (
    (
        rf"^{SEGMENT}\.",
        "must be suite.profile.environment.case, each of lower-case letters, digits, - and _",
    ),
    (SEGMENT, "must be lower-case letters, digits, - and _, beginning with a letter or digit"),
    ("[A-Z][A-Z0-9_]*", "must be capital letters, digits and _, beginning with a letter"),
    ("[0-9]{4}-[0-9]{2}-[0-9]{2}", "must be a date in the form 2026-12-31"),
    ("^https?://", "must be an http or https address"),
)


def nearest(name: object, known: Iterable[str]) -> str | None:
    """A hint with the known name that ``name`` was probably meant to be.

    None among more than 500: comparing takes longer than the hint is worth.
    """
    candidates = list(islice(known, _MAX_CANDIDATES + 1))
    if len(candidates) > _MAX_CANDIDATES:
        return None
    match = difflib.get_close_matches(str(name)[:_MAX_COMPARED], candidates, n=1, cutoff=0.6)
    return f"did you mean {match[0]!r}?" if match else None


def listed(names: Iterable[str]) -> str:
    """Names for a message: ``a, b, c``, or the first ten and how many more."""
    items = list(names)
    text = ", ".join(items[:10])
    return f"{text} and {len(items) - 10} more" if len(items) > 10 else text  # noqa: PLR2004 - ten


def problems_of(
    details: Iterable[ErrorDetails], model: type[BaseModel], value: Any, place: Place
) -> list[Problem]:
    """One problem for each bad value below ``place``, whose JSON is ``value``."""
    problems: dict[tuple[str, bool], Problem] = {}
    for detail in details:
        steps, rest = _locate(detail["loc"], value)
        at = place
        for step in steps:
            at /= step
        if detail["type"] == "missing" and rest:
            problem = at.problem(f"{rest[-1]!r} is missing")
            problems.setdefault((f"{at.name}.{rest[-1]}", True), problem)
        elif detail["type"] == "extra_forbidden":
            names = field_names(model, detail["loc"][:-1])
            problem = at.problem("this field is unknown", hint=nearest(steps[-1], names), key=True)
            problems.setdefault((at.name, True), problem)
        else:
            # A union reports each member that did not fit; the first says enough.
            message, hint = _words(detail)
            if detail["type"] == "union_tag_invalid":
                at /= str(detail["ctx"]["discriminator"]).strip("'")
            problems.setdefault((at.name, False), at.problem(message, hint=hint))
    return list(problems.values())


def _locate(location: tuple[str | int, ...], value: Any) -> tuple[list[str | int], list[str | int]]:
    """The steps that lead through ``value``, and those that it does not have.

    pydantic also names union members on the way, which no JSON has.
    """
    steps: list[str | int] = []
    rest: list[str | int] = []
    for step in location:
        inside = (
            isinstance(value, list) and 0 <= step < len(value)
            if isinstance(step, int)
            else isinstance(value, dict) and step in value
        )
        if inside:
            steps.append(step)
            rest.clear()
            value = value[step]
        else:
            rest.append(step)
    return steps, rest


def _words(detail: ErrorDetails) -> tuple[str, str | None]:
    context = detail.get("ctx", {})
    said = shown(detail["input"])
    kind = detail["type"]
    if kind in {"literal_error", "union_tag_invalid"}:
        expected = str(context.get("expected") or context.get("expected_tags"))
        given = context.get("tag", detail["input"])
        names = _QUOTED.findall(expected)
        return f"must be {expected}, not {shown(given)}", nearest(given, names)
    if kind == "union_tag_not_found":
        return f"{context['discriminator']} is missing", None
    if kind == "string_pattern_mismatch":
        for part, words in _PATTERNS:
            if part in context["pattern"]:
                return f"{words}; not {said}", None
        pattern = context["pattern"]
        return f"must be {PATTERN_WORDS.get(pattern, f'a text like {pattern}')}; not {said}", None
    message = lower_first(plainly(detail)).removeprefix("value error, ")
    message = message.replace("input should", "must")
    if not isinstance(detail["input"], dict | list):
        message = f"{message}; not {said}"
    return message, None


def shown(value: object) -> str:
    """A value for a message, cut where it is long. A key is taken out first, not cut to a half."""
    text = "null" if value is None else quotable(repr(value))
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def field_names(model: type[BaseModel], location: tuple[str | int, ...]) -> tuple[str, ...]:
    """The keys that a person may write at ``location`` of a document of type ``model``."""
    kind: Any = model
    for step in location:
        kind = _member(kind, step)
    return tuple(
        field.alias or name
        for candidate in _models(kind)
        for name, field in candidate.model_fields.items()
    )


def _member(kind: Any, step: str | int) -> Any:
    """The type one step further down. A step that names a union's member picks it."""
    found: list[Any] = []
    for candidate in _alternatives(kind):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            fields = {field.alias or name: field for name, field in candidate.model_fields.items()}
            if step in fields:
                found.append(fields[str(step)].annotation)
            elif step in {candidate.__name__, *_tags(candidate)}:
                return candidate
        elif isinstance(step, int):
            found.extend(argument for argument in get_args(candidate) if argument is not Ellipsis)
    return Union[tuple(found)] if found else kind  # noqa: UP007 - built from a list


def _tags(model: type[BaseModel]) -> tuple[str, ...]:
    """The words that tell this member of a union from the others."""
    return tuple(
        argument
        for field in model.model_fields.values()
        if get_origin(field.annotation) is Literal
        for argument in get_args(field.annotation)
    )


def _alternatives(kind: Any) -> list[Any]:
    origin = get_origin(kind)
    if origin is Annotated:
        return _alternatives(get_args(kind)[0])
    if origin in {Union, types.UnionType}:
        return [member for argument in get_args(kind) for member in _alternatives(argument)]
    return [kind]


def _models(kind: Any) -> list[type[BaseModel]]:
    return [
        candidate
        for candidate in _alternatives(kind)
        if isinstance(candidate, type) and issubclass(candidate, BaseModel)
    ]
