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
from runner_e2e.evidence.ledger import Ledger
from runner_e2e.evidence.pictures import MAX_PNG_BYTES, PNG_SIGNATURE, png_problem
from runner_e2e.evidence.redactor import Redacted, Redactor, StreamRedactor
from runner_e2e.evidence.scanner import Finding, Scanner

__all__ = [
    "MANIFEST",
    "MAX_PNG_BYTES",
    "NOTES",
    "PNG_SIGNATURE",
    "ArchiveReader",
    "Budget",
    "Collected",
    "Finding",
    "Ledger",
    "Redacted",
    "Redactor",
    "Scanner",
    "StreamRedactor",
    "Uninspectable",
    "collect_evidence",
    "png_problem",
    "write_atomically",
]
