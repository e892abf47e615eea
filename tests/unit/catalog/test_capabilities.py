"""What a target cannot do, and what no run can come to, is refused before it is paid for."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from runner_e2e.catalog import ENVIRONMENTS, OFFERED, Capability
from runner_e2e.catalog.capabilities import CANNOT
from runner_e2e.contracts.catalog import CommandTarget, PaperclipTarget
from runner_e2e.targets.command import CommandSession
from runner_e2e.targets.paperclip.session import PaperclipSession
from tests.support.catalogs import Tree, catalog_tree, flow_task, problems_in

COMMAND = {"kind": "command"}
PAPERCLIP = {"kind": "paperclip", "version": "1"}
ARTIFACT = {"kind": "artifact_exists", "name": "report"}


def messages(directory: Path, tree: Tree) -> list[str]:
    return [problem.message for problem in problems_in(directory, tree)]


def chat(*script: Tree, runs: int = 1) -> Tree:
    return flow_task("agent_chat", flowOptions={"script": list(script)}, expectedRunCount=runs)


def test_the_table_knows_every_target_and_every_capability() -> None:
    kinds = {
        kind
        for target in (CommandTarget, PaperclipTarget)
        for kind in get_args(target.model_fields["kind"].annotation)
    }
    assert set(OFFERED) == set(ENVIRONMENTS) == kinds
    assert set(CANNOT) == set(Capability)


def test_sessions_offer_what_the_table_says() -> None:
    assert CommandSession.__dataclass_fields__["capabilities"].default == OFFERED["command"]
    assert PaperclipSession.__dataclass_fields__["capabilities"].default == OFFERED["paperclip"]


@pytest.mark.parametrize(
    ("target", "task", "expected"),
    [
        (
            COMMAND,
            chat({"expect_idle": {"runs": 1}}, {"expect_tasks": 1}),
            "tasks[0].flowOptions.script[1].expect_tasks: the command target does not see the",
        ),
        (
            PAPERCLIP,
            flow_task("single_turn", matchers=[ARTIFACT]),
            "tasks[0].matchers[0]: the paperclip target does not see artifacts",
        ),
    ],
)
def test_what_the_target_cannot_do_is_refused_where_it_is_written(
    tmp_path: Path, target: Tree, task: Tree, expected: str
) -> None:
    (message,) = messages(tmp_path, catalog_tree(target=target, tasks=[task]))
    assert message.startswith(expected)


@pytest.mark.parametrize(
    ("target", "task"),
    [
        (PAPERCLIP, chat({"expect_tasks": 1})),
        (COMMAND, flow_task("single_turn", matchers=[ARTIFACT])),
        (COMMAND, flow_task("governed_tool_review")),
        (PAPERCLIP, chat({"restart": {}}, {"new_session": {}})),
    ],
)
def test_what_the_target_can_do_is_planned(tmp_path: Path, target: Tree, task: Tree) -> None:
    assert messages(tmp_path, catalog_tree(target=target, tasks=[task])) == []


@pytest.mark.parametrize(
    ("decision", "possible"),
    [("approve", {1}), ("restart", {1}), ("decline", {0}), ("always", {2, 3})],
)
def test_a_tool_runs_as_often_as_the_decision_lets_it(
    tmp_path: Path, decision: str, possible: set[int]
) -> None:
    for count in range(4):
        options = {"tool": "note", "arguments": {}, "secondArguments": {}, "invocations": count}
        task = flow_task("governed_tool_review", toolReviewDecision=decision, flowOptions=options)
        found = messages(tmp_path, catalog_tree(tasks=[task]))
        assert (found == []) is (count in possible), (count, found)
        for message in found:
            assert f"invocations: with the decision {decision} the tool runs" in message
            assert message.endswith(f" times, not {count}")


def test_the_script_of_a_chat_tells_how_many_runs_there_are(tmp_path: Path) -> None:
    script: tuple[Tree, ...] = (
        {"say": "x"},
        {"revise": "y"},
        {"stop": {}},
        {"approve": {}},
        {"restart": {}},
    )
    for runs in (1, 3, 4, 5, 9):
        found = messages(tmp_path, catalog_tree(tasks=[chat(*script, runs=runs)]))
        assert len(found) == (runs != 4)
        for message in found:
            assert message.startswith("tasks[0].expectedRunCount: the script has 4 runs")
            assert message.endswith(f"not {runs}")


def test_a_script_cannot_wait_for_another_number_of_runs_than_it_has_begun(tmp_path: Path) -> None:
    script: tuple[Tree, ...] = (
        {"expect_idle": {"runs": 1}},
        {"say": "x"},
        {"expect_idle": {"runs": 1}},
    )
    (message,) = messages(tmp_path, catalog_tree(tasks=[chat(*script, runs=2)]))
    assert message.startswith("tasks[0].flowOptions.script[2].expect_idle.runs: there are 2 runs")
