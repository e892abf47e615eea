"""The job summary of a workflow step: a file of the runner's that others may have written to."""

from __future__ import annotations

from pathlib import Path

from runner_e2e.reports.summary import SUMMARY_BYTES


def summary_budget(path: Path) -> int:
    """How many bytes the file at ``path`` still takes, with what it holds already."""
    held = path.stat().st_size if path.exists() else 0
    # Two bytes part what is there from what comes.
    return max(0, SUMMARY_BYTES - held - 2)


def append_step_summary(path: Path, text: str) -> bool:
    """Append ``text`` and tell whether there was room for it.

    Above its limit GitHub drops the whole file and the step stays green, so what does not fit is
    not written. ``text`` that was made with the budget of :func:`summary_budget` always fits.
    """
    data = text.encode()
    if not data or len(data) > summary_budget(path):
        return False
    with path.open("ab+") as file:
        file.write(b"\n\n" if file.tell() else b"")
        file.write(data)
    return True
