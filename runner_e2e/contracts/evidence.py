"""``evidence-manifest.json``: which files an attempt left, and what was wrong with them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from runner_e2e.contracts.base import Document
from runner_e2e.contracts.scalars import Count, RelativePath, Sha256

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
