"""Taking evidence across the redaction boundary."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner_e2e.contracts.base import dump
from runner_e2e.contracts.evidence import EVIDENCE_V1, EvidenceManifest, Leak
from runner_e2e.contracts.result import Result
from runner_e2e.evidence.files import write_atomically
from runner_e2e.execution.agent import Secrets
from runner_e2e.failures import Failure

MANIFEST_FILE = "evidence-manifest.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """The evidence of an attempt as it may leave the job."""

    files: frozenset[str]
    failure: Failure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Packer:
    """Packs evidence without the secrets of one execution."""

    secrets: Secrets

    def pack(self, source: Path, target: Path, *, passed: bool, turns: int) -> Packed:
        """Pack what lies below ``source``."""
        required = ["snapshots/observation.json"]
        required += [f"turns/{turn}/stdout.log" for turn in range(1, turns + 1)]
        files: list[str] = []
        leaks: list[Leak] = []
        for path in sorted(source.rglob("*")):
            if not path.is_file() or path.is_symlink():
                continue
            name = path.relative_to(source).as_posix()
            data = path.read_bytes()
            for value in self.secrets.values.values():
                if value.encode() in data:
                    leaks.append(Leak(file=name, reason="exact value"))
                    data = data.replace(value.encode(), b"[REDACTED]")
            write_atomically(target / name, data)
            files.append(name)
        missing = [name for name in required if name not in files] if passed else []
        manifest = EvidenceManifest(
            schema=EVIDENCE_V1,
            files=("result.json", *files),
            leaks=tuple(leaks),
            missing=tuple(missing),
        )
        write_atomically(target / MANIFEST_FILE, dump(manifest))
        failure: Failure | None = None
        if leaks:
            failure = Failure(
                failure_class="secret_leak",
                code="secret_leak",
                message=f"a secret was found in {', '.join(sorted({one.file for one in leaks}))}",
            )
        elif missing:
            failure = Failure(
                failure_class="permanent_infrastructure",
                code="evidence_missing",
                message=f"required evidence is missing: {', '.join(missing)}",
            )
        return Packed(files=frozenset(files), failure=failure)

    def redact(self, result: Result) -> Result:
        """Take the secrets out of a result."""
        text = result.model_dump_json(exclude_unset=True)
        for value in self.secrets.values.values():
            text = text.replace(value, "[REDACTED]")
        return Result.model_validate_json(text)
