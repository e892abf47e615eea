"""What history makes of a cell, of two campaigns, and of a report before a gate.

All of it follows from documents that are kept, so it is computed anew wherever it is shown, and
never part of a bundle.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from runner_e2e.contracts.base import Document, Omittable
from runner_e2e.contracts.scalars import (
    Amount,
    CampaignId,
    Count,
    ExecutionId,
    ItemId,
    Milliseconds,
    ResultExecutionId,
    Share,
    Timestamp,
)

COMPARISON_V1: Literal["runner-e2e.comparison/v1"] = "runner-e2e.comparison/v1"
GATE_V1: Literal["runner-e2e.gate/v1"] = "runner-e2e.gate/v1"

Verdict = Literal[
    "passed",
    "recovered",
    "flaky",
    "new_failure",
    "broken",
    "known_broken",
    "unmeasured",
]
"""What history says of a cell in one campaign:

``passed``        green, as the time before.
``recovered``     green, and red the time before.
``flaky``         both at once: passed on a later attempt, or a repeat contradicted a failure, or
                  failures came and went without a cause that history can see.
``new_failure``   red and not confirmed: it may be noise.
``broken``        red, and the cell's own noise does not explain it.
``known_broken``  red for three campaigns or more.
``unmeasured``    nothing was learnt of the candidate: infrastructure, or no result.
"""

RED_VERDICTS: frozenset[Verdict] = frozenset({"new_failure", "broken", "known_broken"})

WindowStart = Literal["definition", "model", "image"]
"""What changed where the comparable history of a cell begins."""


class CampaignRef(Document):
    """One campaign, as evidence names it."""

    campaign_id: CampaignId
    generated_at: Timestamp
    sha: str | None


class Rate(Document):
    """Passes among measured campaigns, with the 95% interval of Wilson.

    Only first results count: repeats are run because a cell was red, so they would bias the rate.
    """

    passed: Count
    measured: Count
    low: Share
    high: Share
    flaky: Count
    """Measured campaigns in which the cell gave both answers."""
    all_of_3: Omittable[Share] = None
    """The chance that three runs all pass (pass^3); absent below three."""


class CellVerdict(Document):
    """A verdict with its evidence."""

    verdict: Verdict
    green: bool
    """Whether the first result passed. A flaky cell can be either."""
    before: Omittable[Verdict] = None
    """The verdict of the last campaign that measured the cell; absent for the first."""
    tonight: CampaignRef
    since: Omittable[CampaignRef] = None
    """The first campaign of the present failure; for a recovered cell, of its being green."""
    last_other: Omittable[CampaignRef] = None
    """The last campaign before ``since`` that ended the other way. The cause lies after it."""
    campaigns: Count
    """Measured campaigns in a row that ended as this one, with it."""
    repeats_passed: Count
    repeats_failed: Count
    chance: Omittable[Share] = None
    """How likely the cell's noise alone fails it so often; absent where it is not red."""
    earlier: Rate
    """The last 14 measured campaigns before ``since``: what a failure is held against."""
    recent: Rate
    """The last 14 measured campaigns, with this one."""
    month: Rate
    """The last 30."""
    unmeasured: Count
    """Campaigns in between of which nothing was learnt."""
    window: Omittable[WindowStart] = None
    """Why older campaigns do not count; absent where all of them do."""


class CellChange(Document):
    """One cell in two campaigns."""

    execution_id: ResultExecutionId
    change: Literal[
        "regression", "recovery", "still_failing", "still_passing", "unmeasured", "only_in_one"
    ]
    base: str
    """``passed``, ``failed``, ``unmeasured`` with its reason, or ``absent``."""
    candidate: str
    p: Omittable[Share] = None
    """One-sided exact p of the change, from all comparable runs of the cell."""
    q: Omittable[Share] = None
    """The same, adjusted for how many cells changed or could have."""
    distinguishable: bool
    """Whether noise does not explain it: the verdict is broken, or q is at most .05."""
    verdict: Omittable[CellVerdict] = None
    """Of the candidate's side."""
    drift: bool
    """Another definition on either side, or an unknown one."""
    cost_base_usd: Omittable[Amount] = None
    cost_candidate_usd: Omittable[Amount] = None
    duration_base_ms: Omittable[Milliseconds] = None
    duration_candidate_ms: Omittable[Milliseconds] = None
    cost_anomaly: Omittable[Literal["high", "low"]] = None
    duration_anomaly: Omittable[Literal["high", "low"]] = None


class Totals(Document):
    """One side of a comparison. ``cost_at_least_usd`` leaves ``unpriced`` cells out."""

    campaign: CampaignRef
    passed: Count
    failed: Count
    unmeasured: Count
    cost_at_least_usd: Amount
    unpriced: Count
    duration_ms: Milliseconds


class Comparison(Document):
    """Two campaigns, paired by execution id."""

    schema_: Literal["runner-e2e.comparison/v1"] = Field(alias="schema")
    base: Totals
    candidate: Totals
    pairs: Count
    """Cells that both sides measured. Everything below speaks of these."""
    regressions: Count
    recoveries: Count
    p: Share
    """Exact two-sided McNemar over the cells that flipped."""
    distinguishable: bool
    drift: bool
    cells: tuple[CellChange, ...]


class Finding(Document):
    """One reason why a gate does not open."""

    kind: Literal["cell", "pass_rate", "flaky_rate", "quarantine_expired", "nothing_measured"]
    execution_id: Omittable[ExecutionId] = None
    suite_id: Omittable[ItemId] = None
    verdict: Omittable[Verdict] = None
    message: str


class Gate(Document):
    """A report before its gate. It opens where there is no finding."""

    schema_: Literal["runner-e2e.gate/v1"] = Field(alias="schema")
    campaign_id: CampaignId
    day: str
    opened: bool
    findings: tuple[Finding, ...]
    excused: tuple[Finding, ...]
    """What would be a finding, were it not in quarantine or within a suite's threshold."""
    notices: tuple[str, ...]
    verdicts: dict[ExecutionId, CellVerdict]
