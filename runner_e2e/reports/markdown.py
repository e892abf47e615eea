"""Markdown up to a budget: what comes first is kept; rows and blocks are never cut in two."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field


def utf8_bytes(text: str) -> int:
    """The size of ``text`` in a file."""
    return len(text.encode())


@dataclass(slots=True)
class Page:
    """Text that grows up to ``budget``, as ``size`` measures it.

    ``closing`` is the last line where something had to be left out; room is kept for it.
    """

    budget: int
    closing: str
    size: Callable[[str], int] = utf8_bytes
    _dropped: bool = False
    _parts: list[str] = field(default_factory=list)
    _used: int = 0

    def add(self, text: str) -> bool:
        """Add a block and a blank line after it, if it fits."""
        block = f"{text}\n\n"
        fits = self.size(block) <= self._left()
        if fits:
            self._take(block)
        else:
            self._dropped = True
        return fits

    def table(
        self, title: str, head: Sequence[str], align: str, rows: Sequence[str], more: str
    ) -> None:
        """Add a table with as many ``rows`` as fit. ``more`` names what the rest is of."""
        marks = {"l": ":--", "r": "--:", "c": ":-:"}
        top = f"| {' | '.join(head)} |\n|{'|'.join(marks[a] for a in align)}|\n"
        self._block(f"### {title}\n\n{top}", "\n", rows, more)

    def fold(self, title: str, blocks: Iterable[str], more: str, *, top: str = "") -> None:
        """Add what opens on a click: ``top`` and as many ``blocks`` as fit."""
        opening = f"<details><summary>{title}</summary>\n\n{top}"
        self._block(opening, "\n</details>\n\n", list(blocks), more)

    def text(self) -> str:
        """Everything that was added."""
        body = "".join(self._parts)
        if self._dropped and self.size(self.closing) + 1 <= self.budget:
            return f"{body}{self.closing}\n"
        return body.rstrip("\n") + "\n" if body else ""

    def _left(self) -> int:
        return self.budget - self._used - self.size(self.closing) - 1

    def _take(self, text: str) -> None:
        self._parts.append(text)
        self._used += self.size(text)

    def _block(self, opening: str, ending: str, rows: Sequence[str], more: str) -> None:
        """Add ``rows`` between ``opening`` and ``ending``: all, or as many as leave room to say so.

        Where not one row fits the block is left out.
        """
        note = f"\n_{{:,}} more {more} did not fit here._\n"
        room = self._left() - self.size(opening + ending)
        sizes = [self.size(row) + 1 for row in rows]
        kept = len(rows)
        if sum(sizes) > room:
            self._dropped = True
            room -= self.size(note) + len(f"{kept:,}")
            kept = 0
            while room >= sizes[kept]:
                room -= sizes[kept]
                kept += 1
        if kept:
            said = "" if kept == len(rows) else note.format(len(rows) - kept)
            self._take(opening + "".join(f"{row}\n" for row in rows[:kept]) + said + ending)
