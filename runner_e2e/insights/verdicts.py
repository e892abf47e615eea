"""What history says of a cell, with the evidence for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from runner_e2e.contracts.history import CellCampaign, CellOutcome, CellSeries
from runner_e2e.contracts.judgement import CampaignRef, CellVerdict, Verdict
from runner_e2e.insights.formulas import chance_of_failing
from runner_e2e.insights.trials import (
    MONTH,
    RECENT,
    Trial,
    Window,
    is_measured,
    rate_of,
    window_of,
)

KNOWN_AFTER = 3
"""Red for so many campaigns in a row is known, whatever the cell's noise was before."""
CONFIRMED_BY = 2
"""So many failed repeats of a failure confirm it. Measured: 0.007 false alarms a night over 60
cells of reliability .95, where "red is broken" gives 3 and a predictive below .05 gives 0.12."""
UNLIKELY = 0.01
"""Without repeats, two red campaigns in a row are broken when noise is less likely than this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Streak:
    """The latest trials that are red without contradiction, newest first, and those before."""

    red: tuple[Trial, ...]
    before: tuple[Trial, ...]

    @property
    def chance(self) -> float:
        """How likely the noise of the cell alone makes such a streak, repeats and all."""
        earlier = self.before[:RECENT]
        failures = len(self.red) + sum(trial.repeats_failed for trial in self.red)
        return chance_of_failing(sum(trial.passed for trial in earlier), len(earlier), failures)

    @property
    def verdict(self) -> Verdict:
        """How sure it is that the cell is broken."""
        if len(self.red) >= KNOWN_AFTER:
            return "known_broken"
        if any(trial.repeats_failed >= CONFIRMED_BY for trial in self.red):
            return "broken"
        return "broken" if len(self.red) > 1 and self.chance < UNLIKELY else "new_failure"


def _streak(trials: Sequence[Trial]) -> _Streak:
    count = next((n for n, trial in enumerate(trials) if not trial.red), len(trials))
    return _Streak(red=tuple(trials[:count]), before=tuple(trials[count:]))


def _judge(trials: Sequence[Trial]) -> Verdict:
    """The verdict of the newest of ``trials``, of which there is at least one."""
    newest = trials[0]
    if newest.flaky:
        return "flaky"
    if newest.red:
        return _streak(trials).verdict
    ended = _streak(trials[1:])
    if not ended.red:
        return "passed"
    if ended.verdict == "new_failure" and any(trial.red for trial in ended.before[:RECENT]):
        # It came and went before: calling that a recovery would promise what is not known.
        return "flaky"
    return "recovered"


def verdict_of(
    outcomes: Sequence[CellOutcome], campaigns: Mapping[str, CellCampaign]
) -> CellVerdict:
    """Judge the newest of ``outcomes``, which are newest first and at least one."""
    newest, window = outcomes[0], window_of(outcomes)
    trials = window.trials
    measured = is_measured(newest)
    verdict: Verdict = _judge(trials) if measured else "unmeasured"
    seen = _streak(trials)
    red = bool(seen.red)
    # A cell that nobody measured tonight is still as red as it was.
    run = len(seen.red) if red else _length_of_green(trials)
    before = trials[run:]

    def ref(campaign_id: str) -> CampaignRef:
        campaign = campaigns[campaign_id]
        return CampaignRef(
            campaign_id=campaign_id, generated_at=campaign.generated_at, sha=campaign.sha
        )

    other = next((trial for trial in before if trial.passed == red), None)
    tells = red or verdict == "recovered"
    return CellVerdict(
        verdict=verdict,
        green=measured and newest.state == "passed",
        before=_before(window, measured=measured),
        tonight=ref(newest.campaign_id),
        since=ref(trials[run - 1].outcome.campaign_id) if tells else None,
        last_other=ref(other.outcome.campaign_id) if tells and other else None,
        campaigns=run,
        repeats_passed=(newest.confirm_passed or 0) if measured else 0,
        repeats_failed=(newest.confirm_failed or 0) if measured else 0,
        chance=seen.chance if red else None,
        earlier=rate_of(before[:RECENT]),
        recent=rate_of(trials[:RECENT]),
        month=rate_of(trials[:MONTH]),
        unmeasured=window.unmeasured,
        window=window.start,
    )


def _length_of_green(trials: Sequence[Trial]) -> int:
    """How many of the latest trials ended as the newest, which is not red."""
    if not trials:
        return 0
    first = trials[0].passed
    return next((n for n, trial in enumerate(trials) if trial.passed != first), len(trials))


def _before(window: Window, *, measured: bool) -> Verdict | None:
    """The verdict of the last measured campaign before the newest one."""
    earlier = window.trials[1:] if measured else window.trials
    if earlier:
        return _judge(earlier)
    older = window_of(window.older).trials
    return _judge(older) if older else None


def cell_verdicts(series: CellSeries, campaign_id: str | None = None) -> dict[str, CellVerdict]:
    """The verdict of every cell of a suite: its newest, or what it was in ``campaign_id``.

    A cell that the campaign did not plan, or that is too old for the series, is not in it.
    """
    verdicts = {}
    for execution_id, outcomes in series.cells.items():
        known = outcomes if campaign_id is None else outcomes_from(outcomes, campaign_id)
        if known:
            verdicts[execution_id] = verdict_of(known, series.campaigns)
    return verdicts


def outcomes_from(outcomes: Sequence[CellOutcome], campaign_id: str) -> Sequence[CellOutcome]:
    """The outcome of one campaign and all older ones; empty where the campaign is not there."""
    places = (n for n, outcome in enumerate(outcomes) if outcome.campaign_id == campaign_id)
    start = next(places, None)
    return () if start is None else outcomes[start:]


def all_verdicts(
    series: Iterable[CellSeries], campaign_id: str | None = None
) -> dict[str, CellVerdict]:
    """The same over several suites."""
    return {
        execution_id: verdict
        for one in series
        for execution_id, verdict in cell_verdicts(one, campaign_id).items()
    }
