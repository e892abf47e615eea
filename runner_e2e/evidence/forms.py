"""The forms in which a known secret can stand in a file.

A value is searched as it is and as it looks after the usual ways of writing it down. NUL bytes and
line ends are taken out of what is searched (see ``scanner``), and so out of every form here: that
covers UTF-16, wrapped base64 and a key that was split over two lines.
"""

from __future__ import annotations

import base64
import html
import json
import urllib.parse
from collections.abc import Iterator, Mapping

IGNORED = b"\0\r\n"
"""Bytes that are taken out before an exact value is searched."""

MIN_VALUE_BYTES = 8
"""A shorter value is found in ordinary text; it is a placeholder, not a secret."""

MIN_LINE_BYTES = 16
"""A line of a secret with several lines that is long enough to be searched alone."""


def exact_forms(values: Mapping[str, str]) -> dict[bytes, tuple[str, str]]:
    """Map every form of every value to the name of the secret and of the form.

    Values shorter than eight bytes are left out; :func:`too_short` names them.
    """
    forms: dict[bytes, tuple[str, str]] = {}
    for name, value in values.items():
        secret = value.strip()
        if len(secret.encode("utf-8", "surrogateescape")) < MIN_VALUE_BYTES:
            continue
        for form, data in _forms(secret):
            needle = data.translate(None, IGNORED)
            if len(needle) >= MIN_VALUE_BYTES:
                forms.setdefault(needle, (name, form))
    return forms


def too_short(values: Mapping[str, str]) -> tuple[str, ...]:
    """Name the secrets that are not searched because anything could contain them."""
    return tuple(
        name
        for name, value in values.items()
        if 0 < len(value.strip().encode("utf-8", "surrogateescape")) < MIN_VALUE_BYTES
    )


def _forms(secret: str) -> Iterator[tuple[str, bytes]]:
    raw = secret.encode("utf-8", "surrogateescape")
    yield "as it is", raw
    for line in raw.splitlines():
        # One line of a key is half the key; but every PEM has the line with BEGIN.
        if len(line.strip()) >= MIN_LINE_BYTES and not line.startswith(b"-----"):
            yield "as it is", line.strip()
    for data in _base64_forms(raw):
        yield "in base64", data
    yield "in hex", raw.hex().encode()
    yield "in hex", raw.hex().upper().encode()
    for quote in (urllib.parse.quote, urllib.parse.quote_plus):
        for safe in ("", "/"):
            quoted = quote(raw, safe=safe)
            yield "URL-encoded", quoted.encode()
            yield "URL-encoded", _lower_percent(quoted).encode()
    for text in _json_forms(secret):
        yield "in JSON", text.encode("utf-8", "surrogateescape")
        yield "in JSON", json.dumps(text)[1:-1].encode("utf-8", "surrogateescape")
    literal = repr(f'"{secret}')[2:-1]
    for text in (literal, literal.replace("\\'", "'")):
        yield "in a Python literal", text.encode("utf-8", "surrogateescape")
    yield "in HTML", html.escape(secret).encode("utf-8", "surrogateescape")
    if not secret.isascii():
        yield "in UTF-16", secret.encode("utf-16-le", "surrogatepass")
        yield "in UTF-16", secret.encode("utf-16-be", "surrogatepass")


def _base64_forms(raw: bytes) -> Iterator[bytes]:
    """Yield what base64 text must hold wherever ``raw`` lies in what was encoded.

    Three bytes become four characters, so there are three alignments; characters that also depend
    on the bytes around ``raw`` are left out.
    """
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + raw)
        start = (0, 2, 3)[before]
        spare = (before + len(raw)) % 3
        end = len(encoded) - (0, 3, 2)[spare]
        core = encoded[start:end]
        yield core
        yield core.translate(bytes.maketrans(b"+/", b"-_"))


def _json_forms(secret: str) -> Iterator[str]:
    for ascii_only in (True, False):
        escaped = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        yield escaped
        yield escaped.replace("/", "\\/")
        # Go and some HTML-minded serializers escape these too.
        yield (escaped.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _lower_percent(quoted: str) -> str:
    head, *parts = quoted.split("%")
    return "%".join([head, *(part[:2].lower() + part[2:] for part in parts)])
