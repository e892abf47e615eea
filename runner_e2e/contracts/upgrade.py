"""Bring an older result up to date, without inventing what it did not say."""

from __future__ import annotations

from collections.abc import Collection

from runner_e2e.contracts.result import Result, Source

# The suite that all executions belonged to before ids named one.
FIRST_SUITE = "core-compatibility"


def canonical_execution_id(execution_id: str, known: Collection[str]) -> str:
    """Name the execution as today's catalog does.

    An id that ``known`` has is kept; a three-part one gets the first suite in front where that
    makes a known id; anything else is left alone and will be listed as an extra.
    """
    if execution_id in known:
        return execution_id
    candidate = f"{FIRST_SUITE}.{execution_id}"
    return candidate if candidate in known else execution_id


def upgrade_result(result: Result, known: Collection[str]) -> Result:
    """Give a result the fields that ours always have. One that has them comes back as it is.

    The definition hash stays absent when the file did not have it: giving an old result today's
    fingerprint would claim a comparison that nobody made.
    """
    execution_id = canonical_execution_id(result.execution_id, known)
    changes: dict[str, object] = {}
    if execution_id != result.execution_id:
        changes["execution_id"] = execution_id
    if result.suite_id is None:
        changes["suite_id"] = execution_id.split(".")[0]
    if result.source is None:
        changes["source"] = Source(sha=None, ref=None, workflow_run_url=None)
    return result.model_copy(update=changes) if changes else result
