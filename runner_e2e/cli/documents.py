"""Reading the documents that a command line names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from runner_e2e.errors import UsageError

if TYPE_CHECKING:
    from runner_e2e.contracts.base import Document
    from runner_e2e.contracts.plan import Plan

    D = TypeVar("D", bound=Document)


def read_bytes(path: Path) -> bytes:
    """Read a file that the user named. Raises :class:`UsageError`."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}", hint="check the path"
        ) from None


def read_plan(path: Path) -> Plan:
    """Read a plan that the user named. Raises :class:`UsageError` or :class:`DocumentError`."""
    from runner_e2e.contracts.plan import read_plan as read

    return read(read_bytes(path), str(path))


def read_document(kind: type[D], path: Path) -> D:
    """Read a document that the user named. Raises :class:`UsageError` or :class:`DocumentError`."""
    from runner_e2e.contracts.base import parse

    return parse(kind, read_bytes(path), str(path))
