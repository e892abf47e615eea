from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.catalog import Catalog
from runner_e2e.errors import ExitCode, NothingSelected, UsageError
from runner_e2e.planning import Selectors, select
from runner_e2e.planning.selection import DIMENSIONS
from tests.support.catalogs import PROFILE, SUITE, TASK, catalog_tree, load_tree


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    tree = catalog_tree(
        profiles=[
            {**PROFILE, "id": "alpha", "groups": ["native"]},
            {**PROFILE, "id": "beta", "groups": ["legacy"], "supportedEnvironments": ["local"]},
        ],
        environments=[
            {"id": "daytona", "configurationKey": "warm", "label": "W", "groups": ["warm"]}
        ],
        tasks=[{**TASK, "id": "hello"}, {**TASK, "id": "bye", "groups": ["core", "late"]}],
        suites=[
            {
                **SUITE,
                "id": "first",
                "profiles": ["alpha", "beta"],
                "environments": ["local", "daytona"],
                "tasks": ["hello", "bye"],
                "expectedMatrixSize": 6,
            },
            {
                **SUITE,
                "id": "second",
                "profiles": ["alpha"],
                "environments": ["daytona/warm"],
                "tasks": ["bye"],
                "expectedMatrixSize": 1,
            },
        ],
    )
    return load_tree(tmp_path_factory.mktemp("selection"), tree)


def parse(dimension: str, values: list[str], **more: Any) -> Selectors:
    return Selectors.parse(**{dimension: values, **more})


def selected(catalog: Catalog, **selectors: Any) -> list[str]:
    return [item.id for item in select(catalog, Selectors.parse(**selectors))]


def test_all_is_everything_in_catalog_order(catalog: Catalog) -> None:
    assert selected(catalog, all_=True) == [
        "first.alpha.local.hello",
        "first.alpha.local.bye",
        "first.alpha.daytona.hello",
        "first.alpha.daytona.bye",
        "first.beta.local.hello",
        "first.beta.local.bye",
        "second.alpha.daytona.bye",
    ]


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ({"suite": ["second"]}, ["second.alpha.daytona.bye"]),
        ({"suite": ["second", "first"], "case": ["hello"], "profile": ["beta"]}, None),
        ({"profile": ["beta"], "case": ["hello"]}, ["first.beta.local.hello"]),
        ({"environment": ["daytona/warm"]}, ["second.alpha.daytona.bye"]),
        ({"environment": ["daytona"], "case": ["hello"]}, ["first.alpha.daytona.hello"]),
        ({"group": ["legacy", "late"]}, ["first.beta.local.bye"]),
        ({"group": ["legacy,late"]}, ["first.beta.local.bye"]),
        ({"id": ["second.alpha.daytona.bye,first.alpha.local.bye"]}, None),
        ({"case": [" hello , ", "hello"], "profile": ["beta"]}, ["first.beta.local.hello"]),
    ],
)
def test_values_are_alternatives_and_dimensions_and_groups_add_up(
    catalog: Catalog, selectors: dict[str, list[str]], expected: list[str] | None
) -> None:
    found = selected(catalog, **selectors)
    if expected is not None:
        assert found == expected
    assert found == [item for item in selected(catalog, all_=True) if item in found]


IDS = [
    "first.alpha.local.hello",
    "first.alpha.local.bye",
    "first.alpha.daytona.hello",
    "second.alpha.daytona.bye",
]


@given(st.lists(st.sampled_from(IDS), min_size=1), st.booleans())
def test_the_order_of_flags_never_changes_the_order_of_the_plan(
    catalog: Catalog, ids: list[str], joined: bool
) -> None:
    flags = [",".join(ids)] if joined else ids
    everything = selected(catalog, all_=True)
    assert selected(catalog, id=flags) == [item for item in everything if item in ids]


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("value", ["", " ", ",", " , ,"])
def test_a_blank_selector_is_an_error_and_never_everything(dimension: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"--{dimension} is blank") as caught:
        parse(dimension, [value])
    assert caught.value.exit_code == ExitCode.USAGE


def test_one_blank_among_others_is_an_error_too() -> None:
    with pytest.raises(UsageError, match="--suite is blank"):
        Selectors.parse(suite=["first", ""])


def test_no_selector_is_an_error_and_never_everything() -> None:
    with pytest.raises(UsageError, match="nothing says what to run"):
        Selectors.parse()


@pytest.mark.parametrize("dimension", [name for name in DIMENSIONS if name != "id"])
def test_an_id_cannot_be_combined_with_anything(dimension: str) -> None:
    with pytest.raises(UsageError, match="--id cannot be combined with --"):
        parse(dimension, ["x"], id=["a.b.c.d"])
    with pytest.raises(UsageError, match="--all cannot be combined with --"):
        parse(dimension, ["x"], all_=True)
    with pytest.raises(UsageError, match="--all cannot be combined with --id"):
        Selectors.parse(all_=True, id=["a.b.c.d"])


def test_every_unknown_value_is_named_in_the_order_of_the_dimensions(catalog: Catalog) -> None:
    with pytest.raises(UsageError) as caught:
        selected(
            catalog,
            case=["helo", "nothing"],
            suite=["frist"],
            profile=["alpha"],
            group=["lagacy"],
            environment=["remote"],
        )
    assert caught.value.message == (
        "unknown suite: frist; unknown group: lagacy; unknown environment: remote; "
        "unknown case: helo, nothing"
    )
    assert "did you mean 'first'?" in (caught.value.hint or "")
    assert "did you mean 'hello'?" in (caught.value.hint or "")


def test_an_unknown_execution_id_is_an_error(catalog: Catalog) -> None:
    with pytest.raises(UsageError, match="unknown execution id: first") as caught:
        selected(catalog, id=["first.alpha.local.helo"])
    assert "'first.alpha.local.hello'" in (caught.value.hint or "")


def test_known_values_that_share_no_cell_select_nothing(catalog: Catalog) -> None:
    with pytest.raises(NothingSelected) as caught:
        selected(catalog, profile=["beta"], environment=["daytona"])
    assert caught.value.exit_code == ExitCode.NOTHING_SELECTED


def test_a_manual_suite_runs_only_when_it_is_named(tmp_path: Path) -> None:
    manual = {**SUITE, "id": "manual", "manualOnly": True}
    catalog = load_tree(tmp_path, catalog_tree(suites=[SUITE, manual]))
    usual, named = "smoke.scripted.local.hello", "manual.scripted.local.hello"
    assert selected(catalog, all_=True) == [usual]
    assert selected(catalog, profile=["scripted"]) == [usual]
    assert selected(catalog, group=["core"]) == [usual]
    assert selected(catalog, suite=["manual"]) == [named]
    assert selected(catalog, suite=["smoke", "manual"]) == [usual, named]
    assert selected(catalog, id=[named]) == [named]
    listed = select(catalog, Selectors.parse(all_=True), listing=True)
    assert [item.id for item in listed] == [usual, named]


def test_the_document_says_what_was_asked_for() -> None:
    document = Selectors.parse(suite=["b,a"], group=["g"]).document()
    assert (document.all, document.suite, document.group, document.id) == (
        False,
        ("b", "a"),
        ("g",),
        (),
    )
    assert document.rerun is None
    assert Selectors(rerun="gha-1-1").document().rerun == "gha-1-1"


def test_an_empty_catalog_selects_nothing(tmp_path: Path) -> None:
    with pytest.raises(NothingSelected, match="the catalog is empty"):
        selected(load_tree(tmp_path, catalog_tree(suites=[])), all_=True)
