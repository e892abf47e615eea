"""One place turns errors into exit codes, and says what to do next."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from runner_e2e import __version__
from runner_e2e.cli import main, output
from runner_e2e.cli.app import app
from runner_e2e.errors import (
    BudgetExceeded,
    ExitCode,
    Interrupted,
    NothingSelected,
    PublishingError,
    RunnerE2EError,
    UsageError,
)

HEAVY = ("httpx", "ghapi", "jinja2", "ruamel", "jsonschema", "rich")


@pytest.fixture(autouse=True)
def outside_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests may themselves run on Actions."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)


@pytest.fixture
def raising(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Make the program raise in the middle of a command."""

    def prepare(error: BaseException) -> None:
        def command() -> None:
            raise error

        monkeypatch.setattr(app.registered_commands[0], "callback", command)

    return prepare


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("m"), 2),
        (NothingSelected("m"), 3),
        (BudgetExceeded("m"), 9),
        (PublishingError("m"), 10),
        (Interrupted(2, "m"), 130),
        (Interrupted(15, "m"), 143),
        (RunnerE2EError("m"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_every_error_has_its_documented_exit_code(
    raising: Callable[[BaseException], None], error: BaseException, code: int
) -> None:
    raising(error)
    assert main.run(["plan"]) == code


def test_an_error_says_what_happened_and_what_to_do_next(
    raising: Callable[[BaseException], None], capsys: pytest.CaptureFixture[str]
) -> None:
    raising(UsageError("it is wrong", hint="mend it"))
    main.run(["plan"])
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "error: it is wrong\nhint: mend it\n"


def test_on_actions_an_error_stands_on_the_page_of_the_run(
    raising: Callable[[BaseException], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    raising(UsageError("50% wrong\nthere", hint="mend it"))
    main.run(["plan"])
    (annotation,) = (line for line in capsys.readouterr().err.splitlines() if line[:2] == "::")
    assert annotation == "::error title=runner-e2e::50%25 wrong%0Athere%0Amend it"


def test_with_json_an_error_is_one_json_document_on_stdout(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main.run(["plan", "--catalog", "absent.yaml", "--all", "--json"]) == ExitCode.USAGE
    captured = capsys.readouterr()
    error = json.loads(captured.out)["error"]
    assert error["kind"] == "usage"
    assert "absent.yaml" in error["message"]
    assert captured.err == ""


def test_a_bug_leaves_a_report_and_is_never_exit_code_1(
    raising: Callable[[BaseException], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    raising(ZeroDivisionError("by zero"))
    assert main.run(["plan"]) == ExitCode.BUG
    (report,) = tmp_path.iterdir()
    assert str(report) in capsys.readouterr().err
    assert "ZeroDivisionError: by zero" in report.read_text()


@pytest.mark.parametrize(
    "arguments",
    [["unknown"], ["plan", "--unknown"], ["plan", "--max-retries", "x"], ["plan", "--suite"]],
)
def test_a_wrong_command_line_is_exit_code_2_with_a_hint(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(arguments) == ExitCode.USAGE
    assert "hint: see runner-e2e --help" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--version"], ["--version", "plan"]])
def test_the_version_is_printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(arguments) == 0
    assert capsys.readouterr().out == f"runner-e2e {__version__}\n"


def test_starting_the_program_loads_nothing_heavy() -> None:
    script = textwrap.dedent(
        f"""
        import sys
        import runner_e2e.cli.app
        print([name for name in {HEAVY!r} if name in sys.modules])
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_a_reader_that_has_seen_enough_causes_no_complaint() -> None:
    program = subprocess.Popen(
        [sys.executable, "-m", "runner_e2e", "plan", "--help"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert program.stdout is not None
    program.stdout.close()
    assert program.stderr is not None
    assert program.stderr.read() == b""
    program.stderr.close()
    program.wait()


def test_text_of_an_agent_is_no_command_to_the_runner() -> None:
    shown = output.quote("fine\n::error::forged\r\n  ::set-output name=x::y\x1b[31m\u202ered")
    assert shown.splitlines() == [
        "| fine",
        "| ::error::forged",
        r"|   ::set-output name=x::y\x1b[31m\u202ered",
    ]
