"""Documents with exactly one fault each, made from a sound one."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.contract.strategies import Core, Shape, Tree, is_optional, wire_name

UNKNOWN_FIELD = "unknown field"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """``tree`` has ``fault`` at ``path``."""

    path: str
    fault: str
    tree: Tree


WRONG: dict[str, dict[str, Tree]] = {
    "str": {"null": None, "number for text": 7, "object for text": {}},
    "int": {"null": None, "text for number": "7", "boolean for number": True},
    "float": {"null": None, "text for number": "7", "boolean for number": True},
    "bool": {"null": None, "text for boolean": "true", "number for boolean": 1},
    "literal": {"null": None, "unknown word": "no_such_word", "number for word": 7},
    "tuple": {"null": None, "object for list": {}, "text for list": "x"},
    "dict": {"null": None, "text for object": "x", "number in an object's place": 7},
    "model-fields": {"null": None, "list for object": [], "text for object": "x"},
    "any": {},
}
"""What no value of this kind may be."""


def mutants(shape: Shape, tree: Tree, *, stop_at: frozenset[str]) -> Iterator[Mutant]:
    """Every fault at every place of ``tree``, a full example of ``shape``.

    Models named in ``stop_at`` are judged on their own, so inside them nothing is changed.
    """
    return _Mutation(shape, tree, stop_at).at(shape.core, [], "")


@dataclass(frozen=True, slots=True)
class _Mutation:
    shape: Shape
    tree: Tree
    stop_at: frozenset[str]

    def at(self, core: Core, keys: list[Any], path: str) -> Iterator[Mutant]:
        core = self.shape.resolve(core)
        nullable = core["type"] == "nullable"
        if nullable:
            core = self.shape.resolve(core["schema"])
        if core["type"] in {"union", "tagged-union"}:
            # The only plain unions are the two ways to write a number; matchers are judged alone.
            kind = "int" if core["type"] == "union" else "model-fields"
        else:
            kind = core["type"]
        for fault, value in WRONG[kind].items():
            if keys and not (nullable and value is None):
                yield self._with(keys, value, path, fault)
        if not keys or core.get("model_name") not in self.stop_at:
            yield from self._inside(core, keys, path)

    def _inside(self, core: Core, keys: list[Any], path: str) -> Iterator[Mutant]:
        match core["type"]:
            case "model-fields":
                yield self._with([*keys, "noSuchField"], 7, path, UNKNOWN_FIELD)
                for name, field in core["fields"].items():
                    wire = wire_name(name, field)
                    below = [*keys, wire]
                    if not is_optional(field):
                        yield self._without(below, f"{path}.{wire}")
                        if name != wire:
                            yield self._renamed(below, name, f"{path}.{wire}")
                    yield from self.at(_bare(field["schema"]), below, f"{path}.{wire}")
            case "tuple":
                yield from self.at(core["items_schema"][0], [*keys, 0], f"{path}[0]")
            case "dict":
                key = next(iter(self._value(keys)))
                yield from self.at(core["values_schema"], [*keys, key], f"{path}[{key}]")
            case _:  # a scalar has no inside
                pass

    def _value(self, keys: list[Any]) -> Tree:
        value = self.tree
        for key in keys:
            value = value[key]
        return value

    def _with(self, keys: list[Any], value: Tree, path: str, fault: str) -> Mutant:
        tree = copy.deepcopy(self.tree)
        parent = tree
        for key in keys[:-1]:
            parent = parent[key]
        parent[keys[-1]] = value
        return Mutant(path=path, fault=fault, tree=tree)

    def _without(self, keys: list[Any], path: str) -> Mutant:
        mutant = self._with(keys, None, path, "missing")
        _remove(mutant.tree, keys)
        return mutant

    def _renamed(self, keys: list[Any], name: str, path: str) -> Mutant:
        mutant = self._with([*keys[:-1], name], self._value(keys), path, "our name of the field")
        _remove(mutant.tree, keys)
        return mutant


def _remove(tree: Tree, keys: list[Any]) -> None:
    for key in keys[:-1]:
        tree = tree[key]
    del tree[keys[-1]]


def _bare(core: Core) -> Core:
    """The schema of a field without its default."""
    inner: Core = core["schema"] if core["type"] == "default" else core
    return inner
