"""``doctor`` finds what would end a campaign, and leaves nothing behind."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from runner_e2e.cli.main import main
from runner_e2e.environments.daytona.registry import DOCKER_HUB, ImageName
from tests.support.daytona_runs import daytona_catalog
from tests.support.executions import ANSWER, write_catalog
from tests.support.fake_daytona import FakeDaytona, Fault

DIGEST = "sha256:" + "b" * 64


class Registry(BaseHTTPRequestHandler):
    """Knows one image for everybody, one behind a token, one that it shows to nobody."""

    url: ClassVar[str] = ""

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        name = self.path.split("/")[2]
        known = {"open": 200, "broken": 503, "gone": 404}
        status = known.get(name, 401)
        if name == "token" and self.headers.get("Authorization") == "Bearer t-1":
            status = 200
        self.send_response(status)
        if status == 401:
            realm = f'Bearer realm="{self.url}/token",service="s",scope="x"'
            self.send_header("WWW-Authenticate", realm if name == "token" else "Basic")
        self.end_headers()

    def do_GET(self) -> None:
        body = b'{"token": "t-1"}' if "repository%3Atoken%3Apull" in self.path else b"{}"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def registry() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    place = f"127.0.0.1:{server.server_address[1]}"
    Registry.url = f"http://{place}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield place
    server.shutdown()
    thread.join()
    server.server_close()


class Doctor:
    """Calls the command on one catalog and reads its answer."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        environ: dict[str, str],
    ) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys
        for name, value in environ.items():
            monkeypatch.setenv(name, value)

    def use_image(self, image: str) -> None:
        self.monkeypatch.setenv("RUNNER_E2E_DAYTONA_IMAGE", image)

    def __call__(self, catalog: Path, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
        with pytest.raises(SystemExit) as ended:
            main(["doctor", "--catalog", str(catalog), "--all", "--json", *arguments])
        answer = json.loads(self.capsys.readouterr().out)
        return int(ended.value.code or 0), answer["findings"]


@pytest.fixture
def doctor(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    daytona: FakeDaytona,
    registry: str,
) -> Doctor:
    image = {"RUNNER_E2E_DAYTONA_IMAGE": f"{registry}/open@{DIGEST}"}
    return Doctor(monkeypatch, capsys, daytona.environ | image)


def problems(findings: list[dict[str, Any]]) -> list[tuple[str, str]]:
    found = [one for one in findings if one["state"] == "problem"]
    assert all(one["fix"] for one in found), "each problem names its fix"
    return [(one["check"], one["message"]) for one in found]


def test_everything_is_fine(tmp_path: Path, doctor: Doctor, daytona: FakeDaytona) -> None:
    code, findings = doctor(daytona_catalog(tmp_path, ANSWER))
    assert (code, problems(findings)) == (0, [])
    assert [one["check"] for one in findings] == ["credential", "image", "sandbox"]
    (create,) = daytona.creates
    assert (create["cpu"], create["memory"], create["disk"]) == (1, 1, 1)
    assert len(daytona.destroyed) == 1


def test_a_preset_is_looked_for_in_the_image(tmp_path: Path, doctor: Doctor) -> None:
    path = daytona_catalog(tmp_path, ANSWER)
    tree = json.loads(path.read_text())
    tree["profiles"][0]["agent"] = {"preset": "codex", "command": ["no-such-codex"]}
    path.write_text(json.dumps(tree))
    code, findings = doctor(path)
    assert code == 1
    assert [check for check, _ in problems(findings)] == ["credential", "program"]
    assert "no-such-codex is not in the image" in problems(findings)[1][1]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (("create", Fault(status=403)), "answered 403 to create a sandbox"),
        (("create", Fault(status=401)), "answered 401 to create a sandbox"),
        (("create", Fault(status=504, effect=True)), "answered 504 to create a sandbox"),
    ],
)
def test_a_key_that_may_not_create_is_found(
    tmp_path: Path,
    doctor: Doctor,
    daytona: FakeDaytona,
    fault: tuple[str, Fault],
    message: str,
) -> None:
    daytona.fail(*fault)
    code, findings = doctor(daytona_catalog(tmp_path, ANSWER))
    assert code == 1
    assert message in problems(findings)[0][1]


def test_a_key_that_may_not_delete_is_found(
    tmp_path: Path, doctor: Doctor, daytona: FakeDaytona
) -> None:
    daytona.fail("delete", Fault(status=403))
    code, findings = doctor(daytona_catalog(tmp_path, ANSWER))
    assert code == 1
    assert [check for check, _ in problems(findings)] == ["sandbox"]
    assert daytona.living[0].id in problems(findings)[0][1]
    daytona.destroy(daytona.living[0])


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("open", "ok"),
        ("token", "ok"),
        ("gone", "problem"),
        ("private", "unknown"),
        ("broken", "unknown"),
    ],
)
def test_an_image_is_asked_for_at_its_registry(
    tmp_path: Path, doctor: Doctor, registry: str, name: str, state: str
) -> None:
    doctor.use_image(f"{registry}/{name}@{DIGEST}")
    _, findings = doctor(daytona_catalog(tmp_path, ANSWER))
    assert [one["state"] for one in findings if one["check"] == "image"] == [state]


def test_a_tag_is_no_image(tmp_path: Path, doctor: Doctor, daytona: FakeDaytona) -> None:
    doctor.use_image("agent:latest")
    code, findings = doctor(daytona_catalog(tmp_path, ANSWER))
    assert code == 1
    assert "no immutable image digest" in problems(findings)[0][1]
    assert daytona.creates == []


def test_a_local_program_and_its_account_are_found_missing(
    tmp_path: Path, doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    path = write_catalog(tmp_path, ANSWER, env={"K": {"$secretRef": "OPENAI_API_KEY"}})
    tree = json.loads(path.read_text())
    tree["profiles"][0]["agent"]["command"] = ["no-such-agent"]
    path.write_text(json.dumps(tree))
    code, findings = doctor(path)
    assert code == 1
    assert problems(findings) == [
        ("credential", "OPENAI_API_KEY is not set"),
        ("program", "no-such-agent is not on PATH"),
    ]


def test_whether_a_branch_may_be_published_to_is_asked_without_publishing(
    tmp_path: Path, doctor: Doctor
) -> None:
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    catalog = write_catalog(tmp_path / "catalog", ANSWER)
    branch = ("--branch", "history", "--remote")
    code, findings = doctor(catalog, *branch, str(remote))
    assert (code, findings[-1]["check"], findings[-1]["state"]) == (0, "publishing", "ok")
    refs = subprocess.run(
        ["git", "-C", str(remote), "for-each-ref"], capture_output=True, check=True
    )
    assert refs.stdout == b""
    code, findings = doctor(catalog, *branch, str(tmp_path / "nowhere.git"))
    assert (code, problems(findings)[-1][0]) == (1, "publishing")


@pytest.mark.parametrize(
    ("image", "registry", "repository"),
    [
        ("agent", DOCKER_HUB, "library/agent"),
        ("me/agent", DOCKER_HUB, "me/agent"),
        ("docker.io/agent", DOCKER_HUB, "library/agent"),
        ("ghcr.io/me/agent", "ghcr.io", "me/agent"),
        ("ghcr.io/me/agent:v1", "ghcr.io", "me/agent"),
        ("localhost:5000/agent", "localhost:5000", "agent"),
    ],
)
def test_an_image_name_is_read_as_docker_reads_it(
    image: str, registry: str, repository: str
) -> None:
    name = ImageName.parse(f"{image}@{DIGEST}")
    assert (name.registry, name.repository, name.digest) == (registry, repository, DIGEST)
