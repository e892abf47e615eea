from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runner_e2e.catalog import Catalog, explain_fingerprint, read_ranking
from runner_e2e.contracts.base import digest
from runner_e2e.errors import CatalogError, UsageError
from tests.support.catalogs import (
    FLOW_TASKS,
    PROFILE,
    SUITE,
    TASK,
    Tree,
    catalog_tree,
    flow_task,
    grid_tree,
    load_tree,
)

MATCHERS: list[Tree] = [
    {"kind": "message_exact", "expected": "{{ marker }}"},
    {"kind": "message_contains", "expected": "part"},
    {"kind": "message_occurrences", "expected": "twice", "count": 2},
    {"kind": "message_regex", "pattern": "^a+$", "flags": "i"},
    {"kind": "message_ordered", "expected": ["first", "then"]},
    {"kind": "issue_status", "expected": "done"},
    {"kind": "run_status", "expected": "succeeded"},
    {"kind": "runtime_mode", "expected": "native"},
    {"kind": "environment", "expected": "local"},
    {"kind": "file_exists", "path": "a.txt"},
    {"kind": "file_exact", "path": "b.txt", "expected": "whole"},
    {"kind": "file_contains", "path": "c.txt", "expected": "piece"},
    {"kind": "artifact_exists", "name": "report", "mimeType": "text/html"},
    {"kind": "json_path", "path": "issue.status", "expected": {"deep": [1, None]}},
    {"kind": "json_schema", "schema": {"type": "object", "minProperties": 1}},
]

NEUTRAL = re.compile(
    r"""\.label$ | \.description$ | \.groups\[\d+\]$ | \.gate\. | \.quarantine\[ | \.manualOnly$""",
    re.VERBOSE,
)
"""What only people read, selectors use or gates decide."""

TIED = re.compile(
    r"""^schema$ | ^target | \.id$ | Id$ | \.kind$ | \.flow$ | \.expectedMatrixSize$
    | \.expectedRunCount$ | \.toolReviewDecision$ | \.invocations$ | \.expect_idle\.runs$
    | \.ranking\. | ^rankings
    | ^suites\[0\]\.(profiles|environments|tasks)\[ | \.supportedEnvironments\[ | \.run$
    | ^profiles\[1\]\.modelQualification\.source$ | \.configurationKey$ | \.credential$
    | \$secretRef$ | \.schema\.type$ | \.options\[0\]$ | \.excludedExecutionIds\[ | ^credentials""",
    re.VERBOSE,
)
"""What cannot be changed alone, or in one step; tests of their own change these."""


RANKING = (
    Path(__file__).parents[3] / "examples" / "paperclip" / "rankings" / "openrouter-top-weekly.json"
)
SNAPSHOT = read_ranking(RANKING.read_bytes(), str(RANKING))


def every_field() -> Tree:
    """A catalog in which every field there is has a value."""
    tasks = [flow_task(flow, id=flow.replace("_", "-"), label=flow) for flow in FLOW_TASKS]
    tasks[0] |= {"matchers": MATCHERS, "turnTimeoutMs": 60_000}
    ranking = {
        "snapshotId": SNAPSHOT.snapshot_id,
        "capturedAt": SNAPSHOT.captured_at,
        "sourceUrl": SNAPSHOT.source_url,
        "rank": 2,
        "canonicalModelId": SNAPSHOT.models[1].id,
    }
    ranked = {
        **PROFILE,
        "id": "ranked",
        "credential": "OTHER_KEY",
        "modelQualification": {
            "source": "openrouter_rankings_snapshot",
            "qualificationId": "weekly:2",
        },
        "ranking": ranking,
        "agent": {
            "command": ["python", "-c", "pass"],
            "env": {"OTHER_KEY": {"$secretRef": "OTHER_KEY"}, "MODE": "{{ nonce }}"},
        },
    }
    suite = {
        **SUITE,
        "profiles": ["scripted", "ranked"],
        "environments": ["local", "daytona/warm"],
        "tasks": [task["id"] for task in tasks],
        "excludedExecutionIds": ["smoke.ranked.local.single-turn"],
        "expectedMatrixSize": 2 * 2 * len(tasks) - 1,
        "definitionMetadata": {"a": 1, "b": {"c": "two"}},
        "manualOnly": False,
        "gate": {"minPassRate": 0.5, "maxFlakyRate": 0.1},
        "quarantine": [
            {
                "executionId": "smoke.scripted.local.single-turn",
                "owner": "us",
                "expires": "2030-01-31",
                "reason": "known",
            }
        ],
    }
    environments = [
        {
            "id": "daytona",
            "configurationKey": "warm",
            "label": "Warm",
            "groups": ["warm"],
            "daytona": {"cpu": 2, "memory": 3, "disk": 5, "reuseLease": True},
        }
    ]
    return catalog_tree(
        profiles=[PROFILE, ranked],
        tasks=tasks,
        suites=[suite],
        environments=environments,
        credentials=["OTHER_KEY"],
        rankings=[str(RANKING)],
    )


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path


def name_of(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)[1:]


def candidates(value: object) -> list[object]:
    """Other values for a field, of which at least one should be allowed."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value / 2]
    if value is None:
        return [0]
    words = [
        "ask",
        "legacy",
        "in_review",
        "approve",
        "daytona",
        "qualified_runner_profile",
        "Amber",
        "m",
    ]
    return [f"{value}x", "2026-09-08T08:00:00.000Z", "2030-02-01", "OPENAI_API_KEY", *words]


def put(tree: Tree, path: tuple[str | int, ...], value: object) -> Tree:
    changed = copy.deepcopy(tree)
    target: Any = changed
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    return changed


def get(tree: Any, path: tuple[str | int, ...]) -> object:
    for step in path:
        tree = tree[step]
    return tree


def changed_catalog(directory: Path, tree: Tree, path: tuple[str | int, ...]) -> Catalog:
    """The catalog with another value at ``path``."""
    value = get(tree, path)
    for candidate in candidates(value):
        if candidate == value:
            continue
        try:
            return load_tree(directory, put(tree, path, candidate))
        except CatalogError:
            continue
    raise LookupError(f"no other value fits {name_of(path)}")


def assert_each_field_counts_unless_neutral(
    directory: Path, tree: Tree, paths: list[tuple[str | int, ...]]
) -> None:
    original = load_tree(directory, tree).fingerprint
    for path in paths:
        changed = changed_catalog(directory, tree, path)
        neutral = bool(NEUTRAL.search(name_of(path)))
        assert (changed.fingerprint == original) is neutral, name_of(path)


@pytest.mark.parametrize("flow", FLOW_TASKS)
def test_every_field_of_a_case_that_can_change_a_verdict_counts(tmp_path: Path, flow: str) -> None:
    matchers = MATCHERS if flow == "single_turn" else MATCHERS[:1]
    tree = catalog_tree(tasks=[flow_task(flow, matchers=matchers, turnTimeoutMs=60_000)])
    paths = [path for path in leaves(tree) if path[0] == "tasks" and not TIED.search(name_of(path))]
    assert_each_field_counts_unless_neutral(tmp_path, tree, paths)


def test_every_field_of_the_rest_that_can_change_a_verdict_counts(tmp_path: Path) -> None:
    tree = every_field()
    tree["tasks"] = [flow_task("single_turn", id=task["id"]) for task in tree["tasks"]]
    paths = [path for path in leaves(tree) if path[0] != "tasks" and not TIED.search(name_of(path))]
    assert_each_field_counts_unless_neutral(tmp_path, tree, paths)


def reviewed(decision: str, invocations: int) -> Tree:
    options = {"tool": "a", "arguments": {}, "secondArguments": {}, "invocations": invocations}
    task = flow_task("governed_tool_review", toolReviewDecision=decision, flowOptions=options)
    return catalog_tree(tasks=[task])


def chatted(*script: Tree, runs: int) -> Tree:
    task = flow_task("agent_chat", flowOptions={"script": [*script]}, expectedRunCount=runs)
    return catalog_tree(tasks=[task])


def smoke(**suite: Any) -> Tree:
    return catalog_tree(suites=[{**SUITE, **suite}])


@pytest.mark.parametrize(
    "tree",
    [
        smoke(id="smoke2"),
        smoke(environments=["daytona"]),
        smoke(environments=["local", "daytona"], expectedMatrixSize=2),
        smoke(definitionMetadata={"a": 1}),
        catalog_tree(
            profiles=[{**PROFILE, "id": "other"}], suites=[{**SUITE, "profiles": ["other"]}]
        ),
        catalog_tree(tasks=[{**TASK, "id": "other"}], suites=[{**SUITE, "tasks": ["other"]}]),
        catalog_tree(profiles=[{**PROFILE, "credential": "ANTHROPIC_API_KEY"}]),
        catalog_tree(tasks=[flow_task("plan_approval_completion")]),
        reviewed("approve", 1),
        reviewed("restart", 1),
        reviewed("always", 2),
        reviewed("always", 3),
        chatted({"say": "a"}, runs=2),
        chatted({"say": "a"}, {"expect_idle": {"runs": 2}}, runs=2),
        chatted({"say": "a"}, {"say": "b"}, runs=3),
        catalog_tree(target={"kind": "paperclip", "version": "1"}),
        catalog_tree(tasks=[{**TASK, "matchers": TASK["matchers"][:1]}]),
        catalog_tree(tasks=[{**TASK, "matchers": [*TASK["matchers"], TASK["matchers"][0]]}]),
        catalog_tree(
            profiles=[
                {**PROFILE, "agent": {"command": ["python"], "env": {"A": {"$secretRef": name}}}}
                for name in ("OPENAI_API_KEY",)
            ]
        ),
    ],
)
def test_what_a_suite_consists_of_changes_its_hash(tmp_path: Path, tree: Tree) -> None:
    original = load_tree(tmp_path, catalog_tree()).fingerprint
    assert load_tree(tmp_path, tree).fingerprint != original


def test_another_configuration_of_an_environment_is_another_suite(tmp_path: Path) -> None:
    def with_key(key: str) -> str:
        environment = {"id": "daytona", "configurationKey": key, "label": "Warm"}
        tree = catalog_tree(
            environments=[environment], suites=[{**SUITE, "environments": [f"daytona/{key}"]}]
        )
        return load_tree(tmp_path, tree).fingerprint

    assert with_key("one") != with_key("two")


def test_an_exclusion_changes_the_hash(tmp_path: Path) -> None:
    tree = grid_tree(2, 2)
    whole = load_tree(tmp_path, tree).fingerprint
    tree["suites"][0] |= {
        "excludedExecutionIds": ["smoke.profile-1.local.case-1"],
        "expectedMatrixSize": 3,
    }
    assert load_tree(tmp_path, tree).fingerprint != whole


def _reversed(tree: Tree) -> Tree:
    """The same catalog with every list of it turned round and every mapping's keys too."""
    result = copy.deepcopy(tree)
    for name in ("profiles", "environments", "tasks", "suites"):
        result[name] = [dict(reversed(item.items())) for item in reversed(result[name])]
    for suite in result["suites"]:
        for name in ("profiles", "environments", "tasks"):
            suite[name].reverse()
        metadata = suite["definitionMetadata"]
        suite["definitionMetadata"] = dict(reversed(metadata.items()))
    for task in result["tasks"]:
        task["matchers"].reverse()
    return result


def test_order_does_not_count(tmp_path: Path) -> None:
    tree = every_field()
    assert load_tree(tmp_path, tree).fingerprint == load_tree(tmp_path, _reversed(tree)).fingerprint


def _task_text(text: str) -> Tree:
    return catalog_tree(tasks=[{**TASK, "prompt": text}])


@pytest.mark.parametrize(
    "text",
    [
        "Reply with exactly {{marker}}.",
        "Reply with exactly {{ 'E2E_OK_' }}{{ nonce }}.",
        "Reply with {% if true %}exactly{% endif %} {{ marker }}.",
        "Reply with exactly {% if profile_id == 'scripted' %}{{ marker }}{% endif %}.",
    ],
)
def test_a_template_written_otherwise_with_the_same_outcome_is_the_same(
    tmp_path: Path, text: str
) -> None:
    original = load_tree(tmp_path, catalog_tree()).fingerprint
    assert load_tree(tmp_path, _task_text(text)).fingerprint == original


def test_a_difference_in_a_single_cell_changes_the_hash(tmp_path: Path) -> None:
    tree = grid_tree(3, 2, environments=("local", "daytona"))
    prompt = "Go{% if execution_id == 'smoke.profile-2.daytona.case-0' %} WORD{% endif %}."

    def with_word(word: str) -> str:
        tree["tasks"][0]["prompt"] = prompt.replace("WORD", word)
        return load_tree(tmp_path, tree).fingerprint

    assert with_word("now") != with_word("later")


def test_the_place_of_the_catalog_does_not_count_but_the_agents_content_does(
    tmp_path: Path,
) -> None:
    first, second = tmp_path / "one", tmp_path / "two" / "deeper {x}"
    for directory in (first, second):
        directory.mkdir(parents=True)
        (directory / "agent.py").write_text("print('a')\n")
    catalogs = [load_tree(directory, catalog_tree()) for directory in (first, second)]
    assert catalogs[0].fingerprint == catalogs[1].fingerprint
    assert catalogs[0].file.profiles[0].agent["command"] == ["python", str(first / "agent.py")]
    (second / "agent.py").write_text("print('b')\n")
    assert load_tree(second, catalog_tree()).fingerprint != catalogs[0].fingerprint
    (second / "agent.py").unlink()
    assert load_tree(second, catalog_tree()).fingerprint != catalogs[0].fingerprint


def test_a_profile_that_no_suite_names_does_not_count(tmp_path: Path) -> None:
    more = catalog_tree(profiles=[PROFILE, {**PROFILE, "id": "spare"}])
    assert load_tree(tmp_path, more).fingerprint == load_tree(tmp_path, catalog_tree()).fingerprint


def test_loading_twice_gives_the_same_hash(tmp_path: Path) -> None:
    fingerprints = {load_tree(tmp_path, every_field()).fingerprint for _ in range(3)}
    assert len(fingerprints) == 1


def test_the_explanation_is_what_was_hashed(tmp_path: Path) -> None:
    catalog = load_tree(tmp_path, every_field())
    explained = explain_fingerprint(catalog)
    assert {name: digest(part["definition"]) for name, part in explained.items()} == {
        name: part["hash"] for name, part in explained.items()
    }
    assert digest({name: part["hash"] for name, part in explained.items()}) == catalog.fingerprint
    assert {execution.suite_definition_hash for execution in catalog.executions} == {
        part["hash"] for part in explained.values()
    }
    (task,) = (
        task
        for task in explained["smoke"]["definition"]["tasks"]
        if task["id"] == "plan-approval-completion"
    )
    assert task["rendered"]["planMarkers"]["draft"] == "DRAFT_0123456789ab-1"


def test_an_unknown_suite_cannot_be_explained(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no suite 'smok'") as caught:
        explain_fingerprint(load_tree(tmp_path, catalog_tree()), "smok")
    assert caught.value.hint == "did you mean 'smoke'?"


def test_no_absolute_path_is_in_the_definition(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("")
    catalog = load_tree(tmp_path, catalog_tree())
    assert str(tmp_path) not in repr(explain_fingerprint(catalog))
    assert "agent.py" in repr(explain_fingerprint(catalog))
