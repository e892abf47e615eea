"""A publication that was dropped is made up for from the report that its run kept."""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner_e2e.contracts.base import dump
from tests.e2e.github.test_aggregate_a_run import PLAN, runner_e2e
from tests.support.artifacts import write_event
from tests.support.documents import IDS
from tests.support.fake_github import FakeGithub, serving


@pytest.fixture
def github() -> Iterator[FakeGithub]:
    """A run that kept its results and, in its second attempt, a report of them."""
    with serving(FakeGithub()) as fake:
        fake.run_attempts = 2
        yield fake
    assert fake.problems == []


@pytest.fixture
def report(tmp_path: Path, github: FakeGithub) -> Path:
    """A report as aggregate writes it, of a run whose cells all passed."""
    made = tmp_path / "made"
    for execution_id in IDS:
        write_event(made, PLAN, execution_id, 1, "pass")
    (tmp_path / "plan.json").write_bytes(dump(PLAN))
    done = runner_e2e(
        github, tmp_path, "aggregate", str(made), "--plan", "plan.json", "--out", "whole"
    )
    assert done.returncode == 0, done.stderr
    return tmp_path / "whole"


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    path = tmp_path / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(path)], check=True)
    return path


def published(remote: Path) -> list[str]:
    done = subprocess.run(
        ["git", "-C", str(remote), "show", "runner-e2e:index.json"],
        capture_output=True,
        check=True,
    )
    return [row["campaignId"] for row in json.loads(done.stdout)["campaigns"]]


def test_a_lost_publication_is_made_up_for(
    github: FakeGithub, report: Path, remote: Path, tmp_path: Path
) -> None:
    github.add_directory("runner-e2e-report-a2", report)
    done = runner_e2e(
        github, tmp_path, "publish", "--from-run", github.locator, "--remote", str(remote)
    )
    assert done.returncode == 0, done.stderr
    campaign = json.loads((report / "campaign.json").read_bytes())
    assert published(remote) == [campaign["campaignId"]]

    _, _, whole = github.locator.partition(":")
    repository, _, run_id = whole.rpartition("/")
    again = runner_e2e(
        github,
        tmp_path,
        *("publish", "--from-run", run_id, "--remote", str(remote)),
        GITHUB_REPOSITORY=repository,
    )
    assert (again.returncode, "nothing to do" in again.stdout) == (0, True), again.stderr
    leftover = [path.name for path in tmp_path.iterdir() if path.name.startswith("runner-e2e-")]
    assert leftover == []


def test_a_run_without_a_report_says_what_to_do(
    github: FakeGithub, remote: Path, tmp_path: Path
) -> None:
    done = runner_e2e(
        github, tmp_path, "publish", "--from-run", github.locator, "--remote", str(remote)
    )
    assert done.returncode == 2
    assert "has no report" in done.stderr
    assert "hint: " in done.stderr


def test_a_report_that_would_leave_its_directory_is_not_unpacked(
    github: FakeGithub, report: Path, remote: Path, tmp_path: Path
) -> None:
    hostile = tmp_path / "hostile.zip"
    with zipfile.ZipFile(hostile, "w") as archive:
        for path in report.rglob("*"):
            if path.is_file():
                archive.write(path, path.relative_to(report).as_posix())
        archive.writestr("../outside.txt", "x")
    github.add_artifact("runner-e2e-report-a2", hostile.read_bytes())
    done = runner_e2e(
        github, tmp_path, "publish", "--from-run", github.locator, "--remote", str(remote)
    )
    assert done.returncode == 2, done.stderr
    assert "outside.txt" in done.stderr
    assert not list(tmp_path.rglob("outside.txt"))


@pytest.mark.parametrize("arguments", [[], ["report", "--from-run", "1"], ["--from-run", "1"]])
def test_publish_takes_one_report(github: FakeGithub, tmp_path: Path, arguments: list[str]) -> None:
    done = runner_e2e(github, tmp_path, "publish", *arguments, GITHUB_REPOSITORY="")
    assert done.returncode == 2
    assert "hint: " in done.stderr
