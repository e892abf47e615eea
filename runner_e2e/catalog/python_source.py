"""Read a catalog that is a Python program: it builds the same models."""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from runner_e2e.catalog.source import Position, Steps
from runner_e2e.contracts.base import dump_tree, lower_first
from runner_e2e.contracts.catalog import CatalogLists
from runner_e2e.errors import Problem

NAME = "catalog"
"""The name in the module: a ``CatalogFile``, or a function without parameters that returns one."""


class PythonFault(Exception):
    """The program made no catalog; says where and why."""

    def __init__(self, line: int, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.message = message
        self.hint = hint

    def problem(self, path: Path) -> Problem:
        """The same, in the form that is shown."""
        return Problem(
            file=str(path), line=self.line, column=1, message=self.message, hint=self.hint
        )


class PythonSource:
    """One Python file. A part lies where the text of its id is written in the program."""

    def __init__(self, path: Path, data: bytes) -> None:
        """Run the program. Raises :class:`PythonFault`."""
        self.path = path
        try:
            tree = ast.parse(data, filename=str(path))
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or 1
            raise PythonFault(line, f"not Python: {getattr(error, 'msg', error)}") from None
        self.value: Any = dump_tree(_run(path))
        self._texts = _texts(tree)

    def position(self, path: Steps) -> Position:
        """Where the nearest part with an id around ``path`` is written, else the beginning."""
        found = (1, 1)
        value = self.value
        for step in path:
            try:
                value = value[step]
            except (KeyError, IndexError, TypeError):
                break
            if isinstance(value, dict) and isinstance(value.get("id"), str):
                found = self._texts.get(value["id"], found)
            elif isinstance(value, str):
                found = self._texts.get(value, found)
        return found

    def key_position(self, path: Steps) -> Position:
        """As :meth:`position`: a program does not show where a key is written."""
        return self.position(path)


def _texts(tree: ast.AST) -> dict[str, Position]:
    texts: dict[str, Position] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.setdefault(node.value, (node.lineno, node.col_offset + 1))
    return texts


def _run(path: Path) -> CatalogLists:
    try:
        with _importable(path.resolve().parent), _stdout_as_stderr():
            module = _load(path)
            catalog = getattr(module, NAME, None)
            if callable(catalog):
                catalog = catalog()
    except ValidationError as error:
        raise PythonFault(_line(error, path), _refusal(error)) from None
    except SystemExit as error:
        line = _line(error, path)
        raise PythonFault(line, f"the program ended itself with sys.exit({error.code!r})") from None
    except Exception as error:  # noqa: BLE001 - it is the user's program: whatever it raises is a fault
        reason = f"{type(error).__name__}: {error}"
        raise PythonFault(_line(error, path), f"the program failed: {reason}") from None
    if not isinstance(catalog, CatalogLists):
        raise PythonFault(
            1,
            f"the program has no CatalogFile named {NAME!r}",
            f"assign {NAME} = CatalogFile(...), or define a function {NAME}() that returns one",
        )
    return catalog


def _refusal(error: ValidationError) -> str:
    """What a model refuses, by the path inside of it."""
    details = error.errors(include_url=False)
    reasons = [
        f"{'.'.join(map(str, detail['loc']))}: {lower_first(detail['msg'])}" for detail in details
    ]
    return f"{error.title} cannot be made: {'; '.join(dict.fromkeys(reasons))}"


def _load(path: Path) -> Any:
    name = f"runner_e2e_catalog_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    # dataclasses and pickle look a module up by its name.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def _importable(directory: Path) -> Iterator[None]:
    """Let the program import its neighbours, and leave no bytecode beside it."""
    entry, written = str(directory), sys.dont_write_bytecode
    sys.path.insert(0, entry)
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = written
        sys.path.remove(entry)


@contextmanager
def _stdout_as_stderr() -> Iterator[None]:
    """What the program prints, or a program that it starts, is no part of a command's answer."""
    if sys.stdout is None or sys.stderr is None:
        yield
        return
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _line(error: BaseException, path: Path) -> int:
    """The line of the program that was being run."""
    names = {str(path), str(path.resolve())}
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename in names and frame.lineno is not None
    ]
    return lines[-1] if lines else 1
