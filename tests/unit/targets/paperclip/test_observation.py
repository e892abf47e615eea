from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner_e2e.flows import (
    Interaction,
    Observation,
    PlanConfirmation,
    QuestionAsked,
    ToolReview,
)
from runner_e2e.matchers import WorkspaceFiles
from runner_e2e.targets.paperclip.client import Answer
from runner_e2e.targets.paperclip.observation import Known, Snapshot, Thread, observation_of
from runner_e2e.targets.paperclip.views import LeaseView, RunRow

RUN: dict[str, Any] = {
    "runId": "run-1",
    "status": "succeeded",
    "adapterType": "process",
    "createdAt": "2026-11-30T20:00:00.000Z",
    "startedAt": "2026-11-30T20:00:00.100Z",
    "finishedAt": "2026-11-30T20:00:01.000Z",
    "environment": {"id": "e", "driver": "local"},
    "environmentLease": {"id": "l", "status": "released"},
}
INTERACTION: dict[str, Any] = {
    "id": "i",
    "kind": "request_confirmation",
    "status": "pending",
    "createdAt": "2026-11-30T20:00:00.500Z",
    "payload": {},
}
COSTS = {"costCents": 0, "inputTokens": 0, "cachedInputTokens": 0, "outputTokens": 0}
PLAN = {"type": "issue_document", "key": "plan", "revisionId": "r2"}
QUESTION = {
    "id": "colour",
    "prompt": "Which colour?",
    "selectionMode": "single",
    "required": True,
    "options": [{"id": "a", "label": "Amber"}, {"id": "c", "label": "Cobalt"}],
}


def _answer(value: Any) -> Answer:
    return Answer(call="GET /something", content=json.dumps(value).encode())


def _observe(
    *,
    runs: list[dict[str, Any]] | None = None,
    interactions: list[dict[str, Any]] | None = None,
    comments: list[dict[str, Any]] | None = None,
    detail: dict[str, Any] | None = None,
    costs: dict[str, Any] | None = None,
) -> Observation:
    rows = [RUN] if runs is None else runs
    thread = Thread(
        issue=_answer({"id": "issue", "identifier": "LIV-1", "status": "done", "extra": 1}),
        runs=_answer(rows),
        comments=_answer(comments or []),
        interactions=_answer(interactions or []),
        costs=_answer(COSTS | (costs or {})),
        revisions=_answer(
            [
                {"id": "r2", "revisionNumber": 2, "body": "second"},
                {"id": "r1", "revisionNumber": 1, "body": "first"},
            ]
        ),
    )
    snapshot = Snapshot(
        threads=(thread,),
        details={row["runId"]: _answer({"id": row["runId"], **(detail or {})}) for row in rows},
        tasks=0,
        producing=frozenset(),
    )
    known = Known(
        submitted=["2026-11-30T19:59:59.900Z"],
        adapter_type="process",
        provider="scripted",
        generation=0,
        invocations=None,
        files=WorkspaceFiles(Path()),
    )
    return observation_of(snapshot, known)


def _interaction(**changes: Any) -> Interaction:
    (found,) = _observe(interactions=[INTERACTION | changes]).interactions
    return found


def test_a_plan_to_decide_on_names_its_revision() -> None:
    found = _interaction(payload={"target": PLAN})
    assert isinstance(found, PlanConfirmation)
    assert (found.status, found.revision_id) == ("pending", "r2")


@pytest.mark.parametrize("payload", [{}, {"target": {}}, {"target": PLAN | {"key": "notes"}}])
def test_a_confirmation_of_anything_else_names_no_revision(payload: dict[str, Any]) -> None:
    found = _interaction(payload=payload)
    assert isinstance(found, PlanConfirmation)
    assert found.revision_id is None


def test_revisions_come_in_the_order_of_their_numbers() -> None:
    assert [one.body for one in _observe().plan_revisions] == ["first", "second"]


def test_an_answered_question_says_which_option_was_chosen() -> None:
    found = _interaction(
        kind="ask_user_questions",
        status="answered",
        payload={"questions": [QUESTION]},
        result={"answers": [{"questionId": "colour", "optionIds": ["c"]}]},
    )
    assert isinstance(found, QuestionAsked)
    assert (found.question_id, found.options) == ("colour", ("Amber", "Cobalt"))
    assert (found.status, found.answers) == ("answered", ("Cobalt",))


@pytest.mark.parametrize(
    "questions",
    [
        [],
        [QUESTION, QUESTION],
        [QUESTION | {"selectionMode": "multi"}],
        [QUESTION | {"required": False}],
    ],
)
def test_a_question_of_another_form_is_never_taken_for_the_one_of_a_case(
    questions: list[dict[str, Any]],
) -> None:
    found = _interaction(kind="ask_user_questions", payload={"questions": questions})
    assert isinstance(found, QuestionAsked)
    assert found.question_id == "ask_user_questions of another form"


def test_an_interaction_of_an_unknown_kind_still_waits_for_somebody() -> None:
    observation = _observe(interactions=[INTERACTION | {"kind": "suggest_tasks"}])
    assert len(observation.pending) == 1


@pytest.mark.parametrize(
    ("summary", "arguments"),
    [('{"text": "note"}', {"text": "note"}), ("[1]", {}), ('{"text": "no', {}), (None, {})],
)
def test_a_governed_call_is_read_from_what_a_person_sees(
    summary: str | None, arguments: dict[str, Any]
) -> None:
    action = {
        "actionRequestId": "a",
        "toolDisplayName": "record_note",
        "argumentsSummaryJson": summary,
    }
    found = _interaction(payload={"toolAction": action})
    assert isinstance(found, ToolReview)
    assert (found.tool, found.arguments) == ("record_note", arguments)


def test_only_the_agents_comments_are_its_messages() -> None:
    rows = [
        {"id": str(number), "authorType": author, "createdByRunId": "run-1", "body": author}
        for number, author in enumerate(["user", "agent", "system"])
    ]
    assert [one.text for one in _observe(comments=rows).messages] == ["agent"]


def test_a_run_says_where_it_was_and_what_it_used() -> None:
    detail = {
        "sessionIdAfter": "s",
        "usageJson": {"provider": "other", "model": "m", "inputTokens": 1},
        "contextSnapshot": {"interactionId": "i"},
    }
    (run,) = _observe(detail=detail).runs
    assert (run.environment, run.runtime_mode, run.adapter_type) == ("local", "legacy", "process")
    assert (run.provider, run.model, run.session_id) == ("other", "m", "s")
    assert run.interaction_id == "i"
    assert run.usage == detail["usageJson"]


def test_what_only_the_ledger_knows_is_the_usage_of_the_last_run() -> None:
    second = RUN | {"runId": "run-2", "createdAt": "2026-11-30T20:01:00.000Z"}
    costs = {"costCents": 42, "inputTokens": 100, "outputTokens": 7}
    first, last = _observe(runs=[RUN, second], costs=costs).runs
    assert first.usage is None
    assert last.usage is not None
    assert (last.usage["costUsd"], last.usage["outputTokens"]) == (0.42, 7)


def test_a_ledger_is_not_counted_on_top_of_what_the_runs_report() -> None:
    (run,) = _observe(detail={"usageJson": {"costUsd": 0.42}}, costs={"costCents": 42}).runs
    assert run.usage == {"costUsd": 0.42}


def test_an_empty_ledger_is_not_a_price_of_zero() -> None:
    assert _observe().runs[0].usage is None


def test_a_sandbox_is_daytona_and_a_runner_adapter_is_native() -> None:
    row = RUN | {"adapterType": "runner_codex", "environment": {"id": "e", "driver": "sandbox"}}
    (run,) = _observe(runs=[row]).runs
    assert (run.environment, run.runtime_mode) == ("daytona", "native")


def test_runs_come_in_order_of_time_and_a_paused_agent_was_stopped() -> None:
    later = RUN | {
        "runId": "run-2",
        "createdAt": "2026-11-30T20:01:00.000Z",
        "status": "cancelled",
        "errorCode": "agent_paused",
    }
    runs = _observe(runs=[later, RUN]).runs
    assert [(run.id, run.turn, run.code) for run in runs] == [
        ("run-1", 1, None),
        ("run-2", 2, "stopped"),
    ]


@pytest.mark.parametrize(
    ("status", "lease", "settled"),
    [
        ("running", "active", False),
        ("queued", None, False),
        ("succeeded", "active", False),
        ("succeeded", "released", True),
        ("cancelled", "expired", True),
        ("failed", None, True),
    ],
)
def test_a_run_is_settled_once_it_is_over_and_holds_no_lease(
    status: str, lease: str | None, settled: bool
) -> None:
    row = RunRow(
        run_id="r",
        status=status,
        created_at="2026-11-30T20:00:00.000Z",
        environment_lease=LeaseView(id="l", status=lease) if lease else None,
    )
    assert row.settled is settled
