"""What a catalog may say for this target: files of an adapter, and a second call after "always"."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from runner_e2e.catalog import Catalog, load_catalog
from runner_e2e.errors import CatalogError

EXAMPLE = Path(__file__).parents[4] / "examples" / "paperclip-live"


def _copy(directory: Path) -> Path:
    shutil.copytree(EXAMPLE, directory)
    return directory / "runner-e2e.yaml"


def _hashes(catalog: Catalog) -> dict[str, str]:
    return {one.suite.id: one.suite_definition_hash for one in catalog.executions}


def test_the_fingerprint_knows_the_files_and_not_where_they_lie(tmp_path: Path) -> None:
    here, there = (_hashes(load_catalog(_copy(tmp_path / name))) for name in ("here", "there"))
    assert here == there


@pytest.mark.parametrize(
    ("changed", "suites"),
    [("adapter/index.js", {"metered"}), ("agent.py", {"live", "metered"})],
)
def test_a_changed_file_of_an_agent_is_another_definition(
    tmp_path: Path, changed: str, suites: set[str]
) -> None:
    path = _copy(tmp_path / "catalog")
    before = _hashes(load_catalog(path))
    with (path.parent / changed).open("a") as file:
        file.write("\n")
    after = _hashes(load_catalog(path))
    assert {suite for suite in before if before[suite] != after[suite]} == suites


def test_the_files_of_an_adapter_are_absolute_once_loaded(tmp_path: Path) -> None:
    catalog = load_catalog(_copy(tmp_path / "catalog"))
    agent = next(one.profile.agent for one in catalog.executions if one.suite.id == "metered")
    assert agent["adapterPackage"] == str(tmp_path / "catalog" / "adapter")
    config = agent["adapterConfig"]
    assert isinstance(config, dict)
    assert config["args"] == [str(tmp_path / "catalog" / "agent.py")]


ALWAYS = """with the same arguments
    workMode: standard
    flow: governed_tool_review
    expectedRunCount: """


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("toolReviewDecision: always", "toolReviewDecision: approve", "has a second call"),
        (f"{ALWAYS}3", f"{ALWAYS}2", "exactly 3 runs, not 2"),
    ],
)
def test_a_second_call_belongs_to_always_and_has_a_run_of_its_own(
    tmp_path: Path, before: str, after: str, problem: str
) -> None:
    path = _copy(tmp_path / "catalog")
    text = path.read_text()
    assert text.count(before) == 1
    path.write_text(text.replace(before, after))
    with pytest.raises(CatalogError) as caught:
        load_catalog(path)
    assert problem in str(caught.value)
