"""What a template may do: choose between texts and join them. It does not compute.

A catalog may come from a pull request, and planning reads it before anybody agreed to pay. So there
is nothing here with which a short text takes long or fills the memory: no loop, no assignment, no
call, no multiplication, and no filter whose outcome can be much longer than what goes in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from jinja2 import Environment, StrictUndefined, nodes
from jinja2.filters import FILTERS
from jinja2.sandbox import ImmutableSandboxedEnvironment

from runner_e2e.catalog.wording import nearest

MAX_CHARACTERS = 1024 * 1024
"""What one text may come to when it is filled in."""
MAX_FILTERED = 64 * 1024
"""What a filter that can lengthen a text may come to."""
MAX_DEPTH = 50
"""How deep expressions may stand in each other."""

_ALLOWED: tuple[type[nodes.Node], ...] = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.If),
    *(nodes.List, nodes.Tuple, nodes.CondExpr, nodes.Compare, nodes.Operand, nodes.Test),
    *(nodes.And, nodes.Or, nodes.Not, nodes.Neg, nodes.Pos, nodes.Concat, nodes.Add, nodes.Sub),
    *(nodes.Div, nodes.FloorDiv, nodes.Getitem, nodes.Slice, nodes.Filter, nodes.Keyword),
)
_WORDS: Mapping[type[nodes.Node], str] = {
    nodes.For: "a loop",
    nodes.Call: "a call",
    nodes.Getattr: "an attribute",
    nodes.Mul: "the operator *",
    nodes.Pow: "the operator **",
    nodes.Mod: "the operator %",
    nodes.Assign: "an assignment",
    nodes.AssignBlock: "an assignment",
    nodes.Macro: "a macro",
}
_FILTERS = (
    *("capitalize", "count", "d", "default", "first", "int", "last", "length", "lower"),
    *("reverse", "string", "title", "trim", "truncate", "upper", "urlencode", "wordcount"),
)


class TemplateTooLong(ValueError):
    """A text would come to more than it may."""


def _replace(value: object, old: object, new: object, count: int | None = None) -> str:
    text, part, other = str(value), str(old), str(new)
    found = text.count(part) if count is None else min(max(count, 0), text.count(part))
    if found * len(other) > MAX_FILTERED:
        raise TemplateTooLong(f"a replacement may put {MAX_FILTERED:,} characters in")
    return text.replace(part, other, -1 if count is None else count)


def _join(value: Any, between: object = "") -> str:
    parts, separator = [str(part) for part in value], str(between)
    if sum(map(len, parts)) + len(parts) * len(separator) > MAX_FILTERED:
        raise TemplateTooLong(f"a joined text may have {MAX_FILTERED:,} characters")
    return separator.join(parts)


def _bounded(name: str) -> Callable[..., Any]:
    plain: Callable[..., Any] = FILTERS[name]

    @wraps(plain)  # keeps what Jinja marks its filters with
    def bounded(*args: Any, **kwargs: Any) -> Any:
        result = plain(*args, **kwargs)
        if isinstance(result, str) and len(result) > MAX_CHARACTERS:
            raise TemplateTooLong(f"a text may have {MAX_CHARACTERS:,} characters")
        return result

    return bounded


def make_environment() -> ImmutableSandboxedEnvironment:
    """Jinja in its sandbox, with nothing in it but what :func:`fault_of` allows."""
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    environment.globals.clear()
    environment.filters.clear()
    environment.filters.update({name: _bounded(name) for name in _FILTERS})
    environment.filters.update({"replace": _replace, "join": _join})
    return environment


def fault_of(template: nodes.Template, environment: Environment) -> str | None:
    """Say what a template does that it may not; ``None`` when it may do all of it."""
    level: list[nodes.Node] = [template]
    for _ in range(MAX_DEPTH):
        for node in level:
            fault = _fault(node, environment)
            if fault is not None:
                return f"{fault}; a template can only choose and join texts"
        level = [child for node in level for child in node.iter_child_nodes()]
        if not level:
            return None
    return f"is nested deeper than {MAX_DEPTH}"


def _fault(node: nodes.Node, environment: Environment) -> str | None:
    if not isinstance(node, _ALLOWED):
        return f"uses {_WORDS.get(type(node), type(node).__name__.lower())}"
    if isinstance(node, nodes.Name) and node.name in {"self", "super"}:
        return f"names {node.name!r}"
    if isinstance(node, nodes.Getitem) and not _is_place(node.arg):
        return "uses an attribute"
    if isinstance(node, nodes.Filter) and node.name not in environment.filters:
        hint = nearest(node.name, environment.filters)
        known = f"({hint})" if hint else f"(there are {', '.join(sorted(environment.filters))})"
        return f"uses the filter {node.name!r} {known}"
    return None


def _is_place(argument: nodes.Expr) -> bool:
    """Whether brackets name a place in a text or a list. A name in them would be an attribute."""
    if isinstance(argument, nodes.Neg):
        argument = argument.node
    return isinstance(argument, nodes.Slice) or (
        isinstance(argument, nodes.Const) and isinstance(argument.value, int)
    )
