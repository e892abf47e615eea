"""A command that no run could begin with costs no run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner_e2e.errors import Problem
from tests.support.catalogs import PROFILE, catalog_tree, problems_in


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    (tmp_path / "my_agent.py").write_text("")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "start.sh").write_text("")
    return tmp_path


def found(beside: Path, **agent: Any) -> tuple[Problem, ...]:
    return problems_in(beside, catalog_tree(profiles=[{**PROFILE, "agent": agent}]))


@pytest.mark.parametrize(
    ("command", "index", "meant"),
    [
        (["python3", "my_agnet.py"], 1, "my_agent.py"),
        (["python3", "-u", "./my_agnet.py"], 2, "my_agent.py"),
        (["bash", "tools/strat.sh"], 1, "tools/start.sh"),
        (["tools/strat.sh"], 0, "tools/start.sh"),
        (["./my-agent"], 0, "my_agent.py"),
        (["my_agnet.py"], 0, "my_agent.py"),
        (["node", "nowhere/main.mjs"], 1, None),
        (["deno", "zzz.ts"], 1, None),
    ],
)
def test_a_misspelled_file_is_named_with_its_line_and_the_nearest(
    command: list[str], index: int, meant: str | None, beside: Path
) -> None:
    (problem,) = found(beside, command=command)

    assert f"agent.command[{index}]: there is no file {command[index]!r}" in problem.message
    assert problem.line > 1
    assert (meant or "workspace_path") in (problem.hint or "")


@pytest.mark.parametrize(
    "command",
    [
        ["python3", "my_agent.py"],
        ["./tools/start.sh"],
        ["bash", "-c", "python other.py; echo a/b"],
        ["agent", "--model", "openai/gpt-4.1", "--file=x.py", "-x.py", "https://acme.example/a.js"],
        ["python", "/opt/agent.py", "{{ workspace_path }}/made.py", "-m", "package.module"],
        ["python3", "-c", "print(1)", "", " "],
    ],
)
def test_what_is_a_file_or_can_be_something_else_is_left_alone(
    command: list[str], beside: Path
) -> None:
    assert found(beside, command=command) == ()


@pytest.mark.parametrize("command", [[""], [" "], ["a\0b"], ["python3", "a\0.py"], []])
def test_words_that_no_program_starts_with_are_refused(command: list[str], beside: Path) -> None:
    (problem,) = found(beside, command=command)

    assert "agent.command" in problem.message
    assert "after validation" not in problem.message


@pytest.mark.parametrize("env", [{"": "x"}, {"A=B": "x"}, {"A\0": "x"}, {"A": "x\0"}])
def test_an_environment_that_no_process_can_have_is_refused(
    env: dict[str, str], beside: Path
) -> None:
    (problem,) = found(beside, command=["python3", "my_agent.py"], env=env)

    assert "agent.env" in problem.message
