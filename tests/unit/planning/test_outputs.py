from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.catalog import Catalog
from runner_e2e.errors import UsageError
from runner_e2e.planning import (
    MAX_OUTPUT_CHARACTERS,
    Selectors,
    append_outputs,
    build_plan,
    github_outputs,
    matrix_json,
)
from tests.support.catalogs import Tree, catalog_tree, grid_tree, load_tree
from tests.support.plans import plan_of, plan_options


def read_outputs(data: bytes) -> dict[str, str]:
    """Read the file as the runner does: ``name=value`` or ``name<<word``, lines, ``word``."""
    outputs: dict[str, str] = {}
    lines = iter(data.decode().split("\n"))
    for line in lines:
        if not line:
            continue
        match = re.fullmatch(r"([^=<]+)<<(.+)", line)
        if match is None:
            name, _, value = line.partition("=")
            outputs[name] = value
            continue
        body: list[str] = []
        for inner in lines:
            if inner == match[2]:
                break
            body.append(inner)
        outputs[match[1]] = "\n".join(body)
    return outputs


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    tree = grid_tree(30, 10, environments=("local", "daytona"))
    return load_tree(tmp_path_factory.mktemp("outputs"), tree)


def small(grid: Catalog, count: int) -> dict[str, str]:
    selectors = Selectors.parse(all_=True)
    plan = build_plan(grid, grid.executions[:count], selectors, plan_options())
    return github_outputs(plan)


def test_the_matrix_is_sorted_by_code_point_and_the_ids_are_in_catalog_order(
    grid: Catalog,
) -> None:
    line = matrix_json(plan_of(grid))
    matrix = json.loads(line)
    ids = [job["executionId"] for job in matrix["include"]]
    assert "\n" not in line
    assert ids == sorted(ids)
    assert matrix["executionIds"] == [execution.id for execution in grid.executions]
    assert matrix["executionIds"] != ids
    assert matrix["needsDaytona"] is True
    assert list(matrix) == ["include", "needsDaytona", "executionIds"]


def test_underscores_sort_after_hyphens_and_digits(tmp_path: Path) -> None:
    tree = grid_tree(3, 1)
    for profile, name in zip(tree["profiles"], ("a_b", "a-b", "a1"), strict=True):
        profile["id"] = name
    tree["suites"][0]["profiles"] = ["a_b", "a-b", "a1"]
    matrix = json.loads(matrix_json(plan_of(load_tree(tmp_path, tree))))
    profiles = [job["profileId"] for job in matrix["include"]]
    assert profiles == ["a-b", "a1", "a_b"]


def test_a_job_has_the_fields_of_the_contract(tmp_path: Path) -> None:
    matrix = json.loads(matrix_json(plan_of(load_tree(tmp_path, catalog_tree()))))
    assert matrix["include"] == [
        {
            "executionId": "smoke.scripted.local.hello",
            "suiteId": "smoke",
            "profileId": "scripted",
            "credentialName": "OPENAI_API_KEY",
            "environmentId": "local",
            "caseId": "hello",
            "timeoutMinutes": 25,
            "needsDaytona": False,
        }
    ]


@pytest.mark.parametrize("count", [0, 1, 256])
def test_up_to_256_jobs_are_one_matrix(grid: Catalog, count: int) -> None:
    outputs = small(grid, count)
    assert len(json.loads(outputs["matrix"])["include"]) == count
    assert json.loads(outputs["shards"]) == {"include": []}
    assert outputs["has_jobs"] == ("true" if count else "false")
    assert outputs["count"] == str(count)


def test_more_jobs_are_a_matrix_of_matrices_without_loss_or_doubles(grid: Catalog) -> None:
    plan = plan_of(grid)
    outputs = github_outputs(plan)
    shards: list[Tree] = json.loads(outputs["shards"])["include"]
    assert json.loads(outputs["matrix"]) == {"include": []}
    assert [shard["shard"] for shard in shards] == [0, 1, 2]
    jobs = [job["executionId"] for shard in shards for job in shard["matrix"]["include"]]
    assert len(jobs) == len(set(jobs)) == 600
    assert set(jobs) == set(plan.expected)
    for shard in shards:
        ids = [job["executionId"] for job in shard["matrix"]["include"]]
        assert ids == sorted(ids)
        assert len(ids) == shard["count"] <= 256
        assert 256 >= shard["maxParallel"] >= 1
    assert sum(shard["maxParallel"] for shard in shards) == 20


def test_an_empty_plan_has_an_empty_matrix(grid: Catalog) -> None:
    outputs = small(grid, 0)
    assert outputs["matrix"] == '{"include":[]}'
    assert outputs["needs_daytona"] == "false"
    assert outputs["max_parallel"] == "1"


def test_the_outputs_are_the_documented_ones_on_one_line_each(grid: Catalog) -> None:
    outputs = github_outputs(plan_of(grid))
    assert list(outputs) == [
        "matrix",
        "has_jobs",
        "count",
        "shards",
        "needs_daytona",
        "max_parallel",
        "max_retries",
        "confirm",
        "confirm_budget",
        "plan_digest",
        "definition_hashes",
        "job_timeout",
    ]
    assert all(re.fullmatch(r'[A-Za-z0-9_.:,"{}\[\]-]*', value) for value in outputs.values())
    for name, value in outputs.items():
        assert name in {"plan_digest", "confirm_budget"} or json.loads(value) is not None


def test_a_leg_is_told_the_definition_of_its_suite_and_time_to_upload(grid: Catalog) -> None:
    outputs = github_outputs(plan_of(grid))
    assert json.loads(outputs["definition_hashes"]) == grid.definition_hashes
    assert outputs["job_timeout"] == str(40 + 10)


def test_no_free_text_is_in_the_outputs(tmp_path: Path) -> None:
    tree = catalog_tree()
    tree["tasks"][0] |= {"label": "SECRETWORD", "title": "SECRETWORD", "prompt": "SECRETWORD"}
    tree["profiles"][0] |= {"label": "SECRETWORD", "model": "SECRETWORD", "provider": "SECRETWORD"}
    tree["suites"][0] |= {"label": "SECRETWORD", "description": "SECRETWORD"}
    plan = plan_of(load_tree(tmp_path, tree))
    assert "SECRETWORD" not in repr(github_outputs(plan)) + matrix_json(plan)


def test_outputs_that_github_would_not_take_are_refused(tmp_path: Path) -> None:
    plan = plan_of(load_tree(tmp_path, grid_tree(60, 50)))
    with pytest.raises(UsageError, match=f"GitHub takes {MAX_OUTPUT_CHARACTERS}"):
        github_outputs(plan)
    assert len(json.loads(matrix_json(plan))["include"]) == 3000


def test_1024_executions_fit(tmp_path: Path) -> None:
    outputs = github_outputs(plan_of(load_tree(tmp_path, grid_tree(32, 32))))
    assert len(json.loads(outputs["shards"])["include"]) == 4
    assert sum(map(len, outputs.values())) < MAX_OUTPUT_CHARACTERS


def test_every_output_is_read_back(grid: Catalog, tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_text("before=1\n")
    outputs = github_outputs(plan_of(grid))
    append_outputs(path, outputs)
    assert read_outputs(path.read_bytes()) == {"before": "1", **outputs}


@given(
    st.dictionaries(
        st.from_regex(r"[a-z][a-z0-9_]{0,10}", fullmatch=True),
        st.text(st.characters(exclude_characters="\r\0", exclude_categories=["Cs"])),
        max_size=4,
    )
)
def test_no_value_can_add_or_change_an_output(
    tmp_path_factory: pytest.TempPathFactory, outputs: dict[str, str]
) -> None:
    path = tmp_path_factory.mktemp("any") / "output"
    append_outputs(path, outputs)
    assert read_outputs(path.read_bytes()) == outputs


@pytest.mark.parametrize(
    "value", ["EOF\nevil=1", "a\nevil<<EOF\n1\nEOF", "\nevil=1\n", "x<<y", "evil=1"]
)
def test_a_value_with_a_delimiter_or_a_line_end_adds_nothing(tmp_path: Path, value: str) -> None:
    path = tmp_path / "output"
    append_outputs(path, {"matrix": value})
    append_outputs(path, {"after": "2"})
    assert read_outputs(path.read_bytes()) == {"matrix": value, "after": "2"}


@pytest.mark.parametrize(
    ("name", "value"), [("a b", "1"), ("a=b", "1"), ("a\nb", "1"), ("", "1"), ("a", "x\ry")]
)
def test_what_github_would_read_otherwise_is_refused(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(UsageError):
        append_outputs(tmp_path / "output", {name: value})
    assert not (tmp_path / "output").exists()
