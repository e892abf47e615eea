"""A real git smart-HTTP server on loopback: ``git http-backend`` behind basic authentication.

A test can make it misbehave: see :class:`Faults`.
"""

from __future__ import annotations

import base64
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.e2e.publishing.support import clean_environment

USER = "x-access-token"
TOKEN = "planted-token-0123456789abcdef"


@dataclass(slots=True, kw_only=True)
class Faults:
    """What the server does wrong. Counts go down with every use."""

    forbid_push: bool = False
    """403 for everything that writes, as for a token that may only read."""
    unavailable: int = 0
    """So many requests are answered with 503."""
    lose_answer: int = 0
    """So many pushes are carried out and then the connection is cut."""
    old_protocol: bool = False
    """The server speaks version 0 only, whatever the client asks for."""


@dataclass(slots=True, kw_only=True)
class GitServer:
    """The running server and what it has seen."""

    url: str
    faults: Faults = field(default_factory=Faults)
    requests: list[str] = field(default_factory=list)
    sent: int = 0
    """Bytes of answers."""
    received: int = 0
    """Bytes of requests' bodies."""

    def address(self, repository: str) -> str:
        return f"{self.url}/{repository}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def hosting(self) -> Server:
        assert isinstance(self.server, Server)
        return self.server

    def do_GET(self) -> None:
        self.answer(b"")

    def do_POST(self) -> None:
        self.answer(self.body())

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        data = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def answer(self, body: bytes) -> None:
        writes = "git-receive-pack" in self.path
        with self.hosting.lock:
            self.hosting.state.requests.append(f"{self.command} {self.path}")
            self.hosting.state.received += len(body)
            unavailable = self.hosting.state.faults.unavailable > 0
            self.hosting.state.faults.unavailable -= unavailable
        if unavailable:
            self.refuse(503, "try again later")
        elif not self.authorized():
            self.refuse(401, "who are you?")
        elif writes and self.hosting.state.faults.forbid_push:
            self.refuse(403, "remote: Permission to acme/agents.git denied to reader.")
        else:
            self.serve(body, writes=writes and self.command == "POST")

    def authorized(self) -> bool:
        expected = base64.b64encode(f"{USER}:{TOKEN}".encode()).decode()
        scheme, _, given = self.headers.get("Authorization", "").partition(" ")
        return scheme.lower() == "basic" and given == expected

    def refuse(self, status: int, text: str) -> None:
        data = f"{text}\n".encode()
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def serve(self, body: bytes, *, writes: bool) -> None:
        done = subprocess.run(
            ["git", "http-backend"],
            env=self.backend_environment(len(body)),
            input=body,
            capture_output=True,
            check=False,
        )
        if writes:
            with self.hosting.lock:
                lost = self.hosting.state.faults.lose_answer > 0
                self.hosting.state.faults.lose_answer -= lost
            if lost:
                self.close_connection = True
                return
        head, _, data = done.stdout.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n") if line]
        status = next((value for name, value in fields if name == "Status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        with self.hosting.lock:
            self.hosting.state.sent += len(data)

    def backend_environment(self, length: int) -> dict[str, str]:
        parts = urlsplit(self.path)
        environ = clean_environment() | {
            "GIT_PROJECT_ROOT": str(self.hosting.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_HTTP_MAX_REQUEST_BUFFER": "100M",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": unquote(parts.path),
            "QUERY_STRING": parts.query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(length),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "REMOTE_USER": USER,
            "REMOTE_ADDR": "127.0.0.1",
        }
        if not self.hosting.state.faults.old_protocol:
            environ["GIT_PROTOCOL"] = self.headers.get("Git-Protocol", "")
        return environ

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the base's name
        """Say nothing."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.root = root
        self.lock = threading.Lock()
        self.state = GitServer(url=f"http://127.0.0.1:{self.server_address[1]}")


@contextmanager
def git_server(root: Path) -> Iterator[GitServer]:
    """Serve every bare repository below ``root``."""
    with Server(root) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.state
        finally:
            server.shutdown()
            thread.join()
