"""Every case of the example on a real server: verdict, exact runs, and what the result says."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from tests.live.paperclip.live import cell, changed, example, run_live, turn_file

IDS = [one.id for one in example().executions]


@pytest.mark.parametrize("execution_id", IDS)
def test_every_case_passes_with_exactly_its_runs(execution_id: str, directory: Path) -> None:
    execution = cell(execution_id)
    ran = run_live(execution, directory)

    assert ran.verdict == (None, None)
    assert ran.result.status == "passed"
    runs = execution.task.expected_run_count
    assert len(ran.result.run_ids or ()) == runs
    timings = ran.result.turn_timings or ()
    assert [timing.run_id for timing in timings] == list(ran.result.run_ids or ())
    assert all(timing.scheduler_latency_ms is not None for timing in timings)
    llm = ran.result.billing.llm if ran.result.billing else None
    assert llm is not None
    # A run that was stopped reports nothing any more, and unknown is not zero.
    reported = [run for run in ran.observation()["runs"] if run["usageJson"]]
    metered = execution.profile.id == "metered"
    stopped = execution.task.id == "chat"
    assert len(reported) == (runs - stopped if metered else 0)
    assert llm.reported_cost_usd == len(reported) * 0.25
    status = "partial" if stopped else "reported"
    assert llm.cost_status == (status if metered else "unavailable")


def test_a_single_turn_is_one_assigned_run_in_the_local_environment(directory: Path) -> None:
    ran = run_live(cell("live.scripted.local.answer"), directory)

    assert (ran.result.issue_identifier or "").startswith("LIV-")
    (run,) = ran.observation()["runs"]
    assert run["invocationSource"] == "assignment"
    assert run["environment"]["driver"] == "local"
    assert run["environmentLease"]["status"] == "released"
    detail = turn_file(ran, 1, "run.json")
    assert detail["contextSnapshot"]["wakeReason"] == "issue_assigned"
    assert ran.evidence("turns/1/stdout.log") == b"orders: ['say']\n"
    assert turn_file(ran, 1, "events.json")


def test_a_conversation_is_the_issues_thread_and_a_new_session_is_another_one(
    directory: Path,
) -> None:
    ran = run_live(cell("metered.metered.local.chat"), directory)

    assert ran.observation()["conversation"] == "issue_thread"
    sessions = [turn_file(ran, turn, "run.json")["sessionIdAfter"] for turn in (1, 2, 4)]
    assert sessions[0] == sessions[1] is not None
    assert sessions[2] not in {None, sessions[0]}
    statuses = sorted(run["status"] for run in ran.observation()["runs"])
    assert statuses == ["cancelled", "succeeded", "succeeded", "succeeded"]


def test_a_cost_that_the_agent_enters_into_the_ledger_is_the_executions_cost(
    directory: Path,
) -> None:
    execution = changed(cell("live.scripted.local.answer"), prompt="cents: 42\nsay: {{ marker }}")
    ran = run_live(execution, directory)
    assert ran.verdict == (None, None)
    billing = ran.result.billing
    assert billing is not None
    assert (billing.llm.reported_cost_usd, billing.llm.cost_status) == (0.42, "reported")


def test_a_credential_reaches_the_agent_as_a_secret_of_the_company_and_nothing_else(
    directory: Path,
) -> None:
    value = "planted-value-4711-of-a-credential"
    execution = changed(
        cell("live.scripted.local.answer"),
        agent={"env": {"OPENAI_API_KEY": {"$secretRef": "OPENAI_API_KEY"}}},
        prompt="digest: OPENAI_API_KEY",
        matchers=(),
    )
    ran = run_live(execution, directory, environ={**os.environ, "OPENAI_API_KEY": value})

    assert ran.verdict == (None, None)
    said = ran.observation()["comments"][0]["body"]
    assert said == hashlib.sha256(value.encode()).hexdigest()
    fixtures = json.loads(ran.evidence("snapshots/fixtures.json"))
    reference = fixtures["agent"]["adapterConfig"]["env"]["OPENAI_API_KEY"]
    assert reference["type"] == "secret_ref"
    assert reference["secretId"] == fixtures["secretIds"]["OPENAI_API_KEY"]
