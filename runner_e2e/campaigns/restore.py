"""A report as input: what ``aggregate`` wrote is read back as what was seen.

Shards rely on it, and so does whoever runs ``aggregate`` over its own output: both must come to
the bytes that one flat merge of all artifacts comes to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from runner_e2e.campaigns.cells import Budget
from runner_e2e.campaigns.evidence import MAX_REASON, PublicImage, leave_out
from runner_e2e.campaigns.expectation import Expectation
from runner_e2e.campaigns.observations import FOREIGN, UNKNOWN, Collection, Observation, gather
from runner_e2e.campaigns.trees import MIB, Found, Tree, Unreadable
from runner_e2e.contracts.base import D, parse
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.evidence import FileDigest, evidence_path, is_picture_path
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
        campaign = _document(Campaign, tree, names["campaign.json"], budget)
        insights = _document(Insights, tree, names["insights.json"], budget)
        seen, left_out = _observations(tree, directory, campaign, insights, expectation)
    except DocumentError as error:
        bad = UnreadableFile(file=error.source, reason=error.reason[:MAX_REASON])
        return Collection(unreadable=frozenset({bad}))
    return Collection(
        cells=gather(seen),
        passed_over={entry.execution_id: frozenset(entry.others) for entry in insights.duplicates},
        extras=frozenset((*insights.extras, *left_out)),
        unreadable=frozenset(insights.unreadable),
    )


def _document(kind: type[D], tree: Tree, found: Found, budget: Budget) -> D:
    file = tree.name + found.path
    if found.problem is not None:
        raise DocumentError(file, found.problem)
    try:
        return parse(kind, budget.read(tree, found.path, MAX_REPORT_BYTES), file)
    except Unreadable as error:
        raise DocumentError(file, str(error)) from None


def _observations(
    tree: Tree,
    directory: str,
    campaign: Campaign,
    insights: Insights,
    expectation: Expectation,
) -> tuple[list[Observation], list[Extra]]:
    file = f"{tree.name}{directory}insights.json"
    if insights.plan_digest != expectation.plan_digest:
        raise DocumentError(
            file, f"the report is of plan {insights.plan_digest[:12]}, not of this one"
        )
    results = {result.execution_id: result for result in campaign.results}
    if (
        campaign.campaign_id != insights.campaign_id
        or list(results) != [cell.execution_id for cell in insights.cells]
        or not results.keys() <= expectation.executions.keys()
    ):
        raise DocumentError(
            file, "the campaign beside it is not of the same run of aggregate, or of another plan"
        )
    images, left_out = _images(tree, directory, insights.evidence, results)
    seen = [
        _observation(
            cell, results[cell.execution_id], tuple(images.get(cell.execution_id, ())), file
        )
        for cell in insights.cells
        # That nothing was found of a cell says nothing about what others found.
        if cell.state != "missing" or cell.run_attempt is not None
    ]
    return seen, left_out


def _images(
    tree: Tree, directory: str, entries: Iterable[FileDigest], results: Mapping[str, Result]
) -> tuple[dict[str, list[PublicImage]], list[Extra]]:
    """The pictures of each cell, and those that cannot be used.

    A path of a report is where a file is written, so it is built anew and never taken over.
    """
    images: dict[str, list[PublicImage]] = {}
    left_out = []
    targets: set[str] = set()
    for entry in entries:
        result = results.get(entry.path.removeprefix("evidence/").partition("/")[0])
        target = evidence_path(result.execution_id, result.attempt, entry.path) if result else ""
        if entry.path != target or not is_picture_path(target) or target in targets:
            raise DocumentError(
                f"{tree.name}{directory}insights.json",
                f"it lists {entry.path[:200]!r}, which is no picture of its results",
            )
        targets.add(target)
        image = PublicImage(
            tree=tree,
            path=directory + target,
            target=target,
            sha256=entry.sha256,
            size=entry.bytes,
        )
        execution_id = target.split("/")[1]
        try:
            image.read()
        except Unreadable as error:
            left_out.append(leave_out(execution_id, image, str(error)))
        else:
            images.setdefault(execution_id, []).append(image)
    return images, left_out


def _observation(
    cell: CellInsight, result: Result, images: tuple[PublicImage, ...], file: str
) -> Observation:
    executed = cell.state in EXECUTED_STATES
    if executed != (result.attempt > 0) or (cell.state == "passed") != result.green:
        raise DocumentError(
            file, f"{cell.execution_id} is {cell.state} in it, but its result is not"
        )
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
