"""stdout is the answer, stderr the narration.

With ``--json`` the answer is one JSON document, also when it is an error.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from runner_e2e.errors import ExitCode, RunnerE2EError

if TYPE_CHECKING:
    from pydantic import BaseModel


def answer(text: str) -> None:
    """Print what the command was asked for."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def answer_document(document: BaseModel) -> None:
    """Print a document as ``--json`` promises it: the very bytes of its file."""
    from runner_e2e.contracts.base import dump

    answer(dump(document).decode())


def answer_json(value: object) -> None:
    """Print a small JSON answer that is no document of its own."""
    answer(json.dumps(value, ensure_ascii=False))


def narrate(text: str) -> None:
    """Say what is going on. One line, or lines that belong together."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def quote(text: str) -> str:
    """Show text of an agent as what it is.

    Every line gets a bar in front, since a line that begins with ``::`` is a command to GitHub's
    runner, with or without spaces before it; control characters are spelled out.
    """
    lines = text.splitlines() or [""]
    return "\n".join(
        "| " + "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)
        for line in lines
    )


def finish(code: ExitCode) -> NoReturn:
    """End the command with ``code``."""
    raise typer.Exit(code)


def report_error(kind: str, message: str, hint: str | None, *, as_json: bool) -> None:
    """Tell the user what happened and what to do next."""
    if as_json:
        answer_json({"error": {"kind": kind, "message": message, "hint": hint}})
        return
    narrate(f"error: {message}")
    if hint:
        narrate(f"hint: {hint}")
    if os.environ.get("GITHUB_ACTIONS") == "true":
        from runner_e2e.reports.text import command_message

        # A step's log is folded away; an annotation stands on the page of the run.
        text = command_message(f"{message}\n{hint}" if hint else message)
        narrate(f"::error title=runner-e2e::{text}")


def report_expected(error: RunnerE2EError, *, as_json: bool) -> ExitCode:
    """Print an error of ours; its exit code is the command's."""
    report_error(error.kind, error.message, error.hint, as_json=as_json)
    return ExitCode(error.exit_code)


def report_bug(error: BaseException, *, as_json: bool) -> ExitCode:
    """Keep the traceback in a file and say where; a user's mistake never comes this way."""
    handle, name = tempfile.mkstemp(prefix="runner-e2e-bug-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write("".join(traceback.format_exception(error)))
    report_error(
        "bug",
        f"runner-e2e failed in a way it should not: {type(error).__name__}",
        f"please report it with the file {Path(name)}; look through it first, it may quote input",
        as_json=as_json,
    )
    return ExitCode.BUG
