"""Documents for hypothesis, drawn from the models themselves.

The strategy of a model comes from its core schema, the same tables that validate. It gives JSON
trees, not instances: what the wire carries, with an optional field there or not there. A new field
or a tighter bound is therefore tested without a word here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from runner_e2e.contracts.catalog import CommandAgent

Tree = Any
"""What ``json.loads`` returns."""
Core = Mapping[str, Any]
"""One node of a pydantic core schema."""

MAX_ITEMS = 2

TEXT = st.text(max_size=6) | st.sampled_from(
    ["", "\u0000", "\u2028", "\ufeff", "\U0001f9ea", 'a"b\\c', "</script>", "e\u0301", "\u202e"]
)
INTEGERS = st.integers(-(2**63), 2**64 - 1) | st.integers(-3, 3)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
FREE = st.recursive(
    st.none() | st.booleans() | INTEGERS | FLOATS | TEXT,
    lambda inner: st.lists(inner, max_size=MAX_ITEMS) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
"""Any JSON value that our documents may hold."""


class Shape:
    """The core schema of a type, its references resolved.

    ``words`` replaces the strings of a pattern by some of them. With ``full`` every optional field
    is there, every list has an item and nothing is ``null``.
    """

    def __init__(
        self, kind: Any, words: Mapping[str, Sequence[str]] | None = None, *, full: bool = False
    ) -> None:
        self._words = words or {}
        self._full = full
        self._definitions: dict[str, Core] = {}
        self.core = self.resolve(TypeAdapter(kind).core_schema)
        self._strategies: dict[int, st.SearchStrategy[Tree]] = {}

    def resolve(self, core: Core) -> Core:
        """See through what wraps a schema without changing its JSON."""
        while True:
            match core["type"]:
                case "definitions":
                    self._definitions |= {item["ref"]: item for item in core["definitions"]}
                    core = core["schema"]
                case "definition-ref":
                    core = self._definitions[core["schema_ref"]]
                case "json-or-python":
                    core = core["json_schema"]
                case "model" | "function-after" | "default":
                    core = core["schema"]
                case _:
                    return core

    def strategy(self, core: Core | None = None) -> st.SearchStrategy[Tree]:
        """Every JSON tree that the schema accepts, as far as it says."""
        core = self.resolve(self.core if core is None else core)
        if id(core) not in self._strategies:
            self._strategies[id(core)] = self._build(core)
        return self._strategies[id(core)]

    def _build(self, core: Core) -> st.SearchStrategy[Tree]:
        match core["type"]:
            case "model-fields":
                built = self._object(core)
            case "nullable":
                built = self.strategy(core["schema"])
                if not self._full:
                    built = st.none() | built
            case "tuple":
                (items,) = core["items_schema"]
                least = core.get("min_length", int(self._full))
                most = core.get("max_length", max(least, MAX_ITEMS))
                built = st.lists(self.strategy(items), min_size=least, max_size=most)
            case "dict":
                keys = self.strategy(core["keys_schema"])
                values = self.strategy(core["values_schema"])
                built = st.dictionaries(keys, values, min_size=int(self._full), max_size=MAX_ITEMS)
            case "str" if core.get("pattern") in self._words:
                built = st.sampled_from(self._words[core["pattern"]])
            case "union":
                built = st.one_of([self.strategy(choice) for choice in core["choices"]])
            case "tagged-union":
                built = st.one_of([self.strategy(choice) for choice in core["choices"].values()])
            case _:
                built = scalar(core)
        return built

    def _object(self, core: Core) -> st.SearchStrategy[Tree]:
        required: dict[str, st.SearchStrategy[Tree]] = {}
        optional: dict[str, st.SearchStrategy[Tree]] = {}
        for name, field in core["fields"].items():
            group = optional if is_optional(field) and not self._full else required
            group[wire_name(name, field)] = self.strategy(field["schema"])
        return st.fixed_dictionaries(required, optional=optional)


def is_optional(field: Core) -> bool:
    """Whether a field may be left out."""
    return bool(field["schema"]["type"] == "default")


def wire_name(name: str, field: Core) -> str:
    """How a field is called in JSON."""
    return str(field.get("serialization_alias", name))


def scalar(core: Core) -> st.SearchStrategy[Tree]:
    """A value without parts, in its grammar and bounds."""
    match core["type"]:
        case "str" if "pattern" in core:
            # In Python `$` also stands before a newline at the end; in pydantic it does not.
            text = st.from_regex(core["pattern"].removesuffix("$") + r"\Z", fullmatch=True)
            most = core.get("max_length", 4096)
            scalars = text.filter(lambda value: len(str(value)) <= most)
        case "str":
            scalars = TEXT
        case "int":
            least, most = core["ge"], core["le"]
            scalars = st.integers(least, most) | st.sampled_from([least, most])
        case "float":
            scalars = st.floats(core["ge"], core.get("le"), allow_nan=False, allow_infinity=False)
        case "bool":
            scalars = st.booleans()
        case "literal":
            scalars = st.sampled_from(core["expected"])
        case "any":
            scalars = FREE
        case unknown:
            raise NotImplementedError(unknown)
    return scalars


def _one_program(tree: Tree) -> bool:
    preset = "preset" in tree
    return preset or ("command" in tree and not {"baseUrl", "prices"} & tree.keys())


BETWEEN_FIELDS: dict[Any, Callable[[Tree], bool]] = {CommandAgent: _one_program}
"""Rules of a model that no single field knows."""


@functools.cache
def trees(kind: Any) -> st.SearchStrategy[Tree]:
    """JSON trees of a model, or of a union of models."""
    strategy = Shape(kind).strategy()
    rule = BETWEEN_FIELDS.get(kind)
    return strategy.filter(rule) if rule else strategy


def examples(strategy: st.SearchStrategy[Tree], count: int) -> list[Tree]:
    """The same ``count`` examples at every call, for a judge that is asked once about many."""
    found: list[Tree] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(tree: Tree) -> None:
        found.append(tree)

    collect()
    return found
