"""Each of the seven flows, driven through a real program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.executions import Ran, run_agent

PLAN: dict[str, Any] = {
    "flow": "plan_revision_acceptance",
    "runs": 3,
    "planMarkers": {"draft": "DRAFT-{{ nonce }}", "revised": "BETTER-{{ nonce }}"},
    "revisionRequest": "Add a step. Use BETTER-{{ nonce }}",
    "prompt": "Plan DRAFT-{{ nonce }} then say {{ marker }}",
    "flowOptions": {"draftSteps": 2, "revisedSteps": 3},
}
PLANNER = """
nonce = turn["text"].split("-", 1)[1].split()[0] if turn["turn"] < 3 else ""
state = pathlib.Path(os.environ["RUNNER_E2E_STATE_DIR"], "nonce")
if turn["turn"] == 1:
    state.write_text(nonce)
    emit(type="plan", body=f"# Plan DRAFT-{nonce}\\n1. Look\\n2. Leap\\n")
elif turn["cause"] == "rejected":
    emit(type="plan", body=f"Plan BETTER-{nonce}\\n- Step 1: Look\\n- **2)** Think\\n3 - Leap\\n")
else:
    assert turn["cause"] == "accepted" and turn["interactionId"]
    say("E2E_OK_" + state.read_text())
"""

QUESTION: dict[str, Any] = {
    "flow": "question_resume_completion",
    "runs": 2,
    "questionAnswer": {"optionLabel": "Cobalt", "expectedMarker": "{{ marker }}"},
    "flowOptions": {
        "question": {"id": "colour", "prompt": "Which colour?", "options": ["Cobalt", "Amber"]}
    },
}
ASKER = """
state = pathlib.Path(os.environ["RUNNER_E2E_STATE_DIR"], "marker")
if turn["turn"] == 1:
    state.write_text(turn["text"].split()[-1])
    emit(type="question", id="colour", prompt="Which colour?", options=["Cobalt", "Amber"])
else:
    assert turn["answer"] == {"questionId": "colour", "option": "Cobalt"}, turn
    assert turn["text"] == "Cobalt" == sys.stdin.read()
    say(state.read_text())
"""

WARM: dict[str, Any] = {
    "flow": "warm_three_turn",
    "runs": 3,
    "turnTimeoutMs": 30_000,
    "followups": ["two {{ nonce }}", "three {{ nonce }} {{ marker }}"],
    "prompt": "one {{ nonce }}",
    "flowOptions": {
        "file": "notes/log.txt",
        "lines": ["one {{ nonce }}", "two {{ nonce }}", "three {{ nonce }}"],
    },
}
WARM_AGENT = """
log = pathlib.Path("notes/log.txt")
log.parent.mkdir(exist_ok=True)
with log.open("a") as file:
    file.write(" ".join(turn["text"].split()[:2]) + "\\n")
if turn["turn"] < 3:
    emit(type="status", issue="in_review")
say(turn["text"])
"""


def tool(decision: str, invocations: int) -> dict[str, Any]:
    options: dict[str, Any] = {
        "tool": "deploy",
        "arguments": {"to": "staging"},
        "invocations": invocations,
    }
    if decision == "always":
        options["secondArguments"] = {"to": "production"}
    return {
        "flow": "governed_tool_review",
        "runs": 2,
        "toolReviewDecision": decision,
        "flowOptions": options,
    }


TOOL_AGENT = """
state = pathlib.Path(os.environ["RUNNER_E2E_STATE_DIR"], "marker")
if turn["turn"] == 1:
    state.write_text(turn["text"].split()[-1])
    emit(type="tool_request", tool="deploy", arguments={"to": "staging"})
else:
    result = turn["toolResult"]
    assert result["executed"] == (turn["cause"] == "tool_executed")
    assert (result["output"] is None) == (turn["cause"] == "tool_declined")
    if os.environ.get("TWICE"):
        emit(type="tool_request", tool="deploy", arguments={"to": "production"})
    say(state.read_text())
"""

CHAT: dict[str, Any] = {
    "flow": "agent_chat",
    "runs": 5,
    "expectedTerminalState": {"issue": "in_review", "run": "succeeded"},
    "prompt": "remember PHRASE-{{ nonce }}",
    "flowOptions": {
        "script": [
            {"expect_idle": {"runs": 1}},
            {"restart": {}},
            {"say": "what was it?", "expect": "PHRASE-{{ nonce }}"},
            {"new_session": {}},
            {"say": "what was it?", "expect": "never heard"},
            {"say": "work long"},
            {"stop": {}},
            {"say": "say {{ marker }}", "expect": "{{ marker }}"},
        ]
    },
}
CHAT_AGENT = """
emit(type="status", issue="in_review")
state = pathlib.Path(os.environ["RUNNER_E2E_STATE_DIR"], "phrase")
word, *rest = turn["text"].split()
if word == "remember":
    state.write_text(rest[-1])
    say("ok")
elif word == "what":
    say(state.read_text() if state.exists() else "never heard")
elif word == "work":
    print("working", flush=True)
    signal.pause()
else:
    say(rest[-1])
"""

PLAN_CHAT: dict[str, Any] = {
    "flow": "agent_chat",
    "runs": 3,
    "prompt": "plan {{ marker }}",
    "flowOptions": {"script": [{"revise": "better"}, {"approve": {}}]},
}
PLAN_CHAT_AGENT = """
state = pathlib.Path(os.environ["RUNNER_E2E_STATE_DIR"], "marker")
if turn["turn"] == 1:
    state.write_text(turn["text"].split()[-1])
if turn["cause"] != "accepted":
    emit(type="plan", body="1. Do it")
else:
    say(state.read_text())
"""

PASSING: dict[str, tuple[str, dict[str, Any]]] = {
    "single": ("print(sys.stdin.read().split()[-1])", {}),
    "plan-revise": (PLANNER, PLAN),
    "plan-approve": (
        PLANNER.replace('turn["turn"] < 3', 'turn["turn"] < 2'),
        PLAN
        | {
            "flow": "plan_approval_completion",
            "runs": 2,
            "flowOptions": {"draftSteps": 2},
            "revisionRequest": None,
        },
    ),
    "question": (ASKER, QUESTION),
    "question-restart": (ASKER, QUESTION | {"restartServerBeforeQuestionAnswer": True}),
    "warm": (WARM_AGENT, WARM),
    "tool-approve": (TOOL_AGENT, tool("approve", 1)),
    "tool-decline": (TOOL_AGENT, tool("decline", 0)),
    "tool-restart": (TOOL_AGENT, tool("restart", 1)),
    "tool-always": (TOOL_AGENT, tool("always", 2) | {"env": {"TWICE": "1"}}),
    "chat": (CHAT_AGENT, CHAT),
    "chat-plan": (PLAN_CHAT_AGENT, PLAN_CHAT),
}


def run(directory: Path, agent: str, case: dict[str, Any]) -> Ran:
    return run_agent(directory, agent, **{k: v for k, v in case.items() if v is not None})


@pytest.mark.parametrize("name", PASSING)
def test_an_agent_that_does_what_its_flow_asks_for_passes(name: str, tmp_path: Path) -> None:
    ran = run(tmp_path, *PASSING[name])
    assert (ran.result.status, ran.result.error, ran.result.cleanup) == ("passed", None, "passed")
    assert list(ran.temporary.iterdir()) == []


WRONG: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    # what, code, agent, case
    "no answer": ("candidate_failure", "matcher_failed", "", {}),
    "two steps too many": (
        "candidate_failure",
        "plan_steps",
        PLANNER.replace("2. Leap", "2. Leap\\n3. Fall"),
        PLAN,
    ),
    "no draft marker": ("candidate_failure", "plan_marker", PLANNER.replace("DRAFT", "D"), PLAN),
    "old marker kept": (
        "candidate_failure",
        "plan_marker",
        PLANNER.replace("Plan BETTER", "Plan DRAFT-{nonce} BETTER"),
        PLAN,
    ),
    "no plan": ("candidate_failure", "interaction_missing", "say('later')", PLAN),
    "a question instead of a plan": (
        "candidate_failure",
        "interaction_unexpected",
        "emit(type='question', id='a', prompt='b', options=['c', 'd'])",
        PLAN,
    ),
    "an empty plan": (
        "provider_variance",
        "malformed_plan",
        "emit(type='plan', body=' ')",
        PLAN,
    ),
    "options in another order": (
        "candidate_failure",
        "question_differs",
        ASKER.replace('["Cobalt", "Amber"]', '["Amber", "Cobalt"]'),
        QUESTION,
    ),
    "two questions": (
        "candidate_failure",
        "interaction_unexpected",
        ASKER.replace("    emit(", "    for _ in range(2): emit("),
        QUESTION,
    ),
    "the answer without its marker": (
        "candidate_failure",
        "answer_marker",
        ASKER.replace("say(state.read_text())", "say('thanks')"),
        QUESTION,
    ),
    "a byte too many": (
        "candidate_failure",
        "file_differs",
        WARM_AGENT.replace('"\\n")', '" \\n")'),
        WARM,
    ),
    "no file": (
        "candidate_failure",
        "file_missing",
        "emit(type='status', issue='in_review')",
        WARM,
    ),
    "done too early": ("candidate_failure", "issue_status", "pass", WARM),
    "a call with other arguments": (
        "candidate_failure",
        "tool_request_differs",
        TOOL_AGENT.replace("staging", "production"),
        tool("approve", 1),
    ),
    "no second call": (
        "candidate_failure",
        "tool_invocations",
        TOOL_AGENT,
        tool("always", 2),
    ),
    "a call that nobody allowed": (
        "candidate_failure",
        "invariant_broken",
        TOOL_AGENT + "    emit(type='tool_request', tool='x', arguments={})",
        tool("decline", 0),
    ),
    "a forgotten phrase": (
        "candidate_failure",
        "reply_differs",
        CHAT_AGENT.replace("say(state.read_text() if", "say('hm' if"),
        CHAT,
    ),
    "done before it could be stopped": (
        "candidate_failure",
        "stopped_too_late",
        "if 'long' in turn['text']: raise SystemExit" + CHAT_AGENT,
        CHAT,
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_breach_of_a_flow_fails_with_its_own_code(name: str, tmp_path: Path) -> None:
    failure_class, code, agent, case = WRONG[name]
    ran = run(tmp_path, agent, case | {"max_retries": 0})
    assert ran.verdict == (failure_class, code)


def test_a_leftover_interaction_is_a_broken_invariant(tmp_path: Path) -> None:
    agent = "say(turn['text'].split()[-1])\nemit(type='status', issue='done')\n"
    agent += "emit(type='question', id='a', prompt='b', options=['c', 'd'])"
    ran = run_agent(tmp_path, agent)
    assert ran.verdict == ("candidate_failure", "invariant_broken")
    assert "1 interactions are still pending" in (ran.result.error or "")


def test_every_turn_is_timed(tmp_path: Path) -> None:
    ran = run(tmp_path, WARM_AGENT, WARM)
    timings = ran.result.turn_timings or ()
    assert [one.turn for one in timings] == [1, 2, 3]
    assert ran.result.run_ids == tuple(one.run_id for one in timings)
    assert all(one.response_latency_ms is not None for one in timings)
