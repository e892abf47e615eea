"""The two scripts of the action, in a real shell, as the runner starts them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workflows.toolbox import PROJECT, load

BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
HASHES = json.dumps({"smoke": "a" * 64, "smoke2": "b" * 64}, separators=(",", ":"))

# Stands where Python with runner-e2e would: prints its arguments and what it sees of ours.
ECHO = """\
#!/usr/bin/env python3
import json, os, sys
seen = {name: value for name, value in os.environ.items() if name.isupper()}
print(json.dumps({"arguments": sys.argv[1:], "environ": seen}))
"""


def script(index: int) -> str:
    return str(load(PROJECT / "action.yml")["runs"]["steps"][index]["run"])


def run_command(
    folder: Path, inputs: dict[str, str], environ: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    python = folder / "python"
    python.write_text(ECHO)
    python.chmod(0o755)
    named = {f"INPUT_{name.upper().replace('-', '_')}": value for name, value in inputs.items()}
    return subprocess.run(
        [*BASH, script(1)],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "PYTHON": str(python),
            "GITHUB_ACTION_PATH": str(PROJECT),
            "INPUT_ALL": "false",
            **named,
            **(environ or {}),
        },
    )


def arguments(folder: Path, inputs: dict[str, str]) -> list[str]:
    done = run_command(folder, inputs)
    assert done.returncode == 0, done.stdout + done.stderr
    said: list[str] = json.loads(done.stdout)["arguments"]
    assert said[:2] == ["-m", "runner_e2e"]
    return said[2:]


def test_an_input_that_is_not_filled_in_is_no_option(tmp_path: Path) -> None:
    assert arguments(tmp_path, {"command": "plan", "suite": ""}) == ["plan", "--format=github"]


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (
            {"command": "plan", "suite": "a,b", "all": "true", "out": "plan.json"},
            ["plan", "--format=github", "--suite=a,b", "--out=plan.json", "--all"],
        ),
        (
            {"command": "run", "id": "smoke.p.local.c", "plan-digest": "d", "out": "results"},
            ["run", "--id=smoke.p.local.c", "--plan-digest=d", "--out=results"],
        ),
        (
            {"command": "run", "id": "smoke.p.local.c", "definition-hashes": HASHES},
            ["run", "--id=smoke.p.local.c", f"--definition-hash={'a' * 64}"],
        ),
        (
            {"command": "run", "id": "smoke.p.local.c", "confirm": "2", "confirm-budget": "0.5"},
            ["run", "--id=smoke.p.local.c", "--confirm=2", "--confirm-budget=0.5"],
        ),
        (
            {"command": "plan", "suite": "a", "confirm": "2"},
            ["plan", "--format=github", "--suite=a", "--confirm=2"],
        ),
        (
            {"command": "aggregate", "plan": "p.json", "results": "r", "out": "o"},
            ["aggregate", "--plan=p.json", "--out=o", "--", "r"],
        ),
        (
            {"command": "publish", "report": "r", "remote": "u", "branch": "b", "base-url": "w"},
            ["publish", "--remote=u", "--branch=b", "--base-url=w", "--", "r"],
        ),
        ({"command": "gate", "report": "r"}, ["gate", "--", "r"]),
        ({"command": "sweep"}, ["sweep"]),
        ({"command": "prune", "branch": "b"}, ["history", "prune", "--branch=b"]),
    ],
)
def test_inputs_become_the_options_of_their_command(
    tmp_path: Path, inputs: dict[str, str], expected: list[str]
) -> None:
    assert arguments(tmp_path, inputs) == expected


@pytest.mark.parametrize(
    "value", ["$(touch evil)", "`touch evil`", "a b", "--all", "'\"", "*", ","]
)
def test_a_value_stays_one_word_whatever_it_holds(tmp_path: Path, value: str) -> None:
    given = arguments(tmp_path, {"command": "plan", "suite": value})
    assert given == ["plan", "--format=github", f"--suite={value}"]
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ({"command": "plan", "all": "yes"}, "all must be true or false"),
        ({"command": "plan", "rerun": "nowhere"}, "has no report"),
        ({"command": "rm"}, "command must be"),
        ({"command": ""}, "command must be"),
        ({"command": "run", "id": "other.p.local.c", "definition-hashes": HASHES}, "the suite"),
        ({"command": "run", "id": ".*.p.local.c", "definition-hashes": HASHES}, "the suite"),
    ],
)
def test_a_wrong_input_is_an_error_with_exit_code_2(
    tmp_path: Path, inputs: dict[str, str], reason: str
) -> None:
    done = run_command(tmp_path, inputs)
    assert done.returncode == 2
    assert re.search(rf"::error title=runner-e2e::.*{reason}", done.stdout)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (["campaign.json"], "campaign.json"),
        (
            ["runner-e2e-report-a9/campaign.json", "runner-e2e-report-a10/campaign.json"],
            "runner-e2e-report-a10/campaign.json",
        ),
    ],
)
def test_the_newest_report_of_the_earlier_run_is_taken(
    tmp_path: Path, found: list[str], expected: str
) -> None:
    for name in found:
        (tmp_path / "earlier" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "earlier" / name).write_text("{}")
    given = arguments(tmp_path, {"command": "plan", "rerun": "earlier"})
    assert given[2:] == [f"--rerun=earlier/{expected}", "--allow-empty"]


def test_the_agent_sees_the_credential_by_its_own_name_and_nothing_of_the_action(
    tmp_path: Path,
) -> None:
    inputs = {"command": "run", "id": "smoke.p.local.c", "credential": "GEMINI_API_KEY"}
    done = run_command(tmp_path, inputs, {"CATALOG_CREDENTIAL": "key"})
    seen = json.loads(done.stdout)["environ"]
    assert seen["GEMINI_API_KEY"] == "key"
    assert "CATALOG_CREDENTIAL" not in seen
    assert not [name for name in seen if name.startswith("INPUT_")]


@pytest.mark.parametrize(("results", "made"), [("results", True), ("github:a/b/1", False)])
def test_results_are_a_directory_that_may_be_empty_or_a_run(
    tmp_path: Path, results: str, made: bool
) -> None:
    given = arguments(tmp_path, {"command": "aggregate", "results": results})
    assert given == ["aggregate", "--", results]
    assert (tmp_path / results).exists() is made


@pytest.mark.parametrize("name", ["", "lower", "A B", "X=1"])
def test_a_credential_needs_a_name(tmp_path: Path, name: str) -> None:
    inputs = {"command": "run", "id": "smoke.p.local.c", "credential": name}
    done = run_command(tmp_path, inputs, {"CATALOG_CREDENTIAL": "key"})
    assert done.returncode == 2
    assert "key" not in done.stdout.replace("like GEMINI_API_KEY", "")


def test_a_signal_to_the_step_reaches_python(tmp_path: Path) -> None:
    python = tmp_path / "python"
    ready = "import os, signal; print(os.getpid(), flush=True); signal.pause()"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{ready}"\n')
    python.chmod(0o755)
    step = subprocess.Popen(
        [*BASH, script(1)],
        stdout=subprocess.PIPE,
        text=True,
        env={
            "PATH": os.environ["PATH"],
            "PYTHON": str(python),
            "GITHUB_ACTION_PATH": str(PROJECT),
            "INPUT_COMMAND": "sweep",
        },
    )
    with step:
        assert step.stdout is not None
        # exec all the way: what the runner started is Python by now.
        assert int(step.stdout.readline()) == step.pid
        step.send_signal(signal.SIGTERM)
        assert step.wait(timeout=30) == -signal.SIGTERM


def install(folder: Path, home: Path) -> tuple[subprocess.CompletedProcess[str], str]:
    output = folder / "output"
    output.write_text("")
    done = subprocess.run(
        [*BASH, script(0)],
        check=False,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PATH": f"{PROJECT / '.tools' / 'bin'}:{os.environ['PATH']}",
            "GITHUB_ACTION_PATH": str(PROJECT),
            "GITHUB_OUTPUT": str(output),
            "RUNNER_TEMP": str(home),
            "RUNNER_E2E_INSTALL_PYTHON": sys.executable,
            "UV_OFFLINE": "1",
        },
    )
    return done, output.read_text().removeprefix("python=").strip()


def test_installing_gives_an_environment_of_its_own_that_runs_us(tmp_path: Path) -> None:
    home = tmp_path / "runner"
    done, python = install(tmp_path, home)
    assert done.returncode == 0, done.stderr
    assert Path(python).is_relative_to(home)
    version = subprocess.run(
        [python, "-m", "runner_e2e", "catalog", "validate", "-c", "examples/smoke/runner-e2e.yaml"],
        check=True,
        capture_output=True,
        text=True,
        cwd=PROJECT,
        env={"PYTHONPATH": str(PROJECT)},
    )
    assert "no problems" in version.stdout
    # Tools that only development needs stay out of a job that holds secrets.
    installed = {path.name for path in (Path(python).parent).iterdir()}
    assert not installed & {"pytest", "zizmor", "act"}

    # The second step of a job finds it there.
    before = (Path(python).parent.parent / "pyvenv.cfg").stat().st_mtime_ns
    done, again = install(tmp_path, home)
    assert (done.returncode, again) == (0, python)
    assert (Path(python).parent.parent / "pyvenv.cfg").stat().st_mtime_ns == before
