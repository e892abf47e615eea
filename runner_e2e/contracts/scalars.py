"""Scalars that the documents share: their grammar and their range.

Everything here is checked inside pydantic's core (a pattern or a bound), because a campaign
reads tens of thousands of results and a Python call per field would double that time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, Field, GetCoreSchemaHandler, StringConstraints
from pydantic import JsonValue as AnyJson
from pydantic_core import CoreSchema, PydanticCustomError

# JavaScript reads every number as a double; above this an integer changes on the way.
MAX_SAFE_INTEGER = 2**53 - 1

# Ids become directory, job and artifact names, so the grammar is the narrowest of those.
SEGMENT = r"[a-z0-9][a-z0-9_-]*"
MAX_EXECUTION_ID_BYTES = 200

Count = Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)]
"""A whole number from 0."""

Ordinal = Annotated[int, Field(ge=1, le=MAX_SAFE_INTEGER)]
"""A whole number from 1."""


@dataclass(frozen=True, slots=True)
class _Range:
    """Say once what a number must be, instead of once for each way to write it."""

    words: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        schema = handler(source)
        if schema["type"] != "union":
            raise TypeError(f"a number is a union of two kinds, not {source!r}")
        return {
            **schema,
            "custom_error_type": "number",
            "custom_error_message": f"Input should be a number {self.words}",
        }


Milliseconds = Annotated[
    Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)]
    | Annotated[float, Field(ge=0, allow_inf_nan=False)],
    _Range("from 0"),
]
"""A duration in milliseconds, whole or not."""

Amount = Annotated[
    Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)]
    | Annotated[float, Field(ge=0, allow_inf_nan=False)],
    _Range("from 0"),
]
"""A finite quantity from 0: US dollars, cores, GiB."""

Share = Annotated[
    Annotated[int, Field(ge=0, le=1)] | Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)],
    _Range("from 0 to 1"),
]
"""A part of a whole, from 0 to 1."""

# Every text that fits is a real moment that Python can convert to UTC: a day that its month has,
# leap years and all, in years that no offset carries out of range.
_YEAR = r"[12][0-9]{3}"
_LEAP_YEAR = r"([12][0-9](0[48]|[2468][048]|[13579][26])|(12|16|20|24|28)00)"
_DATE = (
    rf"({_YEAR}-(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])"
    rf"|{_YEAR}-(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    rf"|{_YEAR}-02-(0[1-9]|1[0-9]|2[0-8])|{_LEAP_YEAR}-02-29)"
)
_CLOCK = r"([01][0-9]|2[0-3]):[0-5][0-9]"

Timestamp = Annotated[
    str,
    StringConstraints(
        pattern=rf"^{_DATE}T{_CLOCK}:([0-5][0-9]|60)(\.[0-9]{{1,9}})?(Z|[+-]{_CLOCK})$"
    ),
]
"""RFC 3339. We write UTC with milliseconds and ``Z``; other offsets are read."""

HttpUrl = Annotated[
    str, StringConstraints(pattern=r"^https?://[A-Za-z0-9._\-\[\]:]+([/?#][^\s\x00-\x1f]*)?$")
]
"""An absolute http(s) URL without user information."""

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]

ItemId = Annotated[str, StringConstraints(pattern=rf"^{SEGMENT}$")]
"""The id of a suite, profile, environment or case."""

ExecutionId = Annotated[
    str,
    StringConstraints(
        pattern=rf"^{SEGMENT}\.{SEGMENT}\.{SEGMENT}\.{SEGMENT}$",
        max_length=MAX_EXECUTION_ID_BYTES,
    ),
]
"""``<suite>.<profile>.<environment>.<case>``."""

ResultExecutionId = Annotated[
    str,
    StringConstraints(
        pattern=rf"^{SEGMENT}(\.{SEGMENT}){{2,3}}$", max_length=MAX_EXECUTION_ID_BYTES
    ),
]
"""An execution id as results carry it: the first version had no suite in front."""

CampaignId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$")]

RelativePath = Annotated[
    str, StringConstraints(pattern=r"^[^/\\\x00-\x1f][^\\\x00-\x1f]*$", max_length=4096)
]
"""A path inside a directory of ours, ``/`` between its parts.

The pattern keeps out what can never be right (absolute, backslash, control characters); whoever
opens the path checks its parts with :func:`is_confined`.
"""


def _pattern(kind: Any) -> str:
    """The pattern of one of the texts above."""
    (constraints,) = get_args(kind)[1:]
    return str(constraints.pattern)


PATTERN_WORDS: Mapping[str, str] = {
    _pattern(Timestamp): "a timestamp such as 2026-11-30T20:05:42.123Z",
    _pattern(HttpUrl): "an http or https address without user information",
    _pattern(Sha256): "a SHA-256 of 64 lower-case hex digits",
    _pattern(ItemId): "an id of lower-case letters, digits, - and _",
    _pattern(ExecutionId): "an execution id, suite.profile.environment.case",
    _pattern(ResultExecutionId): "an execution id, suite.profile.environment.case",
    _pattern(CampaignId): "a campaign id of letters, digits, '.', '_' and '-'",
    _pattern(RelativePath): "a relative path with '/' between its parts",
}
"""What a text of each pattern is, for who wrote another one."""


def is_confined(path: str) -> bool:
    """Tell whether ``path`` stays below the directory it is relative to."""
    parts = path.split("/")
    return not path.startswith("/") and "\\" not in path and not {"", ".", ".."} & set(parts)


# The reader gives up at 200 levels. What is free must also fit where one document holds another (a
# campaign its results), or we would write what we cannot read.
MAX_JSON_DEPTH = 100


def _bounded(value: AnyJson) -> AnyJson:
    """Refuse what JSON has no word for, and what readers of ours or of others would choke on."""
    level = [value]
    for _ in range(MAX_JSON_DEPTH):
        below: list[AnyJson] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
            elif isinstance(item, float):
                if not math.isfinite(item):
                    raise PydanticCustomError("finite", "A number must be finite")
            elif isinstance(item, int) and not -(2**63) <= item < 2**64:
                raise PydanticCustomError("big", "An integer must fit in 64 bits")
        if not below:
            return value
        level = below
    raise PydanticCustomError("deep", f"At most {MAX_JSON_DEPTH} levels of JSON fit here")


JsonValue = Annotated[AnyJson, AfterValidator(_bounded)]
"""Any JSON value: numbers are finite, integers fit in 64 bits, at most 100 levels."""

JsonObject = Annotated[dict[str, AnyJson], AfterValidator(_bounded)]
