"""One escape function for each sink. Everything they are given is hostile."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from runner_e2e.wording import ELLIPSIS, cell, visible

_SAFE_URL = re.compile(r"^https?://[A-Za-z0-9._~:/?#@!$&*+,;=%-]+$")


def cut_bytes(text: str, limit: int) -> str:
    """Cut ``text`` to ``limit`` bytes of UTF-8, between characters, and say how much is gone."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= limit:
        return text
    note = f"{ELLIPSIS} [{len(data):,} bytes in all, cut here]"
    kept = data[: max(0, limit - len(note.encode()))]
    return kept.decode("utf-8", "ignore") + note


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
