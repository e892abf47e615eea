"""A Daytona on the loopback interface whose sandboxes are processes of this machine.

It answers the calls that runner-e2e makes as the real one does, and fails where a test asks it to.
Every document that crosses is kept, so that the official client's models can judge it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

JsonMap = dict[str, Any]
KEY = "dtn_0123456789abcdef"
IMAGE = "registry.example/agent@sha256:" + "a" * 64
_ROOT = re.compile(r"/tmp/execution-[0-9a-f]{32}")  # noqa: S108 - what the code under test uses
_MARK = "FAKE_DAYTONA_SANDBOX"


@dataclass(slots=True)
class FakeSandbox:
    """A sandbox: some processes, and the directories that were used in it."""

    document: JsonMap
    polls_until_started: int
    roots: set[Path] = field(default_factory=set)
    commands: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return str(self.document["id"])

    @property
    def state(self) -> str:
        return str(self.document["state"])

    def end(self) -> None:
        """End every process of it, also those that ran away, and forget its files."""
        for process in self.commands.values():
            # Not by its environment: between fork and exec it still has ours.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        needle = f"{_MARK}={self.id}".encode()
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                if needle in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
        for process in self.commands.values():
            process.wait()
        for root in self.roots:
            shutil.rmtree(root, ignore_errors=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An answer that is not the real one. ``effect`` runs the real call all the same."""

    status: int
    message: str = "scripted fault"
    headers: Mapping[str, str] = field(default_factory=dict)
    effect: bool = False


@dataclass(slots=True)
class Call:
    """A request that came in."""

    method: str
    path: str
    body: bytes
    authorization: str | None


class FakeDaytona:
    """The service. Use :func:`fake_daytona`."""

    def __init__(self) -> None:
        self.sandboxes: dict[str, FakeSandbox] = {}
        self.destroyed: list[FakeSandbox] = []
        self.calls: list[Call] = []
        self.documents: list[tuple[str, JsonMap]] = []
        """The name of the official model, and what it must accept."""
        self.faults: dict[str, deque[Fault]] = {}
        """By the name of the call: create, get, delete, list, execute, session, command, ..."""
        self.polls_until_started = 0
        self.stuck_deleting = False
        self.start_state = "started"
        self.hold_creates = threading.Event()
        self.hold_creates.set()
        """Cleared, an answer to a create waits for it."""
        self.creating = threading.Event()
        self.agent_started = threading.Event()
        self.deleted = threading.Event()
        self.page_size = 100
        self.ignore_label_filter = False
        self.lock = threading.RLock()
        self.server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"fake": self})
        )
        self.server.daemon_threads = True

    @property
    def url(self) -> str:
        """What ``DAYTONA_API_URL`` says."""
        return f"http://127.0.0.1:{self.server.server_address[1]}/api"

    @property
    def environ(self) -> dict[str, str]:
        """The variables of a harness that uses it."""
        return {
            "PATH": os.environ["PATH"],
            "DAYTONA_API_KEY": KEY,
            "DAYTONA_API_URL": self.url,
            "RUNNER_E2E_DAYTONA_IMAGE": IMAGE,
        }

    @property
    def living(self) -> list[FakeSandbox]:
        """What costs money now."""
        return list(self.sandboxes.values())

    @property
    def creates(self) -> list[JsonMap]:
        """The bodies of all creates."""
        return [body for kind, body in self.documents if kind == "CreateSandbox"]

    def fail(self, call: str, *faults: Fault) -> None:
        """Let the next calls of this name fail."""
        self.faults.setdefault(call, deque()).extend(faults)

    def fault_of(self, call: str) -> Fault | None:
        """The fault that is due."""
        with self.lock:
            due = self.faults.get(call)
            return due.popleft() if due else None

    def create(self, body: JsonMap) -> JsonMap:
        """Make a sandbox."""
        with self.lock:
            identity = str(uuid.uuid4())
            now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
            slow = self.polls_until_started > 0
            document: JsonMap = {
                "id": identity,
                "organizationId": "org",
                "name": body.get("name", identity),
                "user": "daytona",
                "env": {},
                "labels": body.get("labels", {}),
                "public": False,
                "networkBlockAll": False,
                "kvm": False,
                "target": "eu",
                "cpu": body["cpu"],
                "gpu": 0,
                "memory": body["memory"],
                "disk": body["disk"],
                "state": "creating" if slow else self.start_state,
                "desiredState": "started",
                "autoStopInterval": body.get("autoStopInterval"),
                "autoDeleteInterval": body.get("autoDeleteInterval"),
                "createdAt": now,
                "updatedAt": now,
                "toolboxProxyUrl": self.url.removesuffix("/api") + "/toolbox",
            }
            sandbox = FakeSandbox(document, self.polls_until_started)
            self.sandboxes[identity] = sandbox
        self.creating.set()
        self.hold_creates.wait()
        return document

    def look(self, sandbox: FakeSandbox) -> JsonMap:
        """Look at a sandbox, which brings a slow one forward."""
        with self.lock:
            if sandbox.state == "creating":
                sandbox.polls_until_started -= 1
                if sandbox.polls_until_started <= 0:
                    sandbox.document["state"] = self.start_state
            return sandbox.document

    def destroy(self, sandbox: FakeSandbox) -> None:
        """End a sandbox, as a delete does, or a spot market."""
        with self.lock:
            if self.stuck_deleting:
                sandbox.document["state"] = "destroying"
                return
            self.sandboxes.pop(sandbox.id, None)
            self.destroyed.append(sandbox)
        sandbox.end()
        self.deleted.set()

    def page(self, query: Mapping[str, list[str]]) -> JsonMap:
        """List sandboxes."""
        wanted = json.loads(query.get("labels", ["{}"])[0])
        start = int(query.get("cursor", ["0"])[0])
        with self.lock:
            found = [
                one.document
                for one in self.sandboxes.values()
                if self.ignore_label_filter or wanted.items() <= one.document["labels"].items()
            ]
        end = start + self.page_size
        items = [{key: one[key] for key in one if key not in {"env", "kvm"}} for one in found]
        return {"items": items[start:end], "nextCursor": str(end) if end < len(items) else None}

    def run(self, sandbox: FakeSandbox, command: str) -> JsonMap:
        """Run a command to its end."""
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            env={"PATH": os.environ["PATH"], _MARK: sandbox.id},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return {"exitCode": done.returncode, "result": done.stdout.decode("utf-8", "replace")}

    def start(self, sandbox: FakeSandbox, command: str) -> JsonMap:
        """Start a command."""
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            env={"PATH": os.environ["PATH"], _MARK: sandbox.id},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        identity = str(uuid.uuid4())
        sandbox.commands[identity] = process
        self.agent_started.set()
        return {"cmdId": identity}

    def close(self) -> None:
        """End whatever is left."""
        self.hold_creates.set()
        self.stuck_deleting = False
        for sandbox in list(self.sandboxes.values()):
            sandbox.end()


@contextmanager
def fake_daytona() -> Iterator[FakeDaytona]:
    """Serve until the block is left."""
    fake = FakeDaytona()
    thread = threading.Thread(
        target=fake.server.serve_forever, kwargs={"poll_interval": 0.05}, name="fake-daytona"
    )
    thread.start()
    try:
        yield fake
    finally:
        fake.close()
        fake.server.shutdown()
        thread.join()
        fake.server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fake: ClassVar[FakeDaytona]

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def _serve(self) -> None:
        body = self._body()
        url = urlsplit(self.path)
        authorization = self.headers.get("Authorization")
        self.fake.calls.append(Call(self.command, self.path, body, authorization))
        # A harness that was killed does not wait for its answer.
        with suppress(BrokenPipeError, ConnectionResetError):
            if authorization != f"Bearer {KEY}":
                self._error(401, "Unauthorized")
                return
            name, call = self._route(url.path, parse_qs(url.query), body)
            fault = self.fake.fault_of(name)
            if fault is not None:
                if fault.effect:
                    call()
                self._error(fault.status, fault.message, fault.headers)
                return
            self._reply(call())

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        data = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def _route(
        self, path: str, query: Mapping[str, list[str]], body: bytes
    ) -> tuple[str, Callable[[], _Answer]]:
        parts = path.strip("/").split("/")
        if parts[:2] == ["api", "sandbox"]:
            return self._api(parts[2:], query, body)
        if parts[0] == "toolbox" and len(parts) > 1:
            sandbox = self.fake.sandboxes.get(parts[1])
            if sandbox is None or sandbox.state != "started":
                return "toolbox", lambda: (404, None, {"message": "sandbox not found"})
            return self._toolbox(sandbox, "/".join(parts[2:]), query, body)
        return "unknown", lambda: (404, None, {"message": "not found"})

    def _api(
        self, parts: list[str], query: Mapping[str, list[str]], body: bytes
    ) -> tuple[str, Callable[[], _Answer]]:
        fake = self.fake
        if not parts and self.command == "POST":
            wanted = json.loads(body)
            fake.documents.append(("CreateSandbox", wanted))
            return "create", lambda: (200, "Sandbox", fake.create(wanted))
        if not parts:
            return "list", lambda: (200, "ListSandboxesResponse", fake.page(query))
        sandbox = fake.sandboxes.get(parts[0])
        name = "delete" if self.command == "DELETE" else "get"
        if sandbox is None:
            return name, lambda: (404, None, {"message": "sandbox not found"})
        if self.command == "GET":
            return name, lambda: (200, "Sandbox", fake.look(sandbox))

        def destroy() -> _Answer:
            fake.destroy(sandbox)
            state = sandbox.document | {"state": "destroying"}
            return 200, "Sandbox", state

        return name, destroy

    def _toolbox(
        self, sandbox: FakeSandbox, path: str, query: Mapping[str, list[str]], body: bytes
    ) -> tuple[str, Callable[[], _Answer]]:
        fake = self.fake
        if path == "process/execute":
            fake.documents.append(("ExecuteRequest", json.loads(body)))
            command = json.loads(body)["command"]
            return "execute", lambda: (200, "ExecuteResponse", fake.run(sandbox, command))
        if path == "process/session":
            fake.documents.append(("CreateSessionRequest", json.loads(body)))
            return "session", lambda: (201, None, None)
        if path.endswith("/exec"):
            fake.documents.append(("SessionExecuteRequest", json.loads(body)))
            command = json.loads(body)["command"]
            return "start", lambda: (202, "SessionExecuteResponse", fake.start(sandbox, command))
        if "/command/" in path:
            return "command", lambda: self._command(sandbox, path.rpartition("/")[2])
        place = Path(query["path"][0])
        root = _ROOT.match(str(place))
        assert root is not None, f"{place} is outside of what a sandbox of ours may touch"
        sandbox.roots.add(Path(root[0]))
        if path == "files/upload-v2":
            return "upload", lambda: self._upload(place, body)
        assert path == "files/download", path
        return "download", lambda: self._download(place)

    def _command(self, sandbox: FakeSandbox, identity: str) -> _Answer:
        code = sandbox.commands[identity].poll()
        answer: JsonMap = {"id": identity, "command": "sh"}
        if code is not None:
            answer["exitCode"] = 128 - code if code < 0 else code
        return 200, "Command", answer

    def _upload(self, place: Path, body: bytes) -> _Answer:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(body)
        return 200, None, {}

    def _download(self, place: Path) -> _Answer:
        if not place.is_file():
            return 404, None, {"message": "file not found"}
        return 200, None, place.read_bytes()

    def _reply(self, answer: _Answer) -> None:
        status, kind, body = answer
        if kind is not None and isinstance(body, dict):
            self.fake.documents.append((kind, json.loads(json.dumps(body))))
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self._send(status, b"" if body is None else data, {})

    def _error(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        body = {"statusCode": status, "message": message, "error": "scripted"}
        self._send(status, json.dumps(body).encode(), headers or {})

    def _send(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


_Answer = tuple[int, str | None, JsonMap | bytes | None]
