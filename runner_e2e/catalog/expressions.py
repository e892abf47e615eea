"""What a person writes as an expression in a matcher: regexes, JSON Schemas, JSON paths, files.

Pure checks. The catalog asks :func:`compile_problems` when it is loaded; the matchers use the same
functions, so what was accepted is what runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from runner_e2e.contracts.matcher import (
    FileContains,
    FileExact,
    FileExists,
    JsonPath,
    JsonSchema,
    Matcher,
    MessageRegex,
)


class ExpressionError(ValueError):
    """An expression that cannot be used; says why in words for whoever wrote it."""


def compile_problems(matcher: Matcher) -> tuple[str, ...]:
    """Tell what is wrong with the expressions of a matcher, as it reads after rendering.

    Empty when nothing is. Reads no file and no network.
    """
    try:
        match matcher:
            case MessageRegex():
                from runner_e2e.catalog.regexes import (  # noqa: PLC0415 - most catalogs have none
                    compile_regex,
                )

                compile_regex(matcher.pattern, matcher.flags or "")
            case JsonSchema():
                from runner_e2e.catalog.schemas import (  # noqa: PLC0415 - most catalogs have none
                    schema_problems,
                )

                return tuple(schema_problems(matcher.schema_))
            case JsonPath():
                parse_path(matcher.path)
            case FileExists() | FileExact() | FileContains():
                file_parts(matcher.path)
            case _:
                pass
    except ExpressionError as error:
        return (str(error),)
    return ()


def file_parts(path: str) -> tuple[str, ...]:
    """Split a path below the workspace. Raises :class:`ExpressionError` where it leads outside."""
    if path.startswith("/"):
        raise ExpressionError(f"{path!r} is absolute; name a file below the workspace")
    parts = tuple(part for part in path.split("/") if part not in {"", "."})
    if ".." in parts:
        raise ExpressionError(f"{path!r} leads out of the workspace with '..'")
    if not parts or "\0" in path:
        raise ExpressionError(f"{path!r} names no file")
    return parts


@dataclass(frozen=True, slots=True, kw_only=True)
class PathStep:
    """One step of a JSON path: a key and, on a list, an index; ``None`` is every element."""

    name: str | None
    quoted: bool = False
    """It stood in quotes, so it is a key and never an index."""


_PATH_TOKEN = re.compile(
    r"""\[\s*(?:(?P<index>-?\d+)|(?P<all>\*)|'(?P<single>(?:[^'\\]|\\.)*)'"""
    r"""|"(?P<double>(?:[^"\\]|\\.)*)")\s*\]|\.+|(?P<name>[^.\[]+)""",
    re.DOTALL,
)


def parse_path(path: str) -> tuple[PathStep, ...]:
    """Read ``runs[0].status``, ``runs.0.status``, ``$.a['b.c']`` or ``runs[*].status``.

    Empty dot segments are ignored and a leading ``$`` is the root, so ``""`` and ``"$"`` name the
    whole value. Raises :class:`ExpressionError`.
    """
    rest = path[1:] if path == "$" or path.startswith(("$.", "$[")) else path
    steps: list[PathStep] = []
    position = 0
    while position < len(rest):
        token = _PATH_TOKEN.match(rest, position)
        if token is None:
            raise ExpressionError(f"the JSON path {path!r} cannot be read from {rest[position:]!r}")
        position = token.end()
        quoted = token["single"] if token["single"] is not None else token["double"]
        name = token["index"] or token["name"]
        if quoted is not None:
            plain = re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
            steps.append(PathStep(name=plain, quoted=True))
        elif token["all"] or name == "*":
            steps.append(PathStep(name=None))
        elif name is not None:
            steps.append(PathStep(name=name))
    return tuple(steps)
