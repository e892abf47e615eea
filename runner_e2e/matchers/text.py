"""Text as the matchers compare it and as details show it."""

from __future__ import annotations

import re

MAX_DETAIL_BYTES = 2_048
"""Details are published, so they are short."""

_BLANKS = re.compile(r"[ \t]+")
# What JavaScript's trim() takes away; Python's strip() differs in both directions.
_TRIM = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)


def normalise(text: str) -> str:
    """Bring a message to the form in which it is compared.

    CRLF becomes LF, an escaped underscore a plain one, each run of blanks one space; the ends are
    trimmed and newlines kept.
    """
    text = text.replace("\r\n", "\n").replace("\\_", "_")
    return _BLANKS.sub(" ", text).strip(_TRIM)


def cap(text: str, limit: int = MAX_DETAIL_BYTES) -> str:
    """Cut ``text`` to ``limit`` bytes of UTF-8, never inside a character, and say that it was."""
    # Four bytes is the most a character takes, so what is past this cannot fit anyway.
    data = text[: limit + 1].encode("utf-8", "backslashreplace")
    if len(data) <= limit and len(text) <= limit:
        return data.decode()
    end = "… (cut)"
    return data[: limit - len(end.encode())].decode("utf-8", "ignore") + end
