"""Deleting sandboxes whose harness is dead."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from runner_e2e.contracts.timestamps import parse_timestamp
from runner_e2e.environments.daytona.client import DaytonaClient
from runner_e2e.environments.daytona.documents import (
    EXPIRES_LABEL,
    GONE,
    MANAGED_LABEL,
    TOKEN_LABEL,
    Sandbox,
)
from runner_e2e.environments.roots import TemporaryRoot
from runner_e2e.failures import ExecutionError

_SANDBOXES_FILE = "sandboxes"


def expect_sandboxes(root: TemporaryRoot) -> None:
    """Note in a root that sandboxes may carry its token, for who finds it abandoned."""
    (root.path / _SANDBOXES_FILE).touch()


def expects_sandboxes(root: Path) -> bool:
    """Whether :func:`expect_sandboxes` was here."""
    return (root / _SANDBOXES_FILE).is_file()


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSweep:
    """What was deleted, by id, and what resisted."""

    deleted: tuple[str, ...]
    problems: tuple[str, ...]


def sweep_sandboxes(
    client: DaytonaClient, tokens: Collection[str], *, on_event: Callable[[str], None]
) -> SandboxSweep:
    """Delete our sandboxes of these roots, and those that nobody can still be using.

    The labels of each are checked here again, whatever the server made of the filter.
    """
    deleted: list[str] = []
    problems: list[str] = []
    try:
        found = list(client.find({MANAGED_LABEL: "1"}))
    except ExecutionError as error:
        return SandboxSweep(deleted=(), problems=(f"sandboxes cannot be swept: {error.message}",))
    for sandbox in found:
        if sandbox.state in GONE or not _abandoned(sandbox, tokens):
            continue
        try:
            client.delete(sandbox.id)
            deleted.append(sandbox.id)
            on_event(f"deleted sandbox {sandbox.id}")
        except ExecutionError as error:
            problems.append(f"sandbox {sandbox.id} may still run: {error.message}")
    problems += _still_there(client, deleted)
    return SandboxSweep(deleted=tuple(deleted), problems=tuple(problems))


def _abandoned(sandbox: Sandbox, tokens: Collection[str]) -> bool:
    labels = sandbox.labels
    if labels.get(MANAGED_LABEL) != "1":
        return False
    if labels.get(TOKEN_LABEL) in tokens:
        return True
    try:
        return parse_timestamp(labels.get(EXPIRES_LABEL, "")) < datetime.now(UTC)
    except ValueError:
        return False


def _still_there(client: DaytonaClient, deleted: list[str]) -> list[str]:
    """Which of the deleted are not even on their way out."""
    problems = []
    for identity in deleted:
        try:
            sandbox = client.get(identity)
        except ExecutionError as error:
            problems.append(f"sandbox {identity} may still run: {error.message}")
            continue
        if sandbox is not None and sandbox.state not in GONE | {"destroying"}:
            problems.append(f"sandbox {identity} is still {sandbox.state}")
    return problems
