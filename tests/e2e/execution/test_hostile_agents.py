"""Agents that hang, flee, flood, lie and break things. Each one is a real process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from runner_e2e.environments import PREFIX
from tests.support.executions import ANSWER, Ran, make_request, run_agent, run_request

ROOT = "ROOT = os.path.dirname(os.environ['RUNNER_E2E_WORKSPACE'])\n"
DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        pathlib.Path(PIDS, "daemon").write_text(str(os.getpid()))
        while True:
            signal.pause()
    os._exit(0)
os.wait()
while not pathlib.Path(PIDS, "daemon").exists():
    time.sleep(0.01)
"""


def is_running(pid: int) -> bool:
    """Whether a process is alive; a zombie that nobody reaps is not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def nothing_is_left(ran: Ran) -> bool:
    return list(ran.temporary.iterdir()) == [] and ran.result.cleanup == "passed"


def test_a_hanging_agent_is_ended_at_its_deadline_and_is_a_candidate_failure(
    tmp_path: Path,
) -> None:
    ran = run_agent(tmp_path, "print('thinking', flush=True)\nsignal.pause()", timeout_ms=400)
    assert ran.verdict == ("candidate_failure", "deadline")
    assert ran.evidence("turns/1/stdout.log") == b"thinking\n"
    assert nothing_is_left(ran)


def test_a_turn_has_its_own_deadline_inside_that_of_the_attempt(tmp_path: Path) -> None:
    ran = run_agent(tmp_path, "signal.pause()", timeout_ms=600_000, turnTimeoutMs=300)
    assert ran.verdict == ("candidate_failure", "deadline")


def test_an_agent_that_ignores_sigterm_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner_e2e.environments.turns.GRACE_S", 0.2)
    agent = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: signal.pause()"
    ran = run_agent(tmp_path, agent, timeout_ms=400)
    assert ran.verdict == ("candidate_failure", "deadline")
    assert nothing_is_left(ran)


def test_a_daemon_that_outlives_its_agent_is_found_and_ended(tmp_path: Path) -> None:
    ran = run_agent(tmp_path, f"PIDS = {str(tmp_path)!r}\n{DAEMON}\n{ANSWER}")
    assert ran.result.status == "passed"
    assert not is_running(int((tmp_path / "daemon").read_text()))
    assert nothing_is_left(ran)


def test_a_daemon_that_cleared_its_environment_is_found_by_where_it_stands(tmp_path: Path) -> None:
    agent = f"""
child = subprocess.Popen(
    ["/usr/bin/env", "-i", sys.executable, "-I", "-S", "-c",
     "import os, signal; os.write(1, b'.'); signal.pause()"],
    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True,
)
child.stdout.read(1)
pathlib.Path({str(tmp_path)!r}, "daemon").write_text(str(child.pid))
{ANSWER}"""
    ran = run_agent(tmp_path, agent)
    assert ran.result.status == "passed"
    assert not is_running(int((tmp_path / "daemon").read_text()))


def test_a_child_that_keeps_the_pipes_open_does_not_hold_the_turn_up(tmp_path: Path) -> None:
    agent = "subprocess.Popen(['sleep', '600'])\nprint(turn['text'].split()[-1])"
    ran = run_agent(tmp_path, agent)
    assert ran.result.status == "passed"
    assert nothing_is_left(ran)


def test_half_a_gigabyte_of_output_costs_no_memory(tmp_path: Path) -> None:
    agent = "os.write(1, b'')\nfor _ in range(500): sys.stdout.write('x' * 1_048_576)"
    request = make_request(tmp_path, agent)
    # Counted from here: a process begins with the peak of the one that started it.
    script = f"""
import os, re, sys
from pathlib import Path
from tests.support.executions import make_request, run_request
Path("/proc/self/clear_refs").write_text("5")
ran = run_request(make_request(Path({str(tmp_path)!r}), {agent!r}))
assert ran.verdict == ("candidate_failure", "matcher_failed"), ran.verdict
print(int(re.search(r"VmHWM:\\s*([0-9]+)", Path("/proc/self/status").read_text())[1]) // 1024)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 150
    log = (request.out / "attempt-1/turns/1/stdout.log").read_bytes()
    assert len(log) < 6 * 1024 * 1024
    assert b"bytes of 524288000 out here]" in log


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        '{"type": "wish"}',
        '{"type": "message"}',
        '{"type": "message", "text": 1}',
        '{"type": "message", "text": "half',
        '["type", "message"]',
        '{"type": "tool_request", "tool": "a", "arguments": {"n": NaN}}',
        '{"type": "question", "id": "a", "prompt": "b", "options": ["only one"]}',
        '{"type": "status", "issue": "Done!"}',
        '{"type": "artifact", "name": "a", "path": "../../etc/passwd", "mimeType": "text/plain"}',
        '{"type": "artifact", "name": "a", "path": "absent.txt", "mimeType": "text/plain"}',
        '{"type": "screenshot", "id": "a", "label": "b", "path": "agent.py", "public": true}',
        "[" * 100_000,
        "\xff",
        '{"type": "message", "text": "\\ud800"}',
        '{"type": "usage", "tokens": NaN}',
        '{"type": "usage", "tokens": 1' + "0" * 400 + "}",
        '{"type": "usage", "deep": ' + "[" * 100 + "]" * 100 + "}",
        '{"type": "message", "text": "%s"}' % ("x" * 1_048_576),
        '{"type": "usage", "x": "%s"}' % ("x" * 70_000),
    ],
    ids=lambda line: line[:40],
)
def test_a_broken_event_line_is_a_protocol_error_of_the_candidate(
    line: str, tmp_path: Path
) -> None:
    (tmp_path / "line").write_bytes(line.encode("latin-1"))
    agent = f"""
with open(os.environ["RUNNER_E2E_EVENTS"], "ab") as events:
    events.write(open({str(tmp_path / "line")!r}, "rb").read())
"""
    ran = run_agent(tmp_path, agent)
    assert ran.verdict == ("candidate_failure", "protocol_error")
    assert nothing_is_left(ran)


@pytest.mark.parametrize(
    "code",
    [
        "f.write('{}\\n' * 1)",
        "f.truncate(17 * 1024 * 1024)",
        "f.write(json.dumps({'type': 'message', 'text': ''}) + '\\n'); f.seek(0)",
    ],
)
def test_an_event_file_of_the_wrong_size_or_content_never_passes(code: str, tmp_path: Path) -> None:
    agent = f"with open(os.environ['RUNNER_E2E_EVENTS'], 'w') as f: {code}"
    ran = run_agent(tmp_path, agent)
    assert ran.result.failure_class == "candidate_failure"


def test_too_many_events_are_a_protocol_error(tmp_path: Path) -> None:
    agent = """
with open(os.environ["RUNNER_E2E_EVENTS"], "w") as events:
    events.write('{"type": "message", "text": ""}\\n' * 400_000)
"""
    ran = run_agent(tmp_path, agent)
    assert ran.verdict == ("candidate_failure", "protocol_error")
    assert "10000 events" in (ran.result.error or "")


@pytest.mark.parametrize(
    "swap",
    [
        "os.unlink(path)",
        "os.unlink(path); os.symlink('/etc/passwd', path)",
        "os.unlink(path); os.mkfifo(path)",
        "os.unlink(path); os.mkdir(path)",
        "os.rename(os.path.dirname(path), os.path.dirname(path) + '-gone')",
    ],
)
def test_an_agent_that_replaces_its_event_file_fails_by_itself(swap: str, tmp_path: Path) -> None:
    ran = run_agent(tmp_path, f"path = os.environ['RUNNER_E2E_EVENTS']\n{ANSWER}{swap}")
    assert ran.verdict == ("candidate_failure", "protocol_error")
    assert nothing_is_left(ran)


SECOND_TURN = {"flow": "agent_chat", "runs": 2, "flowOptions": {"script": [{"say": "again"}]}}


@pytest.mark.parametrize(
    ("deed", "code"),
    [
        ("raise SystemExit(3)", "agent_exit"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "agent_exit"),
        ("os.kill(0, signal.SIGKILL)", "agent_exit"),
    ],
)
def test_an_agent_that_dies_between_turns_is_a_candidate_failure(
    deed: str, code: str, tmp_path: Path
) -> None:
    agent = f"if turn['turn'] == 2: {deed}\n{ANSWER}"
    ran = run_agent(tmp_path, agent, **SECOND_TURN)
    assert ran.verdict == ("candidate_failure", code)
    assert len(ran.result.run_ids or ()) == 2


@pytest.mark.parametrize(
    ("deed", "code"),
    [
        ("shutil.rmtree(os.environ['RUNNER_E2E_WORKSPACE'])", "agent_not_started"),
        ("os.makedirs(ROOT + '/turns/2')", "agent_not_started"),
        ("shutil.rmtree(ROOT + '/turns'); open(ROOT + '/turns', 'w').close()", "protocol_error"),
    ],
)
def test_an_agent_that_spoils_its_own_next_turn_is_a_candidate_failure(
    deed: str, code: str, tmp_path: Path
) -> None:
    ran = run_agent(tmp_path, f"import shutil\n{ROOT}{ANSWER}{deed}", **SECOND_TURN)
    assert ran.verdict == ("candidate_failure", code)
    assert nothing_is_left(ran)


DEEP = """
home = os.getcwd()
for _ in range(1100):
    os.mkdir("dddd")
    os.chdir("dddd")
os.chdir(home)
"""


def test_a_tree_deeper_than_any_path_is_deleted(tmp_path: Path) -> None:
    ran = run_agent(tmp_path, f"{DEEP}{ANSWER}")
    assert ran.result.status == "passed"
    assert nothing_is_left(ran)


def test_an_agent_can_fill_its_memory_with_anything_and_a_new_session_empties_it(
    tmp_path: Path,
) -> None:
    agent = f"""
os.chdir(os.environ["RUNNER_E2E_STATE_DIR"])
assert os.listdir() == []
{DEEP}
os.mkdir("locked")
os.symlink("/etc", "link")
os.chmod("locked", 0)
{ANSWER}"""
    script = [{"new_session": {}}, {"say": "again {{ marker }}"}]
    ran = run_agent(tmp_path, agent, flow="agent_chat", runs=2, flowOptions={"script": script})
    assert (ran.result.status, ran.result.error) == ("passed", None)


def test_an_agent_that_deletes_everything_around_it_fails_by_itself(tmp_path: Path) -> None:
    agent = f"{ANSWER}import shutil; shutil.rmtree(ROOT, ignore_errors=True)"
    ran = run_agent(tmp_path, f"{ROOT}{agent}", **SECOND_TURN)
    assert ran.result.failure_class == "candidate_failure"
    assert nothing_is_left(ran)
    assert b"stdout.log" in (ran.out / "attempt-1" / "evidence-manifest.json").read_bytes()


def test_an_agent_that_changes_its_directory_and_plants_links_stays_confined(
    tmp_path: Path,
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("outside")
    agent = f"""
os.symlink({str(secret)!r}, "link.txt")
os.symlink("/", "root")
os.chdir("/")
{ANSWER}"""
    ran = run_agent(
        tmp_path,
        agent,
        matchers=[
            {"kind": "file_exists", "path": "link.txt"},
            {"kind": "file_contains", "path": "link.txt", "expected": "outside"},
            {"kind": "file_exists", "path": "root/etc/passwd"},
        ],
    )
    assert [one.passed for one in ran.result.matcher_results or ()] == [False, False, False]
    assert secret.read_text() == "outside"
    assert nothing_is_left(ran)


def test_directories_without_any_permission_are_deleted_all_the_same(tmp_path: Path) -> None:
    agent = f"""
for name in ("a", "a/b", "a/b/c"):
    os.mkdir(name)
    open(name + "/file", "w").close()
for name in ("a/b/c", "a/b", "a"):
    os.chmod(name, 0)
{ANSWER}"""
    ran = run_agent(tmp_path, agent)
    assert ran.result.status == "passed"
    assert nothing_is_left(ran)


def test_an_agent_that_never_reads_its_stdin_gets_a_large_prompt_in_a_file(tmp_path: Path) -> None:
    agent = """
os.close(0)
text = open(os.environ["RUNNER_E2E_PROMPT_FILE"]).read()
print(text.split()[-1])
"""
    ran = run_agent(tmp_path, agent, prompt="x" * 300_000 + " {{ marker }}")
    assert ran.result.status == "passed"


def test_a_large_prompt_arrives_whole_on_stdin(tmp_path: Path) -> None:
    agent = "text = sys.stdin.read()\nassert len(text) > 300_000\nprint(text.split()[-1])"
    ran = run_agent(tmp_path, agent, prompt="x" * 300_000 + " {{ marker }}")
    assert ran.result.status == "passed"


CLEAN = {"PATH", "LANG", "TERM", "HOME", "TMPDIR", "GREETING", "TOKEN"}


def test_an_agent_sees_a_short_allow_list_and_its_own_variables(tmp_path: Path) -> None:
    agent = "print(json.dumps(dict(os.environ)))\nprint(turn['text'].split()[-1])"
    ran = run_agent(
        tmp_path,
        agent,
        env={"GREETING": "hello {{ profile_id }}", "TOKEN": {"$secretRef": "OPENAI_API_KEY"}},
        environ={
            "PATH": "/usr/bin:/bin",
            "HOME": "/home/somebody",
            "OPENAI_API_KEY": "not-a-real-value-1234",
            "ANTHROPIC_API_KEY": "another-value-5678",
            "GITHUB_TOKEN": "third-value-9012",
            "DATABASE_URL": "postgres://x",
            "AWS_SECRET_ACCESS_KEY": "y",
        },
        max_retries=0,
    )
    environment = json.loads(ran.observation()["comments"][0]["body"].splitlines()[0])
    ours = {name for name in environment if name.startswith(("RUNNER_E2E_", "XDG_"))}
    # The interpreter itself may add LC_CTYPE.
    assert set(environment) - ours - {"LC_CTYPE"} == CLEAN
    assert environment["GREETING"] == "hello scripted"
    assert PREFIX in environment["HOME"]
    assert ran.verdict == ("secret_leak", "secret_leak")


def test_a_missing_credential_is_named_before_anything_is_started(tmp_path: Path) -> None:
    agent = f"pathlib.Path({str(tmp_path)!r}, 'started').touch()"
    ran = run_agent(tmp_path, agent, env={"KEY": {"$secretRef": "OPENAI_API_KEY"}})
    assert ran.verdict == ("permanent_infrastructure", "missing_credential")
    assert "OPENAI_API_KEY" in (ran.result.error or "")
    assert not (tmp_path / "started").exists()
    assert ran.record.attempts[0].billing is None
    assert nothing_is_left(ran)


def test_a_variable_of_ours_cannot_be_set_by_a_profile(tmp_path: Path) -> None:
    ran = run_agent(tmp_path, ANSWER, env={"HOME": "/root"})
    assert ran.verdict == ("permanent_infrastructure", "reserved_variable")


def test_a_program_that_does_not_exist_is_permanent_infrastructure(tmp_path: Path) -> None:
    request = make_request(tmp_path, ANSWER)
    Path(request.catalog_directory, "agent.py").unlink()
    execution = request.execution
    profile = execution.profile.model_copy(update={"agent": {"command": ["no-such-program-here"]}})
    changed = execution.model_copy(update={"profile": profile})
    ran = run_request(replace(request, execution=changed))
    assert ran.verdict == ("permanent_infrastructure", "agent_not_started")


TRIGGERS = (
    "429 503 rate limit ECONNRESET socket hang up provider timed out; service unavailable; "
    "browser bootstrap failed before task creation; secret must not leak; cleanup failed; "
    "lease release failed; unauthorized; forbidden; invalid api key; missing credential; "
    "qualification; immutable image digest; budget has been exceeded; overloaded; harness failed"
)


@pytest.mark.parametrize(
    "deed",
    [
        "print(WORDS)",
        "print(WORDS, file=sys.stderr)",
        "say(WORDS)",
        "emit(type='plan', body=WORDS)",
        "emit(type='question', id=WORDS[:200], prompt=WORDS, options=[WORDS, WORDS + '.'])",
        "emit(type='tool_request', tool='a', arguments={'a': WORDS})",
        "emit(type=WORDS)",
        "emit(type='runtime', provider=WORDS)",
        "emit(type='usage', error=WORDS, status=503)",
        "pathlib.Path('error.txt').write_text(WORDS)",
        "sys.exit(WORDS)",
        "raise OSError(WORDS)",
    ],
)
def test_what_a_candidate_writes_never_moves_its_class(deed: str, tmp_path: Path) -> None:
    ran = run_agent(tmp_path, f"WORDS = {TRIGGERS!r}\n{deed}")
    assert ran.result.failure_class == "candidate_failure"
    assert len(ran.record.attempts) == 1


def test_two_executions_in_one_process_do_not_end_each_other(tmp_path: Path) -> None:
    agents = {
        "a": f"PIDS = {str(tmp_path / 'a')!r}\n{DAEMON}\n{ANSWER}",
        "b": f"subprocess.run(['sleep', '0.5'])\n{ANSWER}",
    }
    with ThreadPoolExecutor(2) as pool:
        (tmp_path / "a").mkdir()
        done = list(pool.map(lambda name: run_agent(tmp_path / name, agents[name]), agents))
    assert [ran.result.status for ran in done] == ["passed", "passed"]


def test_no_descriptor_and_no_child_is_left_in_the_harness(tmp_path: Path) -> None:
    descriptors = Path("/proc/self/fd")
    run_agent(tmp_path / "first", ANSWER)
    before = len(list(descriptors.iterdir()))
    run_agent(tmp_path / "second", ANSWER)
    assert len(list(descriptors.iterdir())) <= before
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    assert children.read_text() == ""


def test_an_agent_that_fills_the_evidence_keeps_what_a_pass_needs(tmp_path: Path) -> None:
    agent = f"""
for number in range(15):
    say("x" * 1_000_000)
for number in range(60):
    draw(str(number) + ".png", 2_000_000)
    emit(type="screenshot", id=str(number), label="x", path=str(number) + ".png", public=True)
{ANSWER}"""
    ran = run_agent(tmp_path, agent)
    assert (ran.result.status, ran.result.error) == ("passed", None)
    assert sum(one.bytes for one in ran.record.files) < 70 * 1024 * 1024
    assert b"left out" in ran.evidence("logs/pictures.txt")
    assert "bytes left out]" in ran.observation()["comments"][0]["body"]
    screenshots = ran.result.screenshots or ()
    assert 0 < len(screenshots) < 60
    assert all((ran.out / "attempt-1" / one.file).is_file() for one in screenshots)


def test_an_agent_that_takes_pictures_without_end_is_stopped(tmp_path: Path) -> None:
    agent = f"""
draw("a.png")
for number in range(101):
    emit(type="screenshot", id=str(number), label="x", path="a.png", public=True)
{ANSWER}"""
    ran = run_agent(tmp_path, agent)
    assert ran.verdict == ("candidate_failure", "protocol_error")
    assert "100 screenshots" in str(ran.result.error)


def test_a_picture_that_only_begins_as_one_costs_the_agent_that_took_it(tmp_path: Path) -> None:
    agent = """
draw("a.png")
with open("a.png", "ab") as file:
    file.write(b"what rides along")
emit(type="screenshot", id="a", label="x", path="a.png", public=True)
"""
    ran = run_agent(tmp_path, agent)
    assert ran.verdict == ("candidate_failure", "protocol_error")
    assert ran.result.screenshots is None


SECRET = 'correct/horse+battery="staple"7291'


@pytest.mark.parametrize(
    "deed",
    [
        "print(KEY)",
        "print(KEY, file=sys.stderr)",
        "say(KEY)",
        "say(json.dumps(json.dumps(KEY)))",
        "import base64; say(base64.b64encode(b'a' + KEY.encode()).decode())",
        "import base64; say(base64.b64encode(b'ab' + KEY.encode()).decode())",
        "import urllib.parse; say(urllib.parse.quote(KEY, safe=''))",
        "sys.stdout.buffer.write(KEY.encode('utf-16-le'))",
        "emit(type='usage', note=KEY)",
        "emit(type='plan', body=KEY)",
        "print(KEY[:10], end='', flush=True); time.sleep(0.05); print(KEY[10:])",
    ],
)
def test_a_secret_never_leaves_in_whatever_form_an_agent_writes_it(
    deed: str, tmp_path: Path
) -> None:
    ran = run_agent(
        tmp_path,
        f"KEY = os.environ['KEY']\n{deed}",
        env={"KEY": {"$secretRef": "OPENAI_API_KEY"}},
        environ={"PATH": "/usr/bin:/bin", "OPENAI_API_KEY": SECRET},
    )
    assert ran.result.failure_class == "secret_leak"
    for path in ran.out.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes()
    assert not any(SECRET in line for line in ran.lines)
