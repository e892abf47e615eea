from __future__ import annotations

from pathlib import Path

import pytest

from runner_e2e.catalog import load_catalog
from runner_e2e.catalog.reading import MAX_FILES
from runner_e2e.contracts.base import dump_tree
from tests.support.catalogs import (
    PROFILE,
    SUITE,
    TASK,
    catalog_tree,
    load_tree,
    problems_in,
    problems_of,
    write_catalog,
)

SCHEMA = "runner-e2e.catalog/v1"


def test_the_lists_of_included_files_are_joined(tmp_path: Path) -> None:
    # A file that a command names would be told apart by where it lies.
    profile = {**PROFILE, "agent": {"command": ["agent"]}}
    write_catalog(tmp_path, {"schema": SCHEMA, "profiles": [profile]}, "agents/profiles.yaml")
    write_catalog(tmp_path, {"schema": SCHEMA, "tasks": [TASK], "credentials": ["A"]}, "t.yaml")
    tree = {
        "schema": SCHEMA,
        "target": {"kind": "command"},
        "include": ["agents/profiles.yaml", "t.yaml"],
        "credentials": ["B"],
        "suites": [SUITE],
    }
    split = load_tree(tmp_path, tree)
    whole = load_tree(tmp_path / "whole", catalog_tree(profiles=[profile]))
    assert split.fingerprint == whole.fingerprint
    assert split.executions == whole.executions
    assert split.file.credentials == ("B", "A")
    assert dump_tree(split.file)["profiles"] == dump_tree(whole.file)["profiles"]


def test_a_command_lies_beside_the_file_that_names_it(tmp_path: Path) -> None:
    write_catalog(tmp_path, {"schema": SCHEMA, "profiles": [PROFILE]}, "agents/profiles.yaml")
    (tmp_path / "agents" / "agent.py").write_text("print()\n")
    catalog = load_tree(tmp_path, catalog_tree(profiles=[], include=["agents/profiles.yaml"]))
    assert catalog.file.profiles[0].agent["command"] == [
        "python",
        str(tmp_path / "agents" / "agent.py"),
    ]
    assert catalog.command_files["scripted"][0].path == "agents/agent.py"


def test_files_that_include_each_other_are_read_once(tmp_path: Path) -> None:
    write_catalog(
        tmp_path,
        {"schema": SCHEMA, "include": ["runner-e2e.yaml", "b.yaml"], "tasks": [TASK]},
        "b.yaml",
    )
    tree = catalog_tree(tasks=[], include=["b.yaml", "./b.yaml"])
    assert len(load_tree(tmp_path, tree).executions) == 1


def test_problems_of_all_files_are_reported_in_their_order(tmp_path: Path) -> None:
    write_catalog(tmp_path, {"schema": SCHEMA, "tasks": [{**TASK, "flw": 1}]}, "b.yaml")
    write_catalog(tmp_path, {"schema": SCHEMA, "profiles": [{**PROFILE, "modle": 1}]}, "a.yaml")
    tree = catalog_tree(
        profiles=[],
        tasks=[],
        suites=[{**SUITE, "expectedMatrixSize": 2}],
        include=["b.yaml", "a.yaml", "c.yaml"],
    )
    problems = problems_in(tmp_path, tree)
    assert [Path(problem.file).name for problem in problems] == [
        "runner-e2e.yaml",
        "runner-e2e.yaml",
        "b.yaml",
        "a.yaml",
    ]
    assert problems[1].message.startswith("include[2]: there is no file")


def test_a_broken_file_does_not_hide_the_faults_of_another(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("a: [\n")
    found = problems_in(tmp_path, catalog_tree(include=["b.yaml"], nonsense=1))
    assert len(found) == 2
    assert "not YAML" in found[1].message


def test_an_id_is_unique_over_all_files(tmp_path: Path) -> None:
    other = write_catalog(tmp_path, {"schema": SCHEMA, "tasks": [TASK]}, "b.yaml")
    (problem,) = problems_in(tmp_path, catalog_tree(include=["b.yaml"]))
    assert problem.file == str(other)
    assert f"{tmp_path / 'runner-e2e.yaml'}:" in (problem.hint or "")


def test_an_included_file_may_be_a_catalog_with_the_same_target(tmp_path: Path) -> None:
    extra = {"schema": SCHEMA, "target": {"kind": "command"}}
    write_catalog(tmp_path, extra, "b.yaml")
    assert problems_in(tmp_path, catalog_tree(include=["b.yaml"])) == ()
    write_catalog(tmp_path, {**extra, "target": {"kind": "paperclip", "version": "1"}}, "b.yaml")
    (problem,) = problems_in(tmp_path, catalog_tree(include=["b.yaml"]))
    assert "has another target" in problem.message


def test_only_the_catalog_itself_must_have_a_target(tmp_path: Path) -> None:
    path = write_catalog(tmp_path, {"schema": SCHEMA})
    (problem,) = problems_of(lambda: load_catalog(path))
    assert problem.message == "'target' is missing"


@pytest.mark.parametrize("names", [[3], ["a\0b"], ["."], [""], ["/dev/zero"]])
def test_what_is_no_file_name_is_a_problem(tmp_path: Path, names: list[object]) -> None:
    assert len(problems_in(tmp_path, catalog_tree(include=names))) == 1


def test_a_chain_of_includes_has_an_end(tmp_path: Path) -> None:
    for index in range(MAX_FILES + 5):
        write_catalog(
            tmp_path, {"schema": SCHEMA, "include": [f"{index + 1}.yaml"]}, f"{index}.yaml"
        )
    (problem,) = problems_in(tmp_path, catalog_tree(include=["0.yaml"]))
    assert f"at most {MAX_FILES} files" in problem.message
