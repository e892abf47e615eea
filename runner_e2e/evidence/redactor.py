"""The one boundary that everything passes before it leaves the job."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from runner_e2e.evidence.scanner import EXACT_MARK, WINDOW, Finding, Scanner, Span

SECRET_KEYS = re.compile(
    r"(?:api|access|refresh)[_-]?(?:key|token)|auth|authorization|bearer|client[_-]?secret"
    r"|cookie|password|secret|token",
    re.IGNORECASE,
)
"""A member of exactly this name holds a secret, whatever it looks like; ``apiKeyRef`` does not."""

MAX_JSON_DEPTH = 200


class Redacted(NamedTuple):
    """Clean bytes, and what was taken out of them."""

    data: bytes
    findings: tuple[Finding, ...]


class Redactor:
    """Blacks out the values of declared secrets, in every form, and whatever is shaped like a key.

    ``exact_values`` maps names to values. Values under eight bytes cannot be told from ordinary
    text and are not searched; ``too_short`` names them, so that a caller can say so.
    """

    def __init__(self, exact_values: Mapping[str, str] | None = None) -> None:
        self.scanner = Scanner(exact_values)
        self.too_short = self.scanner.too_short

    def redact(self, data: bytes) -> Redacted:
        """Clean one piece of text that is whole."""
        spans = self.scanner.spans(data)
        return Redacted(_blacken(data, spans, 0, len(data)), _distinct(spans))

    def redact_text(self, text: str) -> str:
        """Clean one text: a message, a line of a log, a step summary."""
        data = text.encode("utf-8", "surrogatepass")
        return self.redact(data).data.decode("utf-8", "surrogatepass")

    def redact_part(self, data: bytes, start: int, end: int) -> Redacted:
        """Clean ``data[start:end]``, knowing what stands around it.

        What lies across an edge is blacked out whole, so no half of a secret is left. Give
        ``scanner.overlap`` bytes around, where there are any.
        """
        spans = [span for span in self.scanner.spans(data) if span.start < end and span.end > start]
        return Redacted(_blacken(data, spans, start, end), _distinct(spans))

    def whole(self, data: bytes, limit: int) -> bytes:
        """Cut ``data`` to at most ``limit`` bytes of its beginning, not through a secret.

        Nothing is blacked out. Give ``scanner.overlap`` bytes more than the limit, where there are
        any.
        """
        if len(data) <= limit:
            return data
        overlap = self.scanner.overlap
        start = max(0, limit - overlap)
        spans = self.scanner.spans(data[start : limit + overlap])
        cuts = [start + one.start for one in spans if one.start < limit - start < one.end]
        return data[: min([limit, *cuts])]

    def redact_json(self, value: Any) -> tuple[Any, tuple[Finding, ...]]:
        """Clean a JSON value, each key and each string by itself.

        So punctuation between two harmless values can never look like a secret. Raises
        :class:`ValueError` where the value is nested deeper than 200.
        """
        findings: dict[Finding, None] = {}
        return self._json(value, findings, 0), tuple(findings)

    def _json(self, value: Any, findings: dict[Finding, None], depth: int) -> Any:
        if depth > MAX_JSON_DEPTH:
            raise ValueError(f"the JSON is nested deeper than {MAX_JSON_DEPTH}")
        if isinstance(value, str):
            return self._string(value, findings)
        if isinstance(value, list):
            return [self._json(item, findings, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        clean: dict[str, Any] = {}
        for key, item in value.items():
            name = self._string(key, findings)
            inner = self._json(item, findings, depth + 1)
            hidden = item is not None and SECRET_KEYS.fullmatch(key)
            clean[name] = EXACT_MARK.decode() if hidden else inner
        return clean

    def _string(self, text: str, findings: dict[Finding, None]) -> str:
        data = text.encode("utf-8", "surrogatepass")
        clean = self.redact(data)
        findings.update(dict.fromkeys(clean.findings))
        return clean.data.decode("utf-8", "surrogatepass") if clean.findings else text

    def stream(self) -> StreamRedactor:
        """Begin to clean a stream of bytes that does not fit in memory."""
        return StreamRedactor(self)

    def scan(self, chunks: Iterable[bytes]) -> tuple[Finding, ...]:
        """Search a stream of bytes, keeping no more than a window of it."""
        findings: dict[Finding, None] = {}
        window = b""
        for chunk in chunks:
            window += chunk
            if len(window) >= WINDOW:
                findings.update(dict.fromkeys(self.scanner.findings(window)))
                window = window[-self.scanner.overlap :]
        findings.update(dict.fromkeys(self.scanner.findings(window)))
        return tuple(findings)


class StreamRedactor:
    """Cleans a stream piece by piece. What may be half of a secret is held back until it is whole.

    Not for lines that somebody waits for: give those to :meth:`Redactor.redact_text` one by one.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = bytearray()
        self._found: dict[Finding, None] = {}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was taken out so far."""
        return tuple(self._found)

    def feed(self, data: bytes) -> bytes:
        """Take the next piece; return what is clean by now, perhaps nothing."""
        self._held += data
        overlap = self._redactor.scanner.overlap
        if len(self._held) < WINDOW + overlap:
            return b""
        window = bytes(self._held)
        spans = self._redactor.scanner.spans(window)
        edge = _edge(window, len(window) - overlap)
        crossing = [span.start for span in spans if span.start < edge < span.end]
        edge = min([edge, *crossing])
        self._held = bytearray(window[edge:])
        return self._emit(window, spans, edge)

    def close(self, *, broken_off: bool = False) -> bytes:
        """Return the rest.

        Of a stream that goes on, but is read no further, the end may be half of a secret: it is
        dropped.
        """
        window = bytes(self._held)
        self._held.clear()
        spans = self._redactor.scanner.spans(window)
        edge = max(0, len(window) - self._redactor.scanner.overlap) if broken_off else len(window)
        crossing = [span.start for span in spans if span.start < edge < span.end]
        return self._emit(window, spans, min([edge, *crossing]))

    def _emit(self, window: bytes, spans: list[Span], edge: int) -> bytes:
        inside = [span for span in spans if span.start < edge]
        self._found.update((span.finding, None) for span in inside)
        return _blacken(window, inside, 0, edge)


def _edge(window: bytes, wanted: int) -> int:
    """Cut between words where that is near, so that no word seems to begin at the cut."""
    near = max(
        window.rfind(b"\n", wanted - 4096, wanted), window.rfind(b" ", wanted - 4096, wanted)
    )
    return near + 1 if near >= 0 else wanted


def _blacken(data: bytes, spans: Iterable[Span], start: int, end: int) -> bytes:
    parts: list[bytes] = []
    position = start
    for span in spans:
        parts += (data[position : max(span.start, position)], span.mark)
        position = max(position, span.end)
    parts.append(data[position:end])
    return b"".join(parts)


def _distinct(spans: Iterable[Span]) -> tuple[Finding, ...]:
    return tuple(dict.fromkeys(span.finding for span in spans))


def parse_json(data: bytes) -> Any:
    """Read JSON of any shape. Raises :class:`ValueError`, also for what Python alone would read."""

    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is no JSON")

    try:
        return json.loads(data, parse_constant=refuse)
    except RecursionError:
        raise ValueError("the JSON is nested too deep") from None
