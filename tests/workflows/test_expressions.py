"""Our expressions, evaluated by GitHub's own engine on what our own planner writes."""

from __future__ import annotations

import pytest

from runner_e2e.planning import github_outputs
from tests.support.documents import make_plan
from tests.workflows.toolbox import Json, Language, shipped

IDS = [f"smoke.scripted.local.c{number}" for number in range(3)]


def outputs_of(count: int) -> dict[str, str]:
    return github_outputs(make_plan(IDS[:count], catalog=IDS))


def needs(
    plan: dict[str, str], *, paid: str = "true", approve: str = "skipped", result: str = "success"
) -> Json:
    return {
        "authorize": {"result": "success", "outputs": {"paid": paid}},
        "plan": {"result": result, "outputs": plan},
        "approve": {"result": approve, "outputs": {}},
    }


def condition(job: str) -> str:
    return str(shipped("campaign.yml")["jobs"][job]["if"])


@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_matrix_is_the_plan_and_runs_when_there_is_something(
    language: Language, count: int
) -> None:
    contexts = {"needs": needs(outputs_of(count)), "inputs": {"approval": ""}}
    strategy = shipped("campaign.yml")["jobs"]["execute"]["strategy"]
    matrix = language.evaluate(strategy["matrix"], contexts)
    assert [row["executionId"] for row in matrix["include"]] == IDS[:count]
    assert language.evaluate(condition("execute"), contexts) is (count > 0)
    assert language.evaluate(condition("execute-shards"), contexts) is False
    assert language.evaluate(strategy["max-parallel"], contexts) >= 1
    assert language.evaluate(condition("aggregate"), contexts) is (count > 0)


def test_a_planner_that_was_skipped_leaves_an_empty_matrix_and_no_error(
    language: Language,
) -> None:
    contexts = {"needs": needs({}, result="skipped"), "inputs": {"approval": ""}}
    jobs = shipped("campaign.yml")["jobs"]
    for job in ("execute", "execute-shards"):
        assert language.evaluate(condition(job), contexts) is False
        matrix = language.evaluate(jobs[job]["strategy"]["matrix"], contexts)
        assert matrix == {"include": []}
    assert language.evaluate(jobs["execute"]["strategy"]["max-parallel"], contexts) == 1
    assert language.evaluate(jobs["execute"]["timeout-minutes"], contexts) == 35
    assert language.evaluate(condition("aggregate"), contexts) is False


def test_shards_run_instead_of_the_plain_matrix(language: Language) -> None:
    plan = {
        "matrix": '{"include":[]}',
        "has_jobs": "true",
        "shards": '{"include":[{"shard":0,"count":1,"maxParallel":3,"matrix":'
        '{"include":[{"executionId":"a.b.local.c"}]}}]}',
    }
    contexts = {"needs": needs(plan), "inputs": {"approval": ""}}
    assert language.evaluate(condition("execute"), contexts) is False
    assert language.evaluate(condition("execute-shards"), contexts) is True
    job = shipped("campaign.yml")["jobs"]["execute-shards"]
    (shard,) = language.evaluate(job["strategy"]["matrix"], contexts)["include"]
    handed_on = language.evaluate(job["with"]["matrix"], {"matrix": shard})
    called = shipped("execute.yml")["jobs"]["execute"]["strategy"]
    contexts = {"inputs": {"matrix": handed_on, "max-parallel": 3}}
    assert language.evaluate(called["matrix"], contexts) == {
        "include": [{"executionId": "a.b.local.c"}]
    }
    assert language.evaluate(called["max-parallel"], contexts) == 3


def test_a_matrix_that_github_dropped_runs_nothing_and_is_not_taken_for_none(
    language: Language,
) -> None:
    plan = {**outputs_of(1), "matrix": ""}
    contexts = {"needs": needs(plan), "inputs": {"approval": ""}}
    assert language.evaluate(condition("execute"), contexts) is False
    assert language.evaluate(condition("aggregate"), contexts) is True
    refusal = shipped("campaign.yml")["jobs"]["aggregate"]["steps"][0]["if"]
    assert language.evaluate(refusal, contexts) is True
    assert language.evaluate(refusal, {"needs": needs(outputs_of(1))}) is False


@pytest.mark.parametrize("status", ["success", "failure", "cancelled"])
def test_results_are_merged_whatever_became_of_the_legs(language: Language, status: str) -> None:
    contexts = {"needs": needs(outputs_of(3))}
    assert language.evaluate(condition("aggregate"), contexts, status) is True


def test_nothing_starts_after_a_cancel(language: Language) -> None:
    contexts = {"needs": needs(outputs_of(3)), "inputs": {"approval": ""}}
    assert language.evaluate(condition("execute"), contexts, "cancelled") is False


@pytest.mark.parametrize(
    ("approval", "approve", "runs"),
    [
        ("", "skipped", True),
        ("reviewed", "success", True),
        ("reviewed", "failure", False),
        ("reviewed", "cancelled", False),
        ("reviewed", "skipped", False),
    ],
)
def test_legs_wait_for_an_approval_where_one_is_asked_for(
    language: Language, approval: str, approve: str, runs: bool
) -> None:
    contexts = {"needs": needs(outputs_of(1), approve=approve), "inputs": {"approval": approval}}
    # approve stands before the legs, and failed or not, success() is not what they ask.
    assert language.evaluate(condition("execute"), contexts, "failure") is runs


@pytest.mark.parametrize(
    ("event", "head", "login", "asked"),
    [
        ("workflow_dispatch", None, None, True),
        ("schedule", None, None, True),
        ("pull_request", "acme/app", "octocat", True),
        ("pull_request", "stranger/app", "octocat", False),
        ("pull_request", None, "octocat", False),
        ("pull_request", "acme/app", "dependabot[bot]", False),
    ],
)
def test_pull_requests_from_outside_are_not_asked_who_they_are_and_do_not_spend(
    language: Language, event: str, head: str | None, login: str | None, asked: bool
) -> None:
    github = {"event_name": event, "repository": "acme/app", "event": {}}
    if event == "pull_request":
        repo = {"full_name": head} if head else None
        github["event"] = {"pull_request": {"head": {"repo": repo}, "user": {"login": login}}}
    authorize = shipped("campaign.yml")["jobs"]["authorize"]
    assert language.evaluate(authorize["steps"][0]["if"], {"github": github}) is asked
    outcome = {"steps": {"actor": {"outcome": "success" if asked else "skipped"}}}
    paid = language.evaluate(authorize["outputs"]["paid"], outcome)
    contexts = {
        "needs": needs(outputs_of(1), paid="true" if paid else "false"),
        "inputs": {"approval": "", **dict.fromkeys(("suite", "id"), "")},
    }
    for job in ("execute", "aggregate"):
        assert language.evaluate(condition(job), contexts) is asked


@pytest.mark.parametrize(
    ("credential", "daytona"),
    [
        ("OPENAI_API_KEY", False),
        ("ANTHROPIC_API_KEY", True),
        ("OPENROUTER_API_KEY", False),
        ("GEMINI_API_KEY", True),
        ("API_KEY", False),
    ],
)
def test_a_leg_gets_one_credential_and_daytona_s_only_for_daytona(
    language: Language, credential: str, daytona: bool
) -> None:
    names = [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "OPENROUTER_API_KEY",
        "CATALOG_CREDENTIAL",
        "DAYTONA_API_KEY",
    ]
    contexts = {
        "matrix": {"credentialName": credential, "needsDaytona": daytona},
        "secrets": {name: f"value of {name}" for name in names},
    }
    steps = shipped("campaign.yml")["jobs"]["execute"]["steps"]
    (env,) = (step["env"] for step in steps if step["name"] == "Run the execution")
    given = {name: language.evaluate(value, contexts) for name, value in env.items()}
    expected = {credential if credential in names else "CATALOG_CREDENTIAL"}
    expected |= {"DAYTONA_API_KEY"} if daytona else set()
    assert {name for name, value in given.items() if value} == expected
    assert all(value in {"", f"value of {name}"} for name, value in given.items())


def test_the_trusted_code_is_what_github_says_before_what_an_input_says(
    language: Language,
) -> None:
    outputs = shipped("campaign.yml")["jobs"]["authorize"]["outputs"]
    github = {"repository": "acme/app", "sha": "c" * 40}
    inputs = {"tool-repository": "stranger/fake", "tool-ref": "b" * 40}
    job = {"workflow_repository": "acme/runner-e2e", "workflow_sha": "a" * 40}
    named = {"github": github, "inputs": inputs, "job": job}
    assert language.evaluate(outputs["tool-sha"], named) == "a" * 40
    assert language.evaluate(outputs["tool-repository"], named) == "acme/runner-e2e"
    # GitHub Enterprise Server does not say it.
    unnamed = {"github": github, "inputs": inputs, "job": {}}
    assert language.evaluate(outputs["tool-sha"], unnamed) == "b" * 40


@pytest.mark.parametrize(
    ("evidence", "outcome", "kept"),
    [
        ("always", "success", True),
        ("always", "failure", True),
        ("on-failure", "success", False),
        ("on-failure", "failure", True),
        ("on-failure", "cancelled", True),
        ("never", "failure", False),
    ],
)
def test_evidence_is_kept_as_asked(
    language: Language, evidence: str, outcome: str, kept: bool
) -> None:
    steps = shipped("execute.yml")["jobs"]["execute"]["steps"]
    (asked,) = (step["if"] for step in steps if step["name"] == "Upload the evidence")
    contexts = {"env": {"EVIDENCE": evidence}, "steps": {"run": {"outcome": outcome}}}
    assert language.evaluate(asked, contexts, "failure") is kept
