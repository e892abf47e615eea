"""The files beside the catalog that a profile's payload names."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner_e2e.contracts.scalars import JsonValue

ADAPTER_PACKAGE = "adapterPackage"
"""A payload's key for the directory of an adapter that its target installs first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandFile:
    """``argument`` is its index in the command; ``path`` is relative to the catalog, with ``/``.

    A file of an adapter's package has no place in the command: ``None``.
    """

    argument: int | None
    path: str
    sha256: str


def resolve_command(
    agent: Mapping[str, JsonValue], beside: Path, root: Path
) -> tuple[dict[str, JsonValue], tuple[CommandFile, ...]]:
    """Make the relative paths of a command absolute that exist ``beside`` its file.

    What is not there is left for the search path, as ``python`` is. ``root`` is the directory of
    the catalog, from which the fingerprint counts. An absolute path into the repository around it
    counts as the relative one would, so that another checkout has the same fingerprint; any other
    absolute path, such as ``/usr/bin/python3``, counts as it is written, without the file's
    content. Raises ``OSError`` for an unreadable file.
    """
    files: list[CommandFile] = []
    resolved = dict(agent)
    package = agent.get(ADAPTER_PACKAGE)
    directory = _in_checkout(package, beside, root)
    if directory is not None and directory.is_dir():
        found = sorted(path for path in directory.rglob("*") if path.is_file())
        files += [_file(path, root, None) for path in found]
        resolved[ADAPTER_PACKAGE] = _as_template(str(directory))
    command = command_of(agent)
    if command is None:
        return resolved, tuple(files)
    arguments: list[Any] = list(command)
    for index, argument in enumerate(command):
        path = _in_checkout(argument, beside, root)
        if path is not None and path.is_file():
            files.append(_file(path, root, index))
            arguments[index] = _as_template(str(path))
    return with_command(resolved, arguments), tuple(files)


def _in_checkout(name: object, beside: Path, root: Path) -> Path | None:
    """Where a text of a payload would lie that may name something of this checkout."""
    if not isinstance(name, str) or not name or "\0" in name or "{{" in name:
        return None
    path = Path(os.path.normpath((beside / name).absolute()))
    if not Path(name).is_absolute():
        return path
    # A program that resolved its own name and one that did not mean the same checkout.
    place, home = path.parent.resolve() / path.name, root.resolve()
    if not place.is_relative_to(_checkout(home)):
        return None
    return Path(os.path.normpath(root.absolute() / os.path.relpath(place, home)))


def _checkout(directory: Path) -> Path:
    """The repository that a directory is in; the directory where it is in none."""
    around = (path for path in (directory, *directory.parents) if (path / ".git").exists())
    return next(around, directory)


def _file(path: Path, root: Path, argument: int | None) -> CommandFile:
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    relative = Path(os.path.relpath(path, root)).as_posix()
    return CommandFile(argument=argument, path=relative, sha256=content)


def command_of(agent: Mapping[str, JsonValue]) -> list[JsonValue] | None:
    """The list of a payload that may name files: a command, or the arguments of an adapter."""
    adapter = agent.get("adapterConfig")
    found = adapter.get("args") if isinstance(adapter, dict) else agent.get("command")
    return found if isinstance(found, list) else None


def with_command(
    agent: Mapping[str, JsonValue], arguments: list[JsonValue]
) -> dict[str, JsonValue]:
    """The payload with another list in the place of :func:`command_of`."""
    adapter = agent.get("adapterConfig")
    if isinstance(adapter, dict):
        return {**agent, "adapterConfig": {**adapter, "args": arguments}}
    return {**agent, "command": arguments}


def _as_template(path: str) -> str:
    """A directory's name may hold what would be markup in a template."""
    return path.replace("{", "{{ '{' }}") if "{" in path else path
