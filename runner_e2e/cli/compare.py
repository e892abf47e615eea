"""``runner-e2e compare``: what changed between two campaigns, and whether it is real."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runner_e2e.cli import options, output
from runner_e2e.cli.published import Published, Where, open_history
from runner_e2e.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from runner_e2e.contracts.campaign import Campaign
    from runner_e2e.contracts.insights import CellInsight
    from runner_e2e.contracts.judgement import Comparison
    from runner_e2e.insights import Side


class Format(StrEnum):
    """How the comparison is printed."""

    TABLE = "table"
    MARKDOWN = "markdown"


class FailOn(StrEnum):
    """What makes the command fail."""

    BROKEN = "broken"
    REGRESSION = "regression"


_OPERAND = "A campaign.json, a report, a campaign id, latest or latest-green."


def compare(
    base: Annotated[str, typer.Argument(metavar="BASE", help=_OPERAND, show_default=False)],
    candidate: Annotated[
        str, typer.Argument(metavar="CANDIDATE", help="The same.", show_default=False)
    ],
    history: Where = None,
    allow_drift: Annotated[
        bool, typer.Option("--allow-drift", help="Also where the suites' definitions differ.")
    ] = False,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(
            help="Exit 1: broken, where a cell that passed is broken beyond its noise; "
            "regression, where any cell that passed failed. Also where nothing was measured.",
            show_default=False,
        ),
    ] = None,
    format: Annotated[Format, typer.Option(help="How it is printed.")] = Format.TABLE,  # noqa: A002  the option's name
    json: options.Json = False,
) -> None:
    """Compare two campaigns cell by cell. Infrastructure failures are told, and count nowhere."""
    from runner_e2e import insights, reports

    published = open_history(history)
    found = insights.compare(
        side(base, published),
        side(candidate, published),
        published.history.series if published else {},
        allow_drift=allow_drift,
    )
    if json:
        output.answer_document(found)
    elif format is Format.MARKDOWN:
        output.answer(reports.comparison_markdown(found))
    else:
        output.answer(reports.comparison_table(found))
    output.finish(exit_code(found, fail_on))


def exit_code(comparison: Comparison, fail_on: FailOn | None) -> ExitCode:
    """What the comparison means for the process."""
    if fail_on is None:
        return ExitCode.OK
    worse = [change for change in comparison.cells if change.change == "regression"]
    if fail_on is FailOn.BROKEN:
        worse = [change for change in worse if change.distinguishable]
    return ExitCode.FAILED if worse or not comparison.pairs else ExitCode.OK


def side(name: str, published: Published | None) -> Side:
    """One of the two, wherever it lies."""
    from runner_e2e.history import cell_campaign, cell_outcome
    from runner_e2e.insights import Side

    campaign, cells = load(name, published)
    return Side(
        campaign_id=campaign.campaign_id,
        campaign=cell_campaign(campaign),
        outcomes={
            result.execution_id: cell_outcome(campaign.campaign_id, result, cell)
            for result, cell in zip(campaign.results, cells, strict=True)
        },
    )


def load(name: str, published: Published | None) -> tuple[Campaign, tuple[CellInsight, ...]]:
    """A campaign and how its cells ended."""
    from runner_e2e.contracts.base import parse
    from runner_e2e.contracts.campaign import Campaign
    from runner_e2e.contracts.insights import Insights

    path = Path(name)
    if name not in LATEST and path.exists():
        file = path / "campaign.json" if path.is_dir() else path
        campaign_data, insights_data = _read(file), _read_beside(file)
        if campaign_data is None:
            raise UsageError(
                f"{file} cannot be read", hint="name a campaign.json or the directory of a report"
            )
        source = str(file)
    else:
        published, folder = _published(name, published)
        source = f"{folder}campaign.json"
        campaign_data = published.read(source)
        insights_data = published.read(f"{folder}insights.json")
        if campaign_data is None:
            raise UsageError(
                f"the files of {name} are not at {published.where} any more",
                hint="history prune deletes those of old campaigns; choose a newer one",
            )
    campaign = parse(Campaign, campaign_data, source)
    if insights_data is None:
        return campaign, tuple(_guessed(campaign))
    insights = parse(Insights, insights_data, source.replace("campaign.json", "insights.json"))
    if [cell.execution_id for cell in insights.cells] != [r.execution_id for r in campaign.results]:
        raise UsageError(
            f"the insights.json beside {source} is of another campaign",
            hint="name the directory that aggregate wrote",
        )
    return campaign, insights.cells


LATEST = frozenset({"latest", "latest-green"})


def _published(name: str, published: Published | None) -> tuple[Published, str]:
    """The folder of a published campaign."""
    if published is None:
        raise UsageError(
            f"{name} is no file here, and there is no history to look it up in",
            hint="say where campaigns were published with --history",
        )
    index = published.history.index
    names = {"latest": index.latest_campaign_id, "latest-green": index.latest_green_campaign_id}
    campaign_id = names.get(name, name)
    row = published.history.row(campaign_id) if campaign_id else None
    if row is None:
        raise UsageError(
            f"no campaign {name} was published at {published.where}",
            hint="`runner-e2e history show` lists them",
        )
    return published, row.url


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _read_beside(file: Path) -> bytes | None:
    return _read(file.with_name("insights.json"))


def _guessed(campaign: Campaign) -> list[CellInsight]:
    """How cells ended, of a campaign.json that lies alone."""
    from runner_e2e.contracts.insights import CellInsight

    return [
        CellInsight(
            # The first version's ids had no suite; only the result's own id is looked at.
            execution_id=f"{result.suite_id or 'unknown'}.{result.execution_id}"
            if result.execution_id.count(".") < 3  # noqa: PLR2004  dots between four parts
            else result.execution_id,
            state="passed" if result.green else "failed" if result.attempt else "missing",
            flaky=result.green and result.attempt > 1,
        )
        for result in campaign.results
    ]
