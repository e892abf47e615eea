"""A harness that is interrupted, twice, or killed: real processes, real signals."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner_e2e.contracts.base import parse
from runner_e2e.contracts.job_record import JobRecord
from runner_e2e.execution import sweep
from tests.e2e.execution.test_hostile_agents import DAEMON, is_running
from tests.support.executions import Ran, read_back

REPOSITORY = Path(__file__).parents[3]
DRIVER = """
import dataclasses, pathlib, sys
from runner_e2e.cli.signals import cancelled_by_signals
from runner_e2e.execution import run_execution
from tests.support.executions import make_request
here = pathlib.Path(sys.argv[1])
with cancelled_by_signals() as token:
    agent = (here / "agent.txt").read_text()
    request = make_request(here, agent, cancel=token, max_retries=1)
    outcome = run_execution(request)
    sys.exit(128 + token.signal_number if token.cancelled else 0)
"""

STUBBORN = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
"""


class Harness:
    """A harness in a process of its own, whose agent tells when it is ready."""

    def __init__(self, directory: Path, agent: str) -> None:
        self.directory = directory
        ready = directory / "ready"
        subprocess.run(["mkfifo", str(ready)], check=True)
        body = f"{agent}\nwith open({str(ready)!r}, 'w') as ready: ready.write(str(os.getpid()))\n"
        (directory / "agent.txt").write_text(body + "while True: signal.pause()")
        self.process = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(directory)], cwd=REPOSITORY
        )
        self.agent = int(ready.read_text())

    def end(self, timeout: float) -> int:
        return self.process.wait(timeout)

    def ran(self) -> Ran:
        return read_back(self.directory / "out", self.directory / "tmp")

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        sweep(self.directory / "tmp")


@pytest.fixture
def harnesses() -> Iterator[list[Harness]]:
    started: list[Harness] = []
    yield started
    for harness in started:
        harness.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("nature", ["", STUBBORN], ids=["obedient", "stubborn"])
def test_an_interrupted_execution_has_its_result_before_github_kills_it(
    number: signal.Signals, nature: str, tmp_path: Path, harnesses: list[Harness]
) -> None:
    """GitHub sends SIGINT, SIGTERM 7.5 s later and kills after 10 s; we take at most 5."""
    agent = f"PIDS = {str(tmp_path)!r}\n{nature}{DAEMON}"
    harness = Harness(tmp_path, agent)
    harnesses.append(harness)
    harness.process.send_signal(number)
    assert harness.end(5) == 128 + number
    ran = harness.ran()
    assert ran.verdict == ("transient_infrastructure", "interrupted")
    assert (ran.record.state, len(ran.record.attempts)) == ("interrupted", 1)
    assert ran.result.run_ids == ("attempt-1-run-1",)
    assert not is_running(harness.agent)
    assert not is_running(int((tmp_path / "daemon").read_text()))
    assert list(ran.temporary.iterdir()) == []
    assert ran.result.cleanup == "passed"


def test_a_second_signal_leaves_no_grace(tmp_path: Path, harnesses: list[Harness]) -> None:
    harness = Harness(tmp_path, STUBBORN)
    harnesses.append(harness)
    harness.process.send_signal(signal.SIGINT)
    harness.process.send_signal(signal.SIGTERM)
    assert harness.end(5) == 128 + signal.SIGINT
    assert not is_running(harness.agent)
    assert harness.ran().record.state == "interrupted"


def test_a_sweep_removes_what_a_killed_harness_left(
    tmp_path: Path, harnesses: list[Harness]
) -> None:
    harness = Harness(tmp_path, f"PIDS = {str(tmp_path)!r}\n{DAEMON}")
    harnesses.append(harness)
    daemon = int((tmp_path / "daemon").read_text())
    while_alive = sweep(tmp_path / "tmp")
    assert (while_alive.roots, while_alive.processes) == ((), 0)
    assert is_running(harness.agent)
    harness.process.kill()
    harness.process.wait()
    assert is_running(daemon)
    report = sweep(tmp_path / "tmp")
    assert (len(report.roots), report.problems) == (1, ())
    assert report.processes >= 2
    assert not is_running(daemon)
    assert not is_running(harness.agent)
    assert list((tmp_path / "tmp").iterdir()) == []
    assert sweep(tmp_path / "tmp").roots == ()


def test_a_killed_harness_leaves_a_record_that_says_it_began(
    tmp_path: Path, harnesses: list[Harness]
) -> None:
    harness = Harness(tmp_path, "")
    harnesses.append(harness)
    harness.process.kill()
    harness.process.wait()
    record = parse(JobRecord, (tmp_path / "out" / "job-record.json").read_bytes(), "record")
    assert (record.state, record.attempts) == ("started", ())
    assert [one.kind for one in record.resources] == ["temporary_root"]
    assert record.resources[0].deleted_at is None
    assert not (tmp_path / "out" / "result.json").exists()
