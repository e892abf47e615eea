"""One escape function for each sink. Everything they are given is hostile.

What an agent wrote may hold markup, mentions, workflow commands, control characters and marks
that turn the direction of reading. None of it may act; all of it should stay legible.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

# Control characters, marks of direction, what has no width, lone halves of surrogate pairs and
# what is no character at all. A newline and a tab are for each sink to decide on.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
_SAFE_URL = re.compile(r"^https?://[A-Za-z0-9._~:/?#@!$&*+,;=%-]+$")

ELLIPSIS = "…"


def visible(text: str) -> str:
    r"""Show what cannot be seen, as ``\x1b`` or ``\u202e``. Newlines and tabs are kept."""
    return _INVISIBLE.sub(lambda found: _name(found[0]), text)


def _name(character: str) -> str:
    return character.encode("unicode-escape", "surrogatepass").decode()


def one_line(text: str) -> str:
    """Join lines and runs of white space with single blanks."""
    return " ".join(visible(text).split())


def shorten(text: str, length: int) -> str:
    """Cut ``text`` to ``length`` characters, saying so."""
    return text if len(text) <= length else text[: length - 1].rstrip() + ELLIPSIS


def cut_bytes(text: str, limit: int) -> str:
    """Cut ``text`` to ``limit`` bytes of UTF-8, between characters, and say how much is gone."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= limit:
        return text
    note = f"{ELLIPSIS} [{len(data):,} bytes in all, cut here]"
    kept = data[: max(0, limit - len(note.encode()))]
    return kept.decode("utf-8", "ignore") + note


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


_PLAIN = re.compile(r"^[A-Za-z0-9._/!-]+$")


def code(text: str, length: int = 200) -> str:
    """A name, set as code where it is nothing but a name."""
    return f"`{text}`" if len(text) <= length and _PLAIN.match(text) else cell(text, length)


def pre(text: str, limit: int) -> str:
    """Text for a ``<pre>`` element, which GitHub searches for neither mentions nor markup."""
    shown = visible(cut_bytes(text, limit)).strip("\n")
    return (
        "<pre>" + shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") + "</pre>"
    )


def link(text: str, url: str | None) -> str:
    """Link ``text``, which is Markdown already, where ``url`` is a plain http(s) address."""
    if url is None or not _SAFE_URL.match(url) or "@" in (urlsplit(url).netloc):
        return text
    return f"[{text}]({url})"


_XML = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;"}


def xml(text: str) -> str:
    """Text for XML, in an element or in an attribute. What XML cannot hold is made visible."""
    return re.sub(r'[&<>"\n\t]', lambda found: _XML[found[0]], visible(text))


def command_message(text: str) -> str:
    """The message of a workflow command, such as an annotation."""
    shown = visible(text)
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def command_property(text: str) -> str:
    """The value of a property of a workflow command."""
    return command_message(text).replace(":", "%3A").replace(",", "%2C")
