"""A whole run: its plan, its jobs of all attempts, and what they make of a campaign."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runner_e2e.campaigns import JobHistory, aggregate, collect
from runner_e2e.contracts.base import dump
from runner_e2e.errors import DocumentError
from runner_e2e.github.errors import GithubError
from tests.support.artifacts import EVENTS, Event, job_row, states_of, write_event, zip_artifact
from tests.support.documents import IDS, make_plan
from tests.support.fake_github import Answer, FakeGithub
from tests.unit.github.conftest import Opener

PLAN = make_plan(IDS)
CELL = IDS[0]


def keep_plan(github: FakeGithub, root: Path, run_attempt: int, data: bytes) -> None:
    root.mkdir(exist_ok=True)
    (root / "plan.json").write_bytes(data)
    github.add_directory(f"runner-e2e-plan-a{run_attempt}", root)


def test_the_plan_is_the_one_of_the_newest_attempt_that_made_one(
    tmp_path: Path, github: FakeGithub, open_run: Opener
) -> None:
    for run_attempt, ids in ((10, IDS), (9, IDS[:1]), (2, IDS[:2])):
        keep_plan(github, tmp_path / "plan", run_attempt, dump(make_plan(ids)))
    assert open_run().plan() == make_plan(IDS)


def test_a_run_without_a_plan_is_no_campaign(github: FakeGithub, open_run: Opener) -> None:
    github.add_artifact("runner-e2e-plan-a1-not", b"")
    with pytest.raises(GithubError, match="has no plan") as refused:
        open_run().plan()
    assert "--plan" in (refused.value.hint or "")


def test_a_plan_that_has_expired_or_is_broken_is_an_error(
    tmp_path: Path, github: FakeGithub, open_run: Opener
) -> None:
    github.add_artifact("runner-e2e-plan-a1", b"", expired=True)
    with pytest.raises(GithubError, match="runner-e2e-plan-a1: the artifact has expired"):
        open_run().plan()
    github.add_artifact("runner-e2e-plan-a2", b"no zip")
    with pytest.raises(GithubError, match="it is not a zip archive"):
        open_run().plan()
    keep_plan(github, tmp_path / "plan", 3, b"{}")
    with pytest.raises(DocumentError, match=r"runner-e2e-plan-a3!plan\.json"):
        open_run().plan()


def test_every_attempt_is_asked_for_when_it_began(github: FakeGithub, open_run: Opener) -> None:
    github.run_attempts = 3
    github.add_job(job_row(CELL))
    assert open_run().jobs().run_attempts == 3
    asked = [r.path.rpartition("/")[2] for r in github.requests if "/attempts/" in r.path]
    assert asked == ["1", "2"]


def test_jobs_of_all_attempts_on_all_pages_are_read(github: FakeGithub, open_run: Opener) -> None:
    github.run_attempts = 2
    github.page_size = 7
    for number in range(20):
        github.add_job(job_row(f"e2e / s.a.local.c{number}"))
    github.add_job(job_row("e2e / s.a.local.c4", run_attempt=2, conclusion="failure"))
    history = open_run().jobs()
    assert len(history.latest) == 20
    assert {name: run.run_attempt for name, run in history.latest.items() if run.run_attempt > 1}
    assert history.latest["s.a.local.c4"].conclusion == "failure"


def test_a_kept_job_that_is_repeated_under_a_newer_attempt_stays_of_the_older(
    github: FakeGithub, open_run: Opener
) -> None:
    github.run_attempts = 2
    github.add_job(job_row(CELL))
    github.add_job(job_row(CELL, run_attempt=2, started=59))
    # The very same number under both attempts is two rows all the same.
    github.jobs[1]["id"] = github.jobs[0]["id"]
    assert open_run().jobs().latest[CELL].run_attempt == 1


def test_a_job_of_an_attempt_that_began_meanwhile_is_an_error_and_no_guess(
    github: FakeGithub, open_run: Opener
) -> None:
    source = open_run()
    assert source.run.run_attempt == 1
    github.add_job(job_row(CELL, run_attempt=2))
    with pytest.raises(DocumentError, match="run attempt 2 began"):
        source.jobs()


def test_an_attempt_that_cannot_be_read_is_an_error(github: FakeGithub, open_run: Opener) -> None:
    github.run_attempts = 2
    missing = Answer(status=404, body=b"{}")
    github.fail(missing, "/attempts/1$")
    with pytest.raises(GithubError, match=re.escape(f"attempt 1 of run {github.run_id}")):
        open_run().jobs()


def test_a_partial_rerun_keeps_what_it_did_not_run_again(
    tmp_path: Path, github: FakeGithub, open_run: Opener
) -> None:
    github.run_attempts = 2
    events: tuple[Event, ...] = ("pass", "fail", "pass")
    for execution_id, event in zip(IDS, events, strict=True):
        directory = write_event(tmp_path, PLAN, execution_id, 1, event)
        github.add_directory(directory.name, directory)
        github.add_job(job_row(f"e2e / {execution_id}"))
        github.add_job(job_row(f"e2e / {execution_id}", run_attempt=2, started=59))
    directory = write_event(tmp_path, PLAN, IDS[1], 2, "pass")
    github.add_directory(directory.name, directory)
    github.jobs[3] = github.jobs[3] | job_row(f"e2e / {IDS[1]}", run_attempt=2)
    source = open_run()
    merged = aggregate(
        PLAN, collect([source], PLAN), campaign_id=source.campaign_id, jobs=source.jobs()
    )
    assert states_of(merged) == dict.fromkeys(IDS, "passed")
    assert [cell.run_attempt for cell in merged.insights.cells] == [1, 2, 1]
    assert [entry.execution_id for entry in merged.insights.duplicates] == [IDS[1]]


def test_a_newer_attempt_whose_artifact_expired_is_not_the_older_pass(
    tmp_path: Path, github: FakeGithub, open_run: Opener
) -> None:
    github.run_attempts = 2
    for run_attempt in (1, 2):
        directory = write_event(tmp_path, PLAN, CELL, run_attempt, "pass")
        github.add_directory(directory.name, directory, expired=run_attempt == 2)
        github.add_job(job_row(CELL, run_attempt=run_attempt))
    source = open_run()
    merged = aggregate(
        PLAN, collect([source], PLAN), campaign_id=source.campaign_id, jobs=source.jobs()
    )
    assert states_of(merged)[CELL] == "expired"


def test_a_run_gives_what_its_downloaded_artifacts_give(
    tmp_path: Path, github: FakeGithub, open_run: Opener
) -> None:
    """Every kind of artifact, of a cell each, over REST and as zips in a directory."""
    ids = [f"smoke.scripted.local.{event.replace('_', '-')}" for event in EVENTS]
    plan = make_plan(ids)
    zips = tmp_path / "zips"
    zips.mkdir()
    for execution_id, event in zip(ids, EVENTS, strict=True):
        directory = write_event(tmp_path / "made", plan, execution_id, 1, event)
        github.add_directory(directory.name, directory)
        github.add_job(job_row(execution_id))
        zip_artifact(directory, zips / f"{directory.name}.zip")
    source = open_run()
    history = source.jobs()
    over_rest, from_disk = (
        aggregate(plan, collect([path], plan), campaign_id=source.campaign_id, jobs=history)
        for path in (source, zips)
    )
    assert isinstance(history, JobHistory)
    assert dump(over_rest.campaign) == dump(from_disk.campaign)
    assert states_of(over_rest) == states_of(from_disk)
    told = set(states_of(over_rest).values())
    assert told >= {"passed", "failed", "timed_out", "empty", "corrupt", "mismatched"}
