"""What is left behind is said, and hides nothing that went wrong before it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from runner_e2e.execution import sweep
from tests.support.executions import ANSWER, read_back, run_agent


@pytest.fixture
def broken_rm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which nothing can be deleted."""
    programs = tmp_path / "bin"
    programs.mkdir()
    rm = programs / "rm"
    rm.write_text("#!/bin/sh\necho 'rm: cannot remove x: Device or resource busy' >&2\nexit 1\n")
    rm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")


@pytest.mark.usefixtures("broken_rm")
def test_a_root_that_cannot_be_deleted_fails_a_pass(tmp_path: Path) -> None:
    ran = run_agent(tmp_path, ANSWER)
    assert ran.verdict == ("cleanup_failure", "root_left")
    assert ran.result.cleanup == "failed"
    assert "Device or resource busy" in (ran.result.error or "")
    assert not ran.result.green
    assert [one.deleted_at for one in ran.record.resources] == [None, None]


@pytest.mark.usefixtures("broken_rm")
def test_both_errors_are_kept_where_the_clean_up_of_a_failure_fails(tmp_path: Path) -> None:
    ran = run_agent(tmp_path, ANSWER, env={"KEY": {"$secretRef": "OPENAI_API_KEY"}})
    assert ran.verdict == ("cleanup_failure", "root_left")
    assert "OPENAI_API_KEY must be set" in (ran.result.error or "")
    assert "could not be deleted" in (ran.result.error or "")


def test_what_could_not_be_deleted_is_swept_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    path = "/usr/bin:/bin"
    request.getfixturevalue("broken_rm")
    run_agent(tmp_path, ANSWER)
    left = list((tmp_path / "tmp").iterdir())
    assert len(left) == 2
    monkeypatch.setenv("PATH", path)
    report = sweep(tmp_path / "tmp")
    assert sorted(report.roots) == sorted(one.name for one in left)
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_temporary_directory_that_is_not_there_gives_a_result_all_the_same(
    tmp_path: Path,
) -> None:
    ran = run_agent(tmp_path, ANSWER, temporary_directory=tmp_path / "absent")
    assert ran.verdict == ("permanent_infrastructure", "enoent")
    assert ran.result.cleanup == "passed"
    assert len(ran.record.attempts) == 1


def test_a_session_that_cannot_be_closed_on_a_full_disk_costs_no_result(tmp_path: Path) -> None:
    """The limit on the size of a file stands for the disk. The agent itself is free of it."""
    script = f"""
import pathlib, resource, sys
from tests.support.executions import run_agent
hard = resource.RLIM_INFINITY
resource.setrlimit(resource.RLIMIT_FSIZE, ({64 * 1024}, hard))
agent = "print('x' * 9_000_000, flush=True)\\nsignal.pause()"
run_agent(pathlib.Path(sys.argv[1]), agent, timeout_ms=1500)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    ran = read_back(tmp_path / "out", tmp_path / "tmp")
    assert ran.verdict == ("cleanup_failure", "close_failed")
    assert "File too large" in str(ran.result.error)
    assert ran.record.state == "finished"
