"""Finds secrets in bytes: known values in all their forms, and the shapes of provider keys.

Two linear passes of RE2 over a window. The first looks for known values in a copy of the window
without NUL bytes and line ends, which covers plain text, UTF-16 and values that were wrapped, in
one go. The second looks for shapes, and a third one for shapes in UTF-16 where there are NULs.
Figures and alternatives: ``docs/decisions``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import re2  # type: ignore[import-untyped]  # the wheel carries no types

from runner_e2e.evidence.forms import IGNORED, MIN_VALUE_BYTES, exact_forms, too_short
from runner_e2e.evidence.shapes import SHAPES, Shape, looks_random

PREFIX_BYTES = 16
"""Of each form, what RE2 looks for; the rest is compared. Keeps its automaton small."""

MIN_OVERLAP = 16_384
"""Bytes that two windows share: more than the largest private key in use."""

WINDOW = 1 << 20

EXACT_MARK = b"[REDACTED]"
SHAPE_MARK = b"[REDACTED_SECRET_SHAPE]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found. Never holds any of it."""

    name: str
    form: str | None
    """How a known value was written, or ``None`` for a shape."""
    leak: bool

    @property
    def reason(self) -> str:
        """Say it as a manifest does."""
        if self.form is None:
            return f"secret-shaped: {self.name}"
        return f"exact value of {self.name}, {self.form}"


class Span(NamedTuple):
    """Where in a window something was found, and what stands there afterwards."""

    start: int
    end: int
    finding: Finding
    mark: bytes


class Scanner:
    """Searches for the values of ``exact`` (by name) and for the shapes of keys."""

    def __init__(
        self, exact: Mapping[str, str] | None = None, shapes: tuple[Shape, ...] = SHAPES
    ) -> None:
        values = exact or {}
        self.forms = exact_forms(values)
        self.too_short = too_short(values)
        """Names of values that are not searched: ordinary text would hold them."""
        longest = max(map(len, self.forms), default=0)
        # UTF-16 doubles a value, and wrapping adds a line end now and then.
        self.overlap = max(MIN_OVERLAP, 3 * longest)
        self._by_prefix: dict[bytes, list[bytes]] = {}
        for form in sorted(self.forms, key=len, reverse=True):
            self._by_prefix.setdefault(form[:MIN_VALUE_BYTES], []).append(form)
        self._prefixes = _compile(re.escape(form[:PREFIX_BYTES]) for form in self.forms)
        self._any_shape = _compile(shape.find for shape in shapes)
        self._by_first: tuple[list[tuple[Shape, re.Pattern[bytes]]], ...] = tuple(
            [] for _ in range(256)
        )
        for shape in shapes:
            pattern = re.compile(shape.find + shape.rest)
            for first in shape.first:
                self._by_first[first].append((shape, pattern))

    def spans(self, data: bytes) -> list[Span]:
        """Find everything in one window, in order, overlapping spans merged into one."""
        found = sorted(self._all(data), key=lambda span: (span.start, -span.end))
        merged: list[Span] = []
        for span in found:
            if merged and span.start < merged[-1].end:
                last = merged[-1]
                leading = max(last, span, key=_weight)
                merged[-1] = leading._replace(start=last.start, end=max(last.end, span.end))
            else:
                merged.append(span)
        return merged

    def findings(self, data: bytes) -> tuple[Finding, ...]:
        """Say what is in one window, each thing once."""
        return tuple(dict.fromkeys(span.finding for span in self._all(data)))

    def exact_findings(self, data: bytes) -> tuple[Finding, ...]:
        """Say which known values are in one window, each form once."""
        found = self._exact(data.translate(None, IGNORED))
        return tuple(dict.fromkeys(span.finding for span in found))

    def _all(self, data: bytes) -> Iterator[Span]:
        yield from _placed(self._exact(data.translate(None, IGNORED)), data, IGNORED)
        yield from self._shaped(data)
        if b"\0" in data:
            yield from _placed(self._shaped(data.translate(None, b"\0")), data, b"\0")

    def _exact(self, text: bytes) -> Iterator[Span]:
        if self._prefixes is None:
            return
        position = 0
        while (match := self._prefixes.search(text, position)) is not None:
            start = match.start()
            # Values may overlap, so the next is looked for inside this one.
            position = start + 1
            for form in self._by_prefix[text[start : start + MIN_VALUE_BYTES]]:
                if text.startswith(form, start):
                    name, written = self.forms[form]
                    finding = Finding(name=name, form=written, leak=True)
                    yield Span(start, start + len(form), finding, EXACT_MARK)
                    break

    def _shaped(self, data: bytes) -> Iterator[Span]:
        if self._any_shape is None:
            return
        position = 0
        while (match := self._any_shape.search(data, position)) is not None:
            position = match.start() + 1
            span, seen = self._shape_at(data, match.start())
            if span is not None:
                yield span
                if span.finding.leak:
                    position = span.end
            elif seen:
                # Words joined by hyphens: no run of them is random, so no part is a key either.
                position = max(position, seen - GUARD_OVERLAP)

    def _shape_at(self, data: bytes, start: int) -> tuple[Span | None, int]:
        """Judge a candidate: what it is, and up to where no part of it can be random."""
        seen = 0
        for shape, pattern in self._by_first[data[start]]:
            match = pattern.match(data, start)
            if match is None:
                continue
            if shape.guard is None or shape.guard(match[0]):
                kept = re.match(shape.keep, match[0]) if shape.keep else None
                begin = start + (kept.end() if kept else 0)
                finding = Finding(name=shape.name, form=None, leak=shape.leak)
                return Span(begin, match.end(), finding, SHAPE_MARK), seen
            if shape.guard is looks_random:
                seen = max(seen, match.end())
        return None, seen


GUARD_OVERLAP = 64
"""What is looked at again after words that are no key: a key may begin at their end."""


def _weight(span: Span) -> tuple[bool, bool]:
    """Order what lies in one place: a known value says more than a shape, a leak more than none."""
    return span.finding.form is not None, span.finding.leak


def _compile(patterns: Iterable[bytes]) -> Any:
    """Join patterns to one RE2 expression over bytes; ``None`` of nothing."""
    joined = b"|".join(b"(?:" + pattern + b")" for pattern in dict.fromkeys(patterns))
    if not joined:
        return None
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = 64 << 20
    options.never_capture = True
    return re2.compile(joined, options)


def _placed(spans: Iterator[Span], data: bytes, removed: bytes) -> Iterator[Span]:
    """Move spans of a text without the bytes ``removed`` to where they lie in ``data``."""
    runs: tuple[list[int], list[int]] | None = None
    for span in spans:
        if runs is None:
            runs = _runs(data, removed)
        before, after = runs
        first = bisect_right(before, span.start) - 1
        last = bisect_right(before, span.end - 1) - 1
        yield span._replace(
            start=after[first] + span.start - before[first],
            end=after[last] + span.end - before[last],
        )


def _runs(data: bytes, removed: bytes) -> tuple[list[int], list[int]]:
    """List where each run of bytes that stay begins: in the shortened text, and in ``data``."""
    before: list[int] = []
    after: list[int] = []
    length = 0
    for run in re.finditer(b"[^" + re.escape(removed) + b"]+", data):
        before.append(length)
        after.append(run.start())
        length += run.end() - run.start()
    return before, after
