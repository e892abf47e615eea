from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from runner_e2e.failures import ExecutionError, PermanentInfrastructure
from runner_e2e.targets.paperclip.client import Client, refused_with
from runner_e2e.targets.paperclip.views import CREATED, RUNS

HOSTILE = b"rate limit 429, unauthorized, secret-value-4711"
ID = "0b7c3a7e-1111-4222-8333-123456789abc"
Serve = Callable[[int, bytes], Client]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start servers that give one answer to everything."""
    running: list[ThreadingHTTPServer] = []
    clients: list[Client] = []

    def start(status: int, body: bytes) -> Client:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Stay silent."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        running.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        clients.append(Client(f"http://127.0.0.1:{server.server_port}"))
        return clients[-1]

    yield start
    for client in clients:
        client.close()
    for server in running:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "failure_class", "code"),
    [
        (500, "transient_infrastructure", "provider_unavailable"),
        (503, "transient_infrastructure", "provider_unavailable"),
        (409, "transient_infrastructure", "conflict"),
        (404, "permanent_infrastructure", "request_refused"),
        (422, "permanent_infrastructure", "request_refused"),
    ],
)
def test_a_refusal_is_classified_by_its_status_and_quotes_nothing(
    serve: Serve, status: int, failure_class: str, code: str
) -> None:
    with pytest.raises(ExecutionError) as caught:
        serve(status, HOSTILE).get(f"/issues/{ID}/runs")
    assert (caught.value.failure_class, caught.value.code) == (failure_class, code)
    assert caught.value.message == f"Paperclip answered GET /issues/:id/runs with {status}"
    assert refused_with(caught.value) == status


@pytest.mark.parametrize("body", [b"", b"<html>", b"{}", b'[{"runId": 5}]', HOSTILE])
def test_an_answer_of_another_form_is_permanent_and_quotes_nothing(
    serve: Serve, body: bytes
) -> None:
    answer = serve(200, body).get("/issues/1/runs")
    with pytest.raises(PermanentInfrastructure) as caught:
        answer.read(RUNS)
    assert caught.value.code == "unexpected_answer"
    assert "4711" not in caught.value.message


def test_what_a_newer_server_adds_is_ignored(serve: Serve) -> None:
    answer = serve(200, b'{"id": "one", "novel": {"deep": [1]}}').get("/companies")
    assert answer.read(CREATED).id == "one"


def test_a_server_that_is_not_there_is_transient(serve: Serve) -> None:
    client = serve(200, b"{}")
    client.close()
    gone = Client("http://127.0.0.1:9")
    with pytest.raises(ExecutionError) as caught:
        gone.get("/health")
    gone.close()
    assert caught.value.failure_class == "transient_infrastructure"
    assert refused_with(caught.value) is None
