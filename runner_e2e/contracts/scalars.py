"""Scalars that the documents share: their grammar and their range.

Everything here is checked inside pydantic's core (a pattern or a bound), because a campaign
reads tens of thousands of results and a Python call per field would double that time.
"""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints
from pydantic import JsonValue as AnyJson

# JavaScript reads every number as a double; above this an integer changes on the way.
MAX_SAFE_INTEGER = 2**53 - 1

# Ids become directory, job and artifact names, so the grammar is the narrowest of those.
SEGMENT = r"[a-z0-9][a-z0-9_-]*"
MAX_EXECUTION_ID_BYTES = 200

Count = Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)]
"""A whole number from 0."""

Ordinal = Annotated[int, Field(ge=1, le=MAX_SAFE_INTEGER)]
"""A whole number from 1."""

Milliseconds = Annotated[
    Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)] | Annotated[float, Field(ge=0)], Field()
]
"""A duration in milliseconds, whole or not."""

Amount = Annotated[
    Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)] | Annotated[float, Field(ge=0)], Field()
]
"""A finite quantity from 0: US dollars, cores, GiB."""

Timestamp = Annotated[
    str,
    StringConstraints(
        pattern=(
            r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
            r"T([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$"
        )
    ),
]
"""RFC 3339. We write UTC with milliseconds and ``Z``; other offsets are read."""

HttpUrl = Annotated[
    str, StringConstraints(pattern=r"^https?://[A-Za-z0-9.\-\[\]:]+(/[^\s\x00-\x1f]*)?$")
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


def is_confined(path: str) -> bool:
    """Tell whether ``path`` stays below the directory it is relative to."""
    parts = path.split("/")
    return not path.startswith("/") and "\\" not in path and not {"", ".", ".."} & set(parts)


def _finite(value: AnyJson) -> AnyJson:
    """Refuse what JSON has no word for, however deep: NaN, infinity, integers past 64 bits."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, float):
            if not math.isfinite(item):
                raise ValueError("a number must be finite")
        elif isinstance(item, int) and not -(2**63) <= item < 2**64:
            raise ValueError("an integer must fit in 64 bits")
    return value


JsonValue = Annotated[AnyJson, AfterValidator(_finite)]
"""Any JSON value; numbers are finite."""

JsonObject = Annotated[dict[str, AnyJson], AfterValidator(_finite)]
