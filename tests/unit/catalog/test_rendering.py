from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner_e2e.catalog import RenderedTask, Variables, render_agent, render_task, secret_names
from runner_e2e.contracts.matcher import EnvironmentMatcher, MessageExact
from runner_e2e.contracts.task import FLOW_OPTIONS, ChatOptions, Say, ToolReviewOptions
from tests.support.catalogs import (
    FLOW_TASKS,
    PROFILE,
    TASK,
    Tree,
    catalog_tree,
    flow_task,
    load_tree,
)


def variables(environment: str = "local", **changes: Any) -> Variables:
    values: dict[str, Any] = {
        "nonce": "a1b2c3d4e5f6-1",
        "execution_id": f"smoke.scripted.{environment}.hello",
        "profile_id": "scripted",
        "environment_id": "7f0c",
        "environment_fixture_id": environment,
        "workspace_path": "/w",
    }
    return Variables(**{**values, **changes})


def rendered(directory: Path, task: Tree, **changes: Any) -> RenderedTask:
    catalog = load_tree(directory, catalog_tree(tasks=[task]))
    return render_task(catalog.executions[0].task, variables(**changes))


def test_the_marker_is_filled_in_before_what_names_it(tmp_path: Path) -> None:
    task = rendered(tmp_path, TASK)
    assert task.marker == "E2E_OK_a1b2c3d4e5f6-1"
    assert task.title == "Runner E2E E2E_OK_a1b2c3d4e5f6-1"
    assert task.matchers[0] == MessageExact(kind="message_exact", expected="E2E_OK_a1b2c3d4e5f6-1")


@pytest.mark.parametrize("flow", FLOW_TASKS)
def test_the_options_have_the_type_of_the_flow(tmp_path: Path, flow: str) -> None:
    task = rendered(tmp_path, flow_task(flow))
    assert type(task.options) is FLOW_OPTIONS[task.fixture.flow]
    assert "{{" not in repr(task.options)


def test_texts_inside_options_are_filled_in(tmp_path: Path) -> None:
    review = rendered(tmp_path, flow_task("governed_tool_review")).options
    assert isinstance(review, ToolReviewOptions)
    assert review.arguments == {"text": "first a1b2c3d4e5f6-1"}
    chat = rendered(tmp_path, flow_task("agent_chat")).options
    assert isinstance(chat, ChatOptions)
    assert chat.script[0] == Say(say="Remember a1b2c3d4e5f6-1.", expect="ok")


def test_a_matcher_may_expect_the_environment_it_runs_in(tmp_path: Path) -> None:
    matcher = {"kind": "environment", "expected": "{{ environment_fixture_id }}"}
    task = {**TASK, "matchers": [matcher]}
    assert rendered(tmp_path, task, environment="daytona").matchers == (
        EnvironmentMatcher(kind="environment", expected="daytona"),
    )


def test_a_daytona_image_that_is_not_known_is_an_empty_text(tmp_path: Path) -> None:
    task = {**TASK, "prompt": "[{{ daytona_image }}]"}
    assert rendered(tmp_path, task).prompt == "[]"
    assert rendered(tmp_path, task, daytona_image="i@sha256:0").prompt == "[i@sha256:0]"


def test_an_agent_keeps_the_name_of_its_secret(tmp_path: Path) -> None:
    agent = {
        "command": ["run", "--in", "{{ workspace_path }}"],
        "env": {"KEY": {"$secretRef": "OPENAI_API_KEY"}, "ID": "{{ execution_id }}"},
    }
    catalog = load_tree(tmp_path, catalog_tree(profiles=[{**PROFILE, "agent": agent}]))
    payload = render_agent(catalog.executions[0].profile, variables())
    assert payload == {
        "command": ["run", "--in", "/w"],
        "env": {
            "KEY": {"$secretRef": "OPENAI_API_KEY"},
            "ID": "smoke.scripted.local.hello",
        },
    }
    assert secret_names(payload) == {"OPENAI_API_KEY"}


def test_a_scripted_agent_needs_no_secret(tmp_path: Path) -> None:
    catalog = load_tree(tmp_path, catalog_tree())
    assert secret_names(dict(catalog.executions[0].profile.agent)) == frozenset()
