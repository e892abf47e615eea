"""The check of the actor: the shipped script, in a real shell, with the API on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.workflows.toolbox import shipped

USERS = {"/users/octocat": 583231, "/users/colleague": 7, "/users/stranger": 666}
COMMITS = {
    "/repos/acme/app/commits/heads/main": "a" * 40,
    "/repos/acme/app/commits/tags/v1.0": "b" * 40,
    "/repos/acme/app/commits/heads/feature/x": "c" * 40,
}


class Api(BaseHTTPRequestHandler):
    """What the two scripts ask GitHub for."""

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        asked = self.headers.get("Authorization") == "Bearer token"
        if asked and self.path in USERS:
            self._answer(json.dumps({"login": "x", "id": USERS[self.path], "plan": {"id": 1}}))
        elif asked and self.path in COMMITS:
            assert self.headers["Accept"] == "application/vnd.github.sha"
            self._answer(COMMITS[self.path])
        else:
            self.send_error(404)

    def _answer(self, body: str) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body.encode())


@pytest.fixture(scope="module")
def api() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def run_step(index: int, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    script = shipped("campaign.yml")["jobs"]["authorize"]["steps"][index]["run"]
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "GITHUB_TOKEN": "token", **environ},
    )


def authorize(
    api: str,
    *,
    allowed: str = "[583231, 7]",
    actor_id: str = "583231",
    triggering: str = "octocat",
) -> subprocess.CompletedProcess[str]:
    return run_step(
        0,
        {
            "ALLOWED_ACTOR_IDS": allowed,
            "GITHUB_ACTOR": "octocat",
            "GITHUB_ACTOR_ID": actor_id,
            "GITHUB_TRIGGERING_ACTOR": triggering,
            "GITHUB_API_URL": api,
        },
    )


@pytest.mark.parametrize("allowed", ["[583231]", "[ 7,583231 ]", "[7, 583231]", "[583231,7]"])
def test_a_listed_actor_may_spend(api: str, allowed: str) -> None:
    assert authorize(api, allowed=allowed).returncode == 0


def test_a_listed_colleague_may_run_it_again(api: str) -> None:
    assert authorize(api, triggering="colleague").returncode == 0


@pytest.mark.parametrize(
    "allowed",
    [
        "",
        "[]",
        "583231",
        "[583231",
        "[-583231]",
        "['583231']",
        '["583231"]',
        "[0583231]",
        "*",
        "null",
    ],
)
def test_a_list_that_is_none_allows_nobody(api: str, allowed: str) -> None:
    done = authorize(api, allowed=allowed)
    assert done.returncode == 1
    assert "must be a JSON list of user ids" in done.stdout


@pytest.mark.parametrize(
    "actor_id", ["666", "58323", "5832310", "", " ", "58 3231", "583231, 7", "."]
)
def test_no_part_of_a_listed_id_is_enough(api: str, actor_id: str) -> None:
    done = authorize(api, actor_id=actor_id)
    assert done.returncode == 1
    assert "is not in RUNNER_E2E_ALLOWED_ACTOR_IDS" in done.stdout


@pytest.mark.parametrize("who", ["stranger", "nobody", "../repos/acme/app", "octocat?x=1", ""])
def test_whoever_runs_it_again_must_be_listed_too(api: str, who: str) -> None:
    done = authorize(api, triggering=who)
    assert done.returncode == 1
    assert "::error title=Not authorised::" in done.stdout


def resolve(api: str, ref: str, output: Path) -> subprocess.CompletedProcess[str]:
    output.touch()
    return run_step(
        1,
        {
            "TARGET_REF": ref,
            "GITHUB_API_URL": api,
            "GITHUB_OUTPUT": str(output),
            "GITHUB_REF": "refs/heads/trunk",
            "GITHUB_REPOSITORY": "acme/app",
            "GITHUB_SHA": "f" * 40,
        },
    )


@pytest.mark.parametrize(
    ("ref", "sha", "full"),
    [
        ("", "f" * 40, "refs/heads/trunk"),
        ("main", "a" * 40, "refs/heads/main"),
        ("v1.0", "b" * 40, "refs/tags/v1.0"),
        ("feature/x", "c" * 40, "refs/heads/feature/x"),
    ],
)
def test_a_branch_or_a_tag_becomes_a_commit(
    api: str, tmp_path: Path, ref: str, sha: str, full: str
) -> None:
    output = tmp_path / "output"
    assert resolve(api, ref, output).returncode == 0
    assert output.read_text() == f"sha={sha}\nref={full}\n"


@pytest.mark.parametrize(
    "ref",
    ["gone", "refs/pull/7/head", "-x", "a b", "main\nsha=evil", "main#", "a%2e", "$(id)", "../x"],
)
def test_what_is_no_branch_and_no_tag_is_refused(api: str, tmp_path: Path, ref: str) -> None:
    output = tmp_path / "output"
    done = resolve(api, ref, output)
    assert done.returncode == 1
    assert "::error::" in done.stdout
    assert output.read_text() == ""
