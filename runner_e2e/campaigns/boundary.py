"""What comes in from an artifact must be short and without keys before anybody shows it.

``run`` took every secret out, and values are known only there. What still is shaped like a key was
not written by a ``run`` that worked, so it is a leak: it is blacked out, and the cell says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from runner_e2e.billing import result_billing
from runner_e2e.contracts.base import canonical_json, dump, dump_tree, parse
from runner_e2e.contracts.result import Result
from runner_e2e.errors import DocumentError
from runner_e2e.evidence import Finding, Redactor
from runner_e2e.matchers.text import MAX_DETAIL_BYTES, cap

MAX_RESULT_BYTES = 256 * 1024
"""Of one result once its texts are cut: a campaign holds thousands, and a branch has its limits."""

LONG_BYTES = 32 * 1024
"""Above it all texts of a result are cut, below it only those that an agent can make long."""

LEAK = "secret_leak"

_ESCAPED = re.compile(rb"\\[u/]")
"""An escape that may stand for a character of a key: the bytes then do not show all there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenIn:
    """A result that may be shown, and what in it was shaped like a key."""

    result: Result
    leaks: tuple[str, ...] = ()


@cache
def _redactor() -> Redactor:
    return Redactor()


def is_suspect(data: bytes) -> bool:
    """Tell whether something in a document may be shaped like a key."""
    return bool(_ESCAPED.search(data)) or bool(_redactor().scanner.findings(data))


def leaks_in(data: bytes) -> tuple[str, ...]:
    """Say what in the bytes of a picture is shaped like a key."""
    return _leaks(_redactor().scanner.findings(data))


def take_in(result: Result, source: str, *, suspect: bool, size: int | None = None) -> TakenIn:
    """Black out what is shaped like a key, cut what is long, and work out what it cost.

    ``suspect`` is what :func:`is_suspect` says of its document and ``size`` how many bytes that
    has, where it is one of its own. Taken in again, a result stays as it is. Raises
    :class:`DocumentError` naming ``source`` where no result is left.
    """
    leaks: tuple[str, ...] = ()
    if suspect:
        result, leaks = _blackened(result, source)
    result = _cut(result, size, source)
    # Figures that a result sums up itself are not trusted, and every reader takes these.
    return TakenIn(
        result=result.model_copy(update={"billing": result_billing(result)}), leaks=leaks
    )


def leaked(result: Result, leaks: Iterable[str]) -> Result:
    """Make a result the failure that a leak is."""
    error = f"its artifact held what is {', '.join(leaks)}; it said: {result.error or 'nothing'}"
    changes = {"status": "failed", "failure_class": LEAK, "error": cap(error)}
    return result.model_copy(update=changes)


def _blackened(result: Result, source: str) -> tuple[Result, tuple[str, ...]]:
    tree, findings = _redactor().redact_json(dump_tree(result))
    if not findings:
        return result, ()
    return parse(Result, canonical_json(tree), source), _leaks(findings)


def _leaks(findings: Iterable[Finding]) -> tuple[str, ...]:
    return tuple(sorted({finding.reason for finding in findings if finding.leak}))


def _cut(result: Result, size: int | None, source: str) -> Result:
    # Whichever document a result comes in, its own size decides. A file that is this short cannot
    # be of a long one, which saves nearly all of the counting.
    if size is None or size > LONG_BYTES // 4:
        size = _size(result)
    if size > LONG_BYTES:
        result = parse(Result, canonical_json(_cut_tree(dump_tree(result))), source)
        size = _size(result)
    if size > MAX_RESULT_BYTES:
        raise DocumentError(
            source, f"{size:,} bytes are more than the {MAX_RESULT_BYTES:,} that a result may have"
        )
    changes: dict[str, object] = {}
    if result.error is not None and _is_long(result.error):
        changes["error"] = cap(result.error)
    said = result.matcher_results or ()
    if any(_is_long(one.detail) for one in said):
        changes["matcher_results"] = tuple(
            one.model_copy(update={"detail": cap(one.detail)}) for one in said
        )
    return result.model_copy(update=changes) if changes else result


def _is_long(text: str) -> bool:
    """Tell whether ``text`` may be above the cap; a character has at most four bytes."""
    return len(text) * 4 > MAX_DETAIL_BYTES


def _size(result: Result) -> int:
    return len(dump(result.model_copy(update={"billing": None})))


def _cut_tree(value: Any) -> Any:
    if isinstance(value, str):
        return cap(value)
    if isinstance(value, list):
        return [_cut_tree(item) for item in value]
    if isinstance(value, dict):
        return {cap(key): _cut_tree(item) for key, item in value.items()}
    return value


def clean_text(text: str) -> str:
    """Cut and black out a text that quotes an artifact: a reason, a code, the name of a file."""
    return cap(_redactor().redact_text(text))
