"""Taking an attempt's evidence and its result across the redaction boundary."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner_e2e.contracts.base import dump
from runner_e2e.contracts.evidence import EVIDENCE_V1, EvidenceManifest, Leak
from runner_e2e.contracts.matcher import (
    FileContains,
    FileExact,
    JsonPath,
    JsonSchema,
    Matcher,
    MessageContains,
    MessageExact,
    MessageOccurrences,
    MessageOrdered,
    MessageRegex,
)
from runner_e2e.contracts.result import Result
from runner_e2e.evidence import MANIFEST, Finding, Redactor, collect_evidence, write_atomically
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
        required: Sequence[str] = (),
    ) -> Packed:
        """Copy what may leave from ``source`` to ``target``; ``leaks`` were taken out before.

        ``required`` is what a pass needs beside :func:`required_files`.

        Fails closed: where the boundary itself breaks, nothing leaves.
        """
        try:
            collected = collect_evidence(
                source,
                target,
                self.redactor,
                required=(*required_files(turns), *required),
                leaks=leaks,
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
        """Take secrets out of a result. One that was there is a leak, as in any other file.

        Only words are looked at. Ids, times and hashes come from the plan or from us: a credential
        whose value occurs in one must not cost a result that was paid for.
        """
        findings: dict[Finding, None] = {}

        def text(value: Any) -> Any:
            cleaned, found = self.redactor.redact_json(value)
            findings.update(dict.fromkeys(found))
            return cleaned

        clean = _with_words(result, text)
        leaks = sorted({finding.reason for finding in findings if finding.leak})
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


def _with_words(result: Result, text: Callable[[Any], Any]) -> Result:
    """The result with every word in it that an agent, a server or a matcher wrote put anew."""
    changed: dict[str, Any] = {}
    if result.error is not None:
        changed["error"] = text(result.error)
    if result.usage is not None:
        changed["usage"] = _with_reports(result.usage, text)
    if result.matcher_results is not None:
        changed["matcher_results"] = tuple(
            one.model_copy(
                update={"detail": text(one.detail), "matcher": _with_text(one.matcher, text)}
            )
            for one in result.matcher_results
        )
    if result.screenshots is not None:
        changed["screenshots"] = tuple(
            one.model_copy(update={"label": text(one.label)}) for one in result.screenshots
        )
    return result.model_copy(update=changed)


def _with_reports(usage: Mapping[str, Any], text: Callable[[Any], Any]) -> dict[str, Any]:
    """What each run reported put anew; the run ids beside it are ours."""
    return {
        "runs": [
            {key: value if key == "runId" else text(value) for key, value in run.items()}
            for run in usage["runs"]
        ]
    }


def _with_text(matcher: Matcher, text: Callable[[Any], Any]) -> Matcher:
    """The matcher with what it expects put anew, unless that is one word of a fixed set."""
    match matcher:
        case MessageRegex():
            return matcher.model_copy(update={"pattern": text(matcher.pattern)})
        case MessageOrdered():
            return matcher.model_copy(update={"expected": tuple(map(text, matcher.expected))})
        case JsonSchema():
            return matcher.model_copy(update={"schema_": text(matcher.schema_)})
        case (
            MessageExact()
            | MessageContains()
            | MessageOccurrences()
            | FileExact()
            | FileContains()
            | JsonPath()
        ):
            return matcher.model_copy(update={"expected": text(matcher.expected)})
        case _:
            return matcher


def _leak(manifest: EvidenceManifest) -> SecretLeak:
    places = sorted({f"{leak.file}: {leak.reason}" for leak in manifest.leaks})
    shown = "; ".join(places[:10]) + (f" and {len(places) - 10} more" if places[10:] else "")
    return SecretLeak("secret_leak", f"a secret was found in the evidence: {shown}")
