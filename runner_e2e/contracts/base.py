"""The two kinds of model, the one reader and the one serializer.

Optionality follows the wire contract literally:

===================  ==================================  =========================
in the contract      here                                in JSON
===================  ==================================  =========================
``x: T``             ``x: T``                            always written
``x: T | null``      ``x: T | None``                     always written
``x?: T``            ``x: Omittable[T] = None``          omitted when ``None``
``x?: T | null``     ``x: T | None = None``              written iff it was set
===================  ==================================  =========================
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Annotated, Any, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, ErrorDetails, PydanticSerializationError, core_schema

from runner_e2e.contracts.scalars import PATTERN_WORDS
from runner_e2e.errors import DocumentError

T = TypeVar("T")
D = TypeVar("D", bound="Document")


class _AbsentNotNull:
    """In JSON the field is there with a value or not there; ``null`` is neither."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        nullable = handler(source)
        if nullable["type"] != "nullable":
            raise TypeError(f"Omittable needs an optional type, not {source!r}")
        return core_schema.json_or_python_schema(
            json_schema=nullable["schema"], python_schema=nullable
        )


def _is_none(value: object) -> bool:
    return value is None


Omittable = Annotated[T | None, _AbsentNotNull(), Field(exclude_if=_is_none)]
"""A field of the contract's form ``x?: T``. Declare it with ``= None``."""

_SHARED = ConfigDict(
    frozen=True,
    strict=True,
    allow_inf_nan=False,
    alias_generator=to_camel,
    validate_by_name=True,
    validate_by_alias=True,
    serialize_by_alias=True,
    # Instances are frozen, so one that was validated stays valid.
    revalidate_instances="never",
)


class CatalogModel(BaseModel):
    """What a person writes: a field we do not know is a mistake, so it is an error."""

    model_config = ConfigDict(**_SHARED, extra="forbid")


class Document(BaseModel):
    """What a machine wrote, perhaps a newer one than us: unknown fields are ignored."""

    model_config = ConfigDict(**_SHARED, extra="ignore")


def dump(model: BaseModel) -> bytes:
    """Serialize to the bytes of the wire: compact UTF-8 JSON and one newline.

    Same model, same bytes. Fields come in the order they are declared in. Half of a surrogate
    pair, which a file name or an environment that is no UTF-8 brings along, becomes U+FFFD: what an
    agent prints must not cost the record of a paid run.
    """
    try:
        text = model.model_dump_json(exclude_unset=True)
    except PydanticSerializationError:
        tree = dump_tree(model)
        text = _HALF_PAIR.sub(
            "\ufffd", json.dumps(tree, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        )
    return text.encode() + b"\n"


_HALF_PAIR = re.compile("[\ud800-\udfff]")


def dump_tree(model: BaseModel) -> Any:
    """The same content as :func:`dump`, as JSON-compatible Python objects."""
    return model.model_dump(mode="json", exclude_unset=True)


def canonical_json(value: Any) -> bytes:
    """Compact UTF-8 JSON with sorted keys: what every digest of ours is taken over."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON of ``value``, in lower-case hex."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def parse(model: type[D], data: bytes, source: str) -> D:
    """Read one document.

    ``source`` names the file in errors. A UTF-8 byte order mark is tolerated, since editors add it
    and it carries no meaning. Of a key that occurs twice the last counts, as in JavaScript. Raises
    :class:`DocumentError` naming the path of every bad value, as in
    ``results[3].turnTimings[0].turn``.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        # "ignore" reaches also what a person wrote and a document echoes, such as matchers.
        # Our own names of fields are for code; on the wire they are as unknown as any other.
        document = model.model_validate_json(data, extra="ignore", by_name=False)
    except ValidationError as error:
        raise DocumentError(source, explain(error, data)) from None
    if b"NaN" in data or b"Infinity" in data:
        # pydantic reads these words as numbers, also where it ignores the field. They are not JSON.
        try:
            orjson.loads(data)
        except orjson.JSONDecodeError as error:
            reason = f"invalid JSON: {error}; {_beginning(data)}"
            raise DocumentError(source, reason) from None
    return document


MAX_REASONS = 10
MAX_REASON_CHARACTERS = 300
MAX_STEP_CHARACTERS = 80

_PLAIN_STEP = re.compile(r"[A-Za-z0-9_$-]+(\.[A-Za-z0-9_$-]+)*")


def explain(error: ValidationError, data: bytes) -> str:
    """One line per bad value, at most ten, each named by its path in ``data``."""
    details = error.errors(include_url=False, include_input=False)
    if details[0]["type"] == "json_invalid":
        return f"{lower_first(details[0]['msg'])}; {_beginning(data)}"
    tree = json.loads(data)
    reasons: dict[str, str] = {}
    for detail in details:
        path = path_of(detail, tree)
        # A union reports each member that did not fit; the first says enough.
        reasons.setdefault(path, f"{path or 'the document'}: {lower_first(_quotable(detail))}")
    lines = list(reasons.values())
    if len(lines) > MAX_REASONS:
        lines[MAX_REASONS:] = [f"and {len(lines) - MAX_REASONS} more"]
    return "; ".join(lines)


def _beginning(data: bytes) -> str:
    """How the bytes begin: enough to tell an error page or a log from a document."""
    head = data[:80].decode("utf-8", "backslashreplace")
    return f"it begins with {head!r}" if head else "it is empty"


def _quotable(detail: ErrorDetails) -> str:
    """The message in one short line. It may quote the document, which may be hostile."""
    message = "".join(char if char.isprintable() else " " for char in plainly(detail))
    if len(message) > MAX_REASON_CHARACTERS:
        message = message[:MAX_REASON_CHARACTERS] + "..."
    return message


def plainly(detail: ErrorDetails) -> str:
    """What pydantic found, where its own words are those of a programmer or a bare pattern."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "string_pattern_mismatch" and context["pattern"] in PATTERN_WORDS:
        return f"Input should be {PATTERN_WORDS[context['pattern']]}"
    if kind in {"too_short", "too_long"}:
        few = kind == "too_short"
        count = context["min_length" if few else "max_length"]
        limit = "at least" if few else "at most"
        return f"Input should have {limit} {count} item{'' if count == 1 else 's'}"
    return re.sub("a valid (tuple|array)", "a list", detail["msg"])


def _field(step: str) -> str:
    """One key of a path; in quotes, escaped and cut where it is not a plain word."""
    if len(step) <= MAX_STEP_CHARACTERS and _PLAIN_STEP.fullmatch(step):
        return f".{step}"
    return f"[{json.dumps(step[:MAX_STEP_CHARACTERS])}]"


def path_of(detail: ErrorDetails, tree: Any) -> str:
    """Where a problem lies, as ``results[3].turnTimings[0].turn``.

    pydantic also names union members and tags on the way; what ``tree`` does not have is one of
    those, except at the end of a "missing" error.
    """
    path = ""
    location = detail["loc"]
    for index, step in enumerate(location):
        last = index == len(location) - 1
        if isinstance(step, int):
            path += f"[{step}]"
            tree = tree[step] if isinstance(tree, list) and step < len(tree) else None
        elif isinstance(tree, dict) and step in tree:
            path += _field(step)
            tree = tree[step]
        elif last and detail["type"] == "missing":
            path += _field(step)
    return path.removeprefix(".")


def lower_first(text: str) -> str:
    """Go on with a sentence where pydantic starts one."""
    return text[:1].lower() + text[1:]
