"""What our models read and write, for every document and any content."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

import runner_e2e.contracts
from runner_e2e.contracts.base import CatalogModel, Document, canonical_json, dump, parse
from tests.contract.strategies import FREE, Tree, trees


def contract_models() -> Iterator[type[BaseModel]]:
    for module in pkgutil.iter_modules(runner_e2e.contracts.__path__):
        content = vars(importlib.import_module(f"runner_e2e.contracts.{module.name}"))
        for kind in content.values():
            if (
                isinstance(kind, type)
                and issubclass(kind, BaseModel)
                and kind.__module__.endswith(f"contracts.{module.name}")
                and kind not in {CatalogModel, Document}
            ):
                yield kind


def inner_models(core: Any) -> Iterator[type[BaseModel]]:
    if isinstance(core, dict):
        if core.get("type") == "model":
            yield core["cls"]
        for key, value in core.items():
            if key != "metadata":
                yield from inner_models(value)
    elif isinstance(core, list | tuple):
        for value in core:
            yield from inner_models(value)


def roots() -> list[type[BaseModel]]:
    """Every model that no other one holds: with them, all are tested."""
    kinds = list(contract_models())
    held = {
        inner
        for kind in kinds
        for inner in inner_models(TypeAdapter(kind).core_schema)
        if inner is not kind
    }
    return sorted(set(kinds) - held, key=lambda kind: kind.__name__)


every_root = pytest.mark.parametrize("kind", roots(), ids=lambda kind: kind.__name__)
many = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


def read(kind: type[BaseModel], tree: Tree) -> BaseModel:
    data = json.dumps(tree).encode()
    return (
        parse(kind, data, "test") if issubclass(kind, Document) else kind.model_validate_json(data)
    )


def test_the_roots_hold_every_document_of_the_design() -> None:
    names = {kind.__name__ for kind in roots()}
    assert names >= {
        "BundleManifest",
        "CampaignRows",
        "Campaign",
        "CatalogFile",
        "CellSeries",
        "ChatOptions",
        "EvidenceManifest",
        "HistoryIndex",
        "Insights",
        "JobRecord",
        "MatrixExecution",
        "Plan",
        "Pointers",
    }


@every_root
@many
@given(data=st.data())
def test_what_is_read_is_written_word_for_word(kind: type[BaseModel], data: st.DataObject) -> None:
    """Unset stays unset, ``null`` stays ``null``, a whole number stays whole."""
    tree = data.draw(trees(kind))
    written = dump(read(kind, tree))
    assert written.endswith(b"}\n")
    assert b"\n" not in written[:-1]
    assert canonical_json(json.loads(written)) == canonical_json(tree)


@every_root
@many
@given(data=st.data())
def test_reading_and_writing_are_inverse_and_stable(
    kind: type[BaseModel], data: st.DataObject
) -> None:
    tree = data.draw(trees(kind))
    document = read(kind, tree)
    again = read(kind, json.loads(dump(document)))
    assert again == document
    assert dump(again) == dump(document)
    turned = dict(reversed(tree.items()))
    assert dump(read(kind, turned)) == dump(document)


@every_root
@many
@given(data=st.data())
def test_code_builds_the_same_document_and_may_say_none_for_absent(
    kind: type[BaseModel], data: st.DataObject
) -> None:
    document = read(kind, data.draw(trees(kind)))
    values = {name: getattr(document, name) for name in document.model_fields_set}
    assert dump(kind(**values)) == dump(document)
    absent = {name: None for name, field in kind.model_fields.items() if field.exclude_if}
    assert dump(kind(**absent | values)) == dump(document)


@every_root
@many
@given(data=st.data())
def test_an_unknown_field_is_ignored_from_a_machine_and_refused_from_a_person(
    kind: type[BaseModel], data: st.DataObject
) -> None:
    tree = data.draw(trees(kind))
    more = {**tree, "fieldOfTheFuture": data.draw(FREE)}
    if issubclass(kind, Document):
        assert dump(read(kind, more)) == dump(read(kind, tree))
    else:
        with pytest.raises(ValidationError, match="fieldOfTheFuture"):
            read(kind, more)
