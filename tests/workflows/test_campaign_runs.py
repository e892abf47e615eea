"""The shipped workflows, run for real. Each test is one run of a workflow, or two of one story.

On a busy machine act can lose the last line that a step prints before it fails, so what a failing
step says is tested where its script is, and here what follows from it.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.support.artifacts import job_row
from tests.support.fake_github import OWNER, REPO, Answer, FakeGithub, Request, serving
from tests.workflows.act import Forge, Run, for_act
from tests.workflows.catalog import catalog_files
from tests.workflows.toolbox import PROJECT, Json


def report_of(run: Run, document: str, *, attempt: int = 1) -> Json:
    name = f"runner-e2e-report-a{attempt}"
    archive = run.artifacts / "1" / name / f"{name}.zip"
    with zipfile.ZipFile(archive) as opened:
        return json.loads(opened.read(document))


def states_of(run: Run) -> dict[str, str]:
    cells = report_of(run, "insights.json")["cells"]
    return {cell["executionId"].rsplit(".", 1)[-1]: cell["state"] for cell in cells}


@pytest.fixture(scope="module")
def green(forge: Forge, app: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    artifacts = tmp_path_factory.mktemp("artifacts")
    chosen = {"suite": "smoke", "setup": "tools/install.sh", **forge.campaign}
    return forge.run(app, "campaign.yml", artifacts, inputs=chosen)


def test_a_dispatch_with_a_suite_runs_it_and_is_green(green: Run) -> None:
    assert green.returncode == 0, green.text
    leg = "smoke.scripted.local.good"
    assert set(green.jobs.items()) == {
        ("authorize", "success"),
        ("plan", "success"),
        (leg, "success"),
        ("aggregate", "success"),
    }
    assert green.artifact_names() == {
        "runner-e2e-plan-a1",
        f"runner-e2e-result-a1-{leg}",
        "runner-e2e-report-a1",
    }
    assert states_of(green) == {"good": "passed"}
    assert list(green.steps[leg]) == [
        "Let only listed people spend",
        "Check out the code under test",
        "Check out runner-e2e",
        "Set up the code under test",
        "Run the execution",
        "Upload the result",
        "Sweep what a killed execution left",
    ]
    campaign = report_of(green, "campaign.json")
    assert campaign["campaignId"] == "gha-1-1"
    assert campaign["source"]["ref"] == "refs/heads/trunk"
    assert "::warning" not in green.text
    assert "sk-not-a-real-key" not in green.text


def test_running_a_green_campaign_again_plans_nothing_and_is_green(
    forge: Forge, app: Path, green: Run
) -> None:
    run = forge.run(
        app,
        "campaign.yml",
        green.artifacts,
        inputs={"rerun": "1", **forge.campaign},
        environ={"GITHUB_RUN_ID": "2"},
    )
    assert run.returncode == 0, run.text
    assert run.jobs == {"authorize": "success", "plan": "success"}
    assert "0 planned" in run.logs["plan"]


def test_a_failing_campaign_is_red_and_still_aggregated_and_published(
    forge: Forge, app: Path, tmp_path: Path
) -> None:
    run = forge.run(app, "campaign.yml", tmp_path, inputs={"suite": "mixed", **forge.campaign})
    assert run.returncode != 0
    assert "failure" not in run.steps["mixed.scripted.local.good"].values()
    assert run.steps["mixed.scripted.local.bad"]["Run the execution"] == "failure"
    assert run.jobs["aggregate"] == "failure"
    assert states_of(run) == {"good": "passed", "bad": "failed"}
    # Evidence of what failed, and of nothing else.
    evidence = {name for name in run.artifact_names() if "evidence" in name}
    assert evidence == {"runner-e2e-evidence-a1-mixed.scripted.local.bad"}

    # Run again under the same id, beside the artifacts of the first attempt.
    again = forge.run(
        app,
        "campaign.yml",
        tmp_path,
        inputs={"suite": "mixed", **forge.campaign},
        environ={"GITHUB_RUN_ATTEMPT": "2"},
    )
    assert {"runner-e2e-report-a1", "runner-e2e-report-a2"} <= again.artifact_names()
    cells = report_of(again, "insights.json", attempt=2)["cells"]
    assert [cell["runAttempt"] for cell in cells] == [2, 2]

    # By hand and later, as when the publication was lost.
    published = forge.run(
        app,
        "publish.yml",
        tmp_path,
        inputs={"run-id": "1", "run-attempt": "2", **forge.tool},
        environ={"GITHUB_RUN_ID": "2"},
    )
    assert published.returncode == 0, published.text
    campaign = forge.published("acme/app")["gha-1-2"]
    assert (campaign["passed"], campaign["failed"], campaign["selected"]) == (1, 1, 2)


def test_an_empty_selection_is_red_and_says_so(forge: Forge, app: Path, tmp_path: Path) -> None:
    chosen = {"suite": "smoke", "case": "bad", **forge.campaign}
    run = forge.run(app, "campaign.yml", tmp_path, inputs=chosen)
    assert run.returncode != 0
    assert run.jobs == {"authorize": "success", "plan": "failure"}
    assert "exit status 3" in run.logs["plan"]
    assert run.artifact_names() == set()


def test_a_dispatch_without_a_selector_buys_nothing(
    forge: Forge, app: Path, tmp_path: Path
) -> None:
    run = forge.run(app, "campaign.yml", tmp_path, inputs=forge.campaign)
    assert run.returncode != 0
    assert run.jobs == {"authorize": "success", "plan": "failure"}
    assert "exit status 2" in run.logs["plan"]


def test_more_than_one_matrix_holds_goes_through_shards(
    forge: Forge, app: Path, tmp_path: Path
) -> None:
    chosen = {"suite": "many", "shard-size": "2", **forge.campaign}
    run = forge.run(app, "campaign.yml", tmp_path, inputs=chosen)
    assert run.returncode == 0, run.text
    assert states_of(run) == {"good": "passed", "second": "passed", "third": "passed"}
    plan = report_of(run, "plan.json")
    assert [shard["count"] for shard in plan["shards"]] == [2, 1]


def test_a_killed_leg_is_unresolved_and_the_run_is_red(
    forge: Forge, app: Path, tmp_path: Path
) -> None:
    run = forge.run(app, "campaign.yml", tmp_path, inputs={"suite": "killed", **forge.campaign})
    assert run.returncode != 0
    assert run.steps["killed.scripted.local.killer"]["Run the execution"] == "failure"
    assert run.jobs["aggregate"] == "failure"
    assert states_of(run) == {"good": "passed", "killer": "empty"}
    assert "exit status 8" in run.logs["aggregate"]
    # The record that was written before any money was spent is there all the same.
    assert "runner-e2e-result-a1-killed.scripted.local.killer" in run.artifact_names()


def test_a_repository_that_only_calls_gets_a_campaign_its_publication_and_a_janitor(
    forge: Forge, tmp_path: Path
) -> None:
    caller = forge.caller("dispatch.yml")
    # act does not say where a called workflow is from, so the caller has to.
    for name, inputs in (
        ("suite: ${{ inputs.suite }}", forge.campaign),
        ("run-attempt: ${{ needs", forge.tool),
    ):
        assert name in caller
        given = "".join(f"{key}: {value}\n      " for key, value in inputs.items())
        caller = caller.replace(name, given + name)
    workflows = {"campaigns.yml": caller, "janitor.yml": forge.caller("janitor.yml")}
    files = catalog_files() | {
        f".github/workflows/{name}": text for name, text in workflows.items()
    }
    repository = forge.repository("acme/second", files)
    run = forge.run(repository, "campaigns.yml", tmp_path, inputs={"suite": "smoke"})
    assert run.returncode == 0, run.text
    assert states_of(run) == {"good": "passed"}
    published = forge.published("acme/second")
    assert published["gha-1-1"]["passed"] == 1

    cleaned = forge.run(repository, "janitor.yml", tmp_path, environ={"GITHUB_RUN_ID": "2"})
    assert cleaned.returncode == 0, cleaned.text
    assert cleaned.jobs == {"sweep": "success", "prune": "success"}
    assert forge.published("acme/second") == published


@pytest.mark.parametrize("who", ["started", "rerun"])
def test_somebody_who_is_not_listed_stops_before_any_secret(
    forge: Forge, app: Path, tmp_path: Path, who: str
) -> None:
    # Whoever runs a run again is known by login; the API, which is away here, would say the id.
    stranger = {
        "started": {"GITHUB_ACTOR_ID": "666"},
        "rerun": {
            "GITHUB_TRIGGERING_ACTOR": "stranger",
            "GITHUB_API_URL": "http://127.0.0.1:9",
            "CURL_HOME": str(tmp_path),
        },
    }[who]
    (tmp_path / ".curlrc").write_text("retry = 0\n")
    run = forge.run(
        app,
        "campaign.yml",
        tmp_path / "artifacts",
        inputs={"suite": "smoke", **forge.campaign},
        environ=stranger,
    )
    assert run.returncode != 0
    assert run.jobs == {"authorize": "failure"}
    assert run.steps["authorize"] == {"Let only listed people spend": "failure"}


def test_a_pull_request_from_a_fork_gets_a_plan_and_no_legs(forge: Forge, tmp_path: Path) -> None:
    called = f"acme/runner-e2e/.github/workflows/campaign.yml@{forge.tool_sha}"
    inputs = {"suite": "mixed", **forge.campaign}
    workflow = {
        "on": {"pull_request": None},
        "permissions": {},
        "jobs": {
            "campaign": {
                "permissions": {"contents": "read", "actions": "read"},
                "uses": called,
                "with": inputs,
                "secrets": {"OPENAI_API_KEY": "${{ secrets.OPENAI_API_KEY }}"},
            }
        },
    }
    files = catalog_files() | {".github/workflows/pull.yml": json.dumps(workflow)}
    repository = forge.repository("acme/forked", files)
    run = forge.run(
        repository,
        "pull.yml",
        tmp_path,
        event="pull_request",
        payload={
            "pull_request": {
                "number": 7,
                "head": {"ref": "fix", "repo": {"full_name": "stranger/forked"}},
                "base": {"ref": "trunk", "repo": {"full_name": "acme/forked"}},
                "user": {"login": "stranger"},
            }
        },
        environ={"GITHUB_ACTOR_ID": "666"},
    )
    assert run.returncode == 0, run.text
    assert set(run.jobs) == {"authorize", "plan"}
    assert "2 planned" in run.logs["plan"]
    assert set(run.steps["authorize"]) == {"Resolve what is under test"}


class Hub(FakeGithub):
    """The API of the run that act runs: its artifacts as they come, and a job for each result."""

    def __init__(self, artifacts: Path) -> None:
        super().__init__()
        self.run_id = 1
        self.status = "in_progress"
        self._folder = artifacts / "1"

    def answer_api(self, request: Request) -> Answer:
        self.artifacts, self.jobs, self.archives = [], [], {}
        for folder in sorted(self._folder.iterdir()):
            self.add_artifact(folder.name, (folder / f"{folder.name}.zip").read_bytes())
            if folder.name.startswith("runner-e2e-result-a1-"):
                self.add_job(
                    job_row(f"campaign / {folder.name.removeprefix('runner-e2e-result-a1-')}")
                )
        return super().answer_api(request)


def test_the_results_come_over_the_api_with_what_became_of_the_jobs(
    forge: Forge, tmp_path: Path
) -> None:
    text = for_act((PROJECT / "workflows" / "campaign.yml").read_text("utf-8"))
    files = catalog_files() | {".github/workflows/campaign.yml": text}
    execute = (PROJECT / "workflows" / "execute.yml").read_text("utf-8")
    repository = forge.repository(
        f"{OWNER}/{REPO}", files | {".github/workflows/execute.yml": execute}
    )
    with serving(Hub(tmp_path)) as hub:
        hub.token = "token"  # what the forge gives its runs
        run = forge.run(
            repository,
            "campaign.yml",
            tmp_path,
            inputs={"suite": "smoke", **forge.tool},
            environ={"GITHUB_API_URL": hub.api_url},
        )
    assert run.returncode == 0, run.text
    assert hub.problems == []
    assert hub.asked("/actions/runs/1/artifacts") >= 1
    assert states_of(run) == {"good": "passed"}
    assert "Fetch the results" not in run.steps["aggregate"]
