"""Markdown up to a budget: what comes first is kept; rows and blocks are never cut in two."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

RESERVE = 200
"""Kept back for the line that says what was left out."""


def utf8_bytes(text: str) -> int:
    """The size of ``text`` in a file."""
    return len(text.encode())


@dataclass(slots=True)
class Page:
    """Text that grows up to ``budget``, as ``size`` measures it."""

    budget: int
    size: Callable[[str], int] = utf8_bytes
    dropped: bool = False
    _parts: list[str] = field(default_factory=list)
    _used: int = 0

    def add(self, text: str) -> bool:
        """Add a block and a blank line after it, if it fits."""
        return self._take(f"{text}\n\n")

    def table(self, head: Sequence[str], align: str, rows: Sequence[str], more: str) -> None:
        """Add a table with as many ``rows`` as fit. ``more`` names what the rest is of."""
        marks = {"l": ":--", "r": "--:", "c": ":-:"}
        top = f"| {' | '.join(head)} |\n|{'|'.join(marks[a] for a in align)}|\n"
        self._block(top, "\n", rows, more)

    def fold(self, title: str, blocks: Iterable[str], more: str) -> None:
        """Add what opens on a click: as many ``blocks`` as fit. ``title`` is Markdown-safe."""
        opening = f"<details><summary>{title}</summary>\n\n"
        self._block(opening, "\n</details>\n\n", list(blocks), more)

    def text(self, closing: str = "") -> str:
        """Everything that was added, and ``closing`` where something had to be left out."""
        note = f"{closing}\n" if self.dropped and closing else ""
        return "".join(self._parts).rstrip("\n") + "\n" + (f"\n{note}" if note else "")

    def _block(self, opening: str, ending: str, rows: Sequence[str], more: str) -> None:
        left = self.budget - self._used - RESERVE - self.size(opening + ending)
        kept = 0
        for row in rows:
            left -= self.size(row) + 1
            if left < 0:
                break
            kept += 1
        if kept == 0 and rows:
            self.dropped = True
            return
        body = "".join(f"{row}\n" for row in rows[:kept])
        self._used += self.size(opening + body + ending)
        self._parts.append(opening + body + ending)
        if kept < len(rows):
            self.dropped = True
            self.add(f"_{len(rows) - kept:,} more {more} did not fit here._")

    def _take(self, text: str) -> bool:
        size = self.size(text)
        if self._used + size > self.budget - RESERVE // 2:
            self.dropped = True
            return False
        self._parts.append(text)
        self._used += size
        return True
