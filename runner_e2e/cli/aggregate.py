"""``runner-e2e aggregate``: many results become one campaign, checked against the plan."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runner_e2e.cli import options, output
from runner_e2e.cli.published import Where, judged, open_history
from runner_e2e.wording import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner_e2e.campaigns import Aggregate, JobHistory, Source
    from runner_e2e.contracts.plan import Plan
    from runner_e2e.errors import ExitCode
    from runner_e2e.github.source import RunSource
    from runner_e2e.reports import Verdicts

DEFAULT_REPORT = Path("report")
MAX_REASON_LINES = 6
"""How much of one failure is told on stderr; the report has the rest."""
DEFAULT_PLAN = Path("plan.json")
RUN = "github:"


def aggregate(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Directories or zips with results, or a run: github:OWNER/REPO/RUN_ID.",
            show_default=False,
        ),
    ],
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The plan that the results belong to.  [default: plan.json, or the run's own]",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the report goes.")
    ] = DEFAULT_REPORT,
    jobs: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="What became of the jobs: JSON from the API, or github:OWNER/REPO/RUN_ID.  "
            "[default: the run's own]",
        ),
    ] = None,
    no_site: Annotated[bool, typer.Option("--no-site", help="Leave the page out.")] = False,
    history: Where = None,
    json: options.Json = False,
) -> None:
    """Merge results into a campaign. A planned cell without a result is unresolved (exit 8)."""
    from runner_e2e.cli.documents import read_bytes, read_plan
    from runner_e2e.memory import without_garbage_search

    with ExitStack() as stack:
        stack.enter_context(without_garbage_search())
        named = dict.fromkeys((*paths, jobs or ""))
        runs = {text: open_run(text, stack) for text in named if text.startswith(RUN)}
        run = only([runs[text] for text in dict.fromkeys(paths) if text in runs])
        planned = run.plan() if run and not plan else read_plan(plan or DEFAULT_PLAN)
        job_history = None
        if jobs and jobs not in runs:
            from runner_e2e.campaigns import JobHistory

            job_history = JobHistory.parse(read_bytes(Path(jobs)), jobs)
        elif asked := runs[jobs] if jobs else run:
            job_history = asked.jobs()
        merged = merge(
            planned,
            [runs.get(text) or Path(text) for text in paths],
            jobs=job_history,
            campaign_id=run.campaign_id if run else None,
            # An earlier report may lie among the results; it is about to be written anew.
            exclude=[out],
        )
        verdicts = verdicts_of(merged, planned, history)
        code = write(merged, planned, out, site=not no_site, verdicts=verdicts)
    tell(merged, out, as_json=json, verdicts=verdicts)
    output.finish(code)


def verdicts_of(merged: Aggregate, plan: Plan, history: str | None) -> Verdicts | None:
    """What history makes of the campaign. One that cannot be read never costs a paid report."""
    from runner_e2e.errors import DocumentError

    try:
        published = open_history(history)
    except DocumentError as error:
        output.narrate(f"no history: {error.message}")
        return None
    return judged(published, merged.campaign, merged.insights, plan) if published else None


def open_run(text: str, stack: ExitStack) -> RunSource:
    """Get ready to read a workflow run until ``stack`` ends. Nothing is asked yet."""
    from runner_e2e.github import ActionsRuntime
    from runner_e2e.github.server import GithubServer
    from runner_e2e.github.source import RunLocator, RunSource

    locator = RunLocator.parse(text)
    server = GithubServer.from_environ(os.environ)
    runtime = ActionsRuntime.from_environ(os.environ)
    return stack.enter_context(RunSource(locator, server, runtime, tell=output.narrate))


def only(runs: Sequence[RunSource]) -> RunSource | None:
    """Return the run that the results are of, if they are of one."""
    from runner_e2e.errors import UsageError

    if len(runs) > 1:
        raise UsageError(
            "a campaign is of one workflow run, and several were named",
            hint="aggregate each into a report of its own",
        )
    return runs[0] if runs else None


def merge(
    plan: Plan,
    paths: Sequence[Path | Source],
    *,
    jobs: JobHistory | None = None,
    campaign_id: str | None = None,
    exclude: Sequence[Path] = (),
) -> Aggregate:
    """Collect the results; the campaign is named after the run we are in unless it is given."""
    from runner_e2e.campaigns import aggregate as merge_results
    from runner_e2e.campaigns import collect, local_campaign_id
    from runner_e2e.github import ActionsRuntime

    if campaign_id is None:
        runtime = ActionsRuntime.from_environ(os.environ)
        if runtime.run_id:
            campaign_id = f"gha-{runtime.run_id}-{runtime.run_attempt}"
        else:
            campaign_id = local_campaign_id(plan)
    collection = collect(paths, plan, exclude=exclude)
    return merge_results(plan, collection, campaign_id=campaign_id, jobs=jobs)


def write(
    merged: Aggregate, plan: Plan, out: Path, *, site: bool, verdicts: Verdicts | None = None
) -> ExitCode:
    """Write the whole report and return what the campaign means for the exit code.

    ``verdicts`` are for the job summary only: a bundle is the same whatever history was at hand.
    """
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
    else:
        # The page of an earlier campaign would be published as this one's.
        (out / "index.html").unlink(missing_ok=True)
    runtime = ActionsRuntime.from_environ(os.environ)
    if runtime.summary_file:
        try:
            room = reports.summary_budget(runtime.summary_file)
            fitting = reports.summary_markdown(
                campaign, insights, plan, verdicts=verdicts, budget=room
            )
            reports.append_step_summary(runtime.summary_file, fitting)
        except OSError as error:
            # The report is there and was paid for; a summary is only a copy of it.
            output.narrate(f"no job summary: {runtime.summary_file}: {error.strerror}")
        # The runner reads commands from both streams; stdout is kept for the answer.
        for annotation in reports.error_annotations(campaign, insights):
            output.narrate(annotation)
    return campaigns.exit_code(campaign, insights)


def tell(merged: Aggregate, out: Path, *, as_json: bool, verdicts: Verdicts | None = None) -> None:
    """Say how the campaign ended: what is not green by name, then the figures."""
    campaign, insights = merged.campaign, merged.insights
    if as_json:
        output.answer_document(insights)
        return
    errors = {result.execution_id: result.error for result in campaign.results}
    for cell in insights.cells:
        if cell.state != "passed":
            output.narrate(f"  {cell.state:<12} {cell.execution_id}")
            reason = cell.reason or errors.get(cell.execution_id)
            if reason:
                output.narrate(output.quote(reason, lines=MAX_REASON_LINES))
    set_aside = [(one.file, one.reason) for one in insights.unreadable]
    set_aside += [(one.file, one.reason) for one in insights.extras]
    for file, why in set_aside[:MAX_REASON_LINES]:
        output.narrate(f"  not counted  {one_line(file)}: {one_line(why)}")
    if verdicts:
        from runner_e2e.reports import plain_news

        for line in plain_news(verdicts):
            output.narrate(f"  {line}")
    coverage, counts = insights.coverage, insights.counts
    output.answer(
        f"{campaign.passed} of {campaign.selected} passed, "
        f"{coverage.cells_resolved} of {counts.selected} resolved, "
        f"coverage {coverage.suites_complete} of {coverage.suites_total} suites\n"
        f"report: {out}"
    )
