from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.catalogs import (
    FLOW_TASKS,
    PROFILE,
    SUITE,
    Tree,
    catalog_tree,
    flow_task,
    load_tree,
    problems_in,
)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["{{ marker }}", "{{ nope", "{% raw %}", "local", "a.b.c.d", "$secretRef"]),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "kind", "$secretRef", "say", "x"]), children)
    ),
    max_leaves=6,
)


def everything() -> Tree:
    tasks = [flow_task(flow, id=flow.replace("_", "-")) for flow in FLOW_TASKS]
    names = [task["id"] for task in tasks]
    suite = {**SUITE, "tasks": names, "expectedMatrixSize": len(names)}
    return catalog_tree(
        tasks=tasks,
        suites=[{**suite, "excludedExecutionIds": [], "quarantine": [], "gate": {}}],
        environments=[{"id": "daytona", "label": "D", "daytona": {"cpu": 2}}],
        credentials=["A"],
        include=[],
        rankings=[],
    )


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if path:
        yield path
    children: Any = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for key, item in children:
        yield from paths(item, (*path, key))


PATHS = list(paths(everything()))


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


def replaced(tree: Tree, path: tuple[str | int, ...], value: object) -> Tree:
    changed = copy.deepcopy(tree)
    target: Any = changed
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    return changed


@given(st.sampled_from(PATHS), JSON)
def test_any_value_anywhere_is_accepted_or_reported(
    directory: Path, path: tuple[str | int, ...], value: object
) -> None:
    for problem in problems_in(directory, replaced(everything(), path, value)):
        assert problem.line >= 1
        assert problem.message


@given(st.sampled_from(PATHS))
def test_any_part_may_be_missing(directory: Path, path: tuple[str | int, ...]) -> None:
    tree = everything()
    target: Any = tree
    for step in path[:-1]:
        target = target[step]
    del target[path[-1]]
    assert all(problem.message for problem in problems_in(directory, tree))


@given(JSON)
def test_any_document_is_accepted_or_reported(directory: Path, value: Any) -> None:
    assert problems_in(directory, value)


def test_many_faults_are_reported_in_reasonable_number(tmp_path: Path) -> None:
    profiles = [{**PROFILE, "id": f"p{index}", "wrong": 1} for index in range(300)]
    assert len(problems_in(tmp_path, catalog_tree(profiles=[PROFILE, *profiles]))) == 300


def test_the_unbroken_catalog_loads(tmp_path: Path) -> None:
    assert len(load_tree(tmp_path, everything()).executions) == 7
