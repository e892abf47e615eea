"""What the presets make of their programs' output, also where the real programs are too slow."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.agents import PRESETS, Preset, Setup, Sums, Tokens
from runner_e2e.agents.reading import json_lines
from runner_e2e.contracts.catalog import ModelPrices
from runner_e2e.failures import PermanentInfrastructure

CODEX, CLAUDE, OPENCODE = (PRESETS[name] for name in ("codex", "claude-code", "opencode"))
every_preset = pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda one: one.name)


def codex_turn(inputs: int, cached: int, output: int) -> list[dict[str, Any]]:
    usage = {"input_tokens": inputs, "cached_input_tokens": cached, "output_tokens": output}
    return [
        {"type": "thread.started", "thread_id": "t-1"},
        {"type": "item.completed", "item": {"type": "error", "message": "no metadata"}},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "thinking"}},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "done"}},
        {"type": "turn.completed", "usage": usage},
    ]


def test_codex_counts_on_over_a_thread() -> None:
    first = CODEX.read(codex_turn(101, 5, 23), Sums())
    second = CODEX.read(codex_turn(202, 10, 46), first.sums)
    assert first.tokens == second.tokens == Tokens(fresh=96, cached=5, output=23)
    assert (second.message, second.session_id, second.failure) == ("done", "t-1", None)
    assert second.cost is None


@pytest.mark.parametrize(
    ("words", "kind", "code"),
    [
        ("unexpected status 401 Unauthorized: x", "permanent_infrastructure", "credential_refused"),
        (
            "exceeded retry limit, last status: 429 Too Many Requests",
            "transient_infrastructure",
            "rate_limited",
        ),
        (
            "exceeded retry limit, last status: 429: exceeded your current quota",
            "permanent_infrastructure",
            "budget_exhausted",
        ),
        (
            "unexpected status 529 <unknown status code>: overloaded",
            "provider_variance",
            "overloaded",
        ),
        ('{"error": {"message": "bad"}}', "permanent_infrastructure", "request_refused"),
        (
            "We're currently experiencing high demand",
            "transient_infrastructure",
            "provider_unavailable",
        ),
        (
            "stream disconnected before completion: idle timeout waiting for SSE",
            "transient_infrastructure",
            "timeout",
        ),
        ("error sending request for url", "transient_infrastructure", "connection_lost"),
        ("something else", "candidate_failure", "agent_unfinished"),
    ],
)
def test_codex_names_a_failure_in_sentences(words: str, kind: str, code: str) -> None:
    reading = CODEX.read([{"type": "turn.failed", "error": {"message": words}}], Sums())
    assert reading.failure is not None
    assert (reading.failure.failure_class, reading.failure.code) == (kind, code)


def claude_result(cost: float, told: int, **changes: Any) -> list[dict[str, Any]]:
    models = {"m": {"inputTokens": told, "outputTokens": 23 * told // 101, "costUSD": cost}}
    result = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "api_error_status": None,
        "result": "answer",
        "session_id": "s-1",
        "total_cost_usd": cost,
        "usage": {"input_tokens": 101, "output_tokens": 23},
        "modelUsage": models,
    }
    return [{"type": "system", "subtype": "init", "session_id": "s-1"}, result | changes]


def test_claude_code_2_1_197_tells_the_cost_of_each_turn() -> None:
    first = CLAUDE.read(claude_result(0.0009, 101), Sums())
    second = CLAUDE.read(claude_result(0.0009, 101), first.sums)
    assert (first.cost, second.cost) == (0.0009, 0.0009)


def test_claude_code_2_1_332_tells_the_cost_of_the_session() -> None:
    first = CLAUDE.read(claude_result(0.0009, 101), Sums())
    second = CLAUDE.read(claude_result(0.0018, 202), first.sums)
    assert second.cost == pytest.approx(0.0009)
    assert second.tokens == first.tokens == Tokens(fresh=101, output=23)


@pytest.mark.parametrize(
    ("changes", "kind", "code"),
    [
        ({"api_error_status": 401}, "permanent_infrastructure", "credential_refused"),
        ({"api_error_status": 500}, "transient_infrastructure", "provider_unavailable"),
        (
            {"result": "API Error: Repeated 529 Overloaded errors. x"},
            "provider_variance",
            "overloaded",
        ),
        (
            {"result": "API Error: Unable to connect to API (ConnectionRefused)"},
            "transient_infrastructure",
            "connection_lost",
        ),
        ({"result": "Request timed out."}, "transient_infrastructure", "timeout"),
        ({"result": "API Error: odd"}, "candidate_failure", "agent_unfinished"),
        ({"subtype": "error_max_turns", "result": None}, "candidate_failure", "agent_unfinished"),
    ],
)
def test_claude_code_fails_although_it_says_success(
    changes: dict[str, Any], kind: str, code: str
) -> None:
    reading = CLAUDE.read(claude_result(0, 0, is_error=True, **changes), Sums())
    assert reading.failure is not None
    assert (reading.failure.failure_class, reading.failure.code) == (kind, code)
    assert reading.message is None


def step(reason: str, cost: float = 0) -> dict[str, Any]:
    tokens = {"input": 96, "output": 20, "reasoning": 3, "cache": {"read": 5, "write": 0}}
    part = {"reason": reason, "tokens": tokens, "cost": cost}
    return {"type": "step_finish", "sessionID": "ses_1", "part": part}


def test_opencode_sums_its_steps_and_answers_with_the_last_one() -> None:
    lines: list[dict[str, Any]] = [
        {"type": "step_start", "sessionID": "ses_1"},
        {"type": "text", "part": {"text": "let me see"}},
        step("tool-calls", 0.5),
        {"type": "step_start"},
        {"type": "text", "part": {"text": "it is"}},
        {"type": "text", "part": {"text": "done"}},
        step("stop", 0.25),
    ]
    reading = OPENCODE.read(lines, Sums())
    assert reading.message == "it is\ndone"
    assert reading.tokens == Tokens(fresh=192, cached=10, output=46)
    assert reading.cost == 0.75


def test_a_price_that_opencode_does_not_know_is_no_zero() -> None:
    assert OPENCODE.read([step("stop")], Sums()).cost is None


@pytest.mark.parametrize("reason", ["tool-calls", "length", "<b>", None])
def test_opencode_that_stops_half_way_has_not_answered(reason: str | None) -> None:
    reading = OPENCODE.read([step(reason or "")] if reason else [], Sums())
    assert reading.failure is not None
    assert reading.failure.code == "agent_unfinished"
    assert "<b>" not in reading.failure.message


@pytest.mark.parametrize(
    ("data", "kind", "code"),
    [
        ({"statusCode": 429, "message": "x"}, "transient_infrastructure", "rate_limited"),
        ({"statusCode": 529, "message": "x"}, "provider_variance", "overloaded"),
        (
            {"statusCode": 402, "message": "Insufficient credits"},
            "permanent_infrastructure",
            "budget_exhausted",
        ),
        ({"message": "The operation timed out."}, "transient_infrastructure", "timeout"),
        ({"message": "429 rate limit"}, "candidate_failure", "agent_unfinished"),
    ],
)
def test_opencode_names_a_failure_by_its_status(data: dict[str, Any], kind: str, code: str) -> None:
    lines: list[dict[str, Any]] = [{"type": "error", "error": {"data": data}}]
    reading = OPENCODE.read(lines, Sums())
    assert reading.failure is not None
    assert (reading.failure.failure_class, reading.failure.code) == (kind, code)


@every_preset
def test_no_failure_repeats_what_the_program_wrote(preset: Preset) -> None:
    words = "planted-words status 401"
    lines: list[dict[str, Any]] = [
        {"type": "turn.failed", "error": {"message": words}},
        {"type": "error", "error": {"data": {"message": words, "statusCode": 401}}},
        {"type": "result", "is_error": True, "result": words, "api_error_status": 401},
    ]
    failure = preset.read(lines, Sums()).failure
    assert failure is not None
    assert "planted" not in f"{failure.message}{failure.hint}"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "item",
                    "usage",
                    "error",
                    "message",
                    "part",
                    "tokens",
                    "cost",
                    "text",
                    "modelUsage",
                    "result",
                    "data",
                    "statusCode",
                    "total_cost_usd",
                    "is_error",
                    "input_tokens",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
CODEX_KINDS = ("thread.started", "item.completed", "turn.completed", "turn.failed")
OTHER_KINDS = ("system", "result", "step_start", "step_finish", "text", "error")
kinds = st.sampled_from(CODEX_KINDS + OTHER_KINDS)


@given(
    lines=st.lists(st.tuples(kinds, st.dictionaries(st.text(max_size=5), json_values)), max_size=6),
    name=st.sampled_from(list(PRESETS)),
)
def test_no_line_breaks_a_reader(lines: list[tuple[str, dict[str, Any]]], name: Any) -> None:
    reading = PRESETS[name].read([{**line, "type": kind} for kind, line in lines], Sums())
    usage = reading.usage(None)
    assert usage is None or all(
        value >= 0 for value in usage.values() if isinstance(value, int | float)
    )


@given(st.binary(max_size=200))
def test_any_output_is_split_into_lines(data: bytes) -> None:
    assert all(isinstance(line, dict) for line in json_lines(data))


def test_prices_default_to_that_of_the_input() -> None:
    tokens = Tokens(fresh=1_000_000, cached=1_000_000, written=1_000_000, output=1_000_000)
    base = {"asOf": "2026-11-01", "url": "https://example.org", "input": 2, "output": 10}
    plain = ModelPrices.model_validate_json(json.dumps(base))
    fine = ModelPrices.model_validate_json(json.dumps(base | {"cachedInput": 0.5, "cacheWrite": 3}))
    assert tokens.cost(plain) == 16
    assert tokens.cost(fine) == 15.5


@every_preset
def test_an_unknown_provider_needs_an_address(preset: Preset) -> None:
    setup = Setup(model="m", provider="elsewhere", key="KEY")

    def call() -> None:
        preset.environment(setup)
        preset.command(setup, ["x"], None)

    with pytest.raises(PermanentInfrastructure, match="knows no address") as caught:
        call()
    assert caught.value.code == "bad_agent"
    assert "baseUrl" in (caught.value.hint or "")


@every_preset
def test_no_key_is_on_a_command_line(preset: Preset) -> None:
    setup = Setup(model="m", provider="p", key="THE_KEY", base_url="http://127.0.0.1:1/v1")
    first = preset.command(setup, ["program"], None)
    again = preset.command(setup, ["program"], "session-1")
    assert "session-1" in again
    assert "session-1" not in first
    assert "THE_KEY" not in preset.environment(setup)
