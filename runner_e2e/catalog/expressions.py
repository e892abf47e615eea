"""Regular expressions and JSON Schemas of a catalog: compile them, or say what is wrong.

Loading a catalog and judging an answer use the same functions, so what was accepted compiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from runner_e2e.contracts.matcher import (
    FileContains,
    FileExact,
    FileExists,
    JsonSchema,
    Matcher,
    MessageRegex,
)
from runner_e2e.contracts.scalars import JsonObject, is_confined

if TYPE_CHECKING:
    import regex
    from jsonschema.protocols import Validator


def compile_problems(matcher: Matcher) -> tuple[str, ...]:
    """What would keep a matcher from ever being evaluated. Empty when it is sound."""
    try:
        if isinstance(matcher, MessageRegex):
            compile_regex(matcher.pattern, matcher.flags or "")
        elif isinstance(matcher, JsonSchema):
            schema_validator(matcher.schema_)
    except ValueError as error:
        return (str(error),)
    if isinstance(matcher, FileExists | FileExact | FileContains) and not is_confined(matcher.path):
        return (f"the path {matcher.path!r} must stay inside the workspace",)
    return ()


@lru_cache(maxsize=1024)
def compile_regex(pattern: str, flags: str = "") -> regex.Pattern[str]:
    """Compile a JavaScript regular expression. Raises ``ValueError`` with the reason.

    ``i m s u`` mean what they mean there, ``g y d`` change nothing here, anything else is refused.
    ``\\d \\w \\b`` and their opposites are ASCII; without ``m``, ``$`` is the end of the text.
    """
    import regex  # noqa: PLC0415 - most catalogs have no regular expression

    from runner_e2e.catalog.javascript_regex import translate  # noqa: PLC0415 - as above

    for flag in flags:
        if flag not in "imsugyd" or flags.count(flag) > 1:
            raise ValueError(f"the flags {flags!r} are not understood: {flag!r} is at fault")
    options = regex.VERSION0
    for flag, option in (("i", regex.IGNORECASE), ("m", regex.MULTILINE), ("s", regex.DOTALL)):
        if flag in flags:
            options |= option
    try:
        return regex.compile(translate(pattern, flags), options)
    except (regex.error, OverflowError, RecursionError) as error:
        raise ValueError(f"the regular expression {pattern!r} is not valid: {error}") from None


def schema_validator(schema: JsonObject) -> Validator:
    """A validator (draft 2020-12) that never fetches anything. Raises ``ValueError``."""
    import jsonschema  # noqa: PLC0415 - most catalogs have no JSON Schema
    from jsonschema_specifications import REGISTRY  # noqa: PLC0415 - as above

    kind = jsonschema.Draft202012Validator
    try:
        kind.check_schema(schema, format_checker=kind.FORMAT_CHECKER)
    except jsonschema.SchemaError as error:
        raise ValueError(f"the JSON Schema is not valid at {error.json_path}: {error.message}") from None
    for reference in _references(schema):
        _check_reference(reference, schema, REGISTRY)
    return kind(schema, registry=REGISTRY)


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in {"$ref", "$dynamicRef"} and isinstance(item, str):
                yield item
            elif key not in {"const", "enum", "default", "examples"}:
                yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def _check_reference(reference: str, schema: JsonObject, registry: Any) -> None:
    from referencing import Resource  # noqa: PLC0415 - as above
    from referencing.exceptions import NoSuchResource, Unresolvable  # noqa: PLC0415 - as above
    from referencing.jsonschema import DRAFT202012  # noqa: PLC0415 - as above

    root = Resource(contents=schema, specification=DRAFT202012)
    uri = str(schema.get("$id", ""))
    resolver = registry.with_resource(uri, root).crawl().resolver(base_uri=uri)
    try:
        resolver.lookup(reference)
    except (Unresolvable, NoSuchResource, ValueError):
        raise ValueError(
            f"the JSON Schema refers to {reference!r}, which is not in it; nothing is fetched"
        ) from None
