"""A GitHub on loopback: an API and, as another host, the storage of its artifacts.

Every request and every answer is compared with GitHub's own description; what differs is in
``problems``, which the fixture in ``tests/unit/github/conftest.py`` wants empty.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.support.artifacts import artifact_name
from tests.support.documents import RUN_ID, later
from tests.support.github_openapi import Description, Operation, description

TOKEN = "ghs_theTokenOfThisJob"
OWNER, REPO = "acme", "agents"
BASE = "/api/v3"
EVERY = re.compile("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server says. ``hang_up`` ends the connection instead."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    hang_up: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a server was asked."""

    host: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]


@dataclass(slots=True)
class Fault:
    """Answers instead of the right one, so many times, to paths that match."""

    answer: Answer
    pattern: re.Pattern[str] = EVERY
    times: int = 1


class FakeGithub:
    """One repository with one workflow run. Set its fields, then ask it."""

    def __init__(self) -> None:
        self.description: Description = description()
        self.run_id = int(RUN_ID)
        self.run_attempts = 1
        self.status = "completed"
        self.jobs: list[dict[str, Any]] = []
        self.artifacts: list[dict[str, Any]] = []
        self.archives: dict[int, bytes] = {}
        self.token: str | None = TOKEN
        self.page_size = 100
        """The most that a page holds, whatever is asked for."""
        self.faults: list[Fault] = []
        self.blob_faults: list[Fault] = []
        self.before_api: Callable[[Request], None] = _no_request
        self.before_blob: Callable[[], None] = _nothing
        self.after_page: Callable[[int], None] = _no_page
        """Called with the number of a page of artifacts, after it was made."""
        self.requests: list[Request] = []
        self.problems: list[str] = []
        self.lock = threading.Lock()
        self.in_flight = self.most_in_flight = 0
        self.api_host = self.blob_host = ""

    @property
    def api_url(self) -> str:
        """Where the API is; not at the root, as on an Enterprise server."""
        return f"http://{self.api_host}{BASE}"

    @property
    def environ(self) -> dict[str, str]:
        """What a step on this server has in its environment."""
        return {
            "GITHUB_API_URL": self.api_url,
            "GITHUB_SERVER_URL": f"http://{self.api_host}",
            "GITHUB_TOKEN": TOKEN,
        }

    @property
    def locator(self) -> str:
        """How the command line names the run."""
        return f"github:{OWNER}/{REPO}/{self.run_id}"

    def fail(self, answer: Answer, path: str = "", times: int = 1) -> None:
        """Give ``answer`` to the next API requests whose path matches."""
        self.faults.append(Fault(answer, re.compile(path), times))

    def add_artifact(self, name: str, archive: bytes, **changes: Any) -> dict[str, Any]:
        """Keep an artifact the way that upload-artifact does."""
        number = 1_000 + len(self.artifacts)
        self.archives[number] = archive
        url = f"{self.api_url}/repos/{OWNER}/{REPO}/actions/artifacts/{number}"
        row = self.description.example("artifact-paginated")["artifacts"][0] | {
            "id": number,
            "name": name,
            "size_in_bytes": len(archive),
            "url": url,
            "archive_download_url": f"{url}/zip",
            "expired": False,
            "digest": f"sha256:{hashlib.sha256(archive).hexdigest()}",
        }
        self.artifacts.append(row | changes)
        return self.artifacts[-1]

    def add_directory(self, name: str, directory: Path, **changes: Any) -> dict[str, Any]:
        """Keep what a job left in a directory."""
        return self.add_artifact(name, zip_of(directory), **changes)

    def add_cell(self, execution_id: str, directory: Path, run_attempt: int = 1) -> dict[str, Any]:
        """Upload the result artifact of a cell."""
        return self.add_directory(artifact_name(execution_id, run_attempt), directory)

    def add_job(self, row: Mapping[str, Any]) -> None:
        """Add a job as ``tests.support.artifacts.job_row`` makes it."""
        example = self.description.example("job-paginated")["jobs"][0]
        times = {"created_at": row["started_at"]}
        changes = dict(row) | {"id": 1 + len(self.jobs), "run_id": self.run_id} | times
        self.jobs.append(example | changes)

    def asked(self, pattern: str) -> int:
        """How many requests had such a path, on either host."""
        return sum(bool(re.search(pattern, request.path)) for request in self.requests)

    def answer_api(self, request: Request) -> Answer:
        """Answer as the API does."""
        path = request.path.removeprefix(BASE)
        operation = self.description.find("GET", path) if request.path.startswith(BASE) else None
        if operation is None:
            self._note(f"no such operation: {request.path}")
            return _message(404, "Not Found")
        self._note(*self.description.request_problems(operation, request.query))
        self.before_api(request)
        if (fault := self._fault(self.faults, request.path)) is not None:
            if fault.status == 410:
                self._compare(operation, fault)
            return fault
        if self.token and request.headers.get("authorization") != f"Bearer {self.token}":
            return _message(401, "Bad credentials")
        answer = self._answer(operation, request)
        if answer.status != 404:
            self._compare(operation, answer)
        return answer

    def answer_blob(self, request: Request) -> Answer:
        """Answer as the storage does: who signs need not say who they are, and must not."""
        with self.lock:
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            self.before_blob()
            if (fault := self._fault(self.blob_faults, request.path)) is not None:
                return fault
            if "authorization" in request.headers or request.query.get("sig") != "s3cr3t":
                return Answer(status=400)
            return Answer(body=self.archives[int(request.path.rpartition("/")[2])])
        finally:
            with self.lock:
                self.in_flight -= 1

    def _answer(self, operation: Operation, request: Request) -> Answer:
        given = operation.parameters
        number = int(given.get("attempt_number", self.run_attempts))
        artifact = int(given.get("artifact_id", "0"))
        there = (given["owner"], given["repo"]) == (OWNER, REPO) and (
            artifact in self.archives
            if artifact
            else int(given["run_id"]) == self.run_id and number <= self.run_attempts
        )
        if not there:
            return _message(404, "Not Found")
        if artifact:
            blob = f"http://{self.blob_host}/blobs/{artifact}?sig=s3cr3t"
            return Answer(status=302, headers={"Location": blob})
        if operation.id == "actions/list-jobs-for-workflow-run":
            return self._page("jobs", request.query)
        if operation.id == "actions/list-workflow-run-artifacts":
            return self._page("artifacts", request.query)
        return _json(self._run(number))

    def _page(self, key: str, query: Mapping[str, str]) -> Answer:
        rows = self.jobs if key == "jobs" else list(self.artifacts)
        if key == "jobs" and query.get("filter") != "all":
            rows = [row for row in rows if row["run_attempt"] == self.run_attempts]
        if key == "artifacts" and query.get("direction", "desc") == "desc":
            rows.reverse()
        size = min(int(query.get("per_page", "30")), self.page_size)
        number = int(query.get("page", "1"))
        start = (number - 1) * size
        answer = _json({"total_count": len(rows), key: rows[start : start + size]})
        if key == "artifacts":
            self.after_page(number)
        return answer

    def _run(self, run_attempt: int) -> dict[str, Any]:
        example: dict[str, Any] = self.description.example("workflow-run")
        started = later(60 * run_attempt - 5).replace(".000Z", "Z")
        return example | {
            "id": self.run_id,
            "run_attempt": run_attempt,
            "run_started_at": started,
            "status": self.status if run_attempt == self.run_attempts else "completed",
            "conclusion": "success" if self.status == "completed" else None,
        }

    def _fault(self, faults: list[Fault], path: str) -> Answer | None:
        with self.lock:
            for fault in faults:
                if fault.times > 0 and fault.pattern.search(path):
                    fault.times -= 1
                    return fault.answer
        return None

    def _compare(self, operation: Operation, answer: Answer) -> None:
        self._note(
            *self.description.response_problems(
                operation, answer.status, answer.headers, answer.body
            )
        )

    def _note(self, *problems: str) -> None:
        with self.lock:
            self.problems += problems


def zip_of(directory: Path) -> bytes:
    """Pack a directory as GitHub packs an artifact."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(directory.rglob("*")):
            if path.is_file():
                packed.write(path, path.relative_to(directory).as_posix())
    return buffer.getvalue()


@contextmanager
def serving(github: FakeGithub) -> Iterator[FakeGithub]:
    """Serve the API and the storage until the end of the block."""
    with _serve(github, github.answer_api) as api, _serve(github, github.answer_blob) as blob:
        github.api_host, github.blob_host = api, blob
        yield github


@contextmanager
def _serve(github: FakeGithub, answer: Callable[[Request], Answer]) -> Iterator[str]:
    handler = type("Handler", (_Handler,), {"github": github, "answer": staticmethod(answer)})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # One packet an answer; with two, the kernel waits 40 ms for an acknowledgement.
    wbufsize = 1 << 16
    github: FakeGithub
    answer: Callable[[Request], Answer]

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        request = Request(
            host=self.headers["Host"],
            path=url.path,
            query=dict(parse_qsl(url.query, keep_blank_values=True)),
            headers={name.lower(): value for name, value in self.headers.items()},
        )
        with self.github.lock:
            self.github.requests.append(request)
        answer = type(self).answer(request)
        if answer.hang_up:
            self.close_connection = True
            return
        self.send_response_only(answer.status)
        headers = {
            "Date": self.date_time_string(),
            "Content-Length": str(len(answer.body)),
        } | dict(answer.headers)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)
        # A body that is shorter than it says is the end of the connection.
        self.close_connection |= int(headers["Content-Length"]) != len(answer.body)

    def log_message(self, *_: Any) -> None:
        """Be quiet."""


def _json(value: Any) -> Answer:
    body = json.dumps(value).encode()
    return Answer(headers={"Content-Type": "application/json; charset=utf-8"}, body=body)


def _message(status: int, text: str) -> Answer:
    kind = {"Content-Type": "application/json; charset=utf-8"}
    return Answer(status=status, headers=kind, body=json.dumps({"message": text}).encode())


def limited(status: int = 403, text: str = "", **headers: str) -> Answer:
    """A refusal for now. Underscores in names of headers become hyphens."""
    answer = _message(status, text)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status=status, headers=dict(answer.headers) | named, body=answer.body)


class QuickWait:
    """Time that passes when somebody sleeps, and tells how long they did."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._lock = threading.Lock()
        self._now = 0.0

    def now(self) -> float:
        """Seconds since the beginning."""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Let time pass at once."""
        with self._lock:
            self.slept.append(seconds)
            self._now += seconds

    def stop(self) -> None:
        """Nobody is asleep."""


def _nothing() -> None:
    pass


def _no_page(_number: int) -> None:
    pass


def _no_request(_request: Request) -> None:
    pass
