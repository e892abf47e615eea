"""The observation as evidence: whole where it fits, else without its longest texts."""

from __future__ import annotations

from typing import Any

from runner_e2e.contracts.base import canonical_json

MAX_SNAPSHOT_BYTES = 6 * 1024 * 1024
"""Below what the evidence takes of one file, so that a long-winded agent loses no pass by it."""
TEXT_LIMITS = (65_536, 4_096, 256, 16)


def snapshot(tree: dict[str, Any]) -> bytes:
    """Write an observation in at most :data:`MAX_SNAPSHOT_BYTES`.

    A text that is too long is left out whole: half of one could hold half of a secret, which no
    scan would find.
    """
    data = canonical_json(tree)
    for limit in TEXT_LIMITS:
        if len(data) <= MAX_SNAPSHOT_BYTES:
            return data
        data = canonical_json(_without_long_texts(tree, limit))
    if len(data) <= MAX_SNAPSHOT_BYTES:
        return data
    return canonical_json({"issue": tree.get("issue"), "leftOut": "everything else is too long"})


def _without_long_texts(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        size = len(value.encode())
        return value if size <= limit else f"[{size} bytes left out]"
    if isinstance(value, list | tuple):
        return [_without_long_texts(item, limit) for item in value]
    if isinstance(value, dict):
        return {key: _without_long_texts(item, limit) for key, item in value.items()}
    return value
