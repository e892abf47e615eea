"""A model provider on the loopback interface, for real agent programs to talk to.

It speaks the three dialects that the programs use (Anthropic Messages, OpenAI Responses, OpenAI
Chat Completions) and answers with the steps of a script, whatever the question. Every request
costs the same tokens, so that sums can be checked: see ``TOKENS``.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Literal

JsonMap = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What each answered request is said to cost."""

    fresh: int = 96
    cached: int = 5
    written: int = 7
    """Only Anthropic tells it."""
    output: int = 23
    reasoning: int = 3
    """Part of the output."""


TOKENS = Tokens()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A question of a program."""

    path: str
    headers: Mapping[str, str]
    body: JsonMap

    @property
    def text(self) -> str:
        """All of it, to search in."""
        return json.dumps(self.body)

    @property
    def is_turn(self) -> bool:
        """Whether tools were offered: what has none is a side request, for a title say."""
        return bool(self.body.get("tools"))


@dataclass(frozen=True, slots=True)
class Say:
    """Answer with a text, or with what a function makes of the request."""

    text: str | Callable[[Request], str]


@dataclass(frozen=True, slots=True)
class UseTool:
    """Ask the program to run one of its tools."""

    name: str
    arguments: JsonMap


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer with an error status. ``times`` requests in a row get it."""

    status: int
    message: str = "scripted refusal"
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int = 1
    kind: str = "api_error"


@dataclass(frozen=True, slots=True)
class Hang:
    """Never answer: before the headers, or after the first event."""

    when: Literal["headers", "stream"] = "headers"


@dataclass(frozen=True, slots=True)
class Choose:
    """Answer each request from here on with the step that a function chooses."""

    choose: Callable[[Request], Say | UseTool | Refuse | Hang]


Step = Say | UseTool | Refuse | Hang | Choose
FOR_EVER = 1_000_000


class FakeModel:
    """The server and what it was asked. Use :func:`fake_model`."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.requests: list[Request] = []
        self.asked = threading.Event()
        """Set with the first request of a turn."""
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._steps = itertools.chain.from_iterable(_expanded(step) for step in steps)
        self.server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"model": self})
        )
        self.server.daemon_threads = True

    @property
    def url(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    @property
    def turns(self) -> list[Request]:
        """The requests that were no side requests."""
        return [request for request in self.requests if request.is_turn]

    def step_for(self, request: Request) -> Step:
        """The next step of the script. After its end everything is refused."""
        with self._lock:
            self.requests.append(request)
            if not request.is_turn:
                return Say("a title")
            self.asked.set()
            return next(self._steps, Refuse(400, "the script is at its end"))


def _expanded(step: Step) -> Iterator[Step]:
    if isinstance(step, Choose):
        return itertools.repeat(step)
    return itertools.repeat(step, step.times) if isinstance(step, Refuse) else iter((step,))


@contextmanager
def fake_model(*steps: Step) -> Iterator[FakeModel]:
    """Serve a script until the block is left; then what hangs is let go."""
    model = FakeModel(steps)
    thread = threading.Thread(
        target=model.server.serve_forever, kwargs={"poll_interval": 0.05}, name="fake-model"
    )
    thread.start()
    try:
        yield model
    finally:
        model.closing.set()
        model.server.shutdown()
        thread.join()
        model.server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ClassVar[FakeModel]

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        path = self.path.split("?")[0]
        body = json.loads(self._body() or b"{}")
        request = Request(path=path, headers=dict(self.headers), body=body)
        dialect = next((one for end, one in _DIALECTS.items() if path.endswith(end)), None)
        if dialect is None:
            self._json(404, {"error": {"message": "not found"}}, {})
            return
        step = self.model.step_for(request)
        # A program that was ended does not wait for its answer.
        with suppress(BrokenPipeError, ConnectionResetError):
            self._answer(step, request, dialect)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        data = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def _answer(self, step: Step, request: Request, dialect: _Dialect) -> None:
        match step:
            case Refuse():
                error = {"type": step.kind, "message": step.message, "code": step.kind}
                body = {"type": "error", "error": error}
                self._json(step.status, body, step.headers)
            case Hang():
                if step.when == "stream":
                    self._stream([next(dialect("", None, request))])
                self.model.closing.wait()
                self.close_connection = True
            case Choose():
                self._answer(step.choose(request), request, dialect)
            case Say():
                text = step.text if isinstance(step.text, str) else step.text(request)
                self._stream(dialect(text, None, request))
            case UseTool():
                self._stream(dialect("", step, request))

    def _json(self, status: int, body: JsonMap, headers: Mapping[str, str]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Iterator[_Event] | Sequence[_Event]) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for name, data in events:
            head = f"event: {name}\n" if name else ""
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(f"{head}data: {text}\n\n".encode())
            self.wfile.flush()


_Event = tuple[str | None, JsonMap | str]
_Dialect = Callable[[str, UseTool | None, Request], Iterator[_Event]]


def _messages(text: str, tool: UseTool | None, request: Request) -> Iterator[_Event]:
    """Anthropic's ``/v1/messages``."""

    def event(kind: str, **fields: Any) -> _Event:
        return kind, {"type": kind, **fields}

    usage = {
        "input_tokens": TOKENS.fresh,
        "output_tokens": 1,
        "cache_creation_input_tokens": TOKENS.written,
        "cache_read_input_tokens": TOKENS.cached,
    }
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": request.body["model"]}
    empty: JsonMap = {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield event("message_start", message=head | empty)
    if tool is None:
        block: JsonMap = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": text}
    else:
        block = {"type": "tool_use", "id": "toolu_1", "name": tool.name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(tool.arguments)}
    yield event("content_block_start", index=0, content_block=block)
    yield event("content_block_delta", index=0, delta=delta)
    yield event("content_block_stop", index=0)
    stop = {"stop_reason": "tool_use" if tool else "end_turn", "stop_sequence": None}
    yield event("message_delta", delta=stop, usage={"output_tokens": TOKENS.output})
    yield event("message_stop")


def _responses(text: str, tool: UseTool | None, request: Request) -> Iterator[_Event]:
    """OpenAI's ``/v1/responses``."""
    frame: JsonMap = {"id": "resp_1", "object": "response", "model": request.body["model"]}
    started = frame | {"status": "in_progress", "output": []}
    yield "response.created", {"type": "response.created", "response": started}
    if tool is None:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        item: JsonMap = {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
    else:
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": tool.name}
        item["arguments"] = json.dumps(tool.arguments)
    item["status"] = "completed"
    done = "response.output_item.done"
    yield done, {"type": done, "output_index": 0, "item": item}
    total = TOKENS.fresh + TOKENS.cached
    usage = {
        "input_tokens": total,
        "input_tokens_details": {"cached_tokens": TOKENS.cached},
        "output_tokens": TOKENS.output,
        "output_tokens_details": {"reasoning_tokens": TOKENS.reasoning},
        "total_tokens": total + TOKENS.output,
    }
    finished = frame | {"status": "completed", "output": [item], "usage": usage}
    yield "response.completed", {"type": "response.completed", "response": finished}


def _chat(text: str, tool: UseTool | None, request: Request) -> Iterator[_Event]:
    """OpenAI's ``/v1/chat/completions``."""
    frame = {"id": "c1", "object": "chat.completion.chunk", "created": 0}
    frame["model"] = request.body["model"]
    delta: JsonMap = {"role": "assistant"}
    if tool is None:
        delta["content"] = text
    else:
        function = {"name": tool.name, "arguments": json.dumps(tool.arguments)}
        call = {"index": 0, "id": "call_1", "type": "function", "function": function}
        delta["tool_calls"] = [call]
    yield None, frame | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    reason = "tool_calls" if tool else "stop"
    yield None, frame | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    total = TOKENS.fresh + TOKENS.cached
    usage = {
        "prompt_tokens": total,
        "completion_tokens": TOKENS.output,
        "total_tokens": total + TOKENS.output,
        "prompt_tokens_details": {"cached_tokens": TOKENS.cached},
        "completion_tokens_details": {"reasoning_tokens": TOKENS.reasoning},
    }
    yield None, frame | {"choices": [], "usage": usage}
    yield None, "[DONE]"


_DIALECTS: Mapping[str, _Dialect] = {
    "/messages": _messages,
    "/responses": _responses,
    "/chat/completions": _chat,
}
