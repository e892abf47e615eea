"""What is not green, gathered by cause, so that forty failures of one reason are read once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runner_e2e import wording
from runner_e2e.site.cells import Cell
from runner_e2e.site.details import Check, checks
from runner_e2e.site.words import KINDS, STATE_MEANINGS, Kind

# Numbers, hashes and quoted values differ from cell to cell where the cause does not.
_PARTICULARS = re.compile(r"[0-9a-f]{8,}|[0-9]+|'[^']*'|\"[^\"]*\"|`[^`]*`")
_SEVERITY = ("secret_leak", "cleanup_failure", "candidate_failure", "provider_variance")
_ERROR_LIMIT = 1_500


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Cells that are not green for the same reason; the first one speaks for all."""

    number: int
    kind: Kind
    word: str
    blame: str | None
    code: str | None
    message: str
    checks: tuple[Check, ...]
    """The matchers of the first cell that did not hold."""
    cells: tuple[Cell, ...]


def _message(cell: Cell) -> str:
    if cell.result is not None and cell.result.error:
        return cell.result.error
    if cell.insight is not None:
        return cell.insight.reason or STATE_MEANINGS[cell.insight.state]
    return STATE_MEANINGS["missing"]


def _key(cell: Cell) -> tuple[str, ...]:
    # The head is enough to tell causes apart, and bounds the work on a message of a megabyte.
    cause = _PARTICULARS.sub("#", _message(cell)[:300])
    failure_class = (cell.result and cell.result.failure_class) or ""
    code = (cell.insight and cell.insight.code) or ""
    return (cell.kind, cell.word, failure_class, code, cause)


def _order(group: Sequence[Cell]) -> tuple[int, int, int]:
    first = group[0]
    failure_class = first.result.failure_class if first.result else None
    rank = _SEVERITY.index(failure_class) if failure_class in _SEVERITY else len(_SEVERITY)
    leak = 0 if failure_class == "secret_leak" else 1
    return (leak, tuple(KINDS).index(first.kind) * 10 + rank, -len(group))


def problems(cells: Iterable[Cell]) -> tuple[Problem, ...]:
    """Group what is neither green nor left out; leaks first, then failures, then the unresolved."""
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in cells:
        if cell.kind not in ("passed", "unselected"):
            groups.setdefault(_key(cell), []).append(cell)
    return tuple(
        Problem(
            number=number,
            kind=group[0].kind,
            word=group[0].word,
            blame=group[0].blame,
            code=group[0].insight.code if group[0].insight else None,
            message=_shown(group[0]),
            checks=tuple(check for check in checks(group[0].result) if not check.passed),
            cells=tuple(group),
        )
        for number, group in enumerate(sorted(groups.values(), key=_order), start=1)
    )


def _shown(cell: Cell) -> str:
    if cell.kind == "flaky" and cell.result is not None:
        return f"Passed only on attempt {cell.result.attempt}."
    return wording.brief(_message(cell), _ERROR_LIMIT)
