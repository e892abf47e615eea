"""The cells of a campaign, laid out as people look at them: suite, profile, environment, case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from runner_e2e import wording
from runner_e2e.billing import billing_words
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.history import CellSeries
from runner_e2e.contracts.insights import CellInsight, Insights
from runner_e2e.contracts.plan import Plan, PlannedEnvironment, PlannedProfile, PlannedSuite
from runner_e2e.contracts.plan import PlannedTask as Task
from runner_e2e.contracts.result import Result
from runner_e2e.site import text
from runner_e2e.site.trail import Trail, last_nights
from runner_e2e.site.words import CLASS_WORDS, KINDS, STATE_WORDS, Kind, kind_of

_QUARANTINE_LIMIT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of the whole catalog, with what the campaign knows of it."""

    id: str
    suite: PlannedSuite
    profile: PlannedProfile
    environment: PlannedEnvironment
    task: Task
    kind: Kind
    insight: CellInsight | None
    result: Result | None
    verdict: str | None
    trail: Trail | None
    quarantine: str | None
    """Who keeps the cell in quarantine and until when, where that still held."""
    pictures: frozenset[str]
    """The pictures of the whole report, by their path in it."""

    @property
    def word(self) -> str:
        """The state in a word, as exact as it is known."""
        if self.kind in ("unselected", "unclean", "flaky") or self.insight is None:
            return "missing" if self.kind == "unresolved" else KINDS[self.kind]
        if self.kind == "failed" and self.insight.state == "passed":
            return KINDS["failed"]
        return STATE_WORDS[self.insight.state]

    @property
    def blame(self) -> str | None:
        """Who is at fault, in a word; only for what is not green."""
        if self.result is None or self.result.failure_class is None:
            return None
        return CLASS_WORDS[self.result.failure_class]

    @property
    def time(self) -> str:
        """How long it ran, or nothing where nothing ran."""
        if self.result is None or self.result.attempt == 0:
            return ""
        return text.short_duration(self.result.duration_ms)

    @property
    def price(self) -> str:
        """What it cost, or nothing where nothing ran."""
        if self.result is None or self.result.attempt == 0:
            return ""
        return billing_words(self.result.billing).replace("at least", "≥")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One profile of a suite; a ``None`` is a combination that the catalog excludes."""

    profile: PlannedProfile
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """A suite: a row a profile, a column for each case in each environment."""

    suite: PlannedSuite
    rows: tuple[Row, ...]
    counts: Mapping[Kind, int]

    @property
    def cells(self) -> Iterator[Cell]:
        """Every cell, row by row."""
        return (cell for row in self.rows for cell in row.cells if cell is not None)

    @property
    def columns(self) -> int:
        """How many columns have cells."""
        return len(self.suite.environments) * len(self.suite.tasks)


def count_kinds(cells: Sequence[Cell] | Iterator[Cell]) -> dict[Kind, int]:
    """How many cells are of each kind, worst first; every kind is there."""
    counts = dict.fromkeys(KINDS, 0)
    for cell in cells:
        counts[cell.kind] += 1
    return counts


def lay_out(
    campaign: Campaign,
    insights: Insights,
    plan: Plan,
    *,
    verdicts: Mapping[str, str],
    series: Mapping[str, CellSeries],
) -> tuple[Matrix, ...]:
    """The whole catalog as matrices, in catalog order; selected cells carry their outcome."""
    planned = set(plan.expected)
    shown = frozenset(entry.path for entry in insights.evidence)
    known = {cell.execution_id: cell for cell in insights.cells}
    results = {result.execution_id: result for result in campaign.results}
    quarantined = {
        entry.execution_id: wording.brief(
            f"{entry.owner} until {entry.expires}: {entry.reason}", _QUARANTINE_LIMIT
        )
        for suite in plan.catalog.suites
        for entry in suite.quarantine
        if entry.expires >= text.day(campaign.generated_at)
    }

    def cell(
        suite: PlannedSuite, profile: PlannedProfile, environment: PlannedEnvironment, task: Task
    ) -> Cell:
        name = f"{suite.id}.{profile.id}.{environment.id}.{task.id}"
        insight, result = known.get(name), results.get(name)
        return Cell(
            id=name,
            suite=suite,
            profile=profile,
            environment=environment,
            task=task,
            kind=kind_of(insight, result) if name in planned else "unselected",
            insight=insight,
            result=result,
            verdict=wording.brief(verdicts[name], 60) if name in verdicts else None,
            trail=last_nights(series.get(suite.id), name),
            quarantine=quarantined.get(name),
            pictures=shown,
        )

    def matrix(suite: PlannedSuite) -> Matrix:
        ids = set(suite.execution_ids)
        rows = tuple(
            Row(
                profile=profile,
                cells=tuple(
                    cell(suite, profile, environment, task)
                    if f"{suite.id}.{profile.id}.{environment.id}.{task.id}" in ids
                    else None
                    for environment in suite.environments
                    for task in suite.tasks
                ),
            )
            for profile in suite.profiles
        )
        found = [cell for row in rows for cell in row.cells if cell is not None]
        return Matrix(suite=suite, rows=rows, counts=count_kinds(found))

    return tuple(matrix(suite) for suite in plan.catalog.suites)
