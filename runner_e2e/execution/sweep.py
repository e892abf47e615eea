"""Removing what a harness left that was killed before it could clean up."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from runner_e2e.environments import (
    AbandonedRoot,
    abandoned_roots,
    delete_root,
    end_marked,
    marked_processes,
)
from runner_e2e.environments.daytona import (
    KEY_VARIABLE,
    DaytonaAccount,
    DaytonaClient,
    SandboxSweep,
    expects_sandboxes,
    sweep_sandboxes,
)
from runner_e2e.failures import ExecutionError


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepReport:
    """What a sweep removed, by name, and what resisted."""

    roots: tuple[str, ...]
    processes: int
    sandboxes: tuple[str, ...]
    problems: tuple[str, ...]


def sweep(
    parent: Path | None = None,
    *,
    environ: Mapping[str, str] = MappingProxyType({}),
    on_event: Callable[[str], None] = lambda _: None,
) -> SweepReport:
    """Remove the roots below ``parent`` whose harness is dead, their processes and sandboxes.

    A root belongs to a living harness as long as that holds its lock, so a sweep may run beside
    any number of executions. With a Daytona account in ``environ``, sandboxes of ours whose time
    is over are deleted too, whichever machine made them.
    """
    roots: list[str] = []
    problems: list[str] = []
    ended = 0
    abandoned = list(abandoned_roots(parent))
    cloud = _sweep_sandboxes(abandoned, environ, on_event)
    problems += cloud.problems
    for root in abandoned:
        if cloud.problems and expects_sandboxes(root.path):
            continue  # its token is all that leads to its sandboxes
        if root.token is not None:
            # A database hides its environment; it stands in the root.
            found = marked_processes(root.token, root.path)
            survivors = end_marked(root.token, root.path, grace=1.0) if found else ()
            ended += len(found) - len(survivors)
            problems += [f"process {pid} of {root.path.name} cannot be ended" for pid in survivors]
        problem = delete_root(root.path)
        if problem is None:
            roots.append(root.path.name)
            on_event(f"removed {root.path.name}")
        else:
            problems.append(problem)
    return SweepReport(
        roots=tuple(roots), processes=ended, sandboxes=cloud.deleted, problems=tuple(problems)
    )


def _sweep_sandboxes(
    roots: Sequence[AbandonedRoot], environ: Mapping[str, str], on_event: Callable[[str], None]
) -> SandboxSweep:
    waiting = [root for root in roots if expects_sandboxes(root.path)]
    if not environ.get(KEY_VARIABLE, "").strip():
        names = ", ".join(root.path.name for root in waiting)
        problem = f"{KEY_VARIABLE} is not set, so the sandboxes of {names} were not looked for"
        return SandboxSweep(deleted=(), problems=(problem,) if waiting else ())
    try:
        client = DaytonaClient(account=DaytonaAccount.from_environ(environ))
    except ExecutionError as error:
        return SandboxSweep(deleted=(), problems=(error.message,))
    with contextlib.closing(client):
        tokens = {root.token for root in waiting if root.token is not None}
        return sweep_sandboxes(client, tokens, on_event=on_event)
