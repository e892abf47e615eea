"""Every error a person can meet, and the exit code each one owns.

The tree. One branch per decision a caller makes:

    RunnerE2EError
    ├── UsageError                 2    the command line or its input is wrong
    │   ├── CatalogError           2    the catalog is wrong; carries every problem found
    │   └── DocumentError          2    a file a machine wrote cannot be read
    ├── NothingSelected            3    valid selectors, no execution
    ├── BudgetExceeded             9    refused before money was spent
    ├── PublishingError           10    the report is kept, the branch was not changed
    └── Interrupted          130/143    a signal ended the work, after clean-up

An error says what happened and where (``message``) and what to do next (``hint``).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class ExitCode(IntEnum):
    """What a process of ours says when it ends. Documented; never reused."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOTHING_SELECTED = 3
    TRANSIENT_INFRASTRUCTURE = 4
    PERMANENT_INFRASTRUCTURE = 5
    SECRET_LEAK = 6
    CLEANUP_FAILED = 7
    UNRESOLVED = 8
    BUDGET = 9
    PUBLISHING = 10
    BUG = 70
    SIGINT = 130
    SIGTERM = 143


class RunnerE2EError(Exception):
    """An expected failure: printed as a message and a hint, never as a traceback."""

    kind = "error"
    exit_code = ExitCode.FAILED

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(RunnerE2EError):
    """What was asked for cannot be done as it was asked."""

    kind = "usage"
    exit_code = ExitCode.USAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One fault in a file that a person wrote. ``line`` and ``column`` count from 1."""

    file: str
    line: int
    column: int
    message: str
    hint: str | None = None

    def __str__(self) -> str:
        text = f"{self.file}:{self.line}:{self.column}: {self.message}"
        return f"{text} ({self.hint})" if self.hint else text


class CatalogError(UsageError):
    """The catalog is wrong. ``problems`` holds all of them, in the order of the file."""

    kind = "catalog"

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        count = f"{len(problems)} problem" + ("" if len(problems) == 1 else "s")
        lines = "\n".join(f"  {problem}" for problem in problems)
        super().__init__(
            f"the catalog has {count}:\n{lines}",
            hint="nothing was planned or run; mend the catalog and try again",
        )


class DocumentError(UsageError):
    """A document that a machine wrote cannot be read. ``source`` names the file."""

    kind = "document"

    def __init__(self, source: str, reason: str, *, hint: str | None = None) -> None:
        super().__init__(f"{source}: {reason}", hint=hint)
        self.source = source
        self.reason = reason


class NothingSelected(RunnerE2EError):
    """Every selector is valid and together they select no execution."""

    kind = "nothing_selected"
    exit_code = ExitCode.NOTHING_SELECTED


class BudgetExceeded(RunnerE2EError):
    """The plan would cost more than the caller allows."""

    kind = "budget"
    exit_code = ExitCode.BUDGET


class PublishingError(RunnerE2EError):
    """The branch was not changed. ``retryable`` is true only for a lost race or the network."""

    kind = "publishing"
    exit_code = ExitCode.PUBLISHING

    def __init__(self, message: str, *, hint: str | None = None, retryable: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.retryable = retryable


class Interrupted(RunnerE2EError):
    """A signal asked us to stop; what was finished is kept."""

    kind = "interrupted"

    def __init__(self, signal_number: int, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.exit_code = ExitCode(128 + signal_number)
