"""Publishers that die, at the worst moment and at any."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.e2e.publishing import release
from tests.e2e.publishing.support import BRANCH, Bare, make_report
from tests.e2e.publishing.test_many_publishers import ROOT, released_together


def start(server: Bare, reports: list[Path], out: Path) -> subprocess.Popen[bytes]:
    out.mkdir(exist_ok=True)
    destination = json.dumps({"branch": BRANCH, "remote": server.url, "prefix": "e2e"})
    return subprocess.Popen(
        [sys.executable, release.__file__, destination, str(out), *map(str, reports)],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("hook", ["pre-receive", "post-receive"])
def test_a_publisher_killed_during_its_push_is_completed_by_a_rerun(
    hook: str, tmp_path: Path, server: Bare
) -> None:
    released_together(server.url, [make_report(tmp_path, 1)], tmp_path / "first")
    reached, go, gone = tmp_path / "reached", tmp_path / "go", tmp_path / "gone"
    for pipe in (reached, go, gone):
        os.mkfifo(pipe)
    server.hook(hook, f"echo > {reached}; read _ < {go}; echo > {gone}")
    report, out = make_report(tmp_path, 2), tmp_path / "killed"
    publisher = start(server, [report], out)

    reached.read_text()
    os.kill(int((out / f"{report.name}.pid").read_text()), signal.SIGKILL)
    publisher.wait()
    go.write_text("go\n")
    gone.read_text()
    (server.path / "hooks" / hook).unlink()
    again = released_together(server.url, [report], tmp_path / "again")

    assert not (out / f"{report.name}.json").exists()
    assert again[report.name]["status"] in {"published", "unchanged"}
    assert server.ids("e2e/") == ["gha-2-1", "gha-1-1"]
    assert server.git("rev-list", "--count", BRANCH) == "2"


@pytest.mark.soak
@pytest.mark.parametrize("round_", range(20))
def test_50_publishers_of_which_some_are_killed_end_complete_and_without_duplicates(
    round_: int, tmp_path: Path, server: Bare
) -> None:
    runs = range(1, 51)
    reports = [make_report(tmp_path, run) for run in runs]
    chance = random.Random(round_)  # noqa: S311 - a failing round can be run again
    out = tmp_path / "out"
    publishers = start(server, reports, out)
    stop = threading.Event()

    def kill_some() -> None:
        while not stop.wait(chance.uniform(0.05, 0.5)):
            living = [path for path in out.glob("*.pid") if not path.with_suffix(".json").exists()]
            if living:
                victim = chance.choice(living)
                victim.with_suffix(".json").write_text('{"status": "killed"}')
                # It may have ended since we looked.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(victim.read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill_some)
    killer.start()
    publishers.wait()
    stop.set()
    killer.join()
    again = released_together(server.url, reports, tmp_path / "again")

    assert {answer["status"] for answer in again.values()} <= {"published", "unchanged"}, again
    assert sorted(server.ids("e2e/")) == sorted(f"gha-{run}-1" for run in runs)
    assert server.git("rev-list", "--count", BRANCH) == "50"
    assert len(server.roots()) == 1
