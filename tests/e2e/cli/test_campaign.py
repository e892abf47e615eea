"""A campaign on one machine, as its user runs it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from runner_e2e.cli import main
from runner_e2e.errors import ExitCode
from tests.support.artifacts import make_jobs
from tests.support.echo import ECHO, catalog, task, write_catalog

COUNTING = ECHO + "open({path!r}, 'a').write('x')\n"


def _git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(repository), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


def _tree(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


def test_a_campaign_is_planned_run_merged_and_published(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_catalog(tmp_path, catalog(task("hello"), task("wrong", expected="no")))
    out, remote = tmp_path / "out", tmp_path / "remote.git"
    assert main.run(["campaign", "-c", str(path), "--all", "--out", str(out)]) == ExitCode.FAILED
    captured = capsys.readouterr()
    assert "failed       first.echo.local.wrong" in captured.err
    assert "1 of 2 passed, 2 of 2 resolved, coverage 1 of 1 suites" in captured.out
    campaign = json.loads((out / "report" / "campaign.json").read_bytes())
    assert (campaign["passed"], campaign["failed"], campaign["complete"]) == (1, 1, True)
    assert campaign["expected"] == ["first.echo.local.hello", "first.echo.local.wrong"]

    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    assert main.run(["publish", str(out / "report"), "--remote", str(remote)]) == ExitCode.OK
    published = _git(remote, "ls-tree", "-r", "--name-only", "runner-e2e").splitlines()
    folder = f"campaigns/{campaign['campaignId']}"
    assert {".nojekyll", "index.html", "history.json", "index.json", "latest.json"} <= {*published}
    assert f"{folder}/bundle-manifest.json" in published
    latest = json.loads(_git(remote, "show", "runner-e2e:latest.json"))
    assert latest["overall"]["campaignId"] == campaign["campaignId"]


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path) -> None:
    path = write_catalog(tmp_path, catalog(task("hello"), task("wrong", expected="no")))
    out, remote = tmp_path / "out", tmp_path / "remote.git"
    main.run(["campaign", "-c", str(path), "--all", "--out", str(out)])
    again = ["aggregate", str(out / "results"), "--plan", str(out / "plan.json"), "--out"]
    main.run([*again, str(tmp_path / "again")])
    assert _tree(tmp_path / "again") == _tree(out / "report")

    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    publish = ["publish", str(out / "report"), "--remote", str(remote)]
    main.run(publish)
    first = _git(remote, "rev-parse", "runner-e2e")
    assert main.run(publish) == ExitCode.OK
    assert _git(remote, "rev-parse", "runner-e2e") == first


def test_a_campaign_that_is_finished_is_not_paid_for_twice(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    path = write_catalog(tmp_path, catalog(task("hello")), agent=COUNTING.format(path=str(counter)))
    command = ["campaign", "-c", str(path), "--all", "--out", str(tmp_path / "out")]
    assert main.run(command) == ExitCode.OK
    for another in ([], ["--max-parallel", "2"], ["--max-retries", "0"]):
        assert main.run([*command, *another]) == ExitCode.OK
    assert counter.read_text() == "x"


def test_a_fresh_campaign_runs_all_again_and_keeps_what_was_paid_for(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    path = write_catalog(tmp_path, catalog(task("hello")), agent=COUNTING.format(path=str(counter)))
    command = ["campaign", "-c", str(path), "--all", "--out", str(tmp_path / "out")]
    main.run(command)
    assert main.run([*command, "--fresh"]) == ExitCode.OK
    assert counter.read_text() == "xx"
    (earlier,) = (tmp_path / "out" / "earlier").iterdir()
    assert (earlier / "report" / "campaign.json").is_file()


def test_a_campaign_of_another_catalog_sets_the_earlier_one_aside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["campaign", "-c", str(tmp_path / "runner-e2e.yaml"), "--all", "--out", str(out)]
    write_catalog(tmp_path, catalog(task("hello")))
    main.run(command)
    earlier = _tree(out / "results")
    write_catalog(tmp_path, catalog(task("hello"), task("bye")))
    assert main.run(command) == ExitCode.OK
    assert "set aside" in capsys.readouterr().err
    (place,) = (out / "earlier").iterdir()
    assert _tree(place / "results") == earlier


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_campaign_keeps_what_is_finished_and_goes_on(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    gate, counter = tmp_path / "gate", tmp_path / "counter"
    slow = (
        "import os, sys, time\n"
        "task = sys.stdin.read()\n"
        f"open({str(counter)!r}, 'a').write('x')\n"
        f"while 'slow' in task and not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
        "print(task.split(': ', 1)[1].removesuffix(' slow'))\n"
    )
    tree = catalog(task("quick"), task("slow"))
    tree["tasks"][1]["prompt"] += " slow"
    path = write_catalog(tmp_path, tree, agent=slow)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "runner_e2e", "campaign", "-c", str(path), "--all"]
    command += ["--out", str(out), "--max-parallel", "1"]

    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    assert "quick passed" in running.stderr.readline()
    while not counter.exists() or counter.read_text() != "xx":
        assert running.poll() is None
    running.send_signal(number)
    _, narration = running.communicate(timeout=30)
    assert running.returncode == code
    assert "goes on from here" in narration
    campaign = json.loads((out / "report" / "campaign.json").read_bytes())
    assert (campaign["selected"], campaign["passed"]) == (2, 1)

    gate.touch()
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "going on: 1 of 2 are finished" in done.stderr
    assert counter.read_text() == "xxx"


def test_what_infrastructure_stopped_is_run_again_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = catalog(task("hello"))
    tree["profiles"][0]["agent"] = {"command": ["late-agent"]}
    command = ["campaign", "-c", str(write_catalog(tmp_path, tree)), "--all"]
    out = tmp_path / "out"
    command += ["--out", str(out), "--max-retries", "0"]
    assert main.run(command) == ExitCode.PERMANENT_INFRASTRUCTURE
    assert "late-agent" in (out / "report" / "campaign.json").read_text()

    late = tmp_path / "bin" / "late-agent"
    late.parent.mkdir()
    late.write_text(f"#!{sys.executable}\n{ECHO}")
    late.chmod(0o755)
    monkeypatch.setenv("PATH", f"{late.parent}:{os.environ['PATH']}")
    assert main.run(command) == ExitCode.OK
    (earlier,) = (out / "earlier").iterdir()
    assert (earlier / "results" / "first.echo.local.hello" / "result.json").is_file()


def test_a_campaign_that_was_published_while_open_is_published_again_when_it_is_complete(
    tmp_path: Path,
) -> None:
    path = write_catalog(tmp_path, catalog(task("hello"), task("bye")))
    out, remote = tmp_path / "out", tmp_path / "remote.git"
    command = ["campaign", "-c", str(path), "--all", "--out", str(out)]
    publish = ["publish", str(out / "report"), "--remote", str(remote)]
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    main.run(command)
    shutil.rmtree(out / "results" / "first.echo.local.bye")
    again = ["aggregate", str(out / "results"), "--plan", str(out / "plan.json")]
    assert main.run([*again, "--out", str(out / "report")]) == ExitCode.UNRESOLVED
    assert main.run(publish) == ExitCode.OK
    assert main.run(command) == ExitCode.OK
    assert main.run(publish) == ExitCode.OK
    rows = json.loads(_git(remote, "show", "runner-e2e:index.json"))["campaigns"]
    assert [row["counts"]["passed"] for row in rows] == [2, 1]


def test_two_campaigns_do_not_share_a_directory(tmp_path: Path) -> None:
    path = write_catalog(
        tmp_path,
        catalog(task("hello")),
        agent="import sys\nsys.stdin.read()\nimport time\ntime.sleep(60)\n",
    )
    command = [sys.executable, "-m", "runner_e2e", "campaign", "-c", str(path), "--all"]
    command += ["--out", str(tmp_path / "out")]
    first = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    record = tmp_path / "out" / "results" / "first.echo.local.hello" / "job-record.json"
    while not record.exists():
        assert first.poll() is None
    second = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=30)
    assert second.returncode == ExitCode.USAGE
    assert "another campaign is running" in second.stderr


NO_CLOCK = """
import sys, time, datetime
from pathlib import Path
from runner_e2e import campaigns, history, site
from runner_e2e.contracts.base import parse
from runner_e2e.contracts.plan import Plan
from runner_e2e.publishing import build_bundle, render_site
from runner_e2e.publishing.lanes import lane_files

CLOCKS = {"time", "time_ns", "monotonic", "perf_counter", "now", "utcnow", "today"}
GUARDED = (
    "runner_e2e.campaigns",
    "runner_e2e.history",
    "runner_e2e.insights",
    "runner_e2e.publishing.lanes",
    "runner_e2e.site",
)

def guard(frame, event, argument):
    # A call of C code has no frame of its own: the frame is the caller's.
    if event != "c_call" or getattr(argument, "__name__", "") not in CLOCKS:
        return
    if frame.f_globals.get("__name__", "").startswith(GUARDED):
        raise AssertionError("a clock was read in " + frame.f_globals["__name__"])

out, again, once_more, jobs_file = map(Path, sys.argv[1:])
plan = parse(Plan, (out / "plan.json").read_bytes(), "plan.json")
manifest = build_bundle(out / "report").manifest
for clock in ("time.time()", "datetime.datetime.now()"):
    sys.setprofile(guard)  # again each time: a profiler that raises is taken away
    try:
        exec(clock, {"time": time, "datetime": datetime, "__name__": "runner_e2e.history.probe"})
    except AssertionError:
        continue
    raise SystemExit("the guard does not see " + clock)
sys.setprofile(guard)
merged = campaigns.aggregate(plan, campaigns.collect([out / "results"], plan), campaign_id="c-1")
campaigns.write_report(merged, plan, again)
site.campaign_page(merged.campaign, merged.insights, plan)
jobs = campaigns.JobHistory.parse(jobs_file.read_bytes(), "jobs.json")
for paths, target in (([out / "results"], again), ([again], once_more)):
    judged = campaigns.aggregate(
        plan, campaigns.collect(paths, plan), campaign_id="c-1", jobs=jobs
    )
    campaigns.write_report(judged, plan, target)
states = [cell.state for cell in judged.insights.cells]
for lane in (None, "pr-7"):
    past = history.History.empty(lane).add(
        merged.campaign, merged.insights, plan, manifest, public_url="u", lane=lane
    )
    lane_files(past, render_site)
past = history.History.read(past.files().get, "pr-7").pruned({"c-1"})
lane_files(past, render_site)
sys.setprofile(None)
print(*states)
print("read no clock")
"""


def test_no_clock_is_read_where_the_past_is_merged(tmp_path: Path) -> None:
    path = write_catalog(tmp_path, catalog(task("hello"), task("wrong", expected="no")))
    out = tmp_path / "out"
    main.run(["campaign", "-c", str(path), "--all", "--out", str(out)])
    jobs = tmp_path / "jobs.json"
    rows: list[dict[str, object]] = [
        {"name": "first.echo.local.hello"},
        {"name": "first.echo.local.wrong", "conclusion": "cancelled", "run_attempt": 2},
    ]
    jobs.write_bytes(make_jobs(rows, attempts=2))
    reports = (str(tmp_path / "again"), str(tmp_path / "once more"))
    done = subprocess.run(
        [sys.executable, "-c", NO_CLOCK, str(out), *reports, str(jobs)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "passed cancelled\nread no clock\n", done.stderr


def test_the_page_of_a_report_is_built_anew_and_served_on_loopback(tmp_path: Path) -> None:
    path = write_catalog(tmp_path, catalog(task("hello")))
    out = tmp_path / "out"
    main.run(["campaign", "-c", str(path), "--all", "--out", str(out)])
    page = (out / "report" / "index.html").read_bytes()
    (out / "report" / "index.html").unlink()
    assert main.run(["site", "build", str(out / "report")]) == ExitCode.OK
    assert (out / "report" / "index.html").read_bytes() == page

    server = subprocess.Popen(
        [sys.executable, "-m", "runner_e2e", "site", "serve", str(out / "report"), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdout is not None
    address = server.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:")
    assert httpx.get(address).content == page
    server.send_signal(signal.SIGINT)
    server.communicate(timeout=20)
    assert server.returncode == ExitCode.SIGINT


def test_no_page_of_an_earlier_campaign_stays_in_a_report_without_one(tmp_path: Path) -> None:
    path = write_catalog(tmp_path, catalog(task("hello"), task("bye")))
    out = tmp_path / "out"
    main.run(["campaign", "-c", str(path), "--all", "--out", str(out)])
    shutil.rmtree(out / "results" / "first.echo.local.bye")
    command = ["aggregate", str(out / "results"), "--plan", str(out / "plan.json")]
    command += ["--out", str(out / "report"), "--no-site"]
    assert main.run(command) == ExitCode.UNRESOLVED
    assert not (out / "report" / "index.html").exists()
