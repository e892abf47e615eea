"""Flows over scripted turns: what decides, and what an agent's words cannot decide."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner_e2e.flows import Capability, Deadline, DuplicateRun, TurnOrder
from runner_e2e.flows.workplace import TurnEnd
from runner_e2e.targets.command import CommandSession
from tests.support.scripted import NONCE, Play, ended, lines

MARKER = f"E2E_OK_{NONCE}"
DONE = ended({"type": "message", "text": MARKER})

TRIGGERS = (
    *("429", "503", "rate limit", "ECONNRESET", "ECONNREFUSED", "socket hang up"),
    *("network error", "service unavailable", "provider timed out", "server failed", "timeout"),
    *("harness create", "daytona connection refused", "RPC call environmentSyncIn timed out"),
    *("browser bootstrap failed before task creation", "secret must not leak", "plaintext"),
    *("cleanup failed", "teardown", "lease release", "missing credential", "invalid api key"),
    *("unauthorized", "forbidden", "qualification", "immutable image digest", "interrupted"),
    *("budget has been exceeded", "insufficient_quota", "overloaded", "deadline", "retryable=true"),
)
words = st.lists(st.sampled_from(TRIGGERS), min_size=1, max_size=6).map(" ... ".join)

events = st.one_of(
    st.builds(lambda text: {"type": "message", "text": text}, words),
    st.builds(lambda text: {"type": "plan", "body": text}, words),
    st.builds(
        lambda text: {"type": "question", "id": text, "prompt": text, "options": [text, text]},
        words,
    ),
    st.builds(
        lambda text: {"type": "tool_request", "tool": text[:99], "arguments": {text: 1}}, words
    ),
    st.builds(lambda text: {"type": "usage", "error": text, "status": 503}, words),
    st.builds(lambda text: {"type": "runtime", "provider": text, "sessionId": text}, words),
    st.builds(lambda text: {"type": "status", "issue": text}, words),
    st.builds(lambda text: {"type": text}, words),
    st.builds(
        lambda text: {"type": "artifact", "name": text, "path": text, "mimeType": text}, words
    ),
)

FLOWS: dict[str, dict[str, Any]] = {
    "single_turn": {},
    "plan_approval_completion": {
        "runs": 2,
        "planMarkers": {"draft": "D", "revised": "R"},
        "flowOptions": {"draftSteps": 2},
    },
    "question_resume_completion": {
        "runs": 2,
        "questionAnswer": {"optionLabel": "a", "expectedMarker": "{{ marker }}"},
        "flowOptions": {"question": {"id": "q", "prompt": "p", "options": ["a", "b"]}},
    },
    "governed_tool_review": {
        "runs": 2,
        "toolReviewDecision": "approve",
        "flowOptions": {"tool": "t", "arguments": {}, "invocations": 1},
    },
    "warm_three_turn": {
        "runs": 3,
        "turnTimeoutMs": 1000,
        "followups": ["two", "three"],
        "flowOptions": {"file": "f", "lines": ["1", "2", "3"]},
    },
    "agent_chat": {"runs": 2, "flowOptions": {"script": [{"say": "x", "expect": "{{ marker }}"}]}},
}


@pytest.fixture(scope="module")
def plays(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Play]:
    return {
        flow: Play.of(tmp_path_factory.mktemp(flow), flow=flow, **case)
        for flow, case in FLOWS.items()
    }


@pytest.mark.parametrize("flow", FLOWS)
@given(
    turn_events=st.lists(events, max_size=4),
    stdout=words,
    exit_code=st.sampled_from([0, 1, 4, 5, 6, 7, 70, 130, 143, 255, -9, -11]),
)
@settings(deadline=None, max_examples=50)
def test_no_word_of_a_candidate_moves_its_class(
    plays: dict[str, Play],
    flow: str,
    turn_events: list[dict[str, Any]],
    stdout: str,
    exit_code: int,
) -> None:
    end = ended(*turn_events, stdout=stdout.encode(), exit_code=exit_code)
    outcome = plays[flow].run(end, end, end)
    assert outcome.failure is not None
    assert outcome.failure.failure_class == "candidate_failure"


def test_what_fits_passes(tmp_path: Path) -> None:
    outcome = Play.of(tmp_path).run(DONE)
    assert outcome.failure is None
    assert [one.passed for one in outcome.matcher_results] == [True]
    assert [one.response_latency_ms is not None for one in outcome.turn_timings] == [True]


def test_output_is_the_message_only_without_any_event(tmp_path: Path) -> None:
    plain = Play.of(tmp_path / "a").run(ended(stdout=MARKER.encode()))
    assert plain.failure is None
    logged = Play.of(tmp_path / "b").run(ended({"type": "usage"}, stdout=MARKER.encode()))
    assert logged.failure is not None
    assert logged.failure.code == "matcher_failed"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"mode": "legacy"}, "run 1 used the legacy runtime"),
        ({"adapterType": "other"}, "run 1 used another adapter type"),
        ({"provider": "other"}, "run 1 used another provider"),
    ],
)
def test_a_run_on_something_else_breaks_an_invariant(
    change: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    end = ended({"type": "message", "text": MARKER}, {"type": "runtime", **change})
    outcome = Play.of(tmp_path).run(end)
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.message) == ("invariant_broken", sentence)


def test_a_wrong_answer_is_said_before_what_was_wrong_beside_it(tmp_path: Path) -> None:
    outcome = Play.of(tmp_path).run(ended({"type": "status", "issue": "blocked"}))
    assert outcome.failure is not None
    assert outcome.failure.code == "matcher_failed"
    assert outcome.failure.message == (
        "message_contains did not match; the issue is blocked, not done"
    )


def test_a_runtime_that_nobody_reported_is_not_observed(tmp_path: Path) -> None:
    play = Play.of(tmp_path, matchers=[{"kind": "runtime_mode", "expected": "native"}])
    outcome = play.run(DONE)
    assert [one.passed for one in outcome.matcher_results] == [False]
    assert "not observed" in outcome.matcher_results[0].detail
    mode = ended({"type": "runtime", "mode": "native"})
    assert (
        Play.of(tmp_path, matchers=play.execution.task.model_dump()["matchers"]).run(mode).failure
        is None
    )


def test_a_cancelled_harness_is_interrupted_and_not_the_candidates_fault(tmp_path: Path) -> None:
    play = Play.of(tmp_path)
    place = play.place(None)
    play.cancel.cancel(2)
    session = play.session(place)
    outcome = play.drive(session)
    session.close()
    assert place.orders == []
    assert outcome.failure is not None
    assert (outcome.failure.failure_class, outcome.failure.code) == (
        "transient_infrastructure",
        "interrupted",
    )


def full_disk(_order: TurnOrder) -> TurnEnd:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_not_the_candidates_fault(tmp_path: Path) -> None:
    outcome = Play.of(tmp_path).run(full_disk)
    assert outcome.failure is not None
    assert outcome.failure.failure_class == "permanent_infrastructure"


class WithoutTools(CommandSession):
    """A target that has no governed tools."""

    def __init__(self, other: CommandSession) -> None:
        super().__init__(
            workplace=other.workplace,
            agent=other.agent,
            execution_id=other.execution_id,
            attempt=1,
            cancel_token=other.cancel_token,
            quote=str,
            capabilities=frozenset({Capability.ARTIFACTS}),
        )


@pytest.mark.parametrize("flow", ["governed_tool_review", "agent_chat"])
def test_a_flow_that_the_target_does_not_offer_starts_no_agent(flow: str, tmp_path: Path) -> None:
    case = FLOWS[flow]
    if flow == "agent_chat":
        script = [{"restart": {}}, {"new_session": {}}, {"expect_idle": {"runs": 1}}]
        case = {"runs": 1, "flowOptions": {"script": script}}
    play = Play.of(tmp_path, flow=flow, **case)
    place = play.place(DONE)
    complete = play.session(place)
    session = WithoutTools(complete)
    outcome = play.drive(session)
    session.close()
    complete.close()
    assert outcome.failure is not None
    assert outcome.failure.code == "unsupported_flow"
    assert place.orders == []


def test_one_run_too_many_is_a_duplicate(tmp_path: Path) -> None:
    play = Play.of(tmp_path, flow="agent_chat", **FLOWS["agent_chat"])
    session = play.session(play.place(DONE, DONE))
    outcome = play.drive(session)
    assert outcome.observation is not None
    with pytest.raises(DuplicateRun) as raised:
        session.wait_turn(1, Deadline.after(0))
    session.close()
    assert raised.value.code == "duplicate_run"


def test_a_lost_lease_fails_a_warm_case_where_leases_are_seen(tmp_path: Path) -> None:
    def write(order: TurnOrder) -> TurnEnd:
        with (tmp_path / "workspace" / "f").open("a") as file:
            file.write(f"{order.turn}\n")
        status = "done" if order.turn == 3 else "in_review"
        return ended({"type": "status", "issue": status}, {"type": "message", "text": MARKER})

    play = Play.of(tmp_path, flow="warm_three_turn", **FLOWS["warm_three_turn"])
    place = play.place(write, write, write)
    place.outcomes = ("created", "resumed", "replacement")
    session = play.session(place)
    session.capabilities = session.capabilities | {Capability.LEASES}
    outcome = play.drive(session)
    session.close()
    assert outcome.failure is not None
    assert outcome.failure.code == "lease_lost"


def test_every_reply_tells_the_agent_why_it_runs(tmp_path: Path) -> None:
    play = Play.of(
        tmp_path, flow="question_resume_completion", **FLOWS["question_resume_completion"]
    )
    asked = ended({"type": "question", "id": "q", "prompt": "p", "options": ["a", "b"]})
    place = play.place(asked, DONE)
    session = play.session(place)
    assert play.drive(session).failure is None
    session.close()
    assert [one["cause"] for one in place.documents] == ["assigned", "answered"]
    assert place.documents[1]["interactionId"] == "interaction-1"
    assert place.orders[1].prompt == b"a"
    assert lines() == b""


def test_a_survivor_of_the_kill_is_a_problem_of_the_session(tmp_path: Path) -> None:
    play = Play.of(tmp_path)
    end = ended({"type": "message", "text": MARKER}, survivors=("process 7",))
    session = play.session(play.place(end))
    assert play.drive(session).failure is None
    assert session.close().problems == ("process 7 outlived SIGKILL",)


def a_bug(_order: TurnOrder) -> TurnEnd:
    raise KeyError("a bug of ours")


def test_a_bug_of_the_harness_is_not_the_candidates_fault_and_keeps_its_trace(
    tmp_path: Path,
) -> None:
    outcome = Play.of(tmp_path).run(a_bug)
    assert outcome.failure is not None
    assert outcome.failure.code == "harness_bug"
    assert "in a_bug" in (outcome.traceback or "")
