"""Fill templates in: Jinja, in its sandbox, where an unknown name is an error.

Most texts of a catalog are plain or hold only ``{{ name }}``. Those are filled in without Jinja,
with the same outcome (a property test compares the two), since importing and compiling it would be
a third of the time that planning takes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from runner_e2e.errors import UsageError

if TYPE_CHECKING:
    from jinja2.nodes import Template
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    from runner_e2e.contracts.scalars import JsonValue

VARIABLES: tuple[str, ...] = (
    "nonce",
    "marker",
    "execution_id",
    "profile_id",
    "environment_id",
    "environment_fixture_id",
    "workspace_path",
    "daytona_image",
)
"""What a template may name."""

CELL_VARIABLES = ("execution_id", "profile_id", "environment_fixture_id")
"""Those that differ between the cells of a suite."""

_MARKUP = re.compile(r"\{[{%#]")
_NAME = re.compile(r"\{\{ *([A-Za-z_][A-Za-z0-9_]*) *\}\}")


class TemplateFault(UsageError):
    """A template cannot be filled in."""

    kind = "template"


@lru_cache(maxsize=16384)
def _simple_parts(text: str) -> tuple[str, ...] | None:
    """Texts and names by turns, where ``{{ name }}`` is all the markup there is."""
    parts = _NAME.split(text)
    texts, names = parts[::2], parts[1::2]
    simple = (
        "\r" not in text  # which Jinja would make a line feed
        and not any(map(_MARKUP.search, texts))
        and not any(part.endswith("{") for part in texts[:-1])
        and set(names) <= set(VARIABLES)
    )
    return tuple(parts) if simple else None


def render_text(text: str, values: Mapping[str, str]) -> str:
    """Fill one text in. Raises :class:`TemplateFault`."""
    if "{" not in text:
        return text
    parts = _simple_parts(text)
    if parts is not None and values.keys() >= set(parts[1::2]):
        return "".join(values[part] if index % 2 else part for index, part in enumerate(parts))
    return _render_with_jinja(text, values) if _MARKUP.search(text) else text


def render_json(value: JsonValue, values: Mapping[str, str]) -> Any:
    """Fill in every string of a JSON value. Keys, and the name of a secret, are left alone."""
    if isinstance(value, str):
        return render_text(value, values)
    if isinstance(value, list):
        return [render_json(item, values) for item in value]
    if isinstance(value, dict):
        return {
            key: item if key == "$secretRef" else render_json(item, values)
            for key, item in value.items()
        }
    return value


def variables_of(text: str) -> frozenset[str]:
    """The names that ``text`` refers to. Raises :class:`TemplateFault` on bad syntax."""
    if not _MARKUP.search(text):
        return frozenset()
    parts = _simple_parts(text)
    if parts is not None:
        return frozenset(parts[1::2])
    return _jinja_variables(text)


def variables_of_json(value: JsonValue) -> frozenset[str]:
    """The names that the strings of a JSON value refer to."""
    found: set[str] = set()
    stack: list[JsonValue] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            found |= variables_of(item)
        elif isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, dict):
            stack.extend(item.values())
    return frozenset(found)


@lru_cache(maxsize=1)
def _environment() -> ImmutableSandboxedEnvironment:
    from runner_e2e.catalog.template_language import (  # noqa: PLC0415 - most never need Jinja
        make_environment,
    )

    return make_environment()


def _render_with_jinja(text: str, values: Mapping[str, str]) -> str:
    from jinja2 import TemplateError  # noqa: PLC0415 - as above

    from runner_e2e.catalog.template_language import MAX_CHARACTERS  # noqa: PLC0415 - as above

    pieces: list[str] = []
    size = 0
    try:
        for piece in _compiled(text).generate(values):
            pieces.append(piece)
            size += len(piece)
            if size > MAX_CHARACTERS:
                raise TemplateFault(
                    f"cannot be filled in: a text may have {MAX_CHARACTERS:,} characters"
                )
    except TemplateError as error:
        raise TemplateFault(f"cannot be filled in: {error.message}") from None
    except (TypeError, ValueError, ArithmeticError, LookupError, RecursionError) as error:
        # What an expression of the template itself may raise.
        raise TemplateFault(f"cannot be filled in: {error}") from None
    return "".join(pieces)


@lru_cache(maxsize=4096)
def _compiled(text: str) -> Any:
    _parsed(text)
    return _environment().from_string(text)


def _parsed(text: str) -> Template:
    """The template, when it does nothing that it may not."""
    from jinja2 import TemplateError  # noqa: PLC0415 - as above

    from runner_e2e.catalog.template_language import fault_of  # noqa: PLC0415 - as above

    environment = _environment()
    try:
        template = environment.parse(text)
    except TemplateError as error:
        raise TemplateFault(f"cannot be read: {error.message}") from None
    except (ValueError, RecursionError):
        # Of a number with thousands of digits, and of parentheses as deep.
        raise TemplateFault("cannot be read: a part of it is too long or too deep") from None
    fault = fault_of(template, environment)
    if fault is not None:
        raise TemplateFault(fault)
    return template


@lru_cache(maxsize=4096)
def _jinja_variables(text: str) -> frozenset[str]:
    from jinja2 import TemplateError, meta  # noqa: PLC0415 - as above

    template = _parsed(text)
    try:
        return frozenset(meta.find_undeclared_variables(template))
    except TemplateError as error:
        raise TemplateFault(f"cannot be read: {error.message}") from None
