"""Checks that no answer can fail: an empty text is found in every answer, no matcher is met by all.

They are looked for in the case as it reads when it is filled in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runner_e2e.catalog.requirements import REQUIREMENTS
from runner_e2e.catalog.source import Steps
from runner_e2e.contracts.task import TaskFixture

_EACH = None
"""Every item of a list."""

_NEVER_BLANK: tuple[tuple[str | None, ...], ...] = (
    ("title",),
    ("marker",),
    ("prompt",),
    ("questionAnswer", "optionLabel"),
    ("questionAnswer", "expectedMarker"),
    ("planMarkers", "draft"),
    ("planMarkers", "revised"),
    ("flowOptions", "question", "prompt"),
    ("flowOptions", "question", "options", _EACH),
    ("flowOptions", "script", _EACH, "expect"),
)
"""The texts of a case that something is compared with, and those that the agent is told."""

_COMPARED_WHOLE = frozenset({"file_exact", "json_path"})
"""A file can be empty, and a value the empty string: these matchers can fail all the same."""

_BLANK = "must not be blank"


def vacuous_parts(document: Mapping[str, Any]) -> Iterator[tuple[Steps, str]]:
    """Where a filled-in case, or the part of one, checks nothing, and why that is."""
    for pattern in _NEVER_BLANK:
        for path, text in _found(document, pattern, ()):
            if isinstance(text, str) and not text.strip():
                yield path, _BLANK
    matchers = document.get("matchers")
    for index, matcher in enumerate(matchers if isinstance(matchers, Sequence) else ()):
        for steps, reason in _vacuous_matcher(matcher):
            yield ("matchers", index, *steps), reason


def _vacuous_matcher(matcher: Any) -> Iterator[tuple[Steps, str]]:
    if not isinstance(matcher, Mapping) or matcher.get("kind") in _COMPARED_WHOLE:
        return
    for pattern in (("expected",), ("expected", _EACH), ("pattern",), ("name",)):
        for path, text in _found(matcher, pattern, ()):
            if isinstance(text, str) and not text.strip():
                yield path, _BLANK
    if matcher.get("expected") == []:
        yield ("expected",), "must name at least one text"
    if matcher.get("schema") == {}:
        yield ("schema",), "must say something: every value fits this schema"


def _found(value: Any, pattern: tuple[str | None, ...], path: Steps) -> Iterator[tuple[Steps, Any]]:
    """The values that there are at a pattern, each with its path."""
    if not pattern:
        yield path, value
        return
    step, rest = pattern[0], pattern[1:]
    if step is _EACH:
        for index, item in enumerate(value if isinstance(value, list) else ()):
            yield from _found(item, rest, (*path, index))
    elif isinstance(value, Mapping) and step in value:
        yield from _found(value[step], rest, (*path, step))


def is_judged(task: TaskFixture) -> bool:
    """Whether anything of the agent's answer is looked at, beyond that the runs came to an end."""
    judging = REQUIREMENTS[task.flow].judging_steps
    if judging is None:
        return True
    script = (task.flow_options or {}).get("script")
    steps = script if isinstance(script, list) else []
    return bool(task.matchers) or any(
        name in judging for step in steps if isinstance(step, dict) for name in step
    )
