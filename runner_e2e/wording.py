"""How figures and the words of strangers are said: every sink says them the same way.

What an agent or a catalog wrote may hold markup, mentions, workflow commands, control characters
and marks that turn the direction of reading. None of it may act; all of it should stay legible.
"""

from __future__ import annotations

import math
import re

# Control characters, marks of direction, what has no width, lone halves of surrogate pairs and
# what is no character at all. A newline and a tab are for each sink to decide on.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
UNKNOWN = "\N{EN DASH}"
"""What stands where nothing was observed. Never a zero."""

_CENT = 0.01
_MICRO_DOLLAR = 1e-6
_SECOND = 1_000
_MINUTE = 60
_HOUR = 3_600


def visible(text: str) -> str:
    r"""Show what cannot be seen, as ``\x1b`` or ``\u202e``. Newlines and tabs are kept."""
    return _INVISIBLE.sub(lambda found: _name(found[0]), text.replace("\r\n", "\n"))


def _name(character: str) -> str:
    return character.encode("unicode-escape", "surrogatepass").decode()


def brief(text: str, limit: int = 200) -> str:
    """Cut ``text`` to ``limit`` characters, say how many there were, and make it visible."""
    cut = f"{ELLIPSIS} (cut; {len(text):,} characters in all)" if len(text) > limit else ""
    return visible(text[:limit]) + cut


def one_line(text: str) -> str:
    """Join lines and runs of white space with single blanks."""
    return " ".join(visible(text).split())


def shorten(text: str, length: int) -> str:
    """Cut ``text`` to ``length`` characters, saying so."""
    return text if len(text) <= length else text[: length - 1].rstrip() + ELLIPSIS


_MARKDOWN = {ord(c): f"&#{ord(c)};" for c in "\\`*_[]<>|~$#"} | {ord("&"): "&amp;"}
_MENTION = re.compile(r"([@#])(?=\w)")
_ADDRESS = re.compile(r"(?i)(\b[a-z][a-z0-9+.-]*:)(?=\S)|(\bwww)(?=\.)|\b(gh-)(?=[0-9])")
BREAK = "\u200b"
"""Has no width. GitHub looks for mentions and addresses in the text that a reader sees, where an
escape is no longer one, so only another character in between keeps it from finding them."""


def cell(text: str, length: int = 200) -> str:
    """Text for one cell of a Markdown table, or anywhere else within a paragraph."""
    plain = shorten(one_line(text), length)
    plain = _MENTION.sub(rf"\1{BREAK}", plain)
    plain = _ADDRESS.sub(lambda found: found[0] + BREAK, plain)
    return plain.translate(_MARKDOWN)


def money(usd: float) -> str:
    """US dollars: two decimals, and two digits that count where cents would hide the amount."""
    if usd >= _CENT or usd == 0:
        return f"${usd:,.2f}"
    if usd < _MICRO_DOLLAR:
        return "<$0.000001"
    decimals = min(6, 1 - math.floor(math.log10(usd)))
    return f"${usd:.{decimals}f}"


def cost(usd: float, *, complete: bool) -> str:
    """An amount that says when it is only a lower bound, and never calls the unknown free."""
    if complete:
        return money(usd)
    return f"at least {money(usd)}" if usd else "unpriced"


def duration(milliseconds: float | None) -> str:
    """A span in its two largest units: ``850 ms``, ``3.2 s``, ``4 min 05 s``, ``2 h 07 min``."""
    if milliseconds is None:
        return UNKNOWN
    if milliseconds < _SECOND:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / _SECOND
    if round(seconds, 1) < _MINUTE:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE:02d} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60:,} h {minutes % 60:02d} min"


def plural(count: int, word: str, many: str | None = None) -> str:
    """``1 cell``, ``2 cells``."""
    return f"{count:,} {word if count == 1 else many or word + 's'}"
