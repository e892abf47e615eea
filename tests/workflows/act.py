"""Run the shipped workflows for real, with act, on this machine: real shells, processes and git,
act's own artifact server, and folders where GitHub would have repositories."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.workflows.toolbox import BIN, HERE, PLACEHOLDER, PROJECT, Json, bundle

PINS = {
    "checkout": "3d3c42e5aac5ba805825da76410c181273ba90b1",
    "upload-artifact": "043fb46d1a93c77aae656e7c1c64a875d1fc6a0a",
    "download-artifact": "3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c",
}
ACTOR_ID = 583231
TIMEOUT_SECONDS = 240
"""For a whole run; the longest takes a tenth of it."""

TOOL = "acme/runner-e2e"
SHIPPED = ("action.yml", "pyproject.toml", "uv.lock", "runner_e2e", "templates", "workflows")


def git(repository: Path, *arguments: str) -> str:
    """Run git there, as nobody in particular and without anybody's settings."""
    identity = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Test"), ("EMAIL", "test@localhost"))
    }
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, **identity}
    done = subprocess.run(
        ["git", "-C", repository, *arguments],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    return done.stdout.strip()


def commit_all(repository: Path) -> str:
    """Commit everything there, on a branch that is not called main, and return the commit."""
    if not (repository / ".git").exists():
        git(repository, "init", "--quiet", "--initial-branch=trunk")
    git(repository, "add", "--all", "--force")
    git(repository, "commit", "--quiet", "--message=As it is")
    return git(repository, "rev-parse", "HEAD")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a workflow: its exit code, how its jobs ended, what they printed."""

    returncode: int
    jobs: Mapping[str, str]
    """Name of the job to ``success`` or ``failure``. A job that was skipped is not in it, and act
    gives all legs of a matrix one result."""
    logs: Mapping[str, str]
    steps: Mapping[str, Mapping[str, str]]
    """Name of the job to the steps that ran in it, and how each ended."""
    text: str
    artifacts: Path

    def artifact_names(self) -> set[str]:
        """The artifacts that were uploaded, of the run with the id 1."""
        return {path.name for path in self.artifacts.glob("1/*")}


class Forge:
    """A few repositories, and act to run their workflows in."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.repositories = root / "repositories"
        self.home = root / "home"
        self.actions = root / "actions"
        self.home.mkdir(parents=True)
        self._make_actions()
        self.tool_sha = self._make_tool()
        self.installed = self._make_installation()
        self.remotes = root / "remotes"

    def _make_actions(self) -> None:
        for name in PINS:
            shutil.copytree(HERE / "actions" / name, self.actions / name)
        for name in ("upload-artifact", "download-artifact"):
            bundle(HERE / "actions" / name / "index.mjs", self.actions / name / "bundled.mjs")

    def _make_tool(self) -> str:
        """The repository of runner-e2e, as it stands in this checkout."""
        tool = self.repositories / TOOL
        tool.mkdir(parents=True)
        ignore = shutil.ignore_patterns("__pycache__")
        for name in SHIPPED:
            source = PROJECT / name
            if source.is_dir():
                shutil.copytree(source, tool / name, ignore=ignore)
            else:
                shutil.copy(source, tool / name)
        shutil.copytree(PROJECT / ".github", tool / ".github")
        for path in (tool / ".github" / "workflows").iterdir():
            path.write_text(for_act(path.read_text(encoding="utf-8")), encoding="utf-8")
        return commit_all(tool)

    def _make_installation(self) -> Path:
        """What the action installs once a job: here it is the environment of this checkout."""
        lock = hashlib.sha256((PROJECT / "uv.lock").read_bytes()).hexdigest()
        installed = self.home / "installed"
        installed.mkdir()
        (installed / f"venv-{lock[:16]}").symlink_to(PROJECT / ".venv")
        (installed / f"venv-{lock[:16]}.installed").touch()
        return installed

    def repository(self, name: str, files: Mapping[str, str]) -> Path:
        """Make a repository ``OWNER/NAME`` of ``files`` and return its folder."""
        folder = self.repositories / name
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        commit_all(folder)
        git(folder, "remote", "add", "origin", f"https://github.com/{name}")
        git(self._root, "clone", "--quiet", "--bare", str(folder), str(self.remotes / name))
        return folder

    def published(self, name: str) -> dict[str, Json]:
        """The campaigns on the publishing branch of a repository, by id."""
        remote = self.remotes / name
        paths = git(remote, "ls-tree", "-r", "--name-only", "runner-e2e").splitlines()
        campaigns = [
            path for path in paths if re.fullmatch(r"campaigns/[^/]+/campaign\.json", path)
        ]
        documents = (json.loads(git(remote, "show", f"runner-e2e:{path}")) for path in campaigns)
        return {document["campaignId"]: document for document in documents}

    @property
    def tool(self) -> dict[str, str]:
        """The inputs that stand in for what only GitHub knows: where a called workflow is from."""
        return {"tool-repository": TOOL, "tool-ref": self.tool_sha}

    @property
    def campaign(self) -> dict[str, str]:
        """The same for a campaign, whose results come over the API unless told otherwise."""
        return {**self.tool, "results-from": "artifacts"}

    def caller(self, name: str) -> str:
        """One of the callers to copy, pointed at the repository of runner-e2e."""
        text = (PROJECT / "workflows" / name).read_text(encoding="utf-8")
        return for_act(text.replace("OWNER/", "acme/").replace(PLACEHOLDER, self.tool_sha))

    def run(
        self,
        repository: Path,
        workflow: str,
        artifacts: Path,
        *,
        inputs: Mapping[str, str] | None = None,
        environ: Mapping[str, str] | None = None,
        event: str = "workflow_dispatch",
        payload: Mapping[str, object] | None = None,
    ) -> Run:
        """Run a workflow of ``repository``. ``artifacts`` keeps them for later runs to read."""
        port = _free_port()
        command = [str(BIN / "act"), event, "--json", "-W", f".github/workflows/{workflow}"]
        command += [
            "-P",
            "ubuntu-24.04=-self-hosted",
            "--no-cache-server",
            "--defaultbranch",
            "trunk",
        ]
        command += ["--artifact-server-path", str(artifacts), "--artifact-server-port", str(port)]
        command += ["--artifact-server-addr", "127.0.0.1", "--concurrent-jobs", "2"]
        for action, sha in PINS.items():
            command += ["--local-repository", f"actions/{action}@{sha}={self.actions / action}"]
        tool = self.repositories / TOOL
        command += ["--local-repository", f"{TOOL}@{self.tool_sha}={tool}"]
        command += ["--var", f"RUNNER_E2E_ALLOWED_ACTOR_IDS=[1, {ACTOR_ID}]", "--actor", "octocat"]
        command += ["-s", "GITHUB_TOKEN=token", "-s", "OPENAI_API_KEY=sk-not-a-real-key-1234567890"]
        for name, value in (inputs or {}).items():
            command += ["--input", f"{name}={value}"]
        if payload is not None:
            file = self._root / f"event-{port}.json"
            file.write_text(json.dumps(payload), encoding="utf-8")
            command += ["-e", str(file)]
        for name, value in self._environment(artifacts, environ or {}).items():
            command += ["--env", f"{name}={value}"]
        done = subprocess.run(
            command,
            check=False,
            cwd=repository,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            env={
                "PATH": f"{PROJECT / '.tools' / 'bin'}:{os.environ['PATH']}",
                "HOME": str(self.home),
                "GIT_CONFIG_GLOBAL": os.devnull,
            },
        )
        return _read(done.returncode, done.stdout + done.stderr, artifacts)

    def _environment(self, artifacts: Path, extra: Mapping[str, str]) -> dict[str, str]:
        # The publisher reaches GitHub as the user's git does, so git may send it elsewhere.
        config = self._root / "gitconfig"
        config.write_text(f'[url "{self.remotes}/"]\n\tinsteadOf = https://github.com/\n')
        return {
            "GITHUB_ACTOR_ID": str(ACTOR_ID),
            "GITHUB_TRIGGERING_ACTOR": "octocat",
            "GITHUB_RUN_ID": "1",
            "GITHUB_RUN_ATTEMPT": "1",
            "GIT_CONFIG_GLOBAL": str(config),
            "RUNNER_E2E_HOME": str(self.installed),
            "STANDIN_ARTIFACTS": str(artifacts),
            "STANDIN_REPOSITORIES": str(self.repositories),
            **extra,
        }


def for_act(text: str) -> str:
    """The one thing in our files that act does not understand yet."""
    return re.sub(r", queue: max", "", text)


def _read(returncode: int, text: str, artifacts: Path) -> Run:
    jobs: dict[str, str] = {}
    logs: dict[str, list[str]] = {}
    steps: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        if not line.startswith("{"):
            continue
        event = json.loads(line)
        # act counts the jobs of a matrix in their names; GitHub does not.
        leg = (event.get("matrix") or {}).get("executionId")
        job = leg or str(event.get("job", "")).rsplit("/", 1)[-1].strip()
        if "jobResult" in event:
            jobs[job] = event["jobResult"]
        elif event.get("stage") == "Main" and "stepResult" in event:
            steps.setdefault(job, {})[event["step"]] = event["stepResult"]
        logs.setdefault(job, []).append(str(event.get("msg", "")).rstrip("\n"))
    return Run(
        returncode=returncode,
        jobs=jobs,
        logs={job: "\n".join(lines) for job, lines in logs.items()},
        steps=steps,
        text=text,
        artifacts=artifacts,
    )


def _free_port() -> int:
    """A port that nobody listens on at the moment."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port
