from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner_e2e.catalog import is_immutable_image, load_catalog
from runner_e2e.catalog.requirements import FLOW_KEYS, REQUIREMENTS
from runner_e2e.contracts.vocabulary import FLOWS, Flow
from runner_e2e.errors import ExitCode, UsageError
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
    problems_in,
)


def messages(directory: Path, tree: Tree) -> list[str]:
    return [problem.message for problem in problems_in(directory, tree)]


def with_task(**changes: Any) -> Tree:
    return catalog_tree(tasks=[{**TASK, **changes}])


def with_profile(**changes: Any) -> Tree:
    return catalog_tree(profiles=[{**PROFILE, **changes}])


def with_suite(**changes: Any) -> Tree:
    return catalog_tree(suites=[{**SUITE, **changes}])


def with_agent(**agent: Any) -> Tree:
    return with_profile(agent={"command": ["python", "agent.py"], **agent})


def test_the_table_names_every_flow() -> None:
    assert set(REQUIREMENTS) == set(FLOWS)
    assert set(FLOW_TASKS) == set(FLOWS)


@pytest.mark.parametrize("flow", FLOWS)
def test_each_flow_has_a_case_without_a_fault(tmp_path: Path, flow: str) -> None:
    assert messages(tmp_path, catalog_tree(tasks=[flow_task(flow)])) == []


@pytest.mark.parametrize(
    ("flow", "key"), [(flow, key) for flow, rule in REQUIREMENTS.items() for key in rule.required]
)
def test_a_key_that_the_flow_needs_must_be_there(tmp_path: Path, flow: str, key: str) -> None:
    task = flow_task(flow)
    del task[key]
    assert messages(tmp_path, catalog_tree(tasks=[task])) == [
        f"tasks[0]: the flow {flow} needs {key!r}"
    ]


@pytest.mark.parametrize("flow", FLOWS)
def test_a_key_that_the_flow_has_no_use_for_is_a_mistake(tmp_path: Path, flow: Flow) -> None:
    rule = REQUIREMENTS[flow]
    unused = set(FLOW_KEYS) - {*rule.required, *rule.optional, "turnTimeoutMs"}
    everything = {key: value for task in FLOW_TASKS.values() for key, value in task.items()}
    task = {**flow_task(flow), **{key: everything[key] for key in unused}}
    assert messages(tmp_path, catalog_tree(tasks=[task])) == [
        f"tasks[0].{key}: the flow {flow} has no use for this" for key in task if key in unused
    ]


@pytest.mark.parametrize("flow", [flow for flow in FLOWS if REQUIREMENTS[flow].runs])
def test_a_run_count_that_can_never_pass_is_not_paid_for(tmp_path: Path, flow: Flow) -> None:
    task = flow_task(flow, expectedRunCount=7)
    (message,) = messages(tmp_path, catalog_tree(tasks=[task]))
    assert f"has exactly {REQUIREMENTS[flow].runs} runs, not 7" in message


def question_answer(label: str) -> Tree:
    answer = {"optionLabel": label, "expectedMarker": "x"}
    return catalog_tree(tasks=[flow_task("question_resume_completion", questionAnswer=answer)])


def test_the_answer_must_be_one_of_the_options(tmp_path: Path) -> None:
    (problem,) = problems_in(tmp_path, question_answer("Cobal"))
    assert "the answer 'Cobal' is not one of the options" in problem.message
    assert problem.hint == "did you mean 'Cobalt'?"


@pytest.mark.parametrize(
    ("flow", "options", "expected"),
    [
        ("plan_approval_completion", {"draftSteps": 0}, "flowOptions.draftSteps: must be"),
        ("plan_approval_completion", {"steps": 2}, "flowOptions: 'draftSteps' is missing"),
        ("plan_revision_acceptance", {"draftSteps": 2}, "needs 'revisedSteps'"),
        ("warm_three_turn", {"file": "a", "lines": ["1", "2"]}, "flowOptions.lines: "),
        ("agent_chat", {"script": [{"sey": "x"}]}, "flowOptions.script[0]: a step is one of"),
        ("agent_chat", {"script": [{"say": 3}]}, "flowOptions.script[0].say: must be"),
        ("agent_chat", {"script": []}, "flowOptions.script: "),
        (
            "governed_tool_review",
            {"tool": "note", "arguments": {}, "invocations": 2},
            "needs 'secondArguments'",
        ),
    ],
)
def test_the_options_of_a_flow_are_checked_where_they_are_written(
    tmp_path: Path, flow: str, options: Tree, expected: str
) -> None:
    found = messages(tmp_path, catalog_tree(tasks=[flow_task(flow, flowOptions=options)]))
    assert any(expected in message for message in found), found


@pytest.mark.parametrize(
    ("kind", "tree"),
    [
        ("profile", catalog_tree(profiles=[PROFILE, PROFILE])),
        ("task", catalog_tree(tasks=[TASK, TASK])),
        ("suite", catalog_tree(suites=[SUITE, SUITE])),
        (
            "environment",
            catalog_tree(environments=[{"id": "daytona", "label": "One"}] * 2),
        ),
    ],
)
def test_an_id_belongs_to_one_part(tmp_path: Path, kind: str, tree: Tree) -> None:
    (problem,) = problems_in(tmp_path, tree)
    assert f"the {kind} " in problem.message
    assert problem.message.endswith("is there twice")
    assert problem.hint is not None
    assert "the first one is at" in problem.hint


def test_configurations_of_one_environment_stand_side_by_side(tmp_path: Path) -> None:
    environments = [
        {"id": "daytona", "label": "Cold"},
        {"id": "daytona", "configurationKey": "warm", "label": "Warm"},
    ]
    suites = [
        {**SUITE, "environments": ["daytona"]},
        {**SUITE, "id": "warm", "environments": ["daytona/warm"]},
    ]
    catalog = load_tree(tmp_path, catalog_tree(environments=environments, suites=suites))
    assert [execution.environment.label for execution in catalog.executions] == ["Cold", "Warm"]
    assert catalog.executions[1].environment.configuration_key == "warm"


def test_a_suite_has_at_most_one_configuration_of_an_environment(tmp_path: Path) -> None:
    tree = with_suite(environments=["daytona", "daytona/warm"], expectedMatrixSize=2)
    tree["environments"] = [{"id": "daytona", "configurationKey": "warm", "label": "Warm"}]
    (message,) = messages(tmp_path, tree)
    assert "at most one configuration of daytona" in message


def test_local_and_daytona_are_there_undeclared(tmp_path: Path) -> None:
    tree = with_suite(environments=["local", "daytona"], expectedMatrixSize=2)
    local, daytona = (item.environment for item in load_tree(tmp_path, tree).executions)
    assert (local.driver, local.credential, local.daytona) == ("local", None, None)
    assert (daytona.driver, daytona.credential) == ("sandbox", "DAYTONA_API_KEY")
    assert daytona.daytona is not None
    assert (daytona.daytona.cpu, daytona.daytona.memory, daytona.daytona.disk) == (4, 4, 10)


def test_a_local_environment_has_no_sandbox(tmp_path: Path) -> None:
    tree = catalog_tree(environments=[{"id": "local", "label": "L", "daytona": {"cpu": 1}}])
    assert messages(tmp_path, tree) == [
        "environments[0].daytona: a local environment has no sandbox"
    ]


@pytest.mark.parametrize(
    ("changes", "message", "hint"),
    [
        ({"profiles": ["scriptd"]}, "there is no profile 'scriptd'", "'scripted'"),
        ({"environments": ["locl"]}, "there is no environment 'locl'", "'local'"),
        ({"environments": ["daytona/warm"]}, "there is no environment 'daytona/warm'", "daytona"),
        ({"tasks": ["helo"]}, "there is no task 'helo'", "'hello'"),
        ({"tasks": ["hello", "hello"]}, "the task 'hello' is named twice", None),
        (
            {"excludedExecutionIds": ["smoke.scripted.local.helo"]},
            "the suite has no cell 'smoke.scripted.local.helo' to exclude",
            "'smoke.scripted.local.hello'",
        ),
    ],
)
def test_a_suite_names_what_there_is(
    tmp_path: Path, changes: Tree, message: str, hint: str | None
) -> None:
    (problem,) = problems_in(tmp_path, with_suite(**changes))
    assert message in problem.message
    assert (hint or "") in (problem.hint or "")


def test_a_wrong_size_says_both_numbers_and_how_they_come_about(tmp_path: Path) -> None:
    tree = grid_tree(3, 4)
    tree["suites"][0] |= {
        "expectedMatrixSize": 12,
        "excludedExecutionIds": ["smoke.profile-0.local.case-0"],
    }
    (message,) = messages(tmp_path, tree)
    assert message == (
        "suites[0].expectedMatrixSize: the suite has 11 cells, not 12: 3 supported pairs of "
        "profile and environment, 4 tasks, 1 excluded"
    )


def test_a_profile_runs_only_where_it_is_supported(tmp_path: Path) -> None:
    tree = grid_tree(2, 1, environments=("local", "daytona"))
    tree["profiles"][0]["supportedEnvironments"] = ["local"]
    tree["suites"][0]["expectedMatrixSize"] = 3
    assert [item.id for item in load_tree(tmp_path, tree).executions] == [
        "smoke.profile-0.local.case-0",
        "smoke.profile-1.local.case-0",
        "smoke.profile-1.daytona.case-0",
    ]


def test_an_execution_id_must_fit_into_the_names_made_from_it(tmp_path: Path) -> None:
    fitting = "t" * (200 - len("smoke.scripted.local."))
    for name, count in ((fitting, 0), (fitting + "t", 1)):
        tree = catalog_tree(tasks=[{**TASK, "id": name}], suites=[{**SUITE, "tasks": [name]}])
        assert len(messages(tmp_path, tree)) == count


def test_a_product_beyond_the_design_is_refused_before_it_is_made(tmp_path: Path) -> None:
    tree = grid_tree(257, 256)
    assert messages(tmp_path, tree)[0].endswith("has 65792 cells; at most 65536 are planned")


def test_an_execution_has_the_groups_of_all_its_parts_once(tmp_path: Path) -> None:
    tree = with_suite(environments=["daytona"], groups=["quick", "native"])
    (execution,) = load_tree(tmp_path, tree).executions
    assert execution.groups == ("quick", "native", "daytona", "core")
    assert execution.required_credentials == ("OPENAI_API_KEY", "DAYTONA_API_KEY")


BODY = "x7Kq2mVt9Rb4Wz8Lc1Np6Jd3"
KEYS = {
    "anthropic": f"sk-ant-api03-{BODY}",
    "openrouter": f"sk-or-v1-{BODY}",
    "openai": f"sk-proj-{BODY}",
    "older openai": f"sk-{BODY}",
    "daytona": f"dtn_{BODY}",
    "github": f"ghp_{BODY}{BODY[:12]}",
    "fine github": f"github_pat_{BODY}",
    "aws": "AKIA" + "Q2W3E4R5T6Y7U2I3",
    "google": f"AIza{BODY}{BODY[:11]}",
    "slack": f"xoxb-{BODY}",
    "private": f"-----BEGIN PRIVATE KEY-----\n{BODY * 3}\n-----END PRIVATE KEY-----",
}
"""What evidence knows the shapes of; one table decides what a catalog may hold and print."""


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "openai-api-key", "A_ACCESS_TOKEN", "A_SECRET"])
def test_a_raw_secret_is_refused_and_never_repeated(tmp_path: Path, name: str) -> None:
    (problem,) = problems_in(tmp_path, with_agent(env={name: "plain"}))
    assert "plain" not in str(problem)
    assert "$secretRef" in (problem.hint or "")


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_what_is_shaped_like_a_key_is_refused_anywhere_in_a_payload(
    tmp_path: Path, key: str
) -> None:
    for agent in (
        {"env": {"NOTE": f"use {key} now"}},
        {"command": ["run", f"--key={key}"]},
        {"env": {key: "x"}},
    ):
        problems = problems_in(tmp_path, with_agent(**agent))
        assert any("$secretRef" in (problem.hint or "") for problem in problems), agent
        assert BODY not in "".join(map(str, problems))
        assert key not in "".join(map(str, problems))


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize(
    "wrong",
    [
        lambda key: with_profile(credential=key),
        lambda key: with_profile(generation=key),
        lambda key: with_profile(generation="x" * 55 + f" {key}"),
        lambda key: with_agent(env={"KEY": {"$secretRef": key}}),
        lambda key: with_task(expectedRunCount=key),
        lambda key: with_task(matchers=[{"kind": "file_exists", "path": f"/{key}"}]),
        lambda key: with_task(matchers=[{"kind": key}]),
        lambda key: with_task(**{key: 1}),
        lambda key: with_suite(profiles=["scripted", key]),
        lambda key: catalog_tree(credentials=[key]),
        lambda key: catalog_tree(include=[key]),
    ],
)
def test_a_key_in_the_wrong_place_is_reported_without_repeating_it(
    tmp_path: Path, key: str, wrong: Callable[[str], Tree]
) -> None:
    problems = problems_in(tmp_path, wrong(key))
    assert problems
    said = "".join(map(str, problems))
    assert key not in said
    assert key[8:28] not in said


@pytest.mark.parametrize(
    "agent",
    [
        {"env": {"OPENAI_API_KEY": ""}},
        {"env": {"OPENAI_API_KEY": {"$secretRef": "OPENAI_API_KEY"}}},
        {"env": {"NOTE": "task-list and desk-lamp-arrangement"}},
        {"env": {"API_KEY_NAME": "primary"}},
        {"command": ["run", "sk-short"]},
    ],
)
def test_what_is_no_secret_is_not_refused(tmp_path: Path, agent: Tree) -> None:
    assert messages(tmp_path, with_agent(**agent)) == []


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ({"$secretRef": "NOT_DECLARED"}, "'NOT_DECLARED' is not a known credential"),
        ({"$secretRef": 3}, "must be the name of a credential"),
        ({"$secretRef": "OPENAI_API_KEY", "or": "x"}, "$secretRef must stand alone"),
    ],
)
def test_a_secret_reference_names_a_credential_alone(
    tmp_path: Path, reference: Tree, expected: str
) -> None:
    found = messages(tmp_path, with_agent(env={"KEY": reference}))
    assert any(expected in message for message in found)


def test_a_declared_credential_is_known(tmp_path: Path) -> None:
    tree = with_profile(credential="MY_KEY", agent={"command": ["a"], "env": {"K": "v"}})
    assert len(messages(tmp_path, tree)) == 1
    assert messages(tmp_path, {**tree, "credentials": ["MY_KEY"]}) == []


def test_the_credential_of_an_environment_is_not_a_profiles(tmp_path: Path) -> None:
    (message,) = messages(tmp_path, with_profile(credential="DAYTONA_API_KEY"))
    assert "belongs to the environment" in message


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ({}, "profiles[0].agent: needs 'command' or 'preset'"),
        ({"command": []}, "profiles[0].agent.command: "),
        ({"command": ["a"], "envs": {}}, "profiles[0].agent.envs: this field is unknown"),
        ({"command": ["a"], "env": {"N": 3}}, "profiles[0].agent.env.N: must be"),
        ({"command": ["{{ marker }}"]}, "the template names 'marker'"),
    ],
)
def test_an_agent_of_the_command_target_is_a_command(
    tmp_path: Path, agent: Tree, expected: str
) -> None:
    (message,) = messages(tmp_path, with_profile(agent=agent))
    assert expected in message


def test_an_agent_of_another_target_is_that_targets_business(tmp_path: Path) -> None:
    tree = with_profile(agent={"adapterConfig": {"timeoutSec": 3}})
    tree["target"] = {"kind": "paperclip", "version": "1"}
    assert messages(tmp_path, tree) == []


@pytest.mark.parametrize(
    ("matcher", "expected"),
    [
        ({"kind": "message_regex", "pattern": "a", "flags": "v"}, "matchers[0].pattern:"),
        ({"kind": "message_regex", "pattern": "[{{ nonce }"}, "matchers[0].pattern:"),
        ({"kind": "file_exists", "path": "/etc/passwd"}, "matchers[0].path:"),
        ({"kind": "json_schema", "schema": {"$ref": "https://x.example/a"}}, ".schema:"),
        ({"kind": "environment", "expected": "{{ nonce }}"}, "filled in, the matcher: "),
        ({"kind": "environment", "expected": "remote"}, ".expected: must be 'local' or 'daytona'"),
        ({"kind": "message_occurrences", "expected": "x", "count": -1}, ".count: must be"),
        ({"expected": "x"}, "matchers[0]: 'kind' is missing"),
        ("x", "matchers[0]: "),
    ],
)
def test_a_matcher_that_could_not_be_evaluated_is_refused(
    tmp_path: Path, matcher: object, expected: str
) -> None:
    (message,) = messages(tmp_path, with_task(matchers=[matcher]))
    assert expected in message


def test_a_fault_in_one_matcher_does_not_hide_one_in_the_next(tmp_path: Path) -> None:
    matchers = [{"kind": "nonsense"}, {"kind": "message_regex", "pattern": "("}]
    assert len(messages(tmp_path, with_task(matchers=matchers, prompt="{{ nope }}"))) == 3


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"schema": "runner-e2e.catalog/v2"}, "schema: must be 'runner-e2e.catalog/v1'"),
        ({"target": {"kind": "command", "version": "1"}}, "target.version: this field is unknown"),
        ({"target": {"kind": "comand"}}, "target.kind: must be"),
        ({"profile": []}, "profile: this field is unknown"),
        ({"tasks": {}}, "tasks: must be a"),
        ({"tasks": [3]}, "tasks[0]: must be a mapping"),
        ({"suites": None}, "suites: must be"),
        ({"credentials": ["lower"]}, "credentials[0]: must be capital letters"),
        ({"expected_matrix_size": 1}, "expected_matrix_size: this field is unknown"),
    ],
)
def test_the_file_itself_has_a_shape(tmp_path: Path, change: Tree, expected: str) -> None:
    found = messages(tmp_path, {**catalog_tree(), **change})
    assert any(expected in message for message in found), found


@pytest.mark.parametrize("field", ["title", "marker", "prompt"])
def test_a_text_that_says_nothing_is_refused(tmp_path: Path, field: str) -> None:
    assert messages(tmp_path, with_task(**{field: " \n"})) == [
        f"tasks[0].{field}: must not be blank"
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"prompt": "{% if environment_fixture_id == 'daytona' %}{{ 1 / 0 }}{% endif %}a"},
            "prompt cannot be filled in: division by zero",
        ),
        (
            {
                "matchers": [
                    {
                        "kind": "environment",
                        "expected": "{{ environment_fixture_id | replace('daytona', 'remote') }}",
                    }
                ]
            },
            "matchers[0]: ",
        ),
        (
            {
                "matchers": [
                    {
                        "kind": "message_regex",
                        "pattern": "{{ environment_fixture_id | replace('daytona', '(') }}",
                    }
                ]
            },
            "matchers[0]: the regex",
        ),
    ],
)
def test_what_goes_wrong_in_one_cell_only_is_found_before_it_is_paid_for(
    tmp_path: Path, changes: Tree, expected: str
) -> None:
    tree = with_suite(environments=["local", "daytona"], expectedMatrixSize=2)
    tree["tasks"][0] |= changes
    (message,) = messages(tmp_path, tree)
    assert message.startswith("suites[0]: in smoke.scripted.daytona.hello, ")
    assert expected in message


def test_a_value_nested_beyond_reason_is_refused(tmp_path: Path) -> None:
    deep: object = "x"
    for _ in range(300):
        deep = [deep]
    found = messages(tmp_path, with_agent(deep=deep))
    assert "nested more than 100 levels deep" in found


@pytest.mark.parametrize(
    ("image", "immutable"),
    [
        ("registry.example/a/b@sha256:" + "0" * 64, True),
        ("a@sha256:" + "AB" * 32, True),
        ("a:latest", False),
        ("a@sha256:" + "0" * 63, False),
        ("a@sha256:" + "0" * 65, False),
        ("a b@sha256:" + "0" * 64, False),
        ("@sha256:" + "0" * 64, False),
        ("", False),
    ],
)
def test_an_image_is_named_by_its_digest(image: str, immutable: bool) -> None:
    assert is_immutable_image(image) is immutable


def test_names_are_those_of_json_only(tmp_path: Path) -> None:
    task = copy.deepcopy(TASK)
    task["work_mode"] = task.pop("workMode")
    found = messages(tmp_path, catalog_tree(tasks=[task]))
    assert found == [
        "tasks[0]: 'workMode' is missing",
        "tasks[0].work_mode: this field is unknown",
    ]


def test_a_list_is_no_catalog(tmp_path: Path) -> None:
    path = tmp_path / "runner-e2e.yaml"
    path.write_text("- 1\n")
    with pytest.raises(UsageError, match="a catalog is a mapping"):
        load_catalog(path)


def test_a_catalog_that_is_not_there_says_what_to_do(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.yaml", tmp_path):
        with pytest.raises(UsageError) as caught:
            load_catalog(path)
        assert caught.value.exit_code == ExitCode.USAGE
        assert "--catalog" in (caught.value.hint or "")


def test_quarantine_names_a_cell_that_is_planned(tmp_path: Path) -> None:
    tree = grid_tree(1, 2)
    entry = {"owner": "us", "expires": "2030-01-31", "reason": "known"}
    tree["suites"][0] |= {
        "excludedExecutionIds": ["smoke.profile-0.local.case-1"],
        "expectedMatrixSize": 1,
        "quarantine": [
            {"executionId": f"smoke.profile-0.local.case-{index}", **entry} for index in (0, 0, 1)
        ],
    }
    found = messages(tmp_path, tree)
    assert len(found) == 2
    assert "is in quarantine twice" in found[0]
    assert "the suite has no cell 'smoke.profile-0.local.case-1'" in found[1]


def test_the_profiles_that_no_environment_of_the_suite_goes_with_are_named(tmp_path: Path) -> None:
    tree = with_profile(supportedEnvironments=["daytona"])
    (problem,) = problems_in(tmp_path, tree)

    assert "0 supported pairs" in problem.message
    assert problem.hint == "scripted supports daytona and not local"


def test_a_list_that_is_none_or_empty_is_told_in_words_of_yaml(tmp_path: Path) -> None:
    said = messages(tmp_path, with_agent(command="python")) + messages(
        tmp_path, with_agent(command=[])
    )

    assert [message.partition(": ")[2] for message in said] == [
        "must be a list; not 'python'",
        "must have at least 1 item",
    ]
