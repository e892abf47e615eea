from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from runner_e2e.catalog import catalog_json_schema
from runner_e2e.catalog.yaml_source import YamlSource
from tests.support.catalogs import FLOW_TASKS, PROFILE, SUITE, TASK, Tree, catalog_tree, flow_task

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = catalog_json_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def errors(validator: Draft202012Validator, tree: object) -> list[str]:
    return [error.json_path for error in validator.iter_errors(tree)]


@pytest.mark.parametrize("flow", FLOW_TASKS)
def test_a_sound_catalog_fits(validator: Draft202012Validator, flow: str) -> None:
    assert errors(validator, catalog_tree(tasks=[flow_task(flow)])) == []


@pytest.mark.parametrize(
    "path", sorted((EXAMPLES / "paperclip").glob("*.yaml")), ids=lambda path: path.name
)
def test_every_file_of_the_reference_catalog_fits(
    validator: Draft202012Validator, path: Path
) -> None:
    assert errors(validator, YamlSource(path, path.read_bytes()).value) == []


def changed(part: str, **changes: Any) -> Tree:
    originals = {"profiles": PROFILE, "tasks": TASK, "suites": SUITE}
    return catalog_tree(**{part: [{**originals[part], **changes}]})


@pytest.mark.parametrize(
    ("tree", "path"),
    [
        ({}, "$"),
        ([], "$"),
        (catalog_tree(nonsense=1), "$"),
        (catalog_tree(schema="runner-e2e.catalog/v2"), "$.schema"),
        (catalog_tree(target={"kind": "nothing"}), "$.target"),
        (changed("profiles", modle="x"), "$.profiles[0]"),
        (changed("profiles", generation="new"), "$.profiles[0].generation"),
        (changed("profiles", supportedEnvironments=[]), "$.profiles[0].supportedEnvironments"),
        (changed("tasks", id="Hello"), "$.tasks[0].id"),
        (changed("tasks", expectedRunCount=0), "$.tasks[0].expectedRunCount"),
        (changed("tasks", expectedRunCount="1"), "$.tasks[0].expectedRunCount"),
        (changed("tasks", followups=["one"]), "$.tasks[0].followups"),
        (changed("tasks", revisionRequest=None), "$.tasks[0].revisionRequest"),
        (changed("tasks", matchers=[{"kind": "nothing"}]), "$.tasks[0].matchers[0]"),
        (changed("suites", expectedMatrixSize=-1), "$.suites[0].expectedMatrixSize"),
        (changed("suites", excludedExecutionIds=["a.b"]), "$.suites[0].excludedExecutionIds[0]"),
    ],
)
def test_a_broken_catalog_does_not_fit(
    validator: Draft202012Validator, tree: object, path: str
) -> None:
    assert path in errors(validator, tree)


def test_a_required_field_is_required(validator: Draft202012Validator) -> None:
    for field in ("id", "label", "flow", "prompt", "matchers"):
        task = copy.deepcopy(TASK)
        del task[field]
        assert errors(validator, catalog_tree(tasks=[task])) == ["$.tasks[0]"]


def test_the_schema_names_itself_and_explains_its_parts() -> None:
    schema = catalog_json_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == "urn:runner-e2e:catalog:v1"
    undescribed = [name for name, part in schema["$defs"].items() if "description" not in part]
    assert undescribed == []
