"""The program: its commands, and the one place where an error becomes an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from runner_e2e import __version__
from runner_e2e.errors import ExitCode, RunnerE2EError


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    sys.exit(run(arguments))


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit code. Nothing is raised."""
    if arguments == ["--version"]:
        # Answered before anything is imported: scripts ask this often.
        sys.stdout.write(f"runner-e2e {__version__}\n")
        return ExitCode.OK
    from runner_e2e.cli.app import app

    try:
        code = app(arguments, prog_name="runner-e2e", standalone_mode=False)
    except BaseException as error:  # noqa: BLE001  the one place where an error becomes a code
        return _code_of(error, as_json="--json" in arguments)
    return code if isinstance(code, int) else ExitCode.OK


def _code_of(error: BaseException, *, as_json: bool) -> int:
    """Tell the user about ``error`` and return its exit code."""
    import typer
    from typer.exceptions import TyperException

    from runner_e2e.cli import output

    match error:
        case RunnerE2EError():
            return output.report_expected(error, as_json=as_json)
        case typer.Exit():
            return error.exit_code
        case TyperException():
            hint = "see runner-e2e --help, or --help after a command"
            output.report_error("usage", error.format_message(), hint, as_json=as_json)
            return ExitCode.USAGE
        case KeyboardInterrupt() | typer.Abort():
            output.narrate("interrupted")
            return ExitCode.SIGINT
        case BrokenPipeError() | SystemExit(__context__=BrokenPipeError()):
            # Whoever read our output has seen enough; typer says so by SystemExit. The interpreter
            # flushes stdout once more when it ends and would complain, so that goes nowhere.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return ExitCode.OK
        case _:
            return output.report_bug(error, as_json=as_json)
