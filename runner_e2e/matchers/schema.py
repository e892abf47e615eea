"""JSON Schema, draft 2020-12, that can neither hang nor leave the machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend
from referencing import Registry

from runner_e2e.catalog.schemas import compile_schema_pattern, schema_problems
from runner_e2e.matchers.structure import equality_key

MAX_ERRORS = 10


def schema_errors(value: Any, schema: dict[str, Any], seconds: float) -> list[str]:
    """Say where ``value`` does not fit ``schema``: at most ten places, none when it fits.

    References are looked up in the schema and nowhere else. Raises :class:`TimeoutError` past
    ``seconds``: every keyword looks at the clock, and every regex is stopped by it.
    """
    problems = schema_problems(schema)
    if problems:
        return problems
    # An empty registry: the default one would fetch.
    validator = _bounded(time.monotonic() + seconds)(schema, registry=Registry())
    try:
        return [
            f"{error.json_path}: {error.message}"
            for error in islice(validator.iter_errors(value), MAX_ERRORS)
        ]
    except RecursionError:
        return ["the schema goes in circles, or the value is nested too deep for it"]


Faults = Iterator[ValidationError]
Keyword = Callable[[Any, Any, Any, Any], Faults | None]


def _bounded(end: float) -> Any:
    """Build the validator class whose every keyword stops at ``end``."""
    own = _Keywords(end)
    replaced: dict[str, Keyword] = {
        "pattern": own.pattern,
        "patternProperties": own.pattern_properties,
        "additionalProperties": own.additional_properties,
        "unevaluatedProperties": own.unevaluated_properties,
        "uniqueItems": own.unique_items,
    }
    standard: dict[str, Keyword] = dict(Draft202012Validator.VALIDATORS)
    keywords = {name: own.stopping(rule) for name, rule in {**standard, **replaced}.items()}
    return extend(Draft202012Validator, keywords)  # type: ignore[no-untyped-call]  # as it is


class _Keywords:
    """The keywords that the library runs with ``re``, or compares value by value."""

    def __init__(self, end: float) -> None:
        self.end = end

    def left(self) -> float:
        left = self.end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def stopping(self, keyword: Keyword) -> Keyword:
        def run(validator: Any, argument: Any, instance: Any, schema: Any) -> Faults:
            self.left()
            faults = keyword(validator, argument, instance, schema)
            yield from () if faults is None else faults

        return run

    def search(self, pattern: str, text: str) -> bool:
        return compile_schema_pattern(pattern).search(text, timeout=self.left()) is not None

    def pattern(self, _validator: Any, argument: str, instance: Any, _schema: Any) -> Faults:
        if isinstance(instance, str) and not self.search(argument, instance):
            yield ValidationError(f"{instance!r} does not match {argument!r}")

    def pattern_properties(
        self, validator: Any, argument: dict[str, Any], instance: Any, _schema: Any
    ) -> Faults:
        if not isinstance(instance, dict):
            return
        for expression, inner in argument.items():
            for name in instance:
                if self.search(expression, name):
                    yield from validator.descend(instance[name], inner, path=name)

    def _additional(self, instance: dict[str, Any], schema: dict[str, Any]) -> list[str]:
        declared = schema.get("properties", {})
        patterns = schema.get("patternProperties", {})
        return [
            name
            for name in instance
            if name not in declared and not any(self.search(item, name) for item in patterns)
        ]

    def additional_properties(
        self, validator: Any, argument: Any, instance: Any, schema: Any
    ) -> Faults:
        if isinstance(instance, dict):
            for name in self._additional(instance, schema):
                yield from validator.descend(instance[name], argument, path=name)

    def unevaluated_properties(
        self, validator: Any, argument: Any, instance: Any, schema: Any
    ) -> Faults:
        if not isinstance(instance, dict):
            return
        others = {key: rule for key, rule in schema.items() if key != "unevaluatedProperties"}
        evaluated = self._evaluated(validator, instance, others)
        for name in instance.keys() - evaluated:
            yield from validator.descend(instance[name], argument, path=name)

    def _evaluated(self, validator: Any, instance: dict[str, Any], schema: Any) -> set[str]:
        """Collect the members that some keyword of ``schema`` has looked at."""
        self.left()
        if isinstance(schema, bool):
            return set()
        names: set[str] = instance.keys() & schema.get("properties", {}).keys()
        for expression in schema.get("patternProperties", ()):
            names |= {name for name in instance if self.search(expression, name)}
        if "additionalProperties" in schema:
            names |= set(self._additional(instance, schema))
        if "unevaluatedProperties" in schema:
            return set(instance)
        for keyword in ("$ref", "$dynamicRef"):
            if keyword in schema:
                # Not public, and the library has no other way to follow a reference.
                target = validator._resolver.lookup(schema[keyword])  # noqa: SLF001
                there = validator.evolve(schema=target.contents, _resolver=target.resolver)
                names |= self._evaluated(there, instance, target.contents)
        for inner in _applied(validator, instance, schema):
            names |= self._evaluated(validator, instance, inner)
        return names

    def unique_items(self, _validator: Any, argument: Any, instance: Any, _schema: Any) -> Faults:
        if argument and isinstance(instance, list):
            keys = {equality_key(item) for item in instance}
            if len(keys) < len(instance):
                yield ValidationError("an item occurs twice")


def _applied(validator: Any, instance: dict[str, Any], schema: dict[str, Any]) -> Iterator[Any]:
    """Yield the inner schemas in place that hold for ``instance``."""

    def holds(inner: Any) -> bool:
        return next(validator.descend(instance, inner), None) is None

    for name, inner in schema.get("dependentSchemas", {}).items():
        if name in instance:
            yield inner
    for keyword in ("allOf", "anyOf", "oneOf"):
        yield from filter(holds, schema.get(keyword, ()))
    if "if" in schema:
        if holds(schema["if"]):
            yield schema["if"]
            yield schema.get("then", True)
        else:
            yield schema.get("else", True)
