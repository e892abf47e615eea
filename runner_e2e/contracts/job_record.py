"""``job-record.json``: that a job began, and how far it came.

It is written before any money is spent and again at the end, so a job that dies in between leaves
a record that says so instead of nothing.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from runner_e2e.contracts.base import Document, Omittable
from runner_e2e.contracts.billing import BillingSummary
from runner_e2e.contracts.evidence import FileDigest
from runner_e2e.contracts.result import Source
from runner_e2e.contracts.scalars import Amount, ExecutionId, Ordinal, Sha256, Timestamp
from runner_e2e.contracts.vocabulary import FailureClass, Status

JOB_RECORD_V1: Literal["runner-e2e.job-record/v1"] = "runner-e2e.job-record/v1"


class AttemptRecord(Document):
    """One attempt of the harness; all of them are kept, also those a later one replaced."""

    attempt: Ordinal
    status: Status
    failure_class: Omittable[FailureClass] = None
    code: Omittable[str] = None
    """Machine-readable reason inside the class, such as ``deadline`` or ``protocol_error``."""
    started_at: Timestamp
    finished_at: Timestamp
    billing: Omittable[BillingSummary] = None


class Resource(Document):
    """Something created outside the job's own directory, which a sweep may have to delete."""

    kind: str
    id: str
    created_at: Timestamp
    deleted_at: Omittable[Timestamp] = None


class JobRecord(Document):
    """One job of the matrix. ``run_id`` is absent and ``run_attempt`` 1 on one's own machine."""

    schema_: Literal["runner-e2e.job-record/v1"] = Field(alias="schema")
    execution_id: ExecutionId
    plan_digest: Omittable[Sha256] = None
    suite_definition_hash: Sha256
    source: Source
    run_id: Omittable[str] = None
    run_attempt: Ordinal
    state: Literal["started", "finished", "interrupted"]
    started_at: Timestamp
    finished_at: Omittable[Timestamp] = None
    attempts: tuple[AttemptRecord, ...]
    repeats: tuple[AttemptRecord, ...] = ()
    """Runs after a final failure, to tell a break from noise. They change no result."""
    overran_usd: Omittable[Amount] = None
    """What the execution was allowed to cost, where it cost more."""
    resources: tuple[Resource, ...]
    files: tuple[FileDigest, ...]
    """What the job wrote, relative to the record; a later stage trusts a file by its digest."""
