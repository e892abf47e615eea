"""The real programs from npm, called by their presets, with a scripted model behind them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.agent_runs import (
    AGENTS,
    CLAUDE_CODE,
    CODEX,
    KEY,
    OPENCODE,
    PRICES,
    Agent,
    run_preset,
)
from tests.support.fake_model import (
    FOR_EVER,
    TOKENS,
    Choose,
    Hang,
    Refuse,
    Request,
    Say,
    fake_model,
)

every_agent = pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.preset)

_MARKER = re.compile(r"E2E_OK_[0-9a-f]{12}-\d")


def marker(request: Request) -> str:
    """The answer that the case waits for."""
    return str(_MARKER.findall(request.text)[-1])


def usage_of(agent: Agent, requests: int) -> dict[str, object]:
    """What so many requests cost, in the words of a usage event."""
    written = TOKENS.written if agent is CLAUDE_CODE else 0
    return {
        "inputTokens": requests * (TOKENS.fresh + written),
        "cachedInputTokens": requests * TOKENS.cached,
        "outputTokens": requests * TOKENS.output,
        "cacheWriteTokens": requests * written,
    }


@every_agent
def test_a_turn_writes_a_file_says_its_answer_and_tells_what_it_cost(
    tmp_path: Path, agent: Agent
) -> None:
    with fake_model(agent.tool("echo written > note.txt; id -u"), Say(marker)) as model:
        ran = run_preset(
            tmp_path,
            agent,
            model,
            payload={"prices": PRICES},
            matchers=[
                {"kind": "message_exact", "expected": "{{ marker }}"},
                {"kind": "file_exact", "path": "note.txt", "expected": "written\n"},
            ],
        )
    assert ran.verdict == (None, None), ran.result.error
    observed = ran.observation()["run"]
    assert observed["adapterType"] == agent.preset
    assert observed["sessionId"]
    usage = observed["usage"]
    expected = usage_of(agent, 2)
    assert expected.items() <= usage.items()
    assert usage["costSource"] == "catalog_prices"
    tokens_in = int(str(expected["inputTokens"])) + 2 * TOKENS.cached
    cost = (tokens_in * 3.0 + 2 * TOKENS.output * 15.0) / 1_000_000
    assert ran.result.billing is not None
    assert ran.result.billing.reported_cost_usd == pytest.approx(cost, abs=1e-12)
    assert [request.body["model"] for request in model.turns] == ["test-model", "test-model"]
    assert all(KEY in str(request.headers) for request in model.turns)


QUESTION = json.dumps({"type": "question", "id": "q", "prompt": "Which?", "options": ["A", "B"]})


@every_agent
def test_a_question_is_asked_through_events_and_the_session_goes_on(
    tmp_path: Path, agent: Agent
) -> None:
    ask = agent.tool(f"echo '{QUESTION}' >> \"$RUNNER_E2E_EVENTS\"")
    with fake_model(ask, Say("I asked."), Say("B it is.")) as model:
        ran = run_preset(
            tmp_path,
            agent,
            model,
            flow="question_resume_completion",
            runs=2,
            questionAnswer={"optionLabel": "B", "expectedMarker": "B it is."},
            flowOptions={"question": {"id": "q", "prompt": "Which?", "options": ["A", "B"]}},
            matchers=[{"kind": "message_contains", "expected": "B it is."}],
        )
    assert ran.verdict == (None, None), ran.result.error
    first, second = ran.observation()["runs"]
    assert first["sessionId"] == second["sessionId"]
    assert "I asked." in model.turns[-1].text
    assert usage_of(agent, 2).items() <= first["usage"].items()
    assert usage_of(agent, 1).items() <= second["usage"].items()
    billing = ran.result.billing
    assert billing is not None
    assert billing.llm.output_tokens == 3 * TOKENS.output
    # Only Claude Code knows a price of its own.
    assert (billing.llm.cost_status == "reported") == (agent is CLAUDE_CODE)


@every_agent
def test_a_key_that_is_refused_is_no_fault_of_the_candidate(tmp_path: Path, agent: Agent) -> None:
    refuse = Refuse(401, "bad key", kind="authentication_error", times=FOR_EVER)
    with fake_model(refuse) as model:
        ran = run_preset(tmp_path, agent, model)
    assert ran.verdict == ("permanent_infrastructure", "credential_refused")
    assert "answered 401" in (ran.result.error or "")


@every_agent
def test_a_rate_limit_that_passes_is_waited_for(tmp_path: Path, agent: Agent) -> None:
    limit = Refuse(429, "slow down", headers={"Retry-After": "1"}, kind="rate_limit_error")
    with fake_model(limit, Say(marker)) as model:
        ran = run_preset(tmp_path, agent, model)
    assert ran.verdict == (None, None), ran.result.error
    assert len(model.turns) == 2


# OpenCode tries six times, at intervals that nothing shortens: see the readings in the unit tests.
quick_to_give_up = pytest.mark.parametrize(
    "agent", [CODEX, CLAUDE_CODE], ids=lambda agent: agent.preset
)


@quick_to_give_up
def test_a_rate_limit_that_stays_may_be_gone_in_a_minute(tmp_path: Path, agent: Agent) -> None:
    limit = Refuse(429, "slow down", {"Retry-After": "0"}, FOR_EVER, "rate_limit_error")
    with fake_model(limit) as model:
        ran = run_preset(tmp_path, agent, model)
    assert ran.verdict == ("transient_infrastructure", "rate_limited")


@quick_to_give_up
def test_an_overloaded_provider_is_the_providers_variance(tmp_path: Path, agent: Agent) -> None:
    busy = Refuse(529, "overloaded", kind="overloaded_error", times=FOR_EVER)
    with fake_model(busy) as model:
        ran = run_preset(tmp_path, agent, model)
    assert ran.verdict == ("provider_variance", "overloaded")


@every_agent
def test_a_model_that_never_answers_ends_with_the_deadline(tmp_path: Path, agent: Agent) -> None:
    with fake_model(Hang("stream")) as model:
        ran = run_preset(tmp_path, agent, model, timeout_ms=15_000 if agent is OPENCODE else 5_000)
    assert ran.verdict == ("candidate_failure", "deadline")
    assert ran.result.cleanup == "passed"
    assert list(ran.temporary.iterdir()) == []


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with fake_model() as model:
        ran = run_preset(tmp_path, CODEX, model, payload={"command": ["no-such-codex"]})
    assert ran.verdict == ("permanent_infrastructure", "agent_not_started")
    assert "no-such-codex was not found" in (ran.result.error or "")


@every_agent
def test_the_missing_account_is_named_and_nothing_is_started(tmp_path: Path, agent: Agent) -> None:
    with fake_model() as model:
        ran = run_preset(tmp_path, agent, model, environ={"PATH": "/usr/bin"})
    assert ran.verdict == ("permanent_infrastructure", "missing_credential")
    assert f"{agent.credential} must be set" in (ran.result.error or "")
    assert model.requests == []


def test_what_the_profile_adds_has_the_last_word(tmp_path: Path) -> None:
    with fake_model(Say(marker)) as model:
        command = ["codex", "-c", 'model="other-model"']
        ran = run_preset(tmp_path, CODEX, model, payload={"command": command})
    assert ran.verdict == (None, None), ran.result.error
    assert model.turns[0].body["model"] == "other-model"


@quick_to_give_up
def test_a_session_whose_first_turn_was_stopped_goes_on(tmp_path: Path, agent: Agent) -> None:
    def answer(request: Request) -> Hang | Say:
        return Say(marker) if "Go on." in request.text else Hang("stream")

    with fake_model(Choose(answer)) as model:
        ran = run_preset(
            tmp_path,
            agent,
            model,
            timeout_ms=20_000,
            flow="agent_chat",
            runs=2,
            flowOptions={"script": [{"stop": {}}, {"say": "Go on."}]},
        )
    assert ran.verdict == (None, None), ran.result.error
    first, second = ran.observation()["runs"]
    assert (first["status"], first["code"]) == ("cancelled", "stopped")
    assert second["status"] == "succeeded"
    assert "Reply with exactly" in model.turns[-1].text, "what was said first is not lost"
