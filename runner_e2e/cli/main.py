"""The program, and the one place where an error becomes an exit code."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from runner_e2e import __version__
from runner_e2e.errors import ExitCode, Interrupted, RunnerE2EError


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal's encoding lacks is spelled out rather than refused.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    sys.exit(run(arguments))


def _end(number: int, _frame: FrameType | None) -> None:
    """End with every ``finally`` on the way. What takes long has a way of its own."""
    code = signal.SIGTERM if number == signal.SIGHUP else number
    raise Interrupted(code, f"ended by {signal.Signals(number).name}")


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit code. Nothing is raised."""
    if arguments == ["--version"]:
        # Answered before anything is imported: scripts ask this often.
        sys.stdout.write(f"runner-e2e {__version__}\n")
        return ExitCode.OK
    try:
        from runner_e2e.cli.app import app

        code = app(arguments, prog_name="runner-e2e", standalone_mode=False)
        code = code if isinstance(code, int) else ExitCode.OK
    except BaseException as error:  # noqa: BLE001  the one place where an error becomes a code
        code = _code_of(error, as_json="--json" in arguments)
    return _flushed(code)


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
            return ExitCode.SIGINT
        case BrokenPipeError() | SystemExit(__context__=BrokenPipeError()):
            # Whoever read our output has seen enough; typer says so by SystemExit.
            return ExitCode.OK
        case OSError() if output.is_of_this_machine(error):
            return output.report_machine(error, as_json=as_json)
        case _:
            return output.report_bug(error, as_json=as_json)


def _flushed(code: int) -> int:
    """Make sure that the answer is out: the interpreter would only complain at its very end."""
    if sys.stdout is None:
        return code
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if code == ExitCode.OK and not isinstance(error, BrokenPipeError):
            return ExitCode.USAGE
    return code
