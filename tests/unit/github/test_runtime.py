"""What Actions tells a step is believed only where it looks like GitHub's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runner_e2e.errors import UsageError
from runner_e2e.github import ActionsRuntime

STEP = {
    "GITHUB_SERVER_URL": "https://ghe.example",
    "GITHUB_REPOSITORY": "acme/agents",
    "GITHUB_RUN_ID": "42",
    "GITHUB_RUN_ATTEMPT": "3",
    "GITHUB_SHA": "a" * 40,
    "GITHUB_REF": "refs/heads/main",
    "GITHUB_EVENT_NAME": "schedule",
    "GITHUB_OUTPUT": "/run/output",
}


def test_outside_actions_nothing_is_known() -> None:
    runtime = ActionsRuntime.from_environ({})
    assert (runtime.run_id, runtime.run_attempt, runtime.output_file) == (None, 1, None)
    assert set(runtime.source.model_dump().values()) == {None}


def test_a_step_knows_its_run() -> None:
    runtime = ActionsRuntime.from_environ(STEP)
    assert (runtime.run_id, runtime.run_attempt) == ("42", 3)
    assert runtime.source.workflow_run_url == "https://ghe.example/acme/agents/actions/runs/42"
    assert runtime.source.sha == "a" * 40
    assert runtime.output_file == Path("/run/output")


def test_the_code_under_test_may_be_another_than_the_workflows() -> None:
    target = {"RUNNER_E2E_SOURCE_SHA": "b" * 40, "RUNNER_E2E_SOURCE_REF": "refs/heads/next"}
    source = ActionsRuntime.from_environ(STEP | target).source
    assert (source.sha, source.ref) == ("b" * 40, "refs/heads/next")


@pytest.mark.parametrize("name", STEP)
def test_a_blank_variable_is_an_absent_one(name: str) -> None:
    blank = ActionsRuntime.from_environ(STEP | {name: "  "})
    without = {key: value for key, value in STEP.items() if key != name}
    assert blank == ActionsRuntime.from_environ(without)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GITHUB_RUN_ATTEMPT", "0"),
        ("GITHUB_RUN_ATTEMPT", "one"),
        ("GITHUB_RUN_ATTEMPT", "\u0663"),
        ("GITHUB_RUN_ID", "../../x"),
        ("GITHUB_REPOSITORY", "acme"),
        ("GITHUB_REPOSITORY", "acme/agents/\nx"),
        ("GITHUB_SERVER_URL", "https://user:password@ghe.example"),
        ("GITHUB_SERVER_URL", "javascript:alert(1)"),
    ],
)
def test_what_github_would_never_set_is_an_error_that_names_it(name: str, value: str) -> None:
    with pytest.raises(UsageError, match=name) as raised:
        ActionsRuntime.from_environ(STEP | {name: value})
    assert raised.value.hint


def test_the_event_knows_the_default_branch(tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    runtime = ActionsRuntime.from_environ(STEP | {"GITHUB_EVENT_PATH": str(event)})
    assert runtime.default_branch() is None
    event.write_text(json.dumps({"repository": {"default_branch": "trunk"}}))
    assert runtime.default_branch() == "trunk"


@pytest.mark.parametrize(
    "event", [b"", b"[]", b'{"repository": {"default_branch": 3}}', b"[" * 9999]
)
def test_an_event_that_does_not_say_so_knows_none(tmp_path: Path, event: bytes) -> None:
    path = tmp_path / "event.json"
    path.write_bytes(event)
    runtime = ActionsRuntime.from_environ({"GITHUB_EVENT_PATH": str(path)})
    assert runtime.default_branch() is None
