"""Attempts: which failures buy another one, what is kept of each, and when time is up."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from runner_e2e.contracts.base import parse
from runner_e2e.contracts.result import Result
from runner_e2e.execution import Backoff, run_execution, sweep
from runner_e2e.flows import CancelToken
from tests.e2e.execution.test_flows_with_real_agents import PLAN, PLANNER
from tests.support.executions import make_request, run_agent, run_request

USAGE = "emit(type='usage', inputTokens=10, outputTokens=5, costUsd=0.25)\n"
MALFORMED_ONCE = f"""{USAGE}
if turn["attempt"] == 1:
    emit(type="plan", body="")
    raise SystemExit
{PLANNER}"""


def test_a_pass_on_the_second_attempt_keeps_both_and_pays_for_both(tmp_path: Path) -> None:
    ran = run_agent(tmp_path, MALFORMED_ONCE, **PLAN)
    assert (ran.result.status, ran.result.attempt) == ("passed", 2)
    assert [(one.status, one.code) for one in ran.record.attempts] == [
        ("failed", "malformed_plan"),
        ("passed", None),
    ]
    assert ran.result.run_ids == (
        "attempt-1-run-1",
        "attempt-2-run-1",
        "attempt-2-run-2",
        "attempt-2-run-3",
    )
    billing = ran.result.billing
    assert billing is not None
    assert (billing.llm.run_count, billing.llm.reported_cost_usd) == (4, 1.0)
    costs = [one.billing and one.billing.reported_cost_usd for one in ran.record.attempts]
    assert costs == [0.25, 0.75]
    first = parse(Result, ran.evidence("result.json", 1), "attempt 1")
    assert (first.status, first.attempt, first.failure_class) == ("failed", 1, "provider_variance")
    assert [one.turn for one in ran.result.turn_timings or ()] == [1, 2, 3]


def test_every_attempt_is_asked_with_a_fresh_nonce(tmp_path: Path) -> None:
    ran = run_agent(tmp_path, "emit(type='plan', body='')", **PLAN)
    titles = [ran.observation(attempt)["issue"]["title"] for attempt in (1, 2)]
    assert titles[0].endswith("-1")
    assert titles[1].endswith("-2")
    assert titles[0][:-2] != titles[1][:-2]


def test_an_attempt_finds_nothing_of_the_one_before_it(tmp_path: Path) -> None:
    agent = """
homes = [os.environ[name] for name in ("HOME", "RUNNER_E2E_STATE_DIR", "RUNNER_E2E_WORKSPACE")]
say(str([os.listdir(home) for home in homes]))
for home in homes: pathlib.Path(home, "trace").touch()
emit(type="plan", body="")
"""
    ran = run_agent(tmp_path, agent, **PLAN)
    said = [ran.observation(attempt)["comments"][0]["body"] for attempt in (1, 2)]
    assert said[0] == said[1]
    assert "trace" not in said[1]


def test_a_candidate_failure_is_never_tried_again(tmp_path: Path) -> None:
    ran = run_agent(tmp_path, "print('wrong')", max_retries=3)
    assert len(ran.record.attempts) == 1


@pytest.mark.parametrize(("retries", "attempts"), [(0, 1), (1, 2), (2, 3)])
def test_there_are_as_many_retries_as_the_plan_allows(
    retries: int, attempts: int, tmp_path: Path
) -> None:
    ran = run_agent(tmp_path, "emit(type='plan', body='')", max_retries=retries, **PLAN)
    assert len(ran.record.attempts) == ran.result.attempt == attempts
    assert ran.verdict == ("provider_variance", "malformed_plan")


def test_no_retry_begins_that_the_job_would_cut_off(tmp_path: Path) -> None:
    ran = run_agent(
        tmp_path, "emit(type='plan', body='')", deadline_minutes=4, timeout_ms=90_000, **PLAN
    )
    assert ran.verdict == ("provider_variance", "no_time_to_retry")
    assert "malformed_plan" in (ran.result.error or "")
    assert len(ran.record.attempts) == 1


def test_a_signal_during_the_wait_keeps_the_first_result(tmp_path: Path) -> None:
    token = CancelToken()
    request = replace(
        make_request(tmp_path, "emit(type='plan', body='')", cancel=token, **PLAN),
        backoff=Backoff(first=600, total=1200),
    )

    def stop(line: str) -> None:
        if "follows in" in line:
            threading.Thread(target=token.cancel, args=(2,)).start()

    outcome = run_execution(request, on_event=stop)
    assert outcome.record.state == "interrupted"
    assert outcome.result.failure_class == "provider_variance"
    assert len(outcome.record.attempts) == 1


def test_a_request_that_was_cancelled_before_it_began_starts_no_agent(tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    agent = f"pathlib.Path({str(tmp_path)!r}, 'started').touch()"
    ran = run_agent(tmp_path, agent, cancel=token)
    assert ran.verdict == ("transient_infrastructure", "interrupted")
    assert not (tmp_path / "started").exists()


def test_what_an_earlier_execution_left_in_the_directory_is_gone(tmp_path: Path) -> None:
    request = make_request(tmp_path, "emit(type='plan', body='')", **PLAN)
    run_request(request)
    ran = run_request(replace(request, max_retries=0))
    assert {one.path.split("/")[0] for one in ran.record.files} == {"result.json", "attempt-1"}
    assert not (ran.out / "attempt-2").exists()


def test_a_kept_root_is_left_for_a_person_and_no_sweep_takes_it(tmp_path: Path) -> None:
    ran = run_agent(tmp_path, "print(turn['text'].split()[-1])", keep=True)
    (root,) = ran.temporary.iterdir()
    assert (root / "workspace").is_dir()
    assert any(str(root) in line for line in ran.lines)
    assert ran.record.resources[0].deleted_at is None
    assert sweep(ran.temporary).roots == ()
    assert root.is_dir()


def test_the_record_has_the_digest_of_every_file_but_itself(tmp_path: Path) -> None:
    ran = run_agent(tmp_path, "print(turn['text'].split()[-1])")
    listed = {one.path: one.sha256 for one in ran.record.files}
    found = {
        path.relative_to(ran.out).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in ran.out.rglob("*")
        if path.is_file()
    }
    del found["job-record.json"]
    assert listed == found
