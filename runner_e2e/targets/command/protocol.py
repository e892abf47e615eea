"""What an agent of the command target reads and writes. Published in ``docs/agent-protocol.md``.

The harness gives ``TurnDocument``; the agent may append events, one JSON object a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

import orjson
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from runner_e2e.contracts.base import Document, Omittable, explain
from runner_e2e.contracts.scalars import (
    ExecutionId,
    ItemId,
    JsonObject,
    JsonValue,
    Ordinal,
    RelativePath,
)
from runner_e2e.contracts.vocabulary import Generation
from runner_e2e.failures import CandidateFailure

PROTOCOL: Literal[1] = 1

MAX_LINE_BYTES = 1024 * 1024
MAX_OBJECT_BYTES = 64 * 1024
"""A line that is neither a message nor a plan. Parsed JSON takes many times its size in memory."""
MAX_DEPTH = 32
"""Nesting of ``arguments`` and of a usage: what stays readable for whoever reads it later."""
MAX_REASON = 1000
"""What is said of a broken line."""
MAX_EVENTS = 10_000
"""Events in a turn."""
MAX_INTERACTIONS = 100
"""Plans, questions and tool requests in a turn."""
MAX_PICTURES = 100
"""Screenshots in a turn. Each is read and kept at once."""

Cause = Literal[
    "assigned",
    "rejected",
    "accepted",
    "answered",
    "tool_executed",
    "tool_declined",
    "message",
]


class GivenAnswer(Document):
    """The option that was chosen."""

    question_id: str
    option: str


class ToolResult(Document):
    """What became of a requested call. ``output`` is ``null`` when it was declined."""

    tool: str
    arguments: JsonObject
    executed: bool
    output: JsonObject | None


class TurnDocument(Document):
    """``$RUNNER_E2E_TURN_FILE``: why the agent was started."""

    protocol: Literal[1]
    execution_id: ExecutionId
    attempt: Ordinal
    turn: Ordinal
    cause: Cause
    text: str
    interaction_id: Omittable[str] = None
    answer: Omittable[GivenAnswer] = None
    tool_result: Omittable[ToolResult] = None


class MessageEvent(Document):
    """The agent says something. Then stdout is only a log, as with every event."""

    type: Literal["message"]
    text: str


class PlanEvent(Document):
    """The agent proposes a plan, or the next version of it, and waits for a decision."""

    type: Literal["plan"]
    body: str


class QuestionEvent(Document):
    """The agent asks for one of ``options`` and waits for the answer."""

    type: Literal["question"]
    id: Annotated[str, Field(min_length=1, max_length=200)]
    prompt: str
    options: Annotated[tuple[str, ...], Field(min_length=2, max_length=50)]


class ToolRequestEvent(Document):
    """The agent wants the harness to run a governed tool."""

    type: Literal["tool_request"]
    tool: Annotated[str, Field(min_length=1, max_length=200)]
    arguments: JsonObject


class ArtifactEvent(Document):
    """The agent declares a file of the workspace as its product."""

    type: Literal["artifact"]
    name: Annotated[str, Field(min_length=1, max_length=200)]
    path: RelativePath
    mime_type: Annotated[str, Field(max_length=200)]


class ScreenshotEvent(Document):
    """The agent declares a PNG of the workspace as evidence; ``public`` ones may be published."""

    type: Literal["screenshot"]
    id: Annotated[ItemId, Field(max_length=100)]
    label: Annotated[str, Field(max_length=200)]
    path: RelativePath
    public: bool = False


class UsageEvent(Document):
    """Tokens and cost of the turn so far, in any of the accepted spellings. The last one counts."""

    model_config = ConfigDict(extra="allow")

    # The base class says Any; a number that is none must not come in here either.
    __pydantic_extra__: dict[str, JsonValue] = Field(init=False)  # type: ignore[mutable-override]

    type: Literal["usage"]


class RuntimeEvent(Document):
    """What really ran, as far as the agent knows."""

    type: Literal["runtime"]
    mode: Omittable[Generation] = None
    adapter_type: Omittable[str] = None
    provider: Omittable[str] = None
    model: Omittable[str] = None
    session_id: Omittable[str] = None


class StatusEvent(Document):
    """The status that the agent gives the issue at the end of this turn."""

    type: Literal["status"]
    issue: Annotated[str, Field(pattern=r"^[a-z][a-z_]{0,31}$")]


Event = Annotated[
    MessageEvent
    | PlanEvent
    | QuestionEvent
    | ToolRequestEvent
    | ArtifactEvent
    | ScreenshotEvent
    | UsageEvent
    | RuntimeEvent
    | StatusEvent,
    Field(discriminator="type"),
]

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def protocol_error(turn: int, line: int, reason: str) -> CandidateFailure:
    """Say which line of a turn's events breaks the protocol."""
    return CandidateFailure(
        "protocol_error",
        f"turn {turn}, event line {line}: {reason}",
        hint="docs/agent-protocol.md lists the events and their fields",
    )


def _depth(value: object) -> int:
    """How deep lists and objects stand in each other."""
    depth, level = 0, [value]
    while level := [
        inner
        for one in level
        if isinstance(one, dict | list)
        for inner in (one.values() if isinstance(one, dict) else one)
    ]:
        depth += 1
    return depth


def _why(error: ValidationError, line: bytes, quote: Callable[[str], str]) -> str:
    """Why a line is no event. The words quote pieces of it, so they are taken from a clean one."""
    text = line.decode("utf-8", "backslashreplace")
    clean = quote(text)
    if clean == text:
        return explain(error, line)[:MAX_REASON]
    try:
        _EVENT.validate_json(clean)
    except ValidationError as again:
        return explain(again, clean.encode())[:MAX_REASON]
    return "it holds a secret where none can be"


def read_events(data: bytes, turn: int, quote: Callable[[str], str]) -> Iterator[tuple[int, Event]]:
    """Yield each event with its line number from 1; blank lines count but are no events.

    Raises a candidate failure ``protocol_error`` at the first broken line; what it shows of that
    goes through ``quote``.
    """
    seen = asked = shown = 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        seen += 1
        if seen > MAX_EVENTS:
            raise protocol_error(turn, number, f"a turn may have {MAX_EVENTS} events")
        if len(line) > MAX_LINE_BYTES:
            raise protocol_error(
                turn, number, f"the line has {len(line)} bytes; {MAX_LINE_BYTES} are allowed"
            )
        try:
            event = _EVENT.validate_json(line)
        except ValidationError as error:
            raise protocol_error(turn, number, _why(error, line, quote)) from None
        if len(line) > MAX_OBJECT_BYTES and not isinstance(event, MessageEvent | PlanEvent):
            raise protocol_error(
                turn, number, f"a {event.type} event may have {MAX_OBJECT_BYTES} bytes"
            )
        if _depth(event.model_extra or getattr(event, "arguments", None)) > MAX_DEPTH:
            raise protocol_error(turn, number, f"it is nested deeper than {MAX_DEPTH}")
        asked += isinstance(event, PlanEvent | QuestionEvent | ToolRequestEvent)
        if asked > MAX_INTERACTIONS:
            raise protocol_error(turn, number, f"a turn may ask {MAX_INTERACTIONS} times")
        shown += isinstance(event, ScreenshotEvent)
        if shown > MAX_PICTURES:
            raise protocol_error(turn, number, f"a turn may have {MAX_PICTURES} screenshots")
        yield number, event


def protocol_schema() -> bytes:
    """The JSON Schema (draft 2020-12) of both directions: ``$defs/turn`` and ``$defs/event``."""
    named, schema = TypeAdapter.json_schemas(
        [
            ("turn", "validation", TypeAdapter(TurnDocument)),
            ("event", "validation", TypeAdapter(Event)),
        ],
        ref_template="#/$defs/{model}",
    )
    definitions: dict[str, Any] = {
        **schema["$defs"],
        "turn": named["turn", "validation"],
        "event": named["event", "validation"],
    }
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "runner-e2e agent protocol 1",
        "$defs": definitions,
    }
    return orjson.dumps(_plain(document), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def _plain(schema: Any) -> Any:
    """Leave out what pydantic adds for its own use: a title per field, and null as a default."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _plain(field) for name, field in value.items()}
        if key in {"properties", "$defs"}
        else _plain(value)
        for key, value in schema.items()
        if not (key == "default" and value is None)
        and not (key == "title" and "$schema" not in schema)
    }
