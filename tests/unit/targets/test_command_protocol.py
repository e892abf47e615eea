from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.failures import CandidateFailure
from runner_e2e.flows.session import (
    Artifact,
    DeclaredScreenshot,
    InteractionId,
    Message,
    PlanConfirmation,
    PlanRevision,
    QuestionAsked,
    Run,
    ToolInvocation,
    ToolReview,
)
from runner_e2e.targets.command.memory import Memory, apply, recall, store
from runner_e2e.targets.command.protocol import (
    MAX_DEPTH,
    MAX_EVENTS,
    MAX_INTERACTIONS,
    MAX_LINE_BYTES,
    MAX_OBJECT_BYTES,
    MessageEvent,
    PlanEvent,
    QuestionEvent,
    StatusEvent,
    ToolRequestEvent,
    UsageEvent,
    read_events,
)

RUN = Run(id="run-1", turn=1, status="running", submitted_at="2026-11-30T20:00:00.000Z")


def line(**event: Any) -> bytes:
    return json.dumps(event).encode() + b"\n"


def refusal(data: bytes) -> str:
    with pytest.raises(CandidateFailure) as raised:
        list(read_events(data, 3, str))
    assert raised.value.code == "protocol_error"
    return raised.value.message


def test_blank_lines_and_a_missing_last_newline_are_fine() -> None:
    data = b"\n  \n" + line(type="message", text="a") + b'\r\n{"type":"message","text":"b"}'
    assert list(read_events(data, 1, str)) == [
        (3, MessageEvent(type="message", text="a")),
        (5, MessageEvent(type="message", text="b")),
    ]


def test_a_field_that_we_do_not_know_is_ignored() -> None:
    ((_, event),) = read_events(line(type="message", text="a", mood="fine"), 1, str)
    assert event == MessageEvent(type="message", text="a")


def test_a_broken_line_is_named_by_turn_and_number() -> None:
    message = refusal(line(type="message", text="a") + line(type="message"))
    assert message.startswith("turn 3, event line 2: text:")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (line(type="message", text="x" * MAX_LINE_BYTES), "bytes; 1048576 are allowed"),
        (line(type="usage", x="x" * MAX_OBJECT_BYTES), "a usage event may have 65536 bytes"),
        (line(type="message", text="") * (MAX_EVENTS + 1), "a turn may have 10000 events"),
        (line(type="plan", body="") * (MAX_INTERACTIONS + 1), "a turn may ask 100 times"),
        (b'{"type":"usage","a":' + b"[" * 40 + b"]" * 40 + b"}", "nested deeper than 32"),
        (b'{"type":"usage","a":1e999}', "finite"),
        (b'{"type":"usage","a":18446744073709551616}', "64 bits"),
    ],
)
def test_a_limit_is_said_where_it_is_passed(data: bytes, words: str) -> None:
    assert words in refusal(data)


def test_everything_up_to_the_limits_is_taken() -> None:
    nested: Any = 1
    for _ in range(MAX_DEPTH - 1):
        nested = [nested]
    data = (
        line(type="message", text="x" * (MAX_LINE_BYTES - 40))
        + line(type="usage", deep=nested)
        + line(type="plan", body="1. a") * MAX_INTERACTIONS
    )
    assert len(list(read_events(data, 1, str))) == MAX_INTERACTIONS + 2


@given(st.binary(max_size=200))
def test_any_bytes_are_events_or_a_protocol_error(data: bytes) -> None:
    with suppress(CandidateFailure):
        list(read_events(data, 1, str))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
objects = st.dictionaries(st.text(max_size=5), json_values, max_size=3)
texts = st.text(max_size=10)
ids = st.builds(InteractionId, texts)
memories = st.builds(
    Memory,
    runs=st.tuples(
        st.builds(
            Run,
            id=texts,
            turn=st.integers(1, 9),
            status=st.sampled_from(["running", "succeeded", "failed"]),
            submitted_at=texts,
            usage=st.none() | objects,
            interaction_id=st.none() | ids,
        )
    ),
    messages=st.tuples(st.builds(Message, run_id=texts, text=texts)),
    interactions=st.tuples(
        st.builds(
            PlanConfirmation,
            id=ids,
            run_id=texts,
            status=st.sampled_from(["pending", "accepted", "rejected", "superseded"]),
            revision_id=st.none() | texts,
        ),
        st.builds(
            QuestionAsked,
            id=ids,
            run_id=texts,
            status=st.sampled_from(["pending", "answered"]),
            question_id=texts,
            prompt=texts,
            options=st.tuples(texts, texts),
            answers=st.tuples() | st.tuples(texts),
        ),
        st.builds(
            ToolReview,
            id=ids,
            run_id=texts,
            status=st.sampled_from(["pending", "approved", "declined", "unasked"]),
            tool=texts,
            arguments=objects,
        ),
    ),
    revisions=st.tuples(
        st.builds(PlanRevision, id=texts, number=st.integers(1, 9), body=texts, run_id=texts)
    ),
    invocations=st.tuples(st.builds(ToolInvocation, tool=texts, arguments=objects)),
    artifacts=st.tuples(st.builds(Artifact, name=texts, path=texts, mime_type=texts)),
    screenshots=st.tuples(
        st.builds(DeclaredScreenshot, id=texts, label=texts, path=texts, public=st.booleans())
    ),
    always=st.tuples(texts),
    generation=st.integers(0, 9),
    declared_status=st.none() | texts,
)


@given(memories)
def test_a_session_comes_back_from_its_file_as_it_was(memory: Memory) -> None:
    assert recall(store(memory)) == memory


def plan(body: str) -> PlanEvent:
    return PlanEvent(type="plan", body=body)


def test_a_newer_plan_supersedes_the_question_about_the_older_one() -> None:
    memory, _ = apply(Memory(), RUN, [plan("1. a"), plan("1. b")])
    assert [one.number for one in memory.revisions] == [1, 2]
    assert [one.status for one in memory.interactions] == ["superseded", "pending"]


def test_a_plan_without_a_word_targets_no_revision() -> None:
    memory, _ = apply(Memory(), RUN, [plan(" \n")])
    (confirmation,) = memory.interactions
    assert isinstance(confirmation, PlanConfirmation)
    assert confirmation.revision_id is None


def test_the_last_usage_of_a_turn_counts() -> None:
    events = [
        UsageEvent.model_validate({"type": "usage", "inputTokens": count}) for count in (1, 5)
    ]
    _, run = apply(Memory(), RUN, events)
    assert run.usage == {"inputTokens": 5}


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ([], "done"),
        ([plan("1. a")], "in_review"),
        ([StatusEvent(type="status", issue="blocked"), plan("1. a")], "blocked"),
        (
            [QuestionEvent(type="question", id="q", prompt="p", options=("a", "b"))],
            "in_review",
        ),
    ],
)
def test_the_issue_is_declared_or_in_review_or_done(events: list[Any], status: str) -> None:
    memory, run = apply(Memory(), RUN, events)
    assert memory.with_run(replace(run, status="succeeded")).status == status
    assert memory.status == "in_progress"


def test_a_tool_that_is_always_allowed_runs_unasked() -> None:
    request = ToolRequestEvent(type="tool_request", tool="deploy", arguments={"to": "x"})
    memory, _ = apply(Memory(always=("deploy",)), RUN, [request])
    assert [one.status for one in memory.interactions] == ["unasked"]
    assert memory.invocations == (ToolInvocation(tool="deploy", arguments={"to": "x"}),)
    memory, _ = apply(Memory(always=("other",)), RUN, [request])
    assert memory.invocations == ()
