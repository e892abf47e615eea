"""A check that no answer can fail is refused before it is paid for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner_e2e.contracts.vocabulary import FLOWS, Flow
from tests.support.catalogs import SUITE, Tree, catalog_tree, flow_task, problems_in

BLANKS = ["", " \n", "{{ '' }}", "{% if false %}x{% endif %}"]


def messages(directory: Path, tree: Tree) -> list[str]:
    return [problem.message for problem in problems_in(directory, tree)]


def case(flow: str = "single_turn", **changes: Any) -> Tree:
    return catalog_tree(tasks=[flow_task(flow, **changes)])


@pytest.mark.parametrize("flow", FLOWS)
def test_a_case_needs_a_matcher_unless_its_flow_checks_the_answer(
    tmp_path: Path, flow: Flow
) -> None:
    found = messages(tmp_path, case(flow, matchers=[]))
    expected = f"tasks[0].matchers: nothing checks what the agent did: the flow {flow} needs"
    assert [message[: len(expected)] for message in found] == (
        [expected] if flow == "single_turn" else []
    )


@pytest.mark.parametrize(
    ("step", "checked"),
    [
        ({"say": "x", "expect": "y"}, True),
        ({"expect_idle": {"runs": 1}}, True),
        ({"say": "x"}, False),
        ({"new_session": {}}, False),
        ({"restart": {}}, False),
    ],
)
def test_a_script_checks_only_with_a_step_that_expects_something(
    tmp_path: Path, step: Tree, checked: bool
) -> None:
    runs = 2 if "say" in step else 1
    tree = case("agent_chat", matchers=[], flowOptions={"script": [step]}, expectedRunCount=runs)
    assert (messages(tmp_path, tree) == []) is checked


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("message_exact", {}),
        ("message_contains", {}),
        ("message_occurrences", {"count": 0}),
        ("issue_status", {}),
        ("run_status", {}),
        ("file_contains", {"path": "a.txt"}),
    ],
)
def test_a_matcher_expects_a_text_that_says_something(
    tmp_path: Path, kind: str, more: Tree, blank: str
) -> None:
    matcher = {"kind": kind, "expected": blank, **more}
    assert messages(tmp_path, case(matchers=[matcher])) == [
        "tasks[0].matchers[0].expected: must not be blank"
    ]


@pytest.mark.parametrize(
    ("matcher", "expected"),
    [
        ({"kind": "message_ordered", "expected": []}, "expected: must name at least one text"),
        ({"kind": "message_ordered", "expected": ["a", " "]}, "expected[1]: must not be blank"),
        ({"kind": "message_regex", "pattern": ""}, "pattern: must not be blank"),
        ({"kind": "artifact_exists", "name": ""}, "name: must not be blank"),
        ({"kind": "json_schema", "schema": {}}, "schema: must say something"),
    ],
)
def test_a_matcher_that_everything_meets_is_refused(
    tmp_path: Path, matcher: Tree, expected: str
) -> None:
    (message,) = messages(tmp_path, case(matchers=[matcher]))
    assert message.startswith(f"tasks[0].matchers[0].{expected}")


@pytest.mark.parametrize(
    "matcher",
    [
        {"kind": "file_exact", "path": "empty.txt", "expected": ""},
        {"kind": "json_path", "path": "issue.note", "expected": ""},
        {"kind": "json_path", "path": "messages", "expected": []},
    ],
)
def test_a_file_or_a_value_may_have_to_be_empty(tmp_path: Path, matcher: Tree) -> None:
    assert messages(tmp_path, case(matchers=[matcher])) == []


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize(
    ("flow", "changes", "path"),
    [
        ("single_turn", {"marker": "*"}, "marker"),
        ("single_turn", {"title": "*"}, "title"),
        ("single_turn", {"prompt": "*"}, "prompt"),
        (
            "question_resume_completion",
            {"questionAnswer": {"optionLabel": "Cobalt", "expectedMarker": "*"}},
            "questionAnswer.expectedMarker",
        ),
        (
            "question_resume_completion",
            {"flowOptions": {"question": {"id": "a", "prompt": "*", "options": ["Cobalt", "b"]}}},
            "flowOptions.question.prompt",
        ),
        (
            "question_resume_completion",
            {"flowOptions": {"question": {"id": "a", "prompt": "?", "options": ["Cobalt", "*"]}}},
            "flowOptions.question.options[1]",
        ),
        (
            "plan_approval_completion",
            {"planMarkers": {"draft": "*", "revised": "b"}},
            "planMarkers.draft",
        ),
        (
            "plan_approval_completion",
            {"planMarkers": {"draft": "a", "revised": "*"}},
            "planMarkers.revised",
        ),
        (
            "agent_chat",
            {"flowOptions": {"script": [{"say": "x", "expect": "*"}]}},
            "flowOptions.script[0].expect",
        ),
    ],
)
def test_a_text_that_answers_are_compared_with_says_something(
    tmp_path: Path, flow: str, changes: Tree, path: str, blank: str
) -> None:
    assert f"tasks[0].{path}: must not be blank" in messages(
        tmp_path, case(flow, **filled(changes, blank))
    )


def filled(value: Any, text: str) -> Any:
    """``value`` with ``text`` in every place of a star."""
    if isinstance(value, dict):
        return {key: filled(item, text) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, text) for item in value]
    return text if value == "*" else value


@pytest.mark.parametrize(
    ("flow", "changes", "path"),
    [
        ("single_turn", {"matchers": [{"kind": "message_contains", "expected": "*"}]}, "matchers["),
        (
            "plan_approval_completion",
            {"planMarkers": {"draft": "*", "revised": "b"}},
            "planMarkers.draft",
        ),
        (
            "question_resume_completion",
            {"questionAnswer": {"optionLabel": "Cobalt", "expectedMarker": "*"}},
            "questionAnswer.expectedMarker",
        ),
    ],
)
def test_a_text_that_is_blank_in_one_cell_only_is_found_there(
    tmp_path: Path, flow: str, changes: Tree, path: str
) -> None:
    text = "{{ environment_fixture_id | replace('daytona', '') }}"
    tree = case(flow, **filled(changes, text))
    tree["suites"] = [{**SUITE, "environments": ["local", "daytona"], "expectedMatrixSize": 2}]
    (message,) = messages(tmp_path, tree)
    assert message.startswith(f"suites[0]: in smoke.scripted.daytona.hello, {path}")
    assert message.endswith("must not be blank")
