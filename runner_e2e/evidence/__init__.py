"""The boundary that everything passes before it leaves the job, and the files that pass it."""

from runner_e2e.evidence.archives import ArchiveReader, Uninspectable
from runner_e2e.evidence.collect import (
    MANIFEST,
    NOTES,
    Budget,
    Collected,
    collect_evidence,
)
from runner_e2e.evidence.files import write_atomically
from runner_e2e.evidence.redactor import Redacted, Redactor, StreamRedactor
from runner_e2e.evidence.scanner import Finding, Scanner

__all__ = [
    "MANIFEST",
    "NOTES",
    "ArchiveReader",
    "Budget",
    "Collected",
    "Finding",
    "Redacted",
    "Redactor",
    "Scanner",
    "StreamRedactor",
    "Uninspectable",
    "collect_evidence",
    "write_atomically",
]
