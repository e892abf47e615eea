"""JSON values: what a path leads to, and when two are the same."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from runner_e2e.catalog.expressions import PathStep

_INDEX_DIGITS = 9


def equality_key(value: Any) -> Hashable:
    """Give equal JSON values equal keys: ``1`` and ``1.0`` are one value, ``1`` and ``true`` two.

    The order of an object's members does not count.
    """
    if isinstance(value, bool) or value is None:
        return ("literal", value)
    if isinstance(value, dict):
        return ("object", frozenset((key, equality_key(item)) for key, item in value.items()))
    if isinstance(value, list | tuple):
        return ("array", tuple(equality_key(item) for item in value))
    return value  # type: ignore[no-any-return]  # a string or a number; Python says 1 == 1.0


def values_at(value: Any, steps: Sequence[PathStep]) -> list[Any]:
    """Follow a path: what it leads to, one value or, through wildcards, several or none."""
    found = [value]
    for step in steps:
        found = [inner for item in found for inner in _step(item, step)]
    return found


def _step(value: Any, step: PathStep) -> list[Any]:
    if isinstance(value, dict):
        if step.name is None:
            return list(value.values())
        return [value[step.name]] if step.name in value else []
    if not isinstance(value, list | tuple):
        return []
    if step.name is None:
        return list(value)
    digits = step.name.removeprefix("-")
    if step.quoted or not (digits.isascii() and digits.isdigit() and len(digits) <= _INDEX_DIGITS):
        return []
    index = int(step.name)
    return [value[index]] if -len(value) <= index < len(value) else []
