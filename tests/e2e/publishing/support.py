"""Reports to publish, repositories to publish to, and a look at what arrived."""

from __future__ import annotations

import os
import struct
import subprocess
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from runner_e2e.contracts.base import dump, parse
from runner_e2e.contracts.history import CampaignRows, CellSeries, HistoryIndex
from runner_e2e.contracts.result import Result, Screenshot
from tests.support.artifacts import digest_of
from tests.support.documents import (
    IDS,
    later,
    make_campaign,
    make_campaign_source,
    make_insights,
    make_plan,
    make_result,
)

BRANCH = "e2e-history"


def plain_page(
    history: HistoryIndex, rows: CampaignRows, series: Mapping[str, CellSeries]
) -> dict[str, bytes]:
    """A dashboard in a few words: what a test about branches needs of a site."""
    shown = " ".join(row.campaign_id for row in rows.campaigns)
    return {
        "index.html": f"{history.latest_campaign_id}: {shown}; {' '.join(series)}\n".encode(),
        "assets/0123456789abcdef.css": b"body {}\n",
    }


def run_url(run: int) -> str:
    return f"https://github.com/acme/agents/actions/runs/{run}"


def make_report(
    directory: Path,
    run: int,
    *,
    attempt: int = 1,
    status: Literal["passed", "failed"] = "passed",
    minutes: float | None = None,
    ids: Sequence[str] = IDS,
    pictures: Mapping[str, bytes] | None = None,
    **source: Any,
) -> Path:
    """A report as ``aggregate`` writes it, of workflow run number ``run``."""
    plan = make_plan(
        ids, source=make_campaign_source(**{"workflow_run_url": run_url(run)} | source)
    )
    start = later(run * 1440 if minutes is None else minutes)
    results = [make_result(name, status=status, started_at=start) for name in plan.expected]
    if pictures:
        results[0] = _with_pictures(results[0], list(pictures))
    campaign = make_campaign(results, plan=plan, campaign_id=f"gha-{run}-{attempt}")
    insights = make_insights(campaign, plan=plan)
    below = f"evidence/{results[0].execution_id}/attempt-1/" if results else ""
    shots = {below + name: data for name, data in sorted((pictures or {}).items())}
    listed = tuple(digest_of(path, data) for path, data in shots.items())
    report = directory / f"report-{run}-{attempt}"
    files = {
        "campaign.json": dump(campaign),
        "insights.json": dump(insights.model_copy(update={"evidence": listed})),
        "plan.json": dump(plan),
        "summary.md": f"# {campaign.campaign_id}\n".encode(),
        "junit.xml": b"<testsuites/>\n",
        "index.html": f"<!doctype html><title>{campaign.campaign_id}</title>\n".encode(),
    }
    for path, data in {**files, **shots}.items():
        (report / path).parent.mkdir(parents=True, exist_ok=True)
        (report / path).write_bytes(data)
    return report


def _with_pictures(result: Result, names: list[str]) -> Result:
    shots = tuple(
        Screenshot(id=name, label=name, file=f"public/{name}", publication="public-runner-fixture")
        for name in names
    )
    return result.model_copy(update={"screenshots": shots})


def make_png(width: int = 1, height: int = 1) -> bytes:
    """A black picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"\0" * (width + 1) * height)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    )


def clean_environment() -> dict[str, str]:
    """The test's environment without what a developer's own git would add."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    return environ | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Test",
        "GIT_AUTHOR_EMAIL": "test@example.invalid",
        "GIT_COMMITTER_NAME": "Test",
        "GIT_COMMITTER_EMAIL": "test@example.invalid",
    }


def git(directory: Path, *arguments: str, stdin: bytes = b"") -> str:
    """What git prints there."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=directory,
        env=clean_environment(),
        input=stdin,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8", "surrogateescape").strip()


class Bare:
    """A bare repository, as a server has one."""

    def __init__(self, path: Path, *, partial_clones: bool = True) -> None:
        path.mkdir(parents=True)
        self.path = path
        git(path, "init", "--quiet", "--bare", "--initial-branch=main")
        git(path, "config", "uploadpack.allowFilter", str(partial_clones).lower())
        git(path, "config", "gc.auto", "0")

    @property
    def url(self) -> str:
        return self.path.as_uri()

    def git(self, *arguments: str) -> str:
        return git(self.path, *arguments)

    def tip(self, branch: str = BRANCH) -> str:
        return self.git("rev-parse", f"refs/heads/{branch}")

    def read(self, path: str, branch: str = BRANCH) -> bytes:
        return self.git("cat-file", "blob", f"refs/heads/{branch}:{path}").encode() + b"\n"

    def files(self, branch: str = BRANCH) -> list[str]:
        return self.git("ls-tree", "-r", "--name-only", f"refs/heads/{branch}").splitlines()

    def roots(self, branch: str = BRANCH) -> list[str]:
        return self.git("rev-list", "--max-parents=0", f"refs/heads/{branch}").splitlines()

    def history(self, root: str = "") -> HistoryIndex:
        return parse(HistoryIndex, self.read(f"{root}history.json"), "history.json")

    def rows(self, root: str = "") -> CampaignRows:
        return parse(CampaignRows, self.read(f"{root}index.json"), "index.json")

    def ids(self, root: str = "") -> list[str]:
        return [row.campaign_id for row in self.rows(root).campaigns]

    def write(self, changes: Mapping[str, bytes | None], branch: str = BRANCH) -> str:
        """Commit ``changes`` to the branch the way another program would."""
        ref = f"refs/heads/{branch}"
        stream = f"commit {ref}\ncommitter Other <other@example.invalid> 0 +0000\ndata 5\nother\n"
        heads = self.git("for-each-ref", ref)
        parts = [stream.encode(), f"from {ref}^0\n".encode() if heads else b""]
        for path, content in changes.items():
            if content is None:
                parts.append(f"D {path}\n".encode())
            else:
                parts += [f"M 100644 inline {path}\ndata {len(content)}\n".encode(), content, b"\n"]
        git(self.path, "fast-import", "--quiet", "--date-format=raw", stdin=b"".join(parts))
        return self.tip(branch)

    def hook(self, name: str, script: str) -> None:
        """Install a server-side hook."""
        hook = self.path / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\n{script}\n")
        hook.chmod(0o755)


def tree_bytes(directory: Path) -> Iterator[tuple[str, bytes, int]]:
    """Every file below a directory: path, content and time of change."""
    for path in sorted(directory.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield str(path), path.read_bytes(), path.stat().st_mtime_ns
