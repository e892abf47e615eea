"""What the plan's digest covers: everything that is planned, nothing of when."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from runner_e2e.contracts.base import canonical_json, dump_tree, parse
from runner_e2e.contracts.plan import Plan, plan_digest
from tests.contract.strategies import Core, Shape, Tree, examples, wire_name
from tests.support.documents import make_plan

FULL = Shape(Plan, full=True)
UNCOUNTED = {("digest",), ("createdAt",)}


def read(tree: Tree) -> Plan:
    return parse(Plan, json.dumps(tree).encode(), "plan.json")


def leaves(core: Core, tree: Tree, keys: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value that could be another one."""
    core = FULL.resolve(core)
    match core["type"]:
        case "nullable" | "default":
            yield from leaves(core["schema"], tree, keys)
        case "model-fields":
            for name, field in core["fields"].items():
                wire = wire_name(name, field)
                yield from leaves(field["schema"], tree[wire], (*keys, wire))
        case "tuple":
            for index, item in enumerate(tree):
                yield from leaves(core["items_schema"][0], item, (*keys, index))
        case "literal" if len(core["expected"]) == 1:
            pass
        case _:
            yield keys


def changed(tree: Tree, keys: tuple[Any, ...], other: Tree) -> tuple[Tree, bool]:
    """``tree`` with the value of ``other`` at ``keys``, and whether that is another value."""
    copy = json.loads(json.dumps(tree))
    target, source = copy, other
    for key in keys[:-1]:
        target, source = target[key], source[key if isinstance(key, str) else 0]
    last = keys[-1]
    value = source[last if isinstance(last, str) else 0]
    different = canonical_json(target[last]) != canonical_json(value)
    target[last] = value
    return copy, different


def test_a_change_anywhere_else_is_another_digest() -> None:
    tried: set[tuple[Any, ...]] = set()
    never: set[tuple[Any, ...]] = set()
    for tree, other in pairwise(examples(FULL.strategy(), 12)):
        before = plan_digest(read(tree))
        for keys in leaves(FULL.core, tree):
            mutant, different = changed(tree, keys, other)
            assert (plan_digest(read(mutant)) != before) == (different and keys not in UNCOUNTED)
            field = tuple(key for key in keys if isinstance(key, str))
            (tried if different else never).add(field)
    assert never <= tried
    assert len(tried) > 60


def test_neither_the_moment_nor_the_digest_itself_counts() -> None:
    tree = dump_tree(make_plan())
    later = tree | {"createdAt": "2031-01-01T00:00:00.000Z", "digest": "0" * 64}
    assert plan_digest(read(later)) == plan_digest(read(tree))


def test_order_and_absence_count() -> None:
    tree = dump_tree(make_plan())
    digest = plan_digest(read(tree))
    turned = tree | {"executions": tree["executions"][::-1]}
    fewer = tree | {"executions": tree["executions"][:-1]}
    rerun = tree | {"selection": tree["selection"] | {"rerun": "gha-1-1"}}
    assert len({digest, *(plan_digest(read(other)) for other in (turned, fewer, rerun))}) == 4


def test_fields_of_a_newer_planner_do_not_count() -> None:
    tree = dump_tree(make_plan())
    assert plan_digest(read(tree | {"future": [1]})) == plan_digest(read(tree))


def test_the_expected_set_is_the_executions_in_their_order() -> None:
    plan = make_plan()
    assert plan.expected == tuple(execution.job.execution_id for execution in plan.executions)
    assert len(plan.expected) > 1
