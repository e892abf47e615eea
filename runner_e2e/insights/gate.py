"""Whether a report may pass: by the verdicts of its cells, by thresholds, and by quarantine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner_e2e.contracts.catalog import QuarantineEntry
from runner_e2e.contracts.judgement import (
    GATE_V1,
    RED_VERDICTS,
    CellVerdict,
    Finding,
    Gate,
    Verdict,
)
from runner_e2e.contracts.plan import Plan, PlannedSuite
from runner_e2e.insights.formulas import wilson
from runner_e2e.insights.words import WORDS, evidence_words

DEFAULT_FAIL_ON: frozenset[Verdict] = RED_VERDICTS | {"unmeasured"}
"""A campaign that measured nothing must not open a gate."""
EXCUSABLE: frozenset[Verdict] = RED_VERDICTS | {"flaky"}
"""What a quarantine covers: a candidate known to fail, never infrastructure or a leak."""


def judge_gate(
    campaign_id: str,
    plan: Plan,
    verdicts: Mapping[str, CellVerdict],
    *,
    day: str,
    fail_on: frozenset[Verdict] = DEFAULT_FAIL_ON,
) -> Gate:
    """Hold the cells of a plan against ``fail_on`` and against what its suites say.

    ``day`` is today as ``2026-11-30``, in UTC. A quarantine holds through its last day; an expired
    one is a finding, whatever its cell does. In a suite with ``minPassRate`` a failure that may be
    noise is left to that threshold; one that is broken is a finding all the same.
    """
    judging = _Judging(day=day, fail_on=fail_on, verdicts=verdicts)
    findings: list[Finding] = []
    excused: list[Finding] = []
    notices: list[str] = []
    planned = set(plan.expected)
    for suite in plan.catalog.suites:
        ids = [each for each in suite.execution_ids if each in planned]
        if not ids:
            continue
        bad, good = judging.cells(suite, ids)
        findings += [*bad, *judging.expired(suite), *judging.thresholds(suite, ids)]
        excused += good
        notices += judging.liftable(suite, ids)
    if not planned:
        findings.append(Finding(kind="nothing_measured", message="nothing was planned"))
    return Gate(
        schema=GATE_V1,
        campaign_id=campaign_id,
        day=day,
        opened=not findings,
        findings=tuple(findings),
        excused=tuple(excused),
        notices=tuple(notices),
        verdicts={each: verdicts[each] for each in plan.expected if each in verdicts},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judging:
    day: str
    fail_on: frozenset[Verdict]
    verdicts: Mapping[str, CellVerdict]

    def word(self, execution_id: str) -> Verdict:
        """The verdict of a cell. One that nobody judged is one that nobody measured."""
        found = self.verdicts.get(execution_id)
        return found.verdict if found else "unmeasured"

    def cells(self, suite: PlannedSuite, ids: Sequence[str]) -> tuple[list[Finding], list[Finding]]:
        """The cells that fail the gate, and those that would."""
        covered = {each.execution_id: each for each in suite.quarantine if self._holds(each)}
        tolerant = suite.gate is not None and suite.gate.min_pass_rate is not None
        bad, good = [], []
        for execution_id in ids:
            word = self.word(execution_id)
            if word not in self.fail_on:
                continue
            entry = covered.get(execution_id)
            if entry is not None and word in EXCUSABLE:
                good.append(self._finding(execution_id, _in_quarantine(entry)))
            elif tolerant and word == "new_failure":
                good.append(self._finding(execution_id, "left to the pass rate of its suite"))
            else:
                bad.append(self._finding(execution_id, None))
        return bad, good

    def expired(self, suite: PlannedSuite) -> list[Finding]:
        """The quarantines that ran out: somebody promised to look."""
        return [
            Finding(
                kind="quarantine_expired",
                execution_id=entry.execution_id,
                suite_id=suite.id,
                message=f"the quarantine of {entry.owner} ended on {entry.expires}: {entry.reason}",
            )
            for entry in suite.quarantine
            if not self._holds(entry)
        ]

    def thresholds(self, suite: PlannedSuite, ids: Sequence[str]) -> list[Finding]:
        """What the suite asks for as a whole, of its measured cells outside of quarantine."""
        gate = suite.gate
        if gate is None or (gate.min_pass_rate is None and gate.max_flaky_rate is None):
            return []
        covered = {each.execution_id for each in suite.quarantine if self._holds(each)}
        measured = [
            self.verdicts[each]
            for each in ids
            if each not in covered and self.word(each) != "unmeasured"
        ]
        if not measured:
            message = "no cell of the suite was measured, so its thresholds say nothing"
            return [Finding(kind="nothing_measured", suite_id=suite.id, message=message)]
        passed = sum(each.green for each in measured)
        flaky = sum(each.verdict == "flaky" for each in measured)
        findings = []
        if gate.min_pass_rate is not None and passed / len(measured) < gate.min_pass_rate:
            told = f"{_share(passed, len(measured))} passed, {gate.min_pass_rate:.0%} are asked for"
            findings.append(Finding(kind="pass_rate", suite_id=suite.id, message=told))
        if gate.max_flaky_rate is not None and flaky / len(measured) > gate.max_flaky_rate:
            told = f"{_share(flaky, len(measured))} flaky, {gate.max_flaky_rate:.0%} are allowed"
            findings.append(Finding(kind="flaky_rate", suite_id=suite.id, message=told))
        return findings

    def liftable(self, suite: PlannedSuite, ids: Sequence[str]) -> list[str]:
        """The quarantines whose cells are well again."""
        return [
            f"{entry.execution_id} is in quarantine until {entry.expires} and green"
            for entry in suite.quarantine
            if entry.execution_id in ids
            and self._holds(entry)
            and self.word(entry.execution_id) in {"passed", "recovered"}
        ]

    def _holds(self, entry: QuarantineEntry) -> bool:
        return self.day <= entry.expires

    def _finding(self, execution_id: str, excuse: str | None) -> Finding:
        found = self.verdicts.get(execution_id)
        told = evidence_words(found) if found else "no outcome of it is known"
        word = self.word(execution_id)
        return Finding(
            kind="cell",
            execution_id=execution_id,
            suite_id=execution_id.split(".", maxsplit=1)[0],
            verdict=word,
            message=f"{WORDS[word]}: {told}" + (f" ({excuse})" if excuse else ""),
        )


def _in_quarantine(entry: QuarantineEntry) -> str:
    return f"in quarantine until {entry.expires}, {entry.owner}: {entry.reason}"


def _share(part: int, whole: int) -> str:
    interval = wilson(part, whole)
    return f"{part} of {whole} ({interval.low:.0%} to {interval.high:.0%})"
