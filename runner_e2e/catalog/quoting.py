"""Texts that may hold a key which was pasted into a catalog: the redaction boundary decides.

A message is printed in logs that are kept, so nothing in it may be shaped like a key.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from runner_e2e.errors import Problem

if TYPE_CHECKING:
    from runner_e2e.evidence import Redactor


@lru_cache(maxsize=1)
def _redactor() -> Redactor:
    from runner_e2e.evidence import Redactor  # noqa: PLC0415 - compiles some hundred expressions

    return Redactor()


def holds_key(text: str) -> bool:
    """Whether any part of a text is shaped like a key that gives access to something."""
    data = text.encode("utf-8", "surrogatepass")
    return any(finding.leak for finding in _redactor().scanner.findings(data))


def quotable(text: str) -> str:
    """The text without whatever is shaped like a secret."""
    return _redactor().redact_text(text)


def quotable_problems(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Problems whose words can be printed. They quote names, values and templates."""
    return tuple(
        replace(
            problem,
            message=quotable(problem.message),
            hint=None if problem.hint is None else quotable(problem.hint),
        )
        for problem in problems
    )
