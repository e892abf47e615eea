"""Model rankings that were captured once and are kept beside the catalog.

A profile made from a ranking names its snapshot, so that a result can be traced to the list it
came from. Reference 1.8 rule 15.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Literal

import orjson
from pydantic import Field, StringConstraints

from runner_e2e.contracts.base import Document, parse
from runner_e2e.contracts.result import RankingSnapshotEntry
from runner_e2e.contracts.scalars import Ordinal, Sha256, Timestamp
from runner_e2e.errors import DocumentError

RANKING_V1: Literal["paperclip.runner-e2e.openrouter-ranking/v1"] = (
    "paperclip.runner-e2e.openrouter-ranking/v1"
)

RANKED_MODELS = 5
"""How many models a snapshot holds."""

_NotBlank = Annotated[str, StringConstraints(pattern=r"\S")]


class RankedModel(Document):
    """One model of the list. ``id`` is ``owner/name``."""

    rank: Ordinal
    id: Annotated[str, StringConstraints(pattern=r"^[^/\s]+/[^/\s]+$")]
    name: _NotBlank
    supported_parameters: tuple[str, ...]


class RankingSnapshot(Document):
    """The five most used models that can call tools, as they were on one day."""

    schema_: Literal["paperclip.runner-e2e.openrouter-ranking/v1"] = Field(alias="schema")
    ranking: Literal["top-weekly"]
    required_parameter: Literal["tools"]
    snapshot_id: _NotBlank
    source_url: Annotated[str, StringConstraints(pattern=r"^https://openrouter\.ai/")]
    captured_at: Timestamp
    models: Annotated[
        tuple[RankedModel, ...], Field(min_length=RANKED_MODELS, max_length=RANKED_MODELS)
    ]
    content_hash: Sha256

    def entry(self, rank: int) -> RankingSnapshotEntry:
        """What a profile made from the model at ``rank`` must carry."""
        return RankingSnapshotEntry(
            snapshot_id=self.snapshot_id,
            captured_at=self.captured_at,
            source_url=self.source_url,
            rank=rank,
            canonical_model_id=self.models[rank - 1].id,
        )


def models_hash(models: list[Mapping[str, object]]) -> str:
    """SHA-256 of the compact JSON of the list, its keys in the order of the file."""
    return hashlib.sha256(orjson.dumps(models)).hexdigest()


def read_ranking(data: bytes, source: str) -> RankingSnapshot:
    """Read a snapshot and check all that a schema cannot say. Raises :class:`DocumentError`."""
    snapshot = parse(RankingSnapshot, data, source)
    seen: set[str] = set()
    for index, model in enumerate(snapshot.models):
        if model.rank != index + 1:
            raise DocumentError(
                source, f"models[{index}].rank: must be {index + 1}, not {model.rank}"
            )
        if "tools" not in model.supported_parameters:
            raise DocumentError(source, f"models[{index}]: {model.id} does not support tools")
        if model.id in seen:
            raise DocumentError(source, f"models[{index}].id: {model.id} is in the list twice")
        seen.add(model.id)
    expected = models_hash(orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))["models"])
    if snapshot.content_hash != expected:
        raise DocumentError(
            source,
            f"contentHash: must be {expected}, not {snapshot.content_hash}",
            hint="the list was changed after it was captured; capture it again",
        )
    return snapshot
