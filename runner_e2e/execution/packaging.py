"""Taking an attempt's evidence and its result across the redaction boundary."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner_e2e.contracts.base import canonical_json, dump, dump_tree, parse
from runner_e2e.contracts.evidence import EVIDENCE_V1, EvidenceManifest, Leak
from runner_e2e.contracts.result import Result
from runner_e2e.evidence import MANIFEST, Redactor, collect_evidence, write_atomically
from runner_e2e.execution.records import RESULT_FILE
from runner_e2e.failures import (
    Failure,
    PermanentInfrastructure,
    SecretLeak,
    failure_of,
)

OBSERVATION_FILE = "snapshots/observation.json"


def required_files(turns: int) -> tuple[str, ...]:
    """What must be among the evidence of a pass, beside the result itself."""
    return (OBSERVATION_FILE, *(f"turns/{turn}/stdout.log" for turn in range(1, turns + 1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """What crossed the boundary, and the failure that follows from what did not."""

    manifest: EvidenceManifest
    failure: Failure | None

    @classmethod
    def nothing(cls, error: Exception) -> Packed:
        """Nothing crossed it, since something broke on the way."""
        empty = EvidenceManifest(schema=EVIDENCE_V1, files=(), leaks=(), missing=())
        return cls(manifest=empty, failure=failure_of(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class Packer:
    """Packs for one execution, whose secrets ``redactor`` knows."""

    redactor: Redactor

    def pack(
        self,
        source: Path,
        target: Path,
        *,
        passed: bool,
        turns: int,
        leaks: Sequence[Leak] = (),
    ) -> Packed:
        """Copy what may leave from ``source`` to ``target``; ``leaks`` were taken out before.

        Fails closed: where the boundary itself breaks, nothing leaves.
        """
        try:
            required = required_files(turns)
            collected = collect_evidence(
                source, target, self.redactor, required=required, leaks=leaks
            )
        except Exception as error:  # noqa: BLE001 - a hostile file that breaks us must not get past
            shutil.rmtree(target, ignore_errors=True)
            return Packed.nothing(error)
        manifest = collected.manifest
        if manifest.leaks:
            return Packed(manifest=manifest, failure=failure_of(_leak(manifest)))
        if passed and manifest.missing:
            missing = f"required evidence is missing: {', '.join(manifest.missing)}"
            failure = failure_of(PermanentInfrastructure("evidence_missing", missing))
            return Packed(manifest=manifest, failure=failure)
        return Packed(manifest=manifest, failure=None)

    def clean(self, result: Result) -> tuple[Result, Failure | None]:
        """Take secrets out of a result. One that was there is a leak, as in any other file."""
        tree, findings = self.redactor.redact_json(dump_tree(result))
        leaks = sorted({finding.reason for finding in findings if finding.leak})
        clean = parse(Result, canonical_json(tree), RESULT_FILE)
        if not leaks:
            return clean, None
        return clean, failure_of(SecretLeak("secret_leak", f"{RESULT_FILE}: {', '.join(leaks)}"))

    def write(
        self, target: Path, result: Result, manifest: EvidenceManifest, name: str = RESULT_FILE
    ) -> None:
        """Write a clean result beside its evidence and list it in the manifest."""
        write_atomically(target / name, dump(result))
        files = tuple(sorted({*manifest.files, name}))
        write_atomically(target / MANIFEST, dump(manifest.model_copy(update={"files": files})))


def _leak(manifest: EvidenceManifest) -> SecretLeak:
    places = sorted({f"{leak.file}: {leak.reason}" for leak in manifest.leaks})
    shown = "; ".join(places[:10]) + (f" and {len(places) - 10} more" if places[10:] else "")
    return SecretLeak("secret_leak", f"a secret was found in the evidence: {shown}")
