"""stdout is the answer, stderr the narration.

With ``--json`` the answer is one JSON document, also when it is an error.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from runner_e2e.errors import ExitCode, RunnerE2EError
from runner_e2e.wording import visible

if TYPE_CHECKING:
    from pydantic import BaseModel


def answer(text: str) -> None:
    """Print what the command was asked for. Without a stdout there is nobody to tell."""
    if sys.stdout is not None:
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
    if sys.stderr is not None:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


def quote(text: str, *, lines: int | None = None) -> str:
    """Show text of an agent as what it is, at most ``lines`` lines of it.

    Every line gets a bar in front, since a line that begins with ``::`` is a command to GitHub's
    runner, with or without spaces before it; control characters are spelled out.
    """
    whole = text.splitlines() or [""]
    shown = [f"| {visible(line)}" for line in whole[:lines]]
    if len(whole) > len(shown):
        shown.append(f"| ({len(whole) - len(shown)} more lines)")
    return "\n".join(shown)


def finish(code: ExitCode) -> NoReturn:
    """End the command with ``code``."""
    raise typer.Exit(code)


def report_error(kind: str, message: str, hint: str | None, *, as_json: bool) -> None:
    """Tell the user what happened and what to do next."""
    if as_json:
        # A stdout that takes nothing may be the very error; then stderr has to do.
        with suppress(OSError):
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


_MACHINE = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EROFS,
        errno.EACCES,
        errno.EPERM,
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EISDIR,
        errno.EEXIST,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.EBUSY,
        errno.EFBIG,
        errno.EIO,
        errno.ENOTEMPTY,
    }
)
"""What a disk, a path or a limit of the user's machine answers; nothing we could mend."""


def is_of_this_machine(error: OSError) -> bool:
    """Whether ``error`` is about the machine rather than about us."""
    return error.errno in _MACHINE


def report_machine(error: OSError, *, as_json: bool) -> ExitCode:
    """Say what the machine refused, and where."""
    where = f"{error.filename}: " if error.filename is not None else ""
    report_error(
        "machine",
        f"{where}{error.strerror or error}",
        "what was written before is whole; mend the place and repeat the command",
        as_json=as_json,
    )
    return ExitCode.USAGE


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
