"""The catalog of examples/paperclip: its cells, turns and time-outs."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from runner_e2e.catalog import Catalog, Variables, load_catalog, render_agent, render_task
from runner_e2e.planning import MAX_OUTPUT_CHARACTERS, matrix_json
from tests.support.catalogs import problems_of
from tests.support.plans import plan_of

PAPERCLIP = Path(__file__).parents[3] / "examples" / "paperclip"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(PAPERCLIP / "runner-e2e.yaml")


def test_the_whole_catalog_is_92_jobs_and_188_turns(catalog: Catalog) -> None:
    plan = plan_of(catalog)
    environments = Counter(item.job.environment_id for item in plan.executions)
    assert len(plan.executions) == 92
    assert environments == {"local": 69, "daytona": 23}
    assert sum(item.turns for item in plan.executions) == 188
    assert len(plan.shards) == 1


def test_each_suite_has_its_cells_and_turns(catalog: Catalog) -> None:
    plan = plan_of(catalog)
    cells = Counter(item.job.suite_id for item in plan.executions)
    turns: Counter[str] = Counter()
    for item in plan.executions:
        turns[item.job.suite_id] += item.turns
    assert cells == {
        "core-compatibility": 42,
        "local-session-integrity": 14,
        "openrouter-model-breadth": 10,
        "daytona-warm-continuity": 2,
        "agent-chat": 24,
    }
    assert turns == {
        "core-compatibility": 70,
        "local-session-integrity": 28,
        "openrouter-model-breadth": 16,
        "daytona-warm-continuity": 6,
        "agent-chat": 68,
    }


@pytest.mark.parametrize(
    ("case", "local", "daytona"),
    [
        ("message-marker", 25, 40),
        ("ask-question", 25, 40),
        ("plan-revise-accept", 25, 40),
        ("structured-question-resume", 32, None),
        ("structured-question-restart-resume", 32, None),
        ("hello-complete", 25, None),
        ("question-resume-complete", 32, None),
        ("plan-approve-complete", 38, None),
        ("warm-three-turn", None, 68),
        ("continuity-restart", 38, None),
        ("multi-repository", 38, None),
    ],
)
def test_the_timeouts_are_those_of_the_table(
    catalog: Catalog, case: str, local: int | None, daytona: int | None
) -> None:
    plan = plan_of(catalog)
    found = {
        item.job.environment_id: item.job.timeout_minutes
        for item in plan.executions
        if item.job.case_id == case
    }
    expected = {"local": local, "daytona": daytona}
    assert found == {name: value for name, value in expected.items() if value is not None}


def test_every_cell_can_be_rendered(catalog: Catalog) -> None:
    for execution in catalog.executions:
        variables = Variables(
            nonce="a1b2c3d4e5f6-1",
            execution_id=execution.id,
            profile_id=execution.profile.id,
            environment_id="7f0c",
            environment_fixture_id=execution.environment.id,
            workspace_path="/w",
        )
        task = render_task(execution.task, variables)
        payload = json.dumps(render_agent(execution.profile, variables))
        assert "a1b2c3d4e5f6" in task.marker
        assert "{{" not in repr((task.prompt, task.matchers, task.options, payload))


def test_only_a_local_legacy_agent_sees_the_harness_disk(catalog: Catalog) -> None:
    profile = next(item for item in catalog.file.profiles if item.id == "legacy-codex")
    for environment, expected in (("local", "/w"), ("daytona", "")):
        variables = Variables(
            nonce="n",
            execution_id="x",
            profile_id=profile.id,
            environment_id="7f0c",
            environment_fixture_id=environment,
            workspace_path="/w",
        )
        config = render_agent(profile, variables)["adapterConfig"]
        assert isinstance(config, dict)
        assert config["cwd"] == expected


def test_the_tool_reviews_are_a_catalog_of_their_own() -> None:
    plan = plan_of(load_catalog(PAPERCLIP / "tool-reviews.yaml"))
    assert len(plan.executions) == 16
    assert sum(item.turns for item in plan.executions) == 32
    assert {item.job.timeout_minutes for item in plan.executions} == {32}


def edited(directory: Path, name: str, old: str, new: str) -> tuple[str, ...]:
    """What is wrong with a copy in which ``old`` is replaced."""
    copied = shutil.copytree(PAPERCLIP, directory / "paperclip")
    path = copied / name
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    problems = problems_of(lambda: load_catalog(copied / "runner-e2e.yaml"))
    return tuple(problem.message for problem in problems)


def test_a_dropped_exclusion_is_a_size_mismatch_with_both_numbers(tmp_path: Path) -> None:
    exclusion = (
        "      - openrouter-model-breadth.openrouter-third-lab-model-three.local."
        "plan-approve-complete\n"
    )
    (message,) = edited(tmp_path, "runner-e2e.yaml", exclusion, "")
    assert "the suite has 11 cells, not 10" in message


def test_an_added_case_is_a_size_mismatch_with_both_numbers(tmp_path: Path) -> None:
    old = "tasks: [structured-question-resume, structured-question-restart-resume]"
    new = old.replace("]", ", message-marker]")
    (message,) = edited(tmp_path, "runner-e2e.yaml", old, new)
    assert "the suite has 21 cells, not 14" in message


def test_a_changed_ranking_is_found(tmp_path: Path) -> None:
    found = edited(tmp_path, "rankings/openrouter-top-weekly.json", "Model Two", "Model 2")
    assert "contentHash" in found[0]


def test_the_matrix_is_far_below_the_limit_of_an_output(catalog: Catalog) -> None:
    assert len(matrix_json(plan_of(catalog))) < MAX_OUTPUT_CHARACTERS / 10
