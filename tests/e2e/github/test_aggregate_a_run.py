"""``runner-e2e aggregate github:OWNER/REPO/RUN_ID``, as a user or a workflow's job starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner_e2e.cli.main import run
from runner_e2e.contracts.base import dump
from runner_e2e.errors import ExitCode
from tests.support.artifacts import job_row, write_event
from tests.support.documents import IDS, make_plan
from tests.support.fake_github import TOKEN, Answer, FakeGithub, limited, serving

PLAN = make_plan(IDS)


@pytest.fixture
def github(tmp_path: Path) -> Iterator[FakeGithub]:
    """A run whose second cell failed, and passed when it was run again."""
    with serving(FakeGithub()) as fake:
        fake.run_attempts = 2
        plan = tmp_path / "made" / "plan"
        plan.mkdir(parents=True)
        (plan / "plan.json").write_bytes(dump(PLAN))
        fake.add_directory("runner-e2e-plan-a1", plan)
        for number, execution_id in enumerate(IDS):
            event = write_event(
                tmp_path / "made", PLAN, execution_id, 1, "fail" if number == 1 else "pass"
            )
            fake.add_directory(event.name, event)
            fake.add_job(job_row(f"e2e / {execution_id}"))
        again = write_event(tmp_path / "made", PLAN, IDS[1], 2, "pass")
        fake.add_directory(again.name, again)
        fake.add_job(job_row(f"e2e / {IDS[1]}", run_attempt=2))
        yield fake
    assert fake.problems == []


def runner_e2e(
    github: FakeGithub, directory: Path, *arguments: str, **environ: str
) -> subprocess.CompletedProcess[str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GITHUB_", "GH_")) and "proxy" not in name.lower()
    }
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "runner_e2e", *arguments],
        cwd=directory,
        env=kept | {"TMPDIR": str(directory)} | github.environ | environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_one_argument_makes_the_whole_report(github: FakeGithub, tmp_path: Path) -> None:
    done = runner_e2e(github, tmp_path, "aggregate", github.locator)
    assert (done.returncode, done.stderr) == (
        0,
        f"run {github.run_id}: 4 result artifacts to read\n",
    )
    assert "3 of 3 passed, 3 of 3 resolved" in done.stdout
    campaign = json.loads((tmp_path / "report" / "campaign.json").read_bytes())
    assert campaign["campaignId"] == f"gha-{github.run_id}-2"
    assert {path.name for path in tmp_path.iterdir()} == {"made", "report"}


def test_real_limits_and_faults_are_waited_for_and_told(github: FakeGithub, tmp_path: Path) -> None:
    github.fail(limited(429, Retry_After="1"), "/artifacts$")
    github.fail(Answer(hang_up=True), "/jobs$")
    github.fail(Answer(status=502), "/zip$")
    done = runner_e2e(github, tmp_path, "aggregate", github.locator)
    assert done.returncode == 0
    assert "GitHub: it asks us to wait; going on in 2 s" in done.stderr
    assert "for GitHub in all" in done.stderr


def test_an_expired_artifact_leaves_its_cell_unresolved(github: FakeGithub, tmp_path: Path) -> None:
    github.fail(
        Answer(status=410, body=b'{"message": "Artifact has expired"}'), "/artifacts/1004/zip$"
    )
    done = runner_e2e(github, tmp_path, "aggregate", github.locator, "--json")
    assert done.returncode == 8
    cells = {cell["executionId"]: cell for cell in json.loads(done.stdout)["cells"]}
    assert cells[IDS[1]]["state"] == "expired"
    assert cells[IDS[1]]["file"] == f"runner-e2e-result-a2-{IDS[1]}"


def test_results_from_a_directory_are_judged_by_the_jobs_of_the_run(
    github: FakeGithub, tmp_path: Path
) -> None:
    """What the artifact action left of the first attempt is not taken for the second."""
    results = tmp_path / "results"
    for execution_id in IDS:
        write_event(results, PLAN, execution_id, 1, "pass")
    (tmp_path / "plan.json").write_bytes(dump(PLAN))
    alone = runner_e2e(github, tmp_path, "aggregate", "results")
    judged = runner_e2e(github, tmp_path, "aggregate", "results", "--jobs", github.locator)
    assert (alone.returncode, judged.returncode) == (0, 8)
    assert f"missing      {IDS[1]}" in judged.stderr
    assert github.asked("/artifacts") == 0


def test_a_plan_that_is_named_goes_before_the_run_s_own(github: FakeGithub, tmp_path: Path) -> None:
    (tmp_path / "own.json").write_bytes(dump(make_plan(IDS[:1])))
    done = runner_e2e(github, tmp_path, "aggregate", github.locator, "--plan", "own.json")
    assert "1 of 1" in done.stdout
    assert github.asked(r"/1000/zip$") == 0


@pytest.mark.parametrize(
    "case",
    [
        (["github:acme/agents"], {}, "names no workflow run"),
        (["github:acme/agents/7"], {}, "run 7 in acme/agents: GitHub answered 404"),
        (["github:acme/agents/7", "github:acme/agents/8"], {}, "of one workflow run"),
        (["github:acme/agents/7"], {"GITHUB_TOKEN": "wrong"}, "GitHub answered 401"),
        (["github:acme/agents/7"], {"GITHUB_API_URL": "ftp://x"}, "GITHUB_API_URL"),
        (["."], {}, "plan.json cannot be read"),
        ([".", "--jobs", "github:acme"], {}, "names no workflow run"),
    ],
    ids=str,
)
def test_what_cannot_be_read_is_exit_2_with_a_hint(
    github: FakeGithub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    case: tuple[list[str], dict[str, str], str],
) -> None:
    arguments, environ, said = case
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "*")
    for name, value in (github.environ | environ).items():
        monkeypatch.setenv(name, value)
    assert run(["aggregate", *arguments]) == ExitCode.USAGE
    printed = capsys.readouterr()
    assert said in printed.err
    assert "hint: " in printed.err
    assert TOKEN not in printed.err + printed.out
    assert not (tmp_path / "report").exists()
