"""Whole executions whose turns run at Daytona."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from runner_e2e.billing import DAYTONA_PRICES
from tests.support.daytona_runs import run_at_daytona
from tests.support.executions import ANSWER
from tests.support.fake_daytona import KEY, FakeDaytona, Fault

WARM = """
n = int(pathlib.Path("n").read_text()) if pathlib.Path("n").exists() else 0
pathlib.Path("n").write_text(str(n + 1))
with open("lines.txt", "a") as file:
    file.write(["alpha", "beta", "gamma"][n] + "\\n")
state = pathlib.Path(os.environ["RUNNER_E2E_STATE_DIR"], "seen")
state.write_text(str(n + 1) if n == 0 else str(int(state.read_text()) + 1))
say("done" if n == 2 else "waiting")
emit(type="status", issue="done" if n == 2 else "in_review")
"""
WARM_CASE = {
    "flow": "warm_three_turn",
    "runs": 3,
    "followups": ["next", "last"],
    "turnTimeoutMs": 20_000,
    "flowOptions": {"file": "lines.txt", "lines": ["alpha", "beta", "gamma"]},
    "matchers": [{"kind": "file_exact", "path": "lines.txt", "expected": "alpha\nbeta\ngamma\n"}],
}


def test_a_turn_runs_in_a_sandbox_that_is_deleted_and_billed(
    tmp_path: Path, daytona: FakeDaytona
) -> None:
    ran = run_at_daytona(tmp_path, ANSWER, daytona)
    assert ran.verdict == (None, None), ran.result.error
    usage = ran.result.runtime_usage
    assert usage is not None
    assert (usage.cpu_cores, usage.memory_gib, usage.disk_gib) == (4, 4, 10)
    assert usage.lease_count == 1
    hourly = DAYTONA_PRICES[0].hourly(cpu=4, memory_gib=4, disk_gib=10)
    assert usage.estimated_list_cost_usd == hourly * (usage.lease_duration_ms or 0) / 3_600_000
    assert usage.cost_source == "daytona_public_list_price"
    (timing,) = ran.result.turn_timings or ()
    assert timing.lease_acquisition_outcome == "created"
    (sandbox,) = [one for one in ran.record.resources if one.kind == "daytona_sandbox"]
    assert sandbox.id == daytona.destroyed[0].id
    assert sandbox.deleted_at is not None


def test_every_sandbox_ends_by_itself_whatever_becomes_of_us(
    tmp_path: Path, daytona: FakeDaytona
) -> None:
    run_at_daytona(tmp_path, ANSWER, daytona, timeout_ms=15 * 60_000)
    (create,) = daytona.creates
    assert create["autoStopInterval"] >= 15 + 5
    assert create["autoDeleteInterval"] == 0
    assert create["ttlMinutes"] > create["autoStopInterval"] - 5
    assert create["labels"].keys() == {
        "runner-e2e",
        "runner-e2e-token",
        "runner-e2e-execution",
        "runner-e2e-expires",
    }


def test_turns_share_a_warm_sandbox(tmp_path: Path, daytona: FakeDaytona) -> None:
    ran = run_at_daytona(tmp_path, WARM, daytona, {"reuseLease": True}, **WARM_CASE)
    assert ran.verdict == (None, None), ran.result.error
    outcomes = [one.lease_acquisition_outcome for one in ran.result.turn_timings or ()]
    assert outcomes == ["created", "resumed", "resumed"]
    assert len(daytona.creates) == 1


def test_a_cold_sandbox_for_each_turn_finds_what_the_last_one_left(
    tmp_path: Path, daytona: FakeDaytona
) -> None:
    plan = """
if turn["turn"] == 1:
    pathlib.Path("note.txt").write_text("kept")
    pathlib.Path(os.environ["RUNNER_E2E_STATE_DIR"], "s").write_text("state")
    emit(type="question", id="q", prompt="Which?", options=["A", "B"])
else:
    state = pathlib.Path(os.environ["RUNNER_E2E_STATE_DIR"], "s").read_text()
    say(f"{turn['text']} {pathlib.Path('note.txt').read_text()} {state}")
"""
    ran = run_at_daytona(
        tmp_path,
        plan,
        daytona,
        flow="question_resume_completion",
        runs=2,
        questionAnswer={"optionLabel": "B", "expectedMarker": "B kept state"},
        flowOptions={"question": {"id": "q", "prompt": "Which?", "options": ["A", "B"]}},
        matchers=[{"kind": "message_contains", "expected": "B kept state"}],
    )
    assert ran.verdict == (None, None), ran.result.error
    assert len(daytona.creates) == len(daytona.destroyed) == 2
    usage = ran.result.runtime_usage
    assert usage is not None
    assert usage.lease_count == 2


def test_secrets_travel_in_a_file_that_removes_itself(tmp_path: Path, daytona: FakeDaytona) -> None:
    agent = """
left = pathlib.Path(os.environ["RUNNER_E2E_PROMPT_FILE"]).with_name("run.sh").exists()
say(f"{turn['text'].split()[-1]} {os.environ['KEY'][::-1]} {left}")
"""
    ran = run_at_daytona(
        tmp_path,
        agent,
        daytona,
        env={"KEY": {"$secretRef": "OPENAI_API_KEY"}},
        environ=daytona.environ | {"OPENAI_API_KEY": "planted-secret-value"},
    )
    assert ran.verdict == (None, None), ran.result.error
    (comment,) = ran.observation()["comments"]
    assert comment["body"].endswith(" eulav-terces-detnalp False")
    sent = [body for call, body in daytona.documents if call != "CreateSandbox"]
    assert "planted-secret-value" not in json.dumps([sent, daytona.creates])


def test_the_key_stands_in_no_url_and_no_document(tmp_path: Path, daytona: FakeDaytona) -> None:
    run_at_daytona(tmp_path, ANSWER, daytona)
    assert all(KEY not in call.path for call in daytona.calls)
    assert all(KEY.encode() not in call.body for call in daytona.calls)


@pytest.mark.parametrize(
    ("variable", "value", "code"),
    [
        ("DAYTONA_API_KEY", "", "missing_credential"),
        ("DAYTONA_API_KEY", "dtn_wrong", "credential_refused"),
        ("DAYTONA_API_URL", "ftp://example.org", "bad_api_url"),
        ("RUNNER_E2E_DAYTONA_IMAGE", "", "bad_image"),
        ("RUNNER_E2E_DAYTONA_IMAGE", "agent:latest", "bad_image"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_paid_for(
    tmp_path: Path, daytona: FakeDaytona, variable: str, value: str, code: str
) -> None:
    environ = daytona.environ | {variable: value}
    ran = run_at_daytona(tmp_path, ANSWER, daytona, environ=environ)
    assert ran.verdict == ("permanent_infrastructure", code)
    assert not daytona.destroyed
    if code == "missing_credential":
        assert "DAYTONA_API_KEY must be set" in (ran.result.error or "")


def test_an_image_that_cannot_be_built_stays_so(tmp_path: Path, daytona: FakeDaytona) -> None:
    daytona.start_state = "build_failed"
    ran = run_at_daytona(tmp_path, ANSWER, daytona, max_retries=1)
    assert ran.verdict == ("permanent_infrastructure", "sandbox_build_failed")
    assert len(daytona.creates) == 1


def test_a_sandbox_that_starts_slowly_is_waited_for(tmp_path: Path, daytona: FakeDaytona) -> None:
    daytona.polls_until_started = 2
    ran = run_at_daytona(tmp_path, ANSWER, daytona)
    assert ran.verdict == (None, None), ran.result.error


def test_a_gateway_that_times_out_after_the_allocation_leaves_nothing(
    tmp_path: Path, daytona: FakeDaytona
) -> None:
    daytona.fail("create", Fault(status=504, effect=True))
    ran = run_at_daytona(tmp_path, ANSWER, daytona)
    assert ran.verdict == ("transient_infrastructure", "provider_unavailable")
    assert len(daytona.destroyed) == 1


def test_a_create_that_failed_for_a_moment_is_made_again_by_the_next_attempt(
    tmp_path: Path, daytona: FakeDaytona
) -> None:
    daytona.fail("create", Fault(status=503))
    ran = run_at_daytona(tmp_path, ANSWER, daytona, max_retries=1)
    assert ran.verdict == (None, None), ran.result.error
    assert ran.result.attempt == 2


def test_a_server_that_ignores_the_label_filter_has_nobody_elses_sandbox_deleted(
    tmp_path: Path, daytona: FakeDaytona
) -> None:
    daytona.ignore_label_filter = True
    others = daytona.create({"cpu": 1, "memory": 1, "disk": 1, "labels": {"runner-e2e": "1"}})
    daytona.fail("create", Fault(status=504, effect=True))
    run_at_daytona(tmp_path, ANSWER, daytona)
    assert [one.id for one in daytona.living] == [others["id"]]
    daytona.destroy(daytona.living[0])


def test_a_sandbox_that_dies_in_mid_turn_is_lost_and_not_the_candidates_fault(
    tmp_path: Path, daytona: FakeDaytona
) -> None:
    agent = "if turn['attempt'] == 1:\n    time.sleep(60)\n" + ANSWER

    def kill() -> None:
        daytona.agent_started.wait()
        daytona.destroy(daytona.living[0])

    thread = threading.Thread(target=kill)
    thread.start()
    ran = run_at_daytona(tmp_path, agent, daytona, max_retries=1)
    thread.join()
    assert [one.code for one in ran.record.attempts] == ["sandbox_lost", None]
    assert ran.record.attempts[0].failure_class == "transient_infrastructure"


def test_a_quota_is_something_that_others_free_again(tmp_path: Path, daytona: FakeDaytona) -> None:
    daytona.fail("create", Fault(status=403, message="Total CPU limit exceeded. Maximum: 10."))
    ran = run_at_daytona(tmp_path, ANSWER, daytona)
    assert ran.verdict == ("transient_infrastructure", "sandbox_quota")


def test_questions_that_are_refused_for_a_moment_are_asked_again(
    tmp_path: Path, daytona: FakeDaytona
) -> None:
    daytona.fail("command", Fault(status=502), Fault(status=429, headers={"Retry-After": "1"}))
    daytona.fail("delete", Fault(status=500))
    ran = run_at_daytona(tmp_path, ANSWER, daytona)
    assert ran.verdict == (None, None), ran.result.error


def test_a_deadline_ends_the_agent_and_keeps_what_it_wrote(
    tmp_path: Path, daytona: FakeDaytona
) -> None:
    agent = "say('so far')\nprint('a line', flush=True)\ntime.sleep(60)\n"
    ran = run_at_daytona(tmp_path, agent, daytona, timeout_ms=3_000)
    assert ran.verdict == ("candidate_failure", "deadline")
    assert ran.evidence("turns/1/stdout.log") == b"a line\n"
    assert [one["body"] for one in ran.observation()["comments"]] == ["so far"]


def test_what_an_agent_leaves_running_ends_with_its_turn(
    tmp_path: Path, daytona: FakeDaytona
) -> None:
    agent = """
if turn["turn"] == 1:
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    pathlib.Path("pid").write_text(str(child.pid))
    emit(type="question", id="q", prompt="Which?", options=["A", "B"])
else:
    words = pathlib.Path("/proc", pathlib.Path("pid").read_text(), "cmdline")
    say("B " + str(words.exists() and bool(words.read_bytes())))  # a zombie has none
"""
    ran = run_at_daytona(
        tmp_path,
        agent,
        daytona,
        {"reuseLease": True},
        flow="question_resume_completion",
        runs=2,
        questionAnswer={"optionLabel": "B", "expectedMarker": "B"},
        flowOptions={"question": {"id": "q", "prompt": "Which?", "options": ["A", "B"]}},
        matchers=[{"kind": "message_exact", "expected": "B False"}],
    )
    assert ran.verdict == (None, None), ran.result.error


def test_a_link_out_of_the_workspace_is_no_workspace_file(
    tmp_path: Path, daytona: FakeDaytona
) -> None:
    agent = "os.symlink('/etc/hostname', 'out.txt')\n" + ANSWER
    ran = run_at_daytona(
        tmp_path,
        agent,
        daytona,
        matchers=[{"kind": "file_contains", "path": "out.txt", "expected": "a"}],
    )
    assert ran.verdict == ("candidate_failure", "matcher_failed")


def test_a_delete_that_is_refused_fails_the_cleanup_and_names_the_sandbox(
    tmp_path: Path, daytona: FakeDaytona
) -> None:
    daytona.fail("delete", *[Fault(status=403)] * 10)
    ran = run_at_daytona(tmp_path, ANSWER, daytona)
    assert ran.verdict == ("cleanup_failure", "survivors")
    assert ran.result.cleanup == "failed"
    (left,) = daytona.living
    assert f"sandbox {left.id} may still run" in (ran.result.error or "")
    daytona.destroy(left)
