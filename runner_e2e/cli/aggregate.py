"""``runner-e2e aggregate``: many results become one campaign, checked against the plan."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runner_e2e.cli import options, output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner_e2e.campaigns import Aggregate, JobHistory
    from runner_e2e.contracts.plan import Plan
    from runner_e2e.errors import ExitCode

DEFAULT_REPORT = Path("report")


def aggregate(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", help="Directories or zips with results.", show_default=False
        ),
    ],
    plan: Annotated[
        Path, typer.Option(metavar="FILE", help="The plan that the results belong to.")
    ] = Path("plan.json"),
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the report goes.")
    ] = DEFAULT_REPORT,
    jobs: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The job history, as JSON from the API.")
    ] = None,
    no_site: Annotated[bool, typer.Option("--no-site", help="Leave the page out.")] = False,
    json: options.Json = False,
) -> None:
    """Merge results into a campaign. A planned cell without a result is unresolved (exit 8)."""
    from runner_e2e.cli.documents import read_bytes, read_document
    from runner_e2e.contracts.plan import Plan
    from runner_e2e.memory import without_garbage_search

    with without_garbage_search():
        planned = read_document(Plan, plan)
        history = None
        if jobs:
            from runner_e2e.campaigns import JobHistory

            history = JobHistory.parse(read_bytes(jobs), str(jobs))
        # An earlier report may lie among the results; it is about to be written anew.
        merged = merge(planned, paths, jobs=history, exclude=[out])
        code = write(merged, planned, out, site=not no_site)
    tell(merged, out, as_json=json)
    output.finish(code)


def merge(
    plan: Plan,
    paths: list[Path],
    *,
    jobs: JobHistory | None = None,
    exclude: Sequence[Path] = (),
) -> Aggregate:
    """Collect the results below ``paths`` and name the campaign after the run we are in."""
    from runner_e2e.campaigns import aggregate as merge_results
    from runner_e2e.campaigns import collect, local_campaign_id
    from runner_e2e.github import ActionsRuntime

    runtime = ActionsRuntime.from_environ(os.environ)
    if runtime.run_id:
        campaign_id = f"gha-{runtime.run_id}-{runtime.run_attempt}"
    else:
        campaign_id = local_campaign_id(plan)
    return merge_results(
        plan, collect(paths, plan, exclude=exclude), campaign_id=campaign_id, jobs=jobs
    )


def write(merged: Aggregate, plan: Plan, out: Path, *, site: bool) -> ExitCode:
    """Write the whole report and return what the campaign means for the exit code."""
    from runner_e2e import campaigns, reports
    from runner_e2e.evidence.files import write_atomically
    from runner_e2e.github import ActionsRuntime

    campaign, insights = merged.campaign, merged.insights
    campaigns.write_report(merged, plan, out)
    summary = reports.summary_markdown(campaign, insights, plan)
    write_atomically(out / "summary.md", summary.encode())
    write_atomically(out / "junit.xml", reports.junit_xml(campaign, insights, plan))
    if site:
        from runner_e2e.site import campaign_page

        write_atomically(out / "index.html", campaign_page(campaign, insights, plan))
    runtime = ActionsRuntime.from_environ(os.environ)
    if runtime.summary_file:
        room = reports.summary_budget(runtime.summary_file)
        fitting = reports.summary_markdown(campaign, insights, plan, budget=room)
        reports.append_step_summary(runtime.summary_file, fitting)
        # The runner reads commands from both streams; stdout is kept for the answer.
        for annotation in reports.error_annotations(campaign, insights):
            output.narrate(annotation)
    return campaigns.exit_code(campaign, insights)


def tell(merged: Aggregate, out: Path, *, as_json: bool) -> None:
    """Say how the campaign ended: what is not green by name, then the figures."""
    campaign, insights = merged.campaign, merged.insights
    if as_json:
        output.answer_document(insights)
        return
    for cell in insights.cells:
        if cell.state != "passed":
            output.narrate(f"  {cell.state:<12} {cell.execution_id}")
            if cell.reason:
                output.narrate(output.quote(cell.reason))
    coverage, counts = insights.coverage, insights.counts
    output.answer(
        f"{campaign.passed} of {campaign.selected} passed, "
        f"{coverage.cells_resolved} of {counts.selected} resolved, "
        f"coverage {coverage.suites_complete} of {coverage.suites_total} suites\n"
        f"report: {out}"
    )
