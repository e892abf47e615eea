"""Bad input is normal input: one clear message, the documented exit code, nothing lost."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner_e2e.cli import main
from runner_e2e.errors import ExitCode
from tests.support.echo import catalog, task, write_catalog

Said = Callable[[], str]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """What the command narrated; a traceback in it fails the test."""

    def read() -> str:
        text = capsys.readouterr().err
        assert "Traceback" not in text
        return text

    return read


@pytest.fixture
def written(tmp_path: Path) -> Path:
    return write_catalog(tmp_path, catalog(task("hello"), task("bye")))


@pytest.mark.parametrize(
    ("selector", "code", "message"),
    [
        (["--suite", "frist"], 2, "first"),
        (["--case", "hello,nothing"], 2, "nothing"),
        (["--id", "first.echo.local.hullo"], 2, "first.echo.local.hello"),
        (["--suite", " "], 2, "--suite is blank"),
        (["--suite", ","], 2, "--suite is blank"),
        (["--suite", "first", "--environment", "daytona"], 2, "daytona"),
        (["--suite", "first", "--id", "first.echo.local.hello"], 2, "--id cannot be combined"),
        (["--suite", "second", "--case", "hello"], 3, "no execution fits"),
        ([], 2, "nothing says what to run"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_selector_that_selects_nothing_costs_nothing(
    tmp_path: Path, said: Said, selector: list[str], code: int, message: str
) -> None:
    tree = catalog(task("hello"), task("bye"))
    tree["suites"].append(
        tree["suites"][0] | {"id": "second", "tasks": ["bye"], "expectedMatrixSize": 1}
    )
    path = write_catalog(tmp_path, tree)
    out = tmp_path / "out"
    assert main.run(["campaign", "-c", str(path), *selector, "--out", str(out)]) == code
    text = said()
    assert message in text
    assert "hint: " in text
    assert not out.exists()


def _duplicate(tree: dict[str, Any]) -> None:
    tree["tasks"].append(task("hello"))


def _raw_secret(tree: dict[str, Any]) -> None:
    agent = tree["profiles"][0]["agent"]
    agent["env"] = {"OPENAI_API_KEY": "sk-proj-" + "a1B2" * 8}


def _wrong_size(tree: dict[str, Any]) -> None:
    tree["suites"][0]["expectedMatrixSize"] = 3


def _unknown_field(tree: dict[str, Any]) -> None:
    tree["tasks"][0]["promt"] = "x"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_duplicate, "hello"),
        (_raw_secret, "$secretRef"),
        (_wrong_size, "3"),
        (_unknown_field, "prompt"),
    ],
)
def test_a_wrong_catalog_is_refused_with_position_and_hint(
    tmp_path: Path, said: Said, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    tree = catalog(task("hello"))
    change(tree)
    path = write_catalog(tmp_path, tree)
    assert main.run(["catalog", "validate", "-c", str(path)]) == ExitCode.USAGE
    text = said()
    assert f"{path}:" in text or f"{path.name}:" in text
    assert message in text
    assert "sk-proj-" not in text


def test_broken_yaml_is_refused_at_its_line(tmp_path: Path, said: Said) -> None:
    path = tmp_path / "runner-e2e.yaml"
    path.write_text("schema: runner-e2e.catalog/v1\ntarget: {kind: command\nprofiles: [\n")
    assert main.run(["plan", "-c", str(path)]) == ExitCode.USAGE
    assert "runner-e2e.yaml:" in said()


def test_an_absent_catalog_is_named(tmp_path: Path, said: Said) -> None:
    assert main.run(["plan", "-c", str(tmp_path / "absent.yaml")]) == ExitCode.USAGE
    text = said()
    assert "absent.yaml" in text
    assert "hint: " in text


def test_an_execution_of_another_definition_is_not_run(written: Path, said: Said) -> None:
    out = written.parent / "out"
    command = ["run", "-c", str(written), "--id", "first.echo.local.hello", "--out", str(out)]
    assert main.run([*command, "--definition-hash", "0" * 64]) == ExitCode.USAGE
    assert "not the one that was planned" in said()
    assert not out.exists()


def test_run_takes_one_execution(written: Path, said: Said) -> None:
    both = "first.echo.local.hello,first.echo.local.bye"
    assert main.run(["run", "-c", str(written), "--id", both]) == ExitCode.USAGE
    assert "run takes one execution, not 2" in said()


def test_a_missing_credential_is_said_before_anything_runs(
    tmp_path: Path, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    tree = catalog(task("hello"))
    tree["profiles"][0]["agent"]["env"] = {"KEY": {"$secretRef": "OPENAI_API_KEY"}}
    path, out = write_catalog(tmp_path, tree), tmp_path / "out"
    command = ["campaign", "-c", str(path), "--all", "--out", str(out)]
    assert main.run(command) == ExitCode.USAGE
    assert "OPENAI_API_KEY must be set" in said()
    assert not list(out.glob("results/*"))
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-a-kind")
    assert main.run(command) == ExitCode.OK


@pytest.fixture
def campaign(written: Path) -> Path:
    """A finished campaign's directory."""
    out = written.parent / "out"
    assert main.run(["campaign", "-c", str(written), "--all", "--out", str(out)]) == ExitCode.OK
    return out


def _aggregate(campaign: Path, report: Path) -> int:
    results, plan = str(campaign / "results"), str(campaign / "plan.json")
    return main.run(["aggregate", results, "--plan", plan, "--out", str(report)])


def test_an_unreadable_result_costs_one_cell_and_is_named(campaign: Path, said: Said) -> None:
    bad = campaign / "results" / "first.echo.local.hello" / "result.json"
    bad.write_bytes(b'{"schema": "paperclip.runner-e2e.result/v2", "exec')
    report = campaign / "again"
    code = _aggregate(campaign, report)
    assert code == ExitCode.UNRESOLVED
    assert "corrupt      first.echo.local.hello" in said()
    assert (report / "campaign.json").is_file()


def test_a_missing_result_is_an_unresolved_cell(campaign: Path, said: Said) -> None:
    for file in (campaign / "results" / "first.echo.local.bye").rglob("*"):
        if file.is_file():
            file.unlink()
    code = _aggregate(campaign, campaign / "again")
    assert code == ExitCode.UNRESOLVED
    assert "missing      first.echo.local.bye" in said()


def test_a_plan_that_cannot_be_read_is_no_plan_of_nothing(campaign: Path, said: Said) -> None:
    (campaign / "plan.json").write_text("{}")
    code = _aggregate(campaign, campaign / "again")
    assert code == ExitCode.USAGE
    assert "plan.json: " in said()


def test_an_absent_remote_keeps_the_report(campaign: Path, said: Said) -> None:
    before = {
        file: file.read_bytes() for file in (campaign / "report").rglob("*") if file.is_file()
    }
    remote = str(campaign / "nowhere.git")
    assert main.run(["publish", str(campaign / "report"), "--remote", remote]) == 10
    text = said()
    assert "nowhere.git" in text
    assert "hint: " in text
    assert before == {file: file.read_bytes() for file in before}


def test_a_refused_push_says_who_refused(campaign: Path, said: Said, tmp_path: Path) -> None:
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    hook = remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'only on Mondays' >&2\nexit 1\n")
    hook.chmod(0o755)
    assert main.run(["publish", str(campaign / "report"), "--remote", str(remote)]) == 10
    text = said()
    assert "hint: " in text
    branches = subprocess.run(
        ["git", "-C", str(remote), "branch"], capture_output=True, check=True, text=True
    )
    assert branches.stdout == ""


def test_a_report_that_is_none_is_refused(tmp_path: Path, said: Said) -> None:
    assert main.run(["publish", str(tmp_path), "--remote", str(tmp_path)]) == ExitCode.USAGE
    assert "hint: " in said()
