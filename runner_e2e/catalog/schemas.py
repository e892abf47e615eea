"""JSON Schemas of draft 2020-12, checked without a network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import regex
from jsonschema import Draft202012Validator
from jsonschema_specifications import (  # type: ignore[import-untyped]  # it ships no types
    REGISTRY,
)
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from runner_e2e.catalog.expressions import ExpressionError
from runner_e2e.catalog.regexes import compile_regex

URI = "https://json-schema.org/draft/2020-12/schema"
MAX_DEPTH = 64
MAX_NODES = 20_000
MAX_PROBLEMS = 10
MAX_MESSAGE = 300


def schema_problems(schema: dict[str, Any]) -> list[str]:
    """Tell what is wrong with a JSON Schema: at most ten problems, none when it is sound."""
    try:
        _check_size(schema)
    except ExpressionError as error:
        return [str(error)]
    declared = schema.get("$schema", URI)
    if not isinstance(declared, str) or declared.rstrip("#") != URI:
        return [f"$schema is {declared!r}; only {URI} is supported"]
    meta = Draft202012Validator(Draft202012Validator.META_SCHEMA)
    faults = [
        f"the JSON Schema is wrong at {fault.json_path}: {fault.message[:MAX_MESSAGE]}"
        for fault in meta.iter_errors(schema)
    ]
    # References and patterns can be followed only in a schema that has the right form.
    return (faults or list(_inner_problems(schema)))[:MAX_PROBLEMS]


def compile_schema_pattern(pattern: str) -> regex.Pattern[str]:
    """Compile a pattern of a JSON Schema: with ``u`` as the draft says, else without.

    Many schemas in the world escape what ``u`` does not let them escape.
    """
    try:
        return compile_regex(pattern, "u")
    except ExpressionError:
        return compile_regex(pattern, "")


def _check_size(schema: Any) -> None:
    nodes = 0
    stack: list[tuple[Any, int]] = [(schema, 0)]
    while stack:
        value, depth = stack.pop()
        nodes += 1
        if depth > MAX_DEPTH:
            raise ExpressionError(f"the JSON Schema is nested deeper than {MAX_DEPTH}")
        if nodes > MAX_NODES:
            raise ExpressionError(f"the JSON Schema has more than {MAX_NODES} values")
        if isinstance(value, dict):
            stack.extend((item, depth + 1) for item in value.values())
        elif isinstance(value, list):
            stack.extend((item, depth + 1) for item in value)


def _inner_problems(schema: dict[str, Any]) -> Iterator[str]:
    stack = [(schema, REGISTRY.resolver_with_root(DRAFT202012.create_resource(schema)))]
    while stack:
        current, resolver = stack.pop()
        for keyword in ("$ref", "$dynamicRef"):
            target = current.get(keyword)
            if target is not None:
                try:
                    resolver.lookup(target)
                except Unresolvable:
                    yield f"{keyword} {target!r} is not in this JSON Schema; nothing is fetched"
        for pattern in (current.get("pattern"), *current.get("patternProperties", ())):
            if pattern is not None:
                try:
                    compile_schema_pattern(pattern)
                except ExpressionError as error:
                    yield str(error)
        for inner in DRAFT202012.subresources_of(current):
            if isinstance(inner, dict):
                within = resolver.in_subresource(DRAFT202012.create_resource(inner))
                stack.append((inner, within))
