"""Plant a text into every field of a document that takes any text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeVar

from runner_e2e.contracts.base import Document, dump_tree, parse
from runner_e2e.errors import DocumentError

D = TypeVar("D", bound=Document)

MARKUP = (
    "</script><script>pwned=1</script>\"'`><img src=x onerror=pwned=1><!--</style></title>"
    "<svg onload=pwned=1>javascript:pwned=1 {{7*7}} {% raw %} &lt; \u202e\u2028\u2066\x00|a\\|b"
    "\n::error::x @org/team"
)
"""What breaks out of HTML, a script, an attribute, a template or a line, in one string."""


def _strings(tree: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(tree, str):
        yield path
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield from _strings(value, (*path, key))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from _strings(value, (*path, index))


def _set(tree: Any, path: tuple[str | int, ...], value: str) -> str:
    for step in path[:-1]:
        tree = tree[step]
    before = str(tree[path[-1]])
    tree[path[-1]] = value
    return before


def plant(document: D, text: str) -> tuple[D, int]:
    """A copy with ``text`` in every string that validation lets through, and how many those are."""
    tree = dump_tree(document)
    planted = 0
    model = type(document)
    for path in list(_strings(tree)):
        before = _set(tree, path, text)
        try:
            parse(model, json.dumps(tree).encode(), "planted")
        except DocumentError:
            _set(tree, path, before)
        else:
            planted += 1
    return parse(model, json.dumps(tree).encode(), "planted"), planted
