"""Read a YAML 1.2 file into JSON, keeping the position of everything in it.

ruamel.yaml composes the nodes; scalars become JSON here, by the core schema of YAML 1.2, so that
``no`` stays a word and ``2026-01-01`` a string.
"""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from runner_e2e.catalog.source import Position, Steps
from runner_e2e.contracts.scalars import MAX_JSON_DEPTH
from runner_e2e.errors import Problem

MAX_FILE_BYTES = 16 * 1024 * 1024
MAX_REPEATED_NODES = 100_000
"""How many values aliases may add to a file: far more than a person writes, far less than a
bomb of nested aliases makes."""

_TAG = "tag:yaml.org,2002:"
_TAGS = frozenset(
    _TAG + name
    for name in ("null", "bool", "int", "float", "str", "timestamp", "merge", "map", "seq")
)
_VERSION = re.compile(r"^%YAML\s+(\S+)", re.MULTILINE)
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_INT64 = range(-(2**63), 2**64)


class YamlFault(Exception):
    """The file is no catalog at all; says where and why."""

    def __init__(self, line: int, column: int, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.message = message
        self.hint = hint

    def problem(self, path: Path) -> Problem:
        """The same, in the form that is shown."""
        return Problem(
            file=str(path), line=self.line, column=self.column, message=self.message, hint=self.hint
        )


class YamlSource:
    """One YAML file. Faults that leave the rest readable are in ``problems``."""

    def __init__(self, path: Path, data: bytes) -> None:
        """Read ``data``. Raises :class:`YamlFault` where nothing can be made of it."""
        self.path = path
        self._root = _compose(_decode(data))
        conversion = _Conversion()
        self.value: Any = conversion.convert(self._root)
        self.problems = tuple(fault.problem(path) for fault in conversion.faults)

    def position(self, path: Steps) -> Position:
        """Where the value at ``path`` begins or, where there is none, its nearest parent."""
        node = self._root
        for step in path:
            pair = _child(node, step)
            if pair is None:
                break
            node = pair[1]
        return _start(node)

    def key_position(self, path: Steps) -> Position:
        """Where the last key of ``path`` is written."""
        node = self._root
        place = _start(node)
        for step in path:
            pair = _child(node, step)
            if pair is None:
                break
            place = _start(pair[0])
            node = pair[1]
        return place


def _start(node: Node) -> Position:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _child(node: Node, step: str | int) -> tuple[Node, Node] | None:
    """The key and the value at ``step``; a list's item is its own key."""
    if isinstance(step, int):
        if isinstance(node, SequenceNode) and step < len(node.value):
            return node.value[step], node.value[step]
        return None
    if isinstance(node, MappingNode):
        for key, value in node.value:
            if key.value == step:
                return key, value
    return None


def _decode(data: bytes) -> str:
    if len(data) > MAX_FILE_BYTES:
        raise YamlFault(1, 1, f"the file has {len(data)} bytes; at most {MAX_FILE_BYTES} are read")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        raise YamlFault(
            line,
            column,
            f"the file is not UTF-8: byte 0x{data[error.start]:02x} is {error.reason}",
            "save it as UTF-8",
        ) from None
    if not text.strip():
        raise YamlFault(
            1, 1, "the file is empty", "examples/smoke/runner-e2e.yaml is one to begin with"
        )
    return text


def _compose(text: str) -> Node:
    version = _VERSION.search(text)
    if version is not None and version[1] != "1.2":
        line = text.count("\n", 0, version.start()) + 1
        raise YamlFault(line, 1, f"the file is YAML {version[1]}; a catalog is YAML 1.2")
    try:
        with warnings.catch_warnings():
            # A second anchor of one name is allowed by YAML; the library warns of it.
            warnings.simplefilter("ignore")
            node: Node | None = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        raise _syntax_fault(error) from None
    except YAMLError as error:
        raise _reader_fault(error, text) from None
    except RecursionError:
        raise YamlFault(1, 1, "the file is nested too deeply to be read") from None
    if node is None:
        raise YamlFault(1, 1, "the file holds nothing but comments")
    return node


def _syntax_fault(error: MarkedYAMLError) -> YamlFault:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    problem = str(error.problem or "the YAML cannot be parsed").strip()
    if "single document" in str(error.context):
        return YamlFault(line, column, "the file holds more than one document", "remove the ---")
    hint = "indent with spaces" if "'\\t'" in problem else None
    context = f"{error.context}, " if error.context else ""
    return YamlFault(line, column, f"not YAML: {context}{problem}", hint)


def _reader_fault(error: Exception, text: str) -> YamlFault:
    """The reader knows only an offset, for a character that YAML forbids."""
    offset = getattr(error, "position", 0)
    before = text[:offset]
    column = offset - (before.rfind("\n") + 1) + 1
    character = text[offset : offset + 1]
    return YamlFault(
        before.count("\n") + 1,
        column,
        f"not YAML: the character {character!r} is not allowed",
        "write it as an escape in double quotes",
    )


class _Conversion:
    """Nodes to JSON. What cannot be JSON becomes ``None`` and a fault."""

    def __init__(self) -> None:
        self.faults: list[YamlFault] = []
        self._seen: set[int] = set()
        self._open: set[int] = set()
        self._repeated = 0

    def convert(self, node: Node) -> Any:
        if node.tag not in _TAGS:
            return self._fault(node, f"the tag {node.tag} means nothing in a catalog", "remove it")
        if isinstance(node, ScalarNode):
            self._count(node)
            return self._scalar(node)
        if id(node) in self._open:
            return self._fault(node, "an alias that contains itself has no end")
        if len(self._open) == MAX_JSON_DEPTH:
            return self._fault(node, f"nested more than {MAX_JSON_DEPTH} levels deep")
        self._count(node)
        self._open.add(id(node))
        try:
            if isinstance(node, MappingNode):
                return self._mapping(node)
            return [self.convert(item) for item in node.value]
        finally:
            self._open.discard(id(node))

    def _count(self, node: Node) -> None:
        if id(node) in self._seen:
            self._repeated += 1
            if self._repeated > MAX_REPEATED_NODES:
                raise YamlFault(
                    *_start(node),
                    f"the aliases of this file repeat more than {MAX_REPEATED_NODES} values",
                    "write the values out, or use fewer aliases",
                )
        self._seen.add(id(node))

    def _mapping(self, node: MappingNode) -> dict[str, Any]:
        result: dict[str, Any] = {}
        first: dict[str, Node] = {}
        for key, value in node.value:
            name = self._key(key)
            if name is None:
                continue
            if name in first:
                line, _ = _start(first[name])
                self._fault(
                    key, f"the key {name!r} occurs twice", f"the first one is on line {line}"
                )
                continue
            first[name] = key
            result[name] = self.convert(value)
        return result

    def _key(self, node: Node) -> str | None:
        if not isinstance(node, ScalarNode):
            self._fault(node, "a key must be a word, not a list or a mapping")
            return None
        if node.tag == f"{_TAG}merge":
            self._fault(
                node, "YAML 1.2 has no merge key <<", "write the keys out, or alias whole values"
            )
            return None
        return str(node.value)

    def _scalar(self, node: ScalarNode) -> Any:
        text: str = node.value
        tag = str(node.tag).removeprefix(_TAG)
        if tag == "null":
            return None
        if tag == "bool" and text.lower() in {"true", "false"}:
            return text.lower() == "true"
        if tag in {"int", "float"}:
            return self._number(node, text)
        if any("\ud800" <= character <= "\udfff" for character in text):
            return self._fault(node, "half of a surrogate pair is not a character")
        return text

    def _number(self, node: ScalarNode, text: str) -> Any:
        if _INTEGER.fullmatch(text):
            base = {"0o": 8, "0x": 16}.get(text[:2], 10)
            # A thousand digits are past 64 bits as surely as twenty-one.
            number = int(text, base) if len(text) <= 30 else 2**64  # noqa: PLR2004 - said above
            if number not in _INT64:
                return self._fault(node, "an integer must fit in 64 bits")
            return number
        if _NOT_FINITE.fullmatch(text):
            return self._fault(node, "a number must be finite")
        if _FLOAT.fullmatch(text):
            value = float(text)
            return value if math.isfinite(value) else self._fault(node, "a number must be finite")
        return text

    def _fault(self, node: Node, message: str, hint: str | None = None) -> None:
        self.faults.append(YamlFault(*_start(node), message, hint))
