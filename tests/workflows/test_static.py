"""What the usual judges of workflows say about ours."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from runner_e2e.campaigns.jobs import UPLOAD_STEP
from tests.workflows.toolbox import BIN, CALLABLE, CALLERS, PROJECT, Language, load, shipped

ACTION = PROJECT / "action.yml"
WORKFLOWS = [PROJECT / "workflows" / name for name in (*CALLABLE, *CALLERS)]


def judge(*command: str | Path) -> str:
    """Run a program from our development environment and return what it printed."""
    done = subprocess.run(
        [BIN / command[0], *command[1:]], check=False, capture_output=True, text=True, cwd=PROJECT
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_github_gets_byte_identical_copies_of_what_may_be_called() -> None:
    for name in CALLABLE:
        copy = PROJECT / ".github" / "workflows" / name
        assert copy.read_bytes() == (PROJECT / "workflows" / name).read_bytes()


def test_a_leg_gets_what_the_plan_says_of_retries_and_repeats() -> None:
    legs = [
        (job["env"], step["with"])
        for name in CALLABLE
        for job in load(PROJECT / "workflows" / name)["jobs"].values()
        for step in job.get("steps", ())
        if step.get("with", {}).get("command") == "run"
    ]
    assert len(legs) == 2
    for environ, given in legs:
        for name in ("max-retries", "confirm", "confirm-budget"):
            variable = name.upper().replace("-", "_")
            assert given[name] == f"${{{{ env.{variable} }}}}"
            assert environ[variable] in {
                f"${{{{ needs.plan.outputs.{variable.lower()} }}}}",
                f"${{{{ inputs.{name} }}}}",
            }


def test_campaigns_recognise_an_upload_by_the_name_of_its_step() -> None:
    uploads = [
        step["name"].lower()
        for name in CALLABLE
        for job in load(PROJECT / "workflows" / name)["jobs"].values()
        for step in job.get("steps", ())
        if "upload-artifact" in step.get("uses", "") and "result" in step["name"]
    ]
    assert len(uploads) == 2
    assert all(name.startswith(UPLOAD_STEP) for name in uploads)


def test_zizmor_finds_nothing_and_ignores_only_local_references_with_a_reason() -> None:
    judge("zizmor", "--offline", "--persona=pedantic", "--no-progress", *WORKFLOWS, ACTION)
    ignored: Counter[str] = Counter()
    for path in (*WORKFLOWS, ACTION):
        for rule, reason in re.findall(r"zizmor: ignore\[([^\]]+)\](.*)", path.read_text("utf-8")):
            ignored[rule] += 1
            assert reason.strip(), path
    assert set(ignored) == {"self-repository"}
    assert not list(PROJECT.glob("**/zizmor.y*ml"))


def test_actionlint_finds_nothing() -> None:
    assert judge("actionlint", *WORKFLOWS) == ""


def test_the_schemas_accept_workflows_and_action() -> None:
    judge("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS)
    judge("check-jsonschema", "--builtin-schema", "vendor.github-actions", ACTION)


def test_github_s_own_parser_accepts_every_workflow(language: Language) -> None:
    requests = [{"parse": path.read_text("utf-8"), "name": path.name} for path in WORKFLOWS]
    answers = language.ask([*requests, {"parse": "on: push\njobs: {a: {steps: 3}}", "name": "x"}])
    for path, answer in zip(WORKFLOWS, answers, strict=False):
        assert answer["errors"] == [], path
        assert answer["jobs"] == len(load(path)["jobs"])
    assert answers[-1]["errors"], "a parser that accepts everything proves nothing"


def test_legs_are_the_same_in_both_files_that_run_them() -> None:
    plain = shipped("campaign.yml")["jobs"]["execute"]
    shard = shipped("execute.yml")["jobs"]["execute"]
    assert plain["steps"] == shard["steps"]
    assert plain["env"].keys() == shard["env"].keys()
    for key in ("name", "runs-on", "permissions", "environment"):
        assert plain[key] == shard[key]


def test_the_check_of_the_actor_is_the_same_everywhere() -> None:
    scripts = {
        step["run"]
        for path in WORKFLOWS
        for job in load(path)["jobs"].values()
        for step in job.get("steps", ())
        if step.get("name") == "Let only listed people spend"
    }
    assert len(scripts) == 1


def test_calling_and_dispatching_offer_the_same_inputs() -> None:
    for name in ("campaign.yml", "publish.yml"):
        on = shipped(name)["on"]
        called, started = on["workflow_call"]["inputs"], on["workflow_dispatch"]["inputs"]
        assert called.keys() == started.keys()
        # GitHub takes 25, and some servers still 10 of the ones that are not required.
        assert len(started) <= 25
        for key in called:
            if not started[key].get("required"):
                assert called[key]["default"] == started[key]["default"], key


def test_every_input_of_the_action_reaches_it_through_the_environment_only() -> None:
    action = load(ACTION)
    command = action["runs"]["steps"][-1]
    assert {f"INPUT_{name.upper().replace('-', '_')}" for name in action["inputs"]} == {
        name for name in command["env"] if name.startswith("INPUT_")
    }
    assert all("${{" not in step["run"] for step in action["runs"]["steps"])


def test_every_output_of_plan_is_handed_on(tmp_path: Path) -> None:
    file = tmp_path / "output"
    file.touch()
    catalog = PROJECT / "examples" / "smoke" / "runner-e2e.yaml"
    subprocess.run(
        [BIN / "runner-e2e", "plan", "-c", catalog, "--all", "--format=github"],
        check=True,
        capture_output=True,
        env={"GITHUB_OUTPUT": str(file)},
    )
    written = set(re.findall(r"(?m)^(\w+)<<", file.read_text("utf-8")))
    assert written == set(load(ACTION)["outputs"])
    used = set(re.findall(r"needs\.plan\.outputs\.(\w+)", json.dumps(shipped("campaign.yml"))))
    assert used <= written | {"artifact"}


def test_the_pinned_uv_is_the_one_that_wrote_the_lock() -> None:
    script = load(ACTION)["runs"]["steps"][0]["run"]
    setup = (PROJECT / "scripts" / "setup.sh").read_text("utf-8")
    (pinned,) = re.findall(r"uv_version=(\S+)", script)
    assert re.findall(r"uv_version=(\S+)", setup) == [pinned]


@pytest.mark.parametrize("name", CALLERS)
def test_a_copied_caller_names_each_placeholder_once_per_use(name: str) -> None:
    text = (PROJECT / "workflows" / name).read_text("utf-8")
    assert text.count("OWNER/runner-e2e") == text.count("0" * 40) >= 2
    assert "Replace OWNER" in text
