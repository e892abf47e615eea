"""What one attempt's secrets were found in before there was a file to collect."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from runner_e2e.contracts.evidence import Leak
from runner_e2e.evidence.redactor import Redactor
from runner_e2e.evidence.scanner import Finding


@dataclass(slots=True)
class Ledger:
    """Cleans what is about to be cut or quoted, and remembers every leak it took out.

    Half of a secret is found by no scan, so the cleaning comes before the cut. What was taken out
    is not there any more when the evidence is collected; it is a leak all the same.
    """

    redactor: Redactor
    _leaks: dict[Leak, None] = field(default_factory=dict)

    @property
    def leaks(self) -> tuple[Leak, ...]:
        """Everything so far, each once."""
        return tuple(self._leaks)

    def note(self, place: str, findings: Iterable[Finding]) -> None:
        """Remember the leaks among ``findings``, which were in the file ``place``."""
        self._leaks.update(
            (Leak(file=place, reason=finding.reason), None) for finding in findings if finding.leak
        )

    def text(self, place: str, text: str) -> str:
        """Clean a text that goes into the file ``place``."""
        clean = self.redactor.redact(text.encode("utf-8", "surrogatepass"))
        self.note(place, clean.findings)
        return clean.data.decode("utf-8", "surrogatepass") if clean.findings else text
