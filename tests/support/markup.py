"""A strict reader of our own pages."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any


class Reader(HTMLParser):
    """Reads a page as strictly as it must be written: what is opened is closed, in order."""

    VOID = frozenset({"meta", "link", "input", "img", "br"})

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self.headline = ""
        self.feed(page.decode())
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif self.open and self.open[-1] != "style":
            self.text += data
            if self.open[-1] == "h1":
                self.headline += data

    @property
    def island(self) -> Any:
        return json.loads(self.scripts[0])

    def tile(self, execution_id: str) -> dict[str, str | None]:
        (found,) = [
            attrs for tag, attrs in self.seen if tag == "a" and attrs.get("id") == execution_id
        ]
        return found
