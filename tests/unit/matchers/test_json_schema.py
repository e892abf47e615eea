"""JSON Schema within bounds: full draft 2020-12, no network, no hang."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from runner_e2e.catalog.schemas import schema_problems
from runner_e2e.matchers.schema import schema_errors


def fits(value: Any, schema: dict[str, Any]) -> bool:
    return schema_errors(value, schema, 5) == []


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "object", "required": ["a"]}, {"a": 1}, {}),
        ({"pattern": r"^\d+$"}, "12", "٣"),
        ({"pattern": r"^\-\p{1}$"}, "-p", "-x"),
        ({"patternProperties": {"^n": {"type": "number"}}}, {"n1": 1}, {"n1": "x"}),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1}, {"b": 1}),
        (
            {"patternProperties": {"^x": {}}, "additionalProperties": {"type": "string"}},
            {"x": 1, "y": "s"},
            {"y": 1},
        ),
        ({"additionalProperties": False}, {}, {"b": 1}),
        (
            {"uniqueItems": True},
            [1, True, "1", [1], {"a": 1}],
            [{"a": 1, "b": 2}, {"b": 2, "a": 1.0}],
        ),
        ({"uniqueItems": False}, [1, 1], None),
        ({"const": 1}, 1.0, True),
        ({"enum": [1, "a"]}, "a", True),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}, "x", 1),
        (
            {"$defs": {"a": {"$anchor": "here", "type": "null"}}, "items": {"$ref": "#here"}},
            [None],
            [1],
        ),
        (
            {
                "$defs": {"a": {"$id": "https://example.test/inner", "minimum": 3}},
                "$id": "https://example.test/outer",
                "$ref": "/inner",
            },
            3,
            2,
        ),
        ({"format": "email"}, "not one", None),
        ({"unknownKeyword": 5}, 1, None),
    ],
)
def test_a_value_fits_or_does_not(schema: dict[str, Any], good: Any, bad: Any) -> None:
    assert fits(good, schema)
    assert bad is None or not fits(bad, schema)


CLOSED: dict[str, Any] = {"unevaluatedProperties": False}


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"properties": {"a": {}}}, {"a": 1}, {"b": 1}),
        ({"patternProperties": {"^a": {}}}, {"ab": 1}, {"b": 1}),
        ({"additionalProperties": True}, {"b": 1}, None),
        ({"allOf": [{"properties": {"a": {}}}]}, {"a": 1}, {"b": 1}),
        (
            {"anyOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"b": {}}}]},
            {"a": 1, "b": 2},
            {"a": 1, "c": 2},
        ),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"a": {}}}}}, {"a": 1}, {"b": 1}),
        (
            {
                "if": {"properties": {"a": {"const": 1}}, "required": ["a"]},
                "then": {"properties": {"b": {}}},
                "else": {"properties": {"c": {}}},
            },
            {"a": 1, "b": 1},
            {"a": 1, "c": 1},
        ),
        (
            {"dependentSchemas": {"a": {"properties": {"a": {}, "b": {}}}}},
            {"a": 1, "b": 1},
            {"b": 1},
        ),
        ({"allOf": [{"unevaluatedProperties": True}]}, {"b": 1}, None),
        ({"not": {"properties": {"a": {"const": 2}}, "required": ["a"]}}, {}, {"a": 1}),
    ],
)
def test_what_no_part_of_the_schema_looked_at_is_unevaluated(
    schema: dict[str, Any], good: Any, bad: Any
) -> None:
    assert fits(good, {**schema, **CLOSED})
    assert bad is None or not fits(bad, {**schema, **CLOSED})


def test_a_failure_names_the_place() -> None:
    (error,) = schema_errors(
        {"a": [1, "x"]}, {"properties": {"a": {"items": {"type": "number"}}}}, 5
    )
    assert error.startswith("$.a[1]: ")


def test_at_most_ten_places_are_named() -> None:
    assert len(schema_errors(["x"] * 50, {"items": {"type": "number"}}, 5)) == 10


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_a_remote_reference_is_a_clear_failure_and_opens_no_connection(
    keyword: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []
    monkeypatch.setattr(socket.socket, "connect", lambda *args: opened.append(args))
    schema = {"items": {keyword: "https://example.test/schema.json"}}
    (problem,) = schema_problems(schema)
    assert "nothing is fetched" in problem
    assert schema_errors([1], schema, 5) == [problem]
    assert opened == []


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "thing"}, "is wrong at $.type"),
        ({"required": "a"}, "is wrong at $.required"),
        ({"properties": {"a": {"pattern": "("}}}, "not closed"),
        ({"patternProperties": {"[": {}}}, "not closed"),
        ({"$ref": "#/nowhere"}, "not in this JSON Schema"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "only https://json-schema.org"),
        ({"$schema": 5}, "only https://json-schema.org"),
    ],
)
def test_a_schema_that_cannot_work_is_refused(schema: dict[str, Any], reason: str) -> None:
    assert reason in " ".join(schema_problems(schema))


def test_a_property_may_be_called_pattern_or_ref() -> None:
    assert schema_problems({"properties": {"pattern": {"type": "string"}, "$ref": {}}}) == []
    assert schema_problems({"const": {"$ref": "https://example.test/x", "pattern": "("}}) == []


def test_the_draft_itself_is_known() -> None:
    assert fits({"type": "string"}, {"$ref": "https://json-schema.org/draft/2020-12/schema"})


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"items": schema}
    return schema


def test_a_schema_too_deep_or_too_big_is_refused() -> None:
    assert "nested deeper" in schema_problems(nested(100))[0]
    assert "more than" in schema_problems({"enum": list(range(30_000))})[0]


def test_a_schema_that_goes_in_circles_ends() -> None:
    (error,) = schema_errors(1, {"allOf": [{"$ref": "#"}]}, 5)
    assert "circles" in error


def test_a_value_nested_deeper_than_python_goes_ends() -> None:
    value: Any = 1
    for _ in range(5_000):
        value = [value]
    assert schema_errors(value, {"items": {"$ref": "#"}}, 5)


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("a" * 5_000 + "~", {"pattern": "^(a|aa)+$"}),
        ({"a" * 5_000 + "~": 1}, {"patternProperties": {"^(a|aa)+$": {}}}),
        (
            {"a" * 5_000 + "~": 1},
            {"patternProperties": {"^(a|aa)+$": {}}, "additionalProperties": False},
        ),
        ({"a" * 5_000 + "~": 1}, {"patternProperties": {"^(a|aa)+$": {}}, **CLOSED}),
        (
            1,
            {
                "$defs": {
                    f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 4} for n in range(20)
                }
                | {"d20": {}},
                "$ref": "#/$defs/d0",
            },
        ),
    ],
)
def test_a_schema_that_would_take_for_ever_is_stopped(value: Any, schema: dict[str, Any]) -> None:
    with pytest.raises(TimeoutError):
        schema_errors(value, schema, 0.3)


def test_many_unequal_items_are_told_apart_in_linear_time() -> None:
    assert fits([{"a": number} for number in range(50_000)], {"uniqueItems": True})
