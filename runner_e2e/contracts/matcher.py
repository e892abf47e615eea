"""The fifteen matchers, as one union told apart by ``kind``.

A person writes them in the catalog and results carry them back, word for word.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from runner_e2e.contracts.base import CatalogModel, Omittable
from runner_e2e.contracts.scalars import Count, JsonObject, JsonValue
from runner_e2e.contracts.vocabulary import EnvironmentId, Generation


class MessageExact(CatalogModel):
    """The last run's message is ``expected``, after normalisation."""

    kind: Literal["message_exact"]
    expected: str


class MessageContains(CatalogModel):
    """``expected`` occurs in the agent's messages."""

    kind: Literal["message_contains"]
    expected: str


class MessageOccurrences(CatalogModel):
    """``expected`` occurs exactly ``count`` times, without overlap."""

    kind: Literal["message_occurrences"]
    expected: str
    count: Count


class MessageRegex(CatalogModel):
    """``pattern`` is found in the messages; ``flags`` are JavaScript's."""

    kind: Literal["message_regex"]
    pattern: str
    flags: Omittable[str] = None


class MessageOrdered(CatalogModel):
    """Each fragment is found after the end of the one before it."""

    kind: Literal["message_ordered"]
    expected: tuple[str, ...]


class IssueStatus(CatalogModel):
    """The issue ended in this status."""

    kind: Literal["issue_status"]
    expected: str


class RunStatus(CatalogModel):
    """Every run ended in this status."""

    kind: Literal["run_status"]
    expected: str


class RuntimeMode(CatalogModel):
    """The runs used this generation of the runtime."""

    kind: Literal["runtime_mode"]
    expected: Generation


class EnvironmentMatcher(CatalogModel):
    """The runs were observed in this environment."""

    kind: Literal["environment"]
    expected: EnvironmentId


class FileExists(CatalogModel):
    """The workspace has this file; an empty one counts."""

    kind: Literal["file_exists"]
    path: str


class FileExact(CatalogModel):
    """The file's text is ``expected``, byte for byte."""

    kind: Literal["file_exact"]
    path: str
    expected: str


class FileContains(CatalogModel):
    """``expected`` occurs in the file's text."""

    kind: Literal["file_contains"]
    path: str
    expected: str


class ArtifactExists(CatalogModel):
    """The agent published an artifact of this name and, where given, type."""

    kind: Literal["artifact_exists"]
    name: str
    mime_type: Omittable[str] = None


class JsonPath(CatalogModel):
    """The value at ``path`` of the observation equals ``expected``."""

    kind: Literal["json_path"]
    path: str
    expected: JsonValue


class JsonSchema(CatalogModel):
    """The observation fits a JSON Schema (draft 2020-12)."""

    kind: Literal["json_schema"]
    schema_: JsonObject = Field(alias="schema")


Matcher = Annotated[
    MessageExact
    | MessageContains
    | MessageOccurrences
    | MessageRegex
    | MessageOrdered
    | IssueStatus
    | RunStatus
    | RuntimeMode
    | EnvironmentMatcher
    | FileExists
    | FileExact
    | FileContains
    | ArtifactExists
    | JsonPath
    | JsonSchema,
    Field(discriminator="kind"),
]
