"""What counts of a cell's history: measured campaigns of the present definition, model, image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runner_e2e.contracts.history import CellOutcome
from runner_e2e.contracts.judgement import Rate, WindowStart
from runner_e2e.contracts.vocabulary import EXECUTED_STATES, FailureClass
from runner_e2e.insights.formulas import pass_all, wilson

MEASURED_CLASSES: frozenset[FailureClass] = frozenset({"candidate_failure", "provider_variance"})
"""Failures that say something of the candidate: those that ``failures.POLICY`` calls measured.

A test holds the two together; the packages stand on one layer and do not import each other.
"""

RECENT = 14
MONTH = 30
"""Measured campaigns in a rate. Nightly, that is two weeks and a month."""


def is_measured(outcome: CellOutcome) -> bool:
    """Whether something was learnt of the candidate. The others are in no rate."""
    if outcome.state not in EXECUTED_STATES:
        return False
    return outcome.state == "passed" or outcome.failure_class in {None, *MEASURED_CLASSES}


@dataclass(frozen=True, slots=True)
class Trial:
    """One measured campaign of a cell."""

    outcome: CellOutcome

    @property
    def passed(self) -> bool:
        """How its first result ended; no repeat changes that."""
        return self.outcome.state == "passed"

    @property
    def flaky(self) -> bool:
        """It gave both answers: on a later attempt, or when a failure was repeated."""
        if self.passed:
            return self.outcome.flaky
        return bool(self.outcome.confirm_passed)

    @property
    def red(self) -> bool:
        """It failed, and no repeat contradicted that."""
        return not self.passed and not self.flaky

    @property
    def repeats_failed(self) -> int:
        """How many repeats said the same as a failure."""
        return self.outcome.confirm_failed or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The comparable history of a cell, newest first."""

    trials: tuple[Trial, ...]
    unmeasured: int
    """Outcomes of which nothing was learnt, newer than the oldest trial."""
    start: WindowStart | None
    """What changed before the oldest trial; ``None`` where nothing did."""
    older: tuple[CellOutcome, ...]
    """The outcomes from before that change."""


def window_of(outcomes: Sequence[CellOutcome]) -> Window:
    """Take the outcomes, newest first, up to where definition, model or image were others."""
    trials: list[Trial] = []
    unmeasured = 0
    for position, outcome in enumerate(outcomes):
        if not is_measured(outcome):
            unmeasured += 1
            continue
        change = _change(trials[0].outcome, outcome) if trials else None
        if change is not None:
            return Window(
                trials=tuple(trials),
                unmeasured=unmeasured,
                start=change,
                older=tuple(outcomes[position:]),
            )
        trials.append(Trial(outcome))
    return Window(trials=tuple(trials), unmeasured=unmeasured, start=None, older=())


def _change(newer: CellOutcome, older: CellOutcome) -> WindowStart | None:
    if newer.definition_hash != older.definition_hash:
        return "definition"
    if newer.model != older.model:
        return "model"
    return "image" if newer.image != older.image else None


def rate_of(trials: Sequence[Trial]) -> Rate:
    """Count passes. Of nothing measured the interval is all there is: from 0 to 1."""
    passed, measured = sum(trial.passed for trial in trials), len(trials)
    interval = wilson(passed, measured)
    return Rate(
        passed=passed,
        measured=measured,
        low=interval.low,
        high=interval.high,
        flaky=sum(trial.flaky for trial in trials),
        all_of_3=pass_all(3, passed, measured),
    )
