"""A report as input: what ``aggregate`` wrote is read back as what was seen.

Shards rely on it, and so does whoever runs ``aggregate`` over its own output: both must come to
the bytes that one flat merge of all artifacts comes to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from runner_e2e.campaigns.boundary import LEAK, is_suspect, leaked, take_in
from runner_e2e.campaigns.cells import Budget
from runner_e2e.campaigns.evidence import MAX_REASON, PublicImage, inspect, leave_out
from runner_e2e.campaigns.expectation import Expectation
from runner_e2e.campaigns.observations import FOREIGN, UNKNOWN, Collection, Observation, gather
from runner_e2e.campaigns.trees import MIB, Found, Tree, Unreadable
from runner_e2e.contracts.base import D, parse
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.evidence import evidence_path, is_picture_path
from runner_e2e.contracts.insights import CellInsight, Extra, Insights, UnreadableFile
from runner_e2e.contracts.result import Result
from runner_e2e.contracts.vocabulary import EXECUTED_STATES
from runner_e2e.errors import DocumentError

MAX_REPORT_BYTES = 512 * MIB


def restore(
    tree: Tree,
    directory: str,
    names: Mapping[str, Found],
    expectation: Expectation,
    budget: Budget,
) -> Collection:
    """Read the report in ``directory`` of ``tree``. One that cannot be used is named as such.

    ``names`` are the documents that were found there.
    """
    try:
        campaign, suspect = _document(Campaign, tree, names["campaign.json"], budget)
        insights, _ = _document(Insights, tree, names["insights.json"], budget)
        report = _Report(tree, directory, campaign, insights, suspect=suspect)
        report.check(expectation)
        images, left_out = report.images()
        seen = report.observations(images)
    except DocumentError as error:
        bad = UnreadableFile(file=error.source, reason=error.reason[:MAX_REASON])
        return Collection(unreadable=frozenset({bad}))
    return Collection(
        cells=gather(seen),
        passed_over={entry.execution_id: frozenset(entry.others) for entry in insights.duplicates},
        extras=frozenset((*insights.extras, *left_out)),
        unreadable=frozenset(insights.unreadable),
    )


def _document(kind: type[D], tree: Tree, found: Found, budget: Budget) -> tuple[D, bool]:
    """One document, and whether something in it may be shaped like a key."""
    file = tree.name + found.path
    if found.problem is not None:
        raise DocumentError(file, found.problem)
    try:
        data = budget.read(tree, found.path, MAX_REPORT_BYTES)
    except Unreadable as error:
        raise DocumentError(file, str(error)) from None
    return parse(kind, data, file), is_suspect(data)


@dataclass(frozen=True, slots=True)
class _Report:
    """A report as it was read. Every method raises :class:`DocumentError` for what is not one."""

    tree: Tree
    directory: str
    campaign: Campaign
    insights: Insights
    suspect: bool = field(kw_only=True)

    @property
    def file(self) -> str:
        """What is blamed where the two documents do not belong together."""
        return f"{self.tree.name}{self.directory}insights.json"

    def check(self, expectation: Expectation) -> None:
        """Refuse a report of another plan, and two documents of different runs."""
        digest = self.insights.plan_digest
        if digest != expectation.plan_digest:
            raise DocumentError(self.file, f"the report is of plan {digest[:12]}, not of this one")
        ids = [result.execution_id for result in self.campaign.results]
        if (
            self.campaign.campaign_id != self.insights.campaign_id
            or ids != [cell.execution_id for cell in self.insights.cells]
            or len(set(ids)) != len(ids)
            or not expectation.executions.keys() >= set(ids)
        ):
            raise DocumentError(
                self.file, "the campaign beside it is not of the same run of aggregate"
            )

    def images(self) -> tuple[dict[str, list[PublicImage]], list[Extra]]:
        """The pictures of each cell, and those that cannot be used.

        A path of a report is where a file is written, so it is built anew and never taken over.
        """
        results = {result.execution_id: result for result in self.campaign.results}
        images: dict[str, list[PublicImage]] = {}
        left_out = []
        targets: set[str] = set()
        for entry in self.insights.evidence:
            result = results.get(entry.path.removeprefix("evidence/").partition("/")[0])
            target = (
                evidence_path(result.execution_id, result.attempt, entry.path) if result else ""
            )
            if entry.path != target or not is_picture_path(target) or target in targets:
                reason = f"it lists {entry.path[:200]!r}, which is no picture of its results"
                raise DocumentError(self.file, reason)
            targets.add(target)
            image = PublicImage(
                tree=self.tree,
                path=self.directory + target,
                target=target,
                sha256=entry.sha256,
                size=entry.bytes,
            )
            execution_id = target.split("/")[1]
            try:
                problem, _ = inspect(image)
            except Unreadable as error:
                problem = str(error)
            if problem:
                left_out.append(leave_out(execution_id, image, problem))
            else:
                images.setdefault(execution_id, []).append(image)
        return images, left_out

    def observations(self, images: Mapping[str, Sequence[PublicImage]]) -> list[Observation]:
        """What the report says of each cell that it knows something of."""
        return [
            self._observation(cell, result, tuple(images.get(cell.execution_id, ())))
            for cell, result in zip(self.insights.cells, self.campaign.results, strict=True)
            # That nothing was found of a cell says nothing about what others found.
            if cell.state != "missing" or cell.run_attempt is not None
        ]

    def _observation(
        self, cell: CellInsight, result: Result, images: tuple[PublicImage, ...]
    ) -> Observation:
        executed = cell.state in EXECUTED_STATES
        if executed != (result.attempt > 0) or (cell.state == "passed") != result.green:
            reason = f"{cell.execution_id} is {cell.state} in it, but its result is not"
            raise DocumentError(self.file, reason)
        unknown = FOREIGN if cell.state == "mismatched" else UNKNOWN
        seen = Observation(
            execution_id=cell.execution_id,
            rank=unknown if cell.run_attempt is None else cell.run_attempt,
            state=cell.state,
            file=cell.file,
            reason=cell.reason,
            code=cell.code,
            ended_at=None if executed else result.finished_at,
            confirm=cell.confirm,
            overran_usd=cell.overran_usd,
        )
        if not executed:
            return seen
        taken = take_in(result, self.file, suspect=self.suspect)
        if not taken.leaks:
            return replace(seen, result=taken.result, images=images)
        failed = leaked(taken.result, taken.leaks)
        return replace(seen, result=failed, images=images, state="failed", code=LEAK)
