"""``evidence-manifest.json``: which files an attempt left, and what was wrong with them."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field

from runner_e2e.contracts.base import Document
from runner_e2e.contracts.scalars import SEGMENT, Count, RelativePath, Sha256

EVIDENCE_V1: Literal["paperclip.runner-e2e.evidence/v1"] = "paperclip.runner-e2e.evidence/v1"


class Leak(Document):
    """A file in which a secret, or something shaped like one, was found."""

    file: RelativePath
    reason: str


class FileDigest(Document):
    """One file: its path below the document that names it, its digest, its size."""

    path: RelativePath
    sha256: Sha256
    bytes: Count


class EvidenceManifest(Document):
    """Every evidence file of one attempt, without the manifest itself."""

    schema_: Literal["paperclip.runner-e2e.evidence/v1"] = Field(alias="schema")
    files: tuple[RelativePath, ...]
    leaks: tuple[Leak, ...]
    missing: tuple[RelativePath, ...]


_PICTURE = re.compile(
    rf"evidence/{SEGMENT}(?:\.{SEGMENT}){{3}}/attempt-[1-9][0-9]*"
    r"/[A-Za-z0-9][A-Za-z0-9._-]{0,199}\.png"
)


def evidence_path(execution_id: str, attempt: int, file: str) -> str:
    """Where a report holds the screenshot ``file`` of a result: the name counts, not its folder."""
    return f"evidence/{execution_id}/attempt-{attempt}/{file.rpartition('/')[2]}"


def is_picture_path(path: str) -> bool:
    """Tell whether a report may hold a picture at ``path``: a plain name in the right folder."""
    return _PICTURE.fullmatch(path) is not None
