"""A report as input: what ``aggregate`` wrote is read back as what was seen.

Shards rely on it, and so does whoever runs ``aggregate`` over its own output: both must come to
the bytes that one flat merge of all artifacts comes to.
"""

from __future__ import annotations

from runner_e2e.campaigns.cells import Budget
from runner_e2e.campaigns.evidence import PublicImage
from runner_e2e.campaigns.expectation import Expectation
from runner_e2e.campaigns.observations import FOREIGN, UNKNOWN, Collection, Observation, gather
from runner_e2e.campaigns.trees import MIB, Tree, Unreadable
from runner_e2e.contracts.base import parse
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.insights import CellInsight, Insights, UnreadableFile
from runner_e2e.contracts.result import Result
from runner_e2e.contracts.vocabulary import EXECUTED_STATES
from runner_e2e.errors import DocumentError

MAX_REPORT_BYTES = 512 * MIB


def restore(tree: Tree, directory: str, expectation: Expectation, budget: Budget) -> Collection:
    """Read the report in ``directory`` of ``tree``. One that cannot be used is named as such."""
    file = f"{tree.name}{directory}campaign.json"
    try:
        campaign = parse(
            Campaign, budget.read(tree, f"{directory}campaign.json", MAX_REPORT_BYTES), file
        )
        insights = parse(
            Insights, budget.read(tree, f"{directory}insights.json", MAX_REPORT_BYTES), file
        )
        seen = _observations(tree, directory, campaign, insights, expectation)
    except Unreadable as error:
        return _unusable(file, str(error))
    except DocumentError as error:
        return _unusable(file, error.reason)
    return Collection(
        cells=gather(seen),
        passed_over={entry.execution_id: frozenset(entry.others) for entry in insights.duplicates},
        extras=frozenset(insights.extras),
        unreadable=frozenset(insights.unreadable),
    )


def _unusable(file: str, reason: str) -> Collection:
    return Collection(unreadable=frozenset({UnreadableFile(file=file, reason=reason)}))


def _observations(
    tree: Tree,
    directory: str,
    campaign: Campaign,
    insights: Insights,
    expectation: Expectation,
) -> list[Observation]:
    if insights.plan_digest != expectation.plan_digest:
        raise Unreadable(f"the report is of plan {insights.plan_digest[:12]}, not of this one")
    results = {result.execution_id: result for result in campaign.results}
    if (
        campaign.campaign_id != insights.campaign_id
        or list(results) != [cell.execution_id for cell in insights.cells]
        or not results.keys() <= expectation.executions.keys()
    ):
        raise Unreadable("its campaign and its insights are not of the same run of aggregate")
    images: dict[str, list[PublicImage]] = {}
    for entry in insights.evidence:
        image = PublicImage(
            tree=tree,
            path=directory + entry.path,
            target=entry.path,
            sha256=entry.sha256,
            size=entry.bytes,
        )
        images.setdefault(entry.path.split("/")[1], []).append(image)
    return [
        _observation(cell, results[cell.execution_id], tuple(images.get(cell.execution_id, ())))
        for cell in insights.cells
        # That nothing was found of a cell says nothing about what others found.
        if cell.state != "missing" or cell.run_attempt is not None
    ]


def _observation(cell: CellInsight, result: Result, images: tuple[PublicImage, ...]) -> Observation:
    executed = cell.state in EXECUTED_STATES
    if executed != (result.attempt > 0) or (cell.state == "passed") != result.green:
        raise Unreadable(f"{cell.execution_id} is {cell.state} in it, but its result is not")
    unknown = FOREIGN if cell.state == "mismatched" else UNKNOWN
    return Observation(
        execution_id=cell.execution_id,
        rank=unknown if cell.run_attempt is None else cell.run_attempt,
        state=cell.state,
        file=cell.file,
        reason=cell.reason,
        code=cell.code,
        result=result if executed else None,
        ended_at=None if executed else result.finished_at,
        images=images if executed else (),
        confirm=cell.confirm,
    )
