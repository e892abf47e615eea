"""Removing what a harness left that was killed before it could clean up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from runner_e2e.environments import abandoned_roots, delete_root, end_marked, marked_processes


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepReport:
    """What a sweep removed, by name, and what resisted."""

    roots: tuple[str, ...]
    processes: int
    problems: tuple[str, ...]


def sweep(
    parent: Path | None = None, *, on_event: Callable[[str], None] = lambda _: None
) -> SweepReport:
    """Remove the roots below ``parent`` whose harness is dead, and the processes of those roots.

    A root belongs to a living harness as long as that holds its lock, so a sweep may run beside
    any number of executions.
    """
    roots: list[str] = []
    problems: list[str] = []
    ended = 0
    for root in abandoned_roots(parent):
        if root.token is not None:
            found = marked_processes(root.token)
            survivors = end_marked(root.token, grace=1.0) if found else ()
            ended += len(found) - len(survivors)
            problems += [f"process {pid} of {root.path.name} cannot be ended" for pid in survivors]
        problem = delete_root(root.path)
        if problem is None:
            roots.append(root.path.name)
            on_event(f"removed {root.path.name}")
        else:
            problems.append(problem)
    return SweepReport(roots=tuple(roots), processes=ended, problems=tuple(problems))
