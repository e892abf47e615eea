"""A captured list becomes a snapshot or nothing."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from runner_e2e.catalog import (
    fetch_ranking,
    load_catalog,
    profiles_file,
    read_ranking,
    snapshot_of,
)
from runner_e2e.cli.main import main
from runner_e2e.errors import DocumentError
from runner_e2e.failures import ExecutionError

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def row(name: str, *parameters: str) -> dict[str, Any]:
    return {"id": f"lab/{name}", "name": name.title(), "supported_parameters": [*parameters]}


ROWS = [
    row("one", "tools", "temperature"),
    row("mute", "temperature"),
    *(row(name, "tools") for name in ("two", "three", "four", "five", "six")),
]


def answer(rows: object) -> bytes:
    return json.dumps({"data": rows}).encode()


def test_the_first_five_that_call_tools_are_ranked() -> None:
    snapshot = read_ranking(snapshot_of(answer(ROWS), NOW), "x")
    assert [model.id for model in snapshot.models] == [
        "lab/one",
        "lab/two",
        "lab/three",
        "lab/four",
        "lab/five",
    ]
    assert snapshot.snapshot_id == "openrouter-top-weekly-2026-11-30"
    assert snapshot.captured_at == "2026-11-30T12:00:00.000Z"
    assert snapshot.source_url.startswith("https://openrouter.ai/")


def test_the_same_answer_gives_the_same_bytes() -> None:
    assert snapshot_of(answer(ROWS), NOW) == snapshot_of(answer(ROWS), NOW)


def run(arguments: list[str]) -> object:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


BAD = {
    "no JSON": b"<html>",
    "another document": b"[]",
    "no list": b'{"data": {}}',
    "too short": answer(ROWS[:3]),
    "no names": answer([row(f"m{n}", "tools") | {"name": None} for n in range(5)]),
    "blank names": answer([row(f"m{n}", "tools") | {"name": " "} for n in range(5)]),
    "an id without its owner": answer([row(f"m{n}", "tools") | {"id": f"m{n}"} for n in range(5)]),
    "one model five times": answer([ROWS[0]] * 5),
    "rows that are none": answer([1, None, "x", [], {}]),
}


@pytest.mark.parametrize("data", BAD.values(), ids=BAD.keys())
def test_a_changed_answer_is_refused(data: bytes) -> None:
    with pytest.raises(DocumentError):
        snapshot_of(data, NOW)


@pytest.mark.parametrize("data", BAD.values(), ids=BAD.keys())
def test_a_refused_answer_never_takes_the_place_of_a_good_snapshot(
    tmp_path: Path, data: bytes
) -> None:
    saved, out = tmp_path / "answer.json", tmp_path / "snapshot.json"
    saved.write_bytes(answer(ROWS))
    arguments = ["catalog", "snapshot", "openrouter", "--from", str(saved), "--out", str(out)]
    assert run(arguments) == 0
    good = out.read_bytes()
    saved.write_bytes(data)
    assert run(arguments) == 2
    assert out.read_bytes() == good


def test_profiles_of_a_snapshot_make_a_catalog(tmp_path: Path) -> None:
    data = snapshot_of(answer(ROWS), NOW)
    (tmp_path / "rankings").mkdir()
    place, file = tmp_path / "rankings/top.json", tmp_path / "ranked.yaml"
    place.write_bytes(data)
    file.write_bytes(profiles_file(read_ranking(data, "x"), place, file))
    catalog = {
        "schema": "runner-e2e.catalog/v1",
        "target": {"kind": "command"},
        "include": ["ranked.yaml"],
    }
    (tmp_path / "runner-e2e.yaml").write_text(json.dumps(catalog))
    loaded = load_catalog(tmp_path / "runner-e2e.yaml")
    assert [one.model for one in loaded.file.profiles][:2] == ["lab/one", "lab/two"]
    assert loaded.file.profiles[0].ranking == read_ranking(data, "x").entry(1)


class Handler(BaseHTTPRequestHandler):
    status = 200

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        data = answer(ROWS)
        self.send_response(int(self.path.strip("/")))
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def server() -> Iterator[str]:
    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{http.server_address[1]}"
    http.shutdown()
    thread.join()
    http.server_close()


def test_the_list_is_fetched_without_an_account(server: str) -> None:
    assert fetch_ranking(f"{server}/200") == answer(ROWS)


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (302, "permanent_infrastructure", "request_refused"),
        (403, "permanent_infrastructure", "credential_refused"),
        (429, "transient_infrastructure", "rate_limited"),
        (503, "transient_infrastructure", "provider_unavailable"),
    ],
)
def test_a_refusal_has_its_class(server: str, status: int, kind: str, code: str) -> None:
    with pytest.raises(ExecutionError) as caught:
        fetch_ranking(f"{server}/{status}")
    assert (caught.value.failure_class, caught.value.code) == (kind, code)


def test_nobody_there_may_be_there_in_a_minute() -> None:
    with pytest.raises(ExecutionError) as caught:
        fetch_ranking("http://127.0.0.1:9/")
    assert caught.value.failure_class == "transient_infrastructure"
