"""How a campaign looks while it runs: a table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from runner_e2e.cli import output

if TYPE_CHECKING:
    from rich.table import Table

    from runner_e2e.contracts.result import Result
    from runner_e2e.execution.local import Progress

_MARKS = {"passed": "[green]✔ passed", "failed": "[red]✘ failed", "waiting": "[dim]· waiting"}


class Display(Protocol):
    """Whatever shows progress. ``update`` may be called from any thread."""

    def update(self, progress: Progress) -> None:
        """Show one more step."""


@contextmanager
def live_table(done: Mapping[str, Result | None]) -> Iterator[Display]:
    """Show the executions of a campaign; those with a result are shown as they ended."""
    if not sys.stderr.isatty():
        yield Lines(total=sum(result is None for result in done.values()))
        return
    from rich.console import Console
    from rich.live import Live

    table = LiveTable(done)
    with Live(console=Console(stderr=True), get_renderable=table.render, refresh_per_second=4):
        yield table


class Lines:
    """One line for every execution that ended."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._ended = 0
        self._lock = Lock()

    def update(self, progress: Progress) -> None:
        """Print what ended; what happens in between would only make a log long."""
        if progress.outcome is None:
            return
        result = progress.outcome.result
        reason = f" ({result.failure_class})" if result.failure_class else ""
        with self._lock:
            self._ended += 1
            output.narrate(
                f"[{self._ended}/{self._total}] {progress.execution_id} {progress.line}"
                f" in {result.duration_ms / 1000:.1f} s{reason}"
            )


class LiveTable:
    """A row for every execution; drawn four times a second by whoever calls ``render``."""

    def __init__(self, done: Mapping[str, Result | None]) -> None:
        self._states = {
            name: "waiting" if result is None else "passed" if result.green else "failed"
            for name, result in done.items()
        }
        self._lines: dict[str, str] = {}
        self._begun: dict[str, float] = {}
        self._took: dict[str, float] = {
            name: result.duration_ms / 1000 for name, result in done.items() if result
        }

    def update(self, progress: Progress) -> None:
        """Note one more step."""
        name = progress.execution_id
        self._begun.setdefault(name, monotonic())
        self._lines[name] = progress.line
        if progress.outcome is None:
            self._states[name] = "running"
            return
        result = progress.outcome.result
        self._states[name] = progress.line
        self._lines[name] = result.failure_class or ""
        self._took[name] = result.duration_ms / 1000

    def render(self) -> Table:
        """Draw the table as things stand: what runs and what failed first, then the rest."""
        from rich import box
        from rich.markup import escape
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("state")
        table.add_column("execution", overflow="fold")
        table.add_column("time", justify="right")
        table.add_column("")
        order = {"running": 0, "failed": 1, "waiting": 2, "passed": 3}
        states = sorted(self._states.items(), key=lambda item: order[item[1]])
        for name, state in states[:_MAX_ROWS]:
            took = self._took.get(name)
            if took is None and name in self._begun:
                took = monotonic() - self._begun[name]
            table.add_row(
                _MARKS.get(state, "[yellow]▶ running"),
                name,
                "" if took is None else f"{took:.1f} s",
                escape(self._lines.get(name, "")),
            )
        ended = sum(state in {"passed", "failed"} for state in self._states.values())
        table.caption = f"{ended} of {len(self._states)} finished"
        return table


_MAX_ROWS = 40
"""More rows than a terminal has lines would only scroll away."""
