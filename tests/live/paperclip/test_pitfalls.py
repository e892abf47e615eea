"""What goes wrong on real servers, and what becomes of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from runner_e2e.catalog import Variables, render_task
from runner_e2e.environments import MARKER, TemporaryRoot, end_marked
from runner_e2e.evidence import Ledger, Redactor
from runner_e2e.execution import sweep
from runner_e2e.flows import Answer, CancelToken, Deadline, QuestionAsked, Run
from runner_e2e.targets.paperclip import PaperclipPlace, PaperclipSession
from tests.live.paperclip.live import (
    EXAMPLE,
    assert_nothing_left,
    cell,
    changed,
    example,
    processes_in,
    request_for,
    run_live,
)
from tests.support.executions import run_request

ANSWER = "live.scripted.local.answer"
SECRET = "planted-value-4711-of-a-credential"
LONG_MS = 60_000


def test_an_agent_that_leaves_its_issue_in_progress_fails_by_the_runs_that_follow(
    directory: Path,
) -> None:
    ran = run_live(changed(cell(ANSWER), prompt="status: none"), directory)
    assert ran.verdict == ("candidate_failure", "duplicate_run")


def test_an_agent_that_exits_with_an_error_fails_by_its_own_run(directory: Path) -> None:
    ran = run_live(changed(cell(ANSWER), prompt="exit: 3"), directory)
    assert ran.verdict == ("candidate_failure", "adapter_failed")


def test_a_secret_that_the_agent_prints_is_a_leak_and_in_no_file(directory: Path) -> None:
    execution = changed(
        cell(ANSWER),
        agent={"env": {"OPENAI_API_KEY": {"$secretRef": "OPENAI_API_KEY"}}},
        prompt="show: OPENAI_API_KEY\nsay: {{ marker }}",
    )
    ran = run_live(execution, directory, environ={**os.environ, "OPENAI_API_KEY": SECRET})

    assert ran.result.failure_class == "secret_leak"
    assert ran.manifest().leaks
    files = [path for path in ran.out.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    assert b"[REDACTED]" in ran.evidence("turns/1/stdout.log")


def test_a_server_that_is_killed_in_the_middle_is_tried_again_in_a_fresh_home(
    directory: Path,
) -> None:
    execution = changed(cell(ANSWER), prompt="pause: 3\nsay: {{ marker }}")
    request = request_for(execution, directory, max_retries=1)
    killer = threading.Thread(target=_kill_the_first_server, args=(directory / "tmp",))
    killer.start()
    ran = run_request(request)
    killer.join()

    first, second = ran.record.attempts
    assert (first.failure_class, first.code) == ("transient_infrastructure", "server_lost")
    assert (second.status, ran.result.attempt) == ("passed", 2)
    roots = [one.id for one in ran.record.resources if one.kind == "temporary_root"]
    assert len(set(roots)) == len(roots) >= 2
    assert list(ran.temporary.iterdir()) == []
    assert processes_in(ran.temporary) == []


def test_a_signal_ends_the_server_its_database_and_the_agent(directory: Path) -> None:
    cancel = CancelToken()
    execution = changed(cell(ANSWER), prompt="pause: 60\nsay: {{ marker }}")
    request = request_for(execution, directory, cancel=cancel)

    def interrupt() -> None:
        _agent_of(directory / "tmp")
        cancel.cancel(signal.SIGTERM)

    thread = threading.Thread(target=interrupt)
    thread.start()
    ran = run_request(request)
    thread.join()

    assert ran.verdict == ("transient_infrastructure", "interrupted")
    assert ran.record.state == "interrupted"
    assert_nothing_left(ran)


def test_a_sweep_finds_the_server_and_the_database_of_a_harness_that_was_killed(
    directory: Path,
) -> None:
    temporary = directory / "tmp"
    temporary.mkdir()
    temporary.chmod(0o711)
    command = [sys.executable, "-m", "runner_e2e", "run", "--id", ANSWER]
    command += ["--catalog", str(EXAMPLE / "runner-e2e.yaml"), "--out", str(directory / "out")]
    harness = subprocess.Popen(
        command,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _agent_of(temporary)
    harness.kill()
    harness.wait()
    assert len(processes_in(temporary)) > 1

    report = sweep(temporary)

    assert report.problems == ()
    assert len(report.roots) == 1
    assert processes_in(temporary) == []
    assert list(temporary.iterdir()) == []


def test_an_answer_waits_for_the_asking_run_so_that_the_server_does_not_join_the_two(
    directory: Path,
) -> None:
    execution = changed(
        cell("live.scripted.local.question"),
        prompt="ask: Which colour?\noptions: Cobalt, Amber\nlinger: 2\nthen: {{ marker }}",
    )
    root, session = _session(directory)
    try:
        session.start(render_task(execution.task, _variables(root)))
        question = _first_question(session)
        assert _running(session.observe().runs)
        session.reply(question.id, Answer(option="Amber"))
        last = session.wait_turn(2, Deadline.after(LONG_MS))
    finally:
        report = session.close()
        problem = root.delete()

    assert [run.status for run in last.runs] == ["succeeded", "succeeded"]
    assert last.issue.status == "done"
    answered = last.interactions[0]
    assert isinstance(answered, QuestionAsked)
    assert answered.answers == ("Amber",)
    assert (report.problems, problem) == ((), None)


def _session(directory: Path) -> tuple[TemporaryRoot, PaperclipSession]:
    root = TemporaryRoot.create("live", directory)
    target = example().file.target
    assert target.kind == "paperclip"
    place = PaperclipPlace(
        version=target.version,
        root=root.path,
        environ=os.environ,
        marker={MARKER: root.token},
        end_processes=lambda grace: end_marked(root.token, root.path, grace=grace),
        cancel=CancelToken(),
    )
    agent = cell(ANSWER).profile.agent
    configured = {**agent, "adapterConfig": {**_settings(agent), "cwd": str(place.workspace)}}
    session = place.session(
        agent=configured,
        secrets={},
        name="live",
        provider="scripted",
        ledger=Ledger(Redactor()),
    )
    return root, session


def _settings(agent: object) -> dict[str, object]:
    assert isinstance(agent, dict)
    settings = agent["adapterConfig"]
    assert isinstance(settings, dict)
    return settings


def _variables(root: TemporaryRoot) -> Variables:
    return Variables(
        nonce="0123456789ab-1",
        execution_id="live.scripted.local.question",
        profile_id="scripted",
        environment_id="local",
        environment_fixture_id="local",
        workspace_path=str(root.path / "workspace"),
    )


def _first_question(session: PaperclipSession) -> QuestionAsked:
    give_up = Deadline.after(LONG_MS)
    while not give_up.passed:
        for one in session.observe().pending:
            assert isinstance(one, QuestionAsked)
            return one
    raise AssertionError("no question was asked")


def _running(runs: tuple[Run, ...]) -> bool:
    return [run.status for run in runs] == ["running"]


def _agent_of(temporary: Path) -> int:
    """Wait for an agent's process below the directory."""
    give_up = Deadline.after(LONG_MS)
    while not give_up.passed:
        for pid in processes_in(temporary):
            if b"agent.py" in _command_line(pid):
                return pid
        time.sleep(0.05)
    raise AssertionError("no agent was started")


def _kill_the_first_server(temporary: Path) -> None:
    _agent_of(temporary)
    for pid in processes_in(temporary):
        if b"paperclipai" in _command_line(pid):
            os.kill(pid, signal.SIGKILL)
            return


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
