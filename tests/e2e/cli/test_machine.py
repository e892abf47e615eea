"""What the machine refuses is said as that, and a signal ends things in order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from runner_e2e.cli import main
from runner_e2e.errors import ExitCode
from tests.support.echo import catalog, task, write_catalog

PROGRAM = [sys.executable, "-m", "runner_e2e"]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    return write_catalog(tmp_path, catalog(task("hello")))


def _shell(command: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    program = " ".join(PROGRAM)
    return subprocess.run(
        ["bash", "-c", command.replace("runner-e2e", program)],
        cwd=cwd,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("runner-e2e catalog validate >&-", 0),
        ("runner-e2e plan --all --json >&-", 0),
        ("runner-e2e plan --all --json >/dev/full", 2),
        ("runner-e2e catalog validate >/dev/full", 2),
        ("runner-e2e --help >/dev/full", 2),
        ("runner-e2e plan --all --out .", 2),
        ("runner-e2e plan --all --out runner-e2e.yaml/plan.json", 2),
        ("GITHUB_OUTPUT=/nowhere/output runner-e2e plan --all --format github", 2),
        ("GITHUB_RUN_ID=../x runner-e2e plan --all", 2),
        ("runner-e2e campaign --all --out runner-e2e.yaml", 2),
    ],
)
def test_what_cannot_be_written_is_an_error_of_the_machine_and_no_bug(
    written: Path, command: str, code: int
) -> None:
    done = _shell(command, written.parent)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "should not" not in done.stderr
    if code:
        assert "error: " in done.stderr or "/dev/full" in command


def test_a_job_summary_that_cannot_be_written_costs_no_report(written: Path) -> None:
    done = _shell(
        "runner-e2e campaign --all", written.parent, GITHUB_STEP_SUMMARY="/nowhere/summary"
    )
    assert done.returncode == 0, done.stderr
    assert "no job summary: /nowhere/summary" in done.stderr
    assert (written.parent / "runner-e2e-results" / "report" / "index.html").is_file()


def test_a_full_disk_names_the_file_and_keeps_what_is_whole(written: Path) -> None:
    # 16 KiB a file: enough for the documents, too little for the page.
    done = _shell(
        "ulimit -f 16; runner-e2e campaign --all", written.parent, PYTHONDONTWRITEBYTECODE="1"
    )
    assert done.returncode == ExitCode.USAGE, done.stderr
    assert "index.html: File too large" in done.stderr
    report = written.parent / "runner-e2e-results" / "report"
    assert (report / "campaign.json").is_file()
    assert not (report / "index.html").exists()


def test_a_name_that_the_terminal_lacks_is_spelled_out(written: Path) -> None:
    done = _shell("runner-e2e campaign --all --out ö", written.parent, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "report: \\xf6/report" in done.stdout


def test_a_closed_terminal_ends_a_campaign_in_order(tmp_path: Path) -> None:
    started = tmp_path / "started"
    agent = f"open({str(started)!r}, 'w')\nimport time\ntime.sleep(60)\n"
    path = write_catalog(tmp_path, catalog(task("hello")), agent=agent)
    running = subprocess.Popen(
        [*PROGRAM, "campaign", "-c", str(path), "--all", "--out", str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while not started.exists():
        assert running.poll() is None
    running.send_signal(signal.SIGHUP)
    running.communicate(timeout=30)
    assert running.returncode == ExitCode.SIGTERM
    assert (tmp_path / "out" / "report" / "campaign.json").is_file()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_to_publish_leaves_nothing_behind(
    written: Path, tmp_path: Path, number: signal.Signals
) -> None:
    out, remote, temporary = tmp_path / "out", tmp_path / "remote.git", tmp_path / "tmp"
    main.run(["campaign", "-c", str(written), "--all", "--out", str(out)])
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    waiting = tmp_path / "waiting"
    hook = remote / "hooks" / "pre-receive"
    hook.write_text(f"#!/bin/sh\ntouch {waiting}\nexec sleep 3\n")
    hook.chmod(0o755)
    temporary.mkdir()
    running = subprocess.Popen(
        [*PROGRAM, "publish", str(out / "report"), "--remote", str(remote)],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not waiting.exists():
        assert running.poll() is None
    running.send_signal(number)
    _, narration = running.communicate(timeout=30)
    assert running.returncode == (130 if number == signal.SIGINT else 143)
    assert "Traceback" not in narration
    assert "error: " in narration
    assert list(temporary.iterdir()) == []
