"""Two campaigns, paired by execution id, and whether the difference is more than noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from runner_e2e.contracts.history import CellCampaign, CellOutcome, CellSeries
from runner_e2e.contracts.judgement import (
    COMPARISON_V1,
    CampaignRef,
    CellChange,
    CellVerdict,
    Comparison,
    Totals,
)
from runner_e2e.errors import UsageError
from runner_e2e.insights.formulas import anomaly, benjamini_hochberg, fisher, mcnemar
from runner_e2e.insights.trials import MONTH, Trial, is_measured, window_of
from runner_e2e.insights.verdicts import outcomes_from, verdict_of

SIGNIFICANT = 0.05
LEAST_USD = 0.05
"""A difference of a run's cost that is worth a word."""
LEAST_MS = 30_000
"""The same of its duration."""

Change = Literal[
    "regression", "recovery", "still_failing", "still_passing", "unmeasured", "only_in_one"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One campaign: what each of its cells came to, by execution id, in the order of its plan."""

    campaign_id: str
    campaign: CellCampaign
    outcomes: Mapping[str, CellOutcome]

    def totals(self) -> Totals:
        """Add up. What is unmeasured is neither passed nor failed; what is unpriced is counted."""
        all_of = self.outcomes.values()
        measured = [each for each in all_of if is_measured(each)]
        passed = sum(each.state == "passed" for each in measured)
        costs = [each.cost_usd for each in all_of if each.cost_usd is not None]
        return Totals(
            campaign=CampaignRef(
                campaign_id=self.campaign_id,
                generated_at=self.campaign.generated_at,
                sha=self.campaign.sha,
            ),
            passed=passed,
            failed=len(measured) - passed,
            unmeasured=len(all_of) - len(measured),
            cost_at_least_usd=sum(costs),
            unpriced=len(all_of) - len(costs),
            duration_ms=sum(each.duration_ms for each in all_of),
        )


def compare(
    base: Side,
    candidate: Side,
    series: Mapping[str, CellSeries],
    *,
    allow_drift: bool = False,
) -> Comparison:
    """Compare ``candidate`` with ``base``. ``series``, by suite id, may know more of their cells.

    Raises :class:`UsageError` where the definitions differ and ``allow_drift`` is false: then a
    cell asks another question, and its answers cannot be compared.
    """
    drifted = drifted_cells(base, candidate)
    if drifted and not allow_drift:
        suites = sorted({execution_id.split(".")[0] for execution_id in drifted})
        raise UsageError(
            f"{len(drifted)} of the cells in both campaigns have another or an unknown "
            f"definition, in {', '.join(suites)}",
            hint="compare campaigns of one definition, or say --allow-drift",
        )
    ids = dict.fromkeys((*base.outcomes, *candidate.outcomes))
    cells = [
        _Cell(execution_id, base, candidate, series.get(execution_id.split(".")[0]))
        for execution_id in ids
    ]
    changes = _adjusted([cell.change(drift=cell.execution_id in drifted) for cell in cells])
    worse = sum(change.change == "regression" for change in changes)
    better = sum(change.change == "recovery" for change in changes)
    p = mcnemar(worse, better)
    return Comparison(
        schema=COMPARISON_V1,
        base=base.totals(),
        candidate=candidate.totals(),
        pairs=sum(change.change not in {"unmeasured", "only_in_one"} for change in changes),
        regressions=worse,
        recoveries=better,
        p=p,
        distinguishable=p < SIGNIFICANT,
        drift=bool(drifted),
        cells=tuple(changes),
    )


def drifted_cells(base: Side, candidate: Side) -> frozenset[str]:
    """The cells in both whose definitions differ. An unknown one may be another, too."""
    return frozenset(
        execution_id
        for execution_id, outcome in base.outcomes.items()
        if execution_id in candidate.outcomes
        and (
            outcome.definition_hash is None
            or outcome.definition_hash != candidate.outcomes[execution_id].definition_hash
        )
    )


def _adjusted(changes: Sequence[CellChange]) -> list[CellChange]:
    """Give every change its q: many cells were looked at, so one small p proves little."""
    looked_at = [c for c in changes if c.change not in {"unmeasured", "only_in_one"}]
    q_values = benjamini_hochberg([1.0 if c.p is None else c.p for c in looked_at])
    q_of = {c.execution_id: q for c, q in zip(looked_at, q_values, strict=True)}
    return [c if c.p is None else _with_q(c, q_of[c.execution_id]) for c in changes]


def _with_q(change: CellChange, q: float) -> CellChange:
    said = change.verdict.verdict if change.verdict else None
    sure = q <= SIGNIFICANT
    if change.change == "regression":
        # A repeat that passed says that the cell is not broken, however it stands in the history.
        sure = said != "flaky" and (sure or said in {"broken", "known_broken"})
    return change.model_copy(update={"q": q, "distinguishable": sure})


class _Cell:
    """One cell of both sides, with what the series knows of it."""

    def __init__(
        self, execution_id: str, base: Side, candidate: Side, series: CellSeries | None
    ) -> None:
        self.execution_id = execution_id
        self.base = base.outcomes.get(execution_id)
        self.candidate = candidate.outcomes.get(execution_id)
        self._campaigns = {
            **(series.campaigns if series else {}),
            base.campaign_id: base.campaign,
            candidate.campaign_id: candidate.campaign,
        }
        known = series.cells.get(execution_id, ()) if series else ()
        self._before = () if self.base is None else self._from(known, self.base)
        self._until = () if self.candidate is None else self._from(known, self.candidate)

    @staticmethod
    def _from(known: Sequence[CellOutcome], own: CellOutcome) -> Sequence[CellOutcome]:
        """The side's outcome and the older ones; only its own where the series has it not."""
        older = outcomes_from(known, own.campaign_id)
        return (own, *older[1:])

    def change(self, *, drift: bool) -> CellChange:
        """How the cell changed. Its q needs all the others."""
        change = self._change()
        trials = window_of(self._before).trials[:MONTH]
        return CellChange(
            execution_id=self.execution_id,
            change=change,
            base=_said(self.base),
            candidate=_said(self.candidate),
            p=self._p(change, trials),
            distinguishable=False,
            verdict=self._verdict(),
            drift=drift,
            cost_base_usd=self.base.cost_usd if self.base else None,
            cost_candidate_usd=self.candidate.cost_usd if self.candidate else None,
            duration_base_ms=self.base.duration_ms if self.base else None,
            duration_candidate_ms=self.candidate.duration_ms if self.candidate else None,
            cost_anomaly=self._cost_anomaly(trials),
            duration_anomaly=self._duration_anomaly(trials),
        )

    def _change(self) -> Change:
        if self.base is None or self.candidate is None:
            return "only_in_one"
        if not (is_measured(self.base) and is_measured(self.candidate)):
            return "unmeasured"
        before, now = self.base.state == "passed", self.candidate.state == "passed"
        if before == now:
            return "still_passing" if now else "still_failing"
        return "recovery" if now else "regression"

    def _p(self, change: Change, trials: Sequence[Trial]) -> float | None:
        if self.candidate is None or change not in {"regression", "recovery"}:
            return None
        now = Trial(self.candidate)
        if change == "regression":
            # Repeats count here: they were made to tell a break from noise.
            repeated = self.candidate.confirm_passed or 0
            total = 1 + repeated + now.repeats_failed
            return fisher(sum(t.passed for t in trials), len(trials), repeated, total)
        # What is held against a recovery is the failure that it ends, not the time before.
        red = next((n for n, trial in enumerate(trials) if trial.passed), len(trials))
        return fisher(red, red, 0, 1)

    def _verdict(self) -> CellVerdict | None:
        """Of the candidate: in its own history where that is known, else right after the base."""
        if self.candidate is None:
            return None
        own_history = len(self._until) > 1 or self.base is None
        outcomes = self._until if own_history else (self.candidate, *self._before)
        return verdict_of(outcomes, self._campaigns)

    def _cost_anomaly(self, trials: Sequence[Trial]) -> Literal["high", "low"] | None:
        if self.candidate is None or self.candidate.cost_usd is None:
            return None
        costs = [t.outcome.cost_usd for t in trials if t.outcome.cost_usd is not None]
        found = anomaly(self.candidate.cost_usd, costs, least_change=LEAST_USD)
        return found.kind if found else None

    def _duration_anomaly(self, trials: Sequence[Trial]) -> Literal["high", "low"] | None:
        if self.candidate is None or not is_measured(self.candidate):
            return None
        durations = [t.outcome.duration_ms for t in trials]
        found = anomaly(self.candidate.duration_ms, durations, least_change=LEAST_MS)
        return found.kind if found else None


def _said(outcome: CellOutcome | None) -> str:
    if outcome is None:
        return "absent"
    if is_measured(outcome):
        return "passed" if outcome.state == "passed" else "failed"
    why = outcome.failure_class if outcome.state == "failed" else outcome.state
    return f"unmeasured: {(why or 'unknown').replace('_', ' ')}"
