"""Finds secrets in bytes: known values in all their forms, and the shapes of provider keys.

Two linear passes of RE2 over a window. The first looks for known values in a copy of the window
without NUL bytes and line ends, which covers plain text, UTF-16 and values that were wrapped, in
one go. The second looks for shapes, and a third one for shapes in UTF-16 where there are NULs.
Figures and alternatives: ``docs/decisions``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
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
        self._shapes = shapes
        self._shape_patterns = tuple(re.compile(shape.find + shape.rest) for shape in shapes)
        self._any_shape = _compile(shape.find for shape in shapes)

    def spans(self, data: bytes) -> list[Span]:
        """Find everything in one window, in order, overlapping spans merged into one."""
        found = [*self._exact_spans(data), *self._shape_spans(data)]
        found.sort(key=lambda span: (span.start, -span.end))
        merged: list[Span] = []
        for span in found:
            if merged and span.start < merged[-1].end:
                last = merged[-1]
                leading = max(last, span, key=_weight)
                merged[-1] = leading._replace(start=last.start, end=max(last.end, span.end))
            else:
                merged.append(span)
        return merged

    def findings(self, data: bytes) -> list[Finding]:
        """Say what is in one window, each thing once."""
        found = [*self._exact_spans(data), *self._shape_spans(data)]
        return list(dict.fromkeys(span.finding for span in found))

    def has_exact(self, data: bytes) -> bool:
        """Tell whether a known value is there in any form."""
        return next(iter(self._exact_forms(data)), None) is not None

    def _exact_forms(self, data: bytes) -> set[bytes]:
        """Collect the forms that occur in ``data`` once NULs and line ends are taken out."""
        if self._prefixes is None:
            return set()
        text = data.translate(None, IGNORED)
        found: set[bytes] = set()
        position = 0
        while (match := self._prefixes.search(text, position)) is not None:
            start = match.start()
            for form in self._by_prefix[text[start : start + MIN_VALUE_BYTES]]:
                if form not in found and text.startswith(form, start):
                    found.add(form)
            position = start + 1
        return found

    def _exact_spans(self, data: bytes) -> Iterator[Span]:
        for form in self._exact_forms(data):
            name, written = self.forms[form]
            finding = Finding(name=name, form=written, leak=True)
            for match in _tolerant(form).finditer(data):
                yield Span(match.start(), match.end(), finding, EXACT_MARK)

    def _shape_spans(self, data: bytes) -> Iterator[Span]:
        yield from self._shapes_in(data)
        if b"\0" in data:
            text = data.translate(None, b"\0")
            for span in self._shapes_in(text):
                for match in _tolerant(text[span.start : span.end]).finditer(data):
                    yield span._replace(start=match.start(), end=match.end())

    def _shapes_in(self, data: bytes) -> Iterator[Span]:
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
            elif seen > match.end():
                # Words joined by hyphens: no run of them is random, so no part is a key either.
                position = max(position, seen - GUARD_OVERLAP)

    def _shape_at(self, data: bytes, start: int) -> tuple[Span | None, int]:
        """Judge a candidate: what it is, and up to where no part of it can be random."""
        seen = 0
        for shape, pattern in zip(self._shapes, self._shape_patterns, strict=True):
            match = pattern.match(data, start)
            if match is None:
                continue
            if shape.guard is None or shape.guard(match[0]):
                kept = re.match(shape.keep, match[0])
                begin = start + (kept.end() if kept else 0)
                finding = Finding(name=shape.name, form=None, leak=shape.leak)
                return Span(begin, match.end(), finding, SHAPE_MARK), match.end()
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


@lru_cache(maxsize=512)
def _tolerant(form: bytes) -> re.Pattern[bytes]:
    """Compile ``form`` so that NULs and line ends may stand between its bytes."""
    between = b"[" + re.escape(IGNORED) + b"]*"
    return re.compile(between.join(re.escape(form[at : at + 1]) for at in range(len(form))))
