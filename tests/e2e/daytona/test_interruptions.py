"""A harness with a sandbox that is interrupted, or killed: nothing goes on costing money."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner_e2e.contracts.base import parse
from runner_e2e.contracts.job_record import JobRecord
from runner_e2e.execution import sweep
from tests.support.executions import read_back
from tests.support.fake_daytona import FakeDaytona, Fault

REPOSITORY = Path(__file__).parents[3]
DRIVER = """
import json, pathlib, sys, types
from runner_e2e.cli.signals import cancelled_by_signals
from runner_e2e.execution import run_execution
from tests.support.daytona_runs import daytona_request
here = pathlib.Path(sys.argv[1])
fake = types.SimpleNamespace(environ=json.loads(sys.argv[2]))
with cancelled_by_signals() as token:
    request = daytona_request(here, "time.sleep(120)", fake, cancel=token, max_retries=1)
    run_execution(request)
    sys.exit(128 + token.signal_number if token.cancelled else 0)
"""


class Harness:
    """A harness in a process of its own."""

    def __init__(self, directory: Path, daytona: FakeDaytona) -> None:
        self.directory = directory
        self.process = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(directory), json.dumps(daytona.environ)],
            cwd=REPOSITORY,
        )

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def harness(tmp_path: Path, daytona: FakeDaytona) -> Iterator[Harness]:
    started = Harness(tmp_path, daytona)
    yield started
    started.kill()


def test_an_interrupted_turn_has_its_delete_sent_within_five_seconds(
    harness: Harness, daytona: FakeDaytona
) -> None:
    assert daytona.agent_started.wait(60)
    begun = time.monotonic()
    harness.process.send_signal(signal.SIGINT)
    assert daytona.deleted.wait(5)
    assert harness.process.wait(5) == 128 + signal.SIGINT
    assert time.monotonic() - begun < 5
    ran = read_back(harness.directory / "out", harness.directory / "tmp")
    assert ran.verdict == ("transient_infrastructure", "interrupted")
    assert ran.record.state == "interrupted"
    assert ran.result.cleanup == "passed"


def test_a_sandbox_that_is_made_during_an_interrupt_is_deleted(
    harness: Harness, daytona: FakeDaytona
) -> None:
    daytona.hold_creates.clear()
    assert daytona.creating.wait(60)
    harness.process.send_signal(signal.SIGTERM)
    assert harness.process.wait(5) == 128 + signal.SIGTERM
    daytona.hold_creates.set()
    assert daytona.deleted.is_set()


def test_a_delete_that_nobody_answers_holds_no_interrupt_up(
    harness: Harness, daytona: FakeDaytona
) -> None:
    assert daytona.agent_started.wait(60)
    daytona.fail("delete", *[Fault(status=503)] * 3)
    harness.process.send_signal(signal.SIGINT)
    assert harness.process.wait(5) == 128 + signal.SIGINT
    ran = read_back(harness.directory / "out", harness.directory / "tmp")
    assert ran.verdict == ("cleanup_failure", "survivors")
    daytona.destroy(daytona.living[0])


def test_a_sweep_ends_the_sandbox_of_a_killed_harness(
    harness: Harness, daytona: FakeDaytona
) -> None:
    others = daytona.create({"cpu": 1, "memory": 1, "disk": 1, "labels": {"runner-e2e": "1"}})
    assert daytona.agent_started.wait(60)
    temporary = harness.directory / "tmp"
    assert sweep(temporary, environ=daytona.environ).sandboxes == ()
    harness.kill()
    record = parse(JobRecord, (harness.directory / "out/job-record.json").read_bytes(), "record")
    (sandbox,) = [one for one in record.resources if one.kind == "daytona_sandbox"]
    assert sandbox.deleted_at is None
    daytona.page_size = 1
    report = sweep(temporary, environ=daytona.environ)
    assert (report.sandboxes, report.problems) == ((sandbox.id,), ())
    assert [one.id for one in daytona.living] == [others["id"]]
    assert list(temporary.iterdir()) == []
    daytona.destroy(daytona.living[0])


def test_without_a_key_a_sweep_keeps_the_root_that_leads_to_the_sandbox(
    harness: Harness, daytona: FakeDaytona
) -> None:
    assert daytona.agent_started.wait(60)
    harness.kill()
    temporary = harness.directory / "tmp"
    report = sweep(temporary)
    assert report.roots == ()
    assert "DAYTONA_API_KEY is not set" in report.problems[0]
    assert sweep(temporary, environ=daytona.environ).problems == ()
    assert daytona.living == []


def test_a_sandbox_whose_time_is_over_is_swept_by_any_machine(
    tmp_path: Path, daytona: FakeDaytona
) -> None:
    size = {"cpu": 1, "memory": 1, "disk": 1}
    old = {"runner-e2e": "1", "runner-e2e-expires": "2026-01-01T00:00:00.000Z"}
    odd = {"runner-e2e": "1", "runner-e2e-expires": "soon"}
    foreign = {"runner-e2e-expires": "2026-01-01T00:00:00.000Z"}
    made = [daytona.create(size | {"labels": labels}) for labels in (old, odd, foreign)]
    daytona.ignore_label_filter = True
    report = sweep(tmp_path, environ=daytona.environ)
    assert report.sandboxes == (made[0]["id"],)
    for one in daytona.living:
        daytona.destroy(one)
