"""The summary of a campaign, for people: failures first, then the rest, as far as there is room."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from runner_e2e.billing import billing_words
from runner_e2e.contracts.campaign import Campaign, SuiteSummary
from runner_e2e.contracts.insights import Insights
from runner_e2e.contracts.plan import CampaignSource, Plan
from runner_e2e.reports.markdown import Page
from runner_e2e.reports.news import COMMIT, Verdicts, repository_of, tell_news
from runner_e2e.reports.text import code, link, pre
from runner_e2e.reports.wording import (
    Cell,
    cells_of,
    cost,
    labels,
    outcome,
    resolution,
    strip,
    worst_first,
)
from runner_e2e.wording import cell, duration, one_line, plural, shorten

SUMMARY_BYTES = 1_000_000
"""GitHub drops a step's summary whole above 1 MiB, and says 1024k when it does."""
ERROR_BYTES = 2_000


def summary_markdown(
    campaign: Campaign,
    insights: Insights,
    plan: Plan,
    *,
    page_url: str | None = None,
    verdicts: Verdicts | None = None,
    budget: int = SUMMARY_BYTES,
) -> str:
    """Write ``summary.md``, at most ``budget`` bytes of it. ``page_url`` is the full page's.

    With ``verdicts``, what is new comes first. They hang on the history that was at hand, so they
    belong into a job summary and never into a bundle.
    """
    where = link("the full page", page_url) if page_url else "`campaign.json` of the report"
    page = Page(budget, f"_There was not room for everything here; {where} has the rest._")
    fill(page, campaign, insights, plan, page_url, verdicts=verdicts)
    return page.text()


def fill(
    page: Page,
    campaign: Campaign,
    insights: Insights,
    plan: Plan,
    page_url: str | None,
    *,
    verdicts: Verdicts | None = None,
) -> None:
    """Add every section, the most important first: what does not fit is dropped from the end."""
    cells = cells_of(campaign, insights)
    page.add(f"## {_mark(campaign, insights)} {outcome(campaign, insights)}")
    page.add(_figures(campaign, insights, plan, page_url))
    if verdicts is not None:
        tell_news(page, cells, verdicts, plan.source)
    _failures(page, [c for c in cells if c.failed])
    _unresolved(page, [c for c in cells if c.unresolved])
    _suites(page, campaign, cells, labels(plan))
    _details(page, [c for c in cells if c.failed])
    _flaky(page, [c for c in cells if c.insight.flaky])
    _set_aside(page, insights)
    _all(page, cells)


def _mark(campaign: Campaign, insights: Insights) -> str:
    if not campaign.selected:
        return "⚪"
    if campaign.passed == campaign.selected:
        return "✅"
    return "❌" if insights.counts.executed > campaign.passed else "⚠️"


def _figures(campaign: Campaign, insights: Insights, plan: Plan, page_url: str | None) -> str:
    """The lines under the title: how sure, how much, how long, of what."""
    facts = [f"**{resolution(insights)}**", f"**{cost(insights)}**"]
    if campaign.executed:
        facts.append(duration(sum(r.duration_ms for r in campaign.results)) + " of testing")
    if insights.counts.flaky:
        facts.append(f"{insights.counts.flaky:,} flaky")
    overran = sum(cell.overran_usd is not None for cell in insights.cells)
    if overran:
        facts.append(f"**{plural(overran, 'cell')} over the cost allowed**")
    if campaign.retries:
        facts.append(plural(campaign.retries, "retry", "retries"))
    origin = [*_origin(plan.source), f"`{campaign.campaign_id}`"]
    if page_url:
        origin.insert(0, link("**full page**", page_url))
    return " · ".join(facts) + "<br>\n" + " · ".join(origin)


def _origin(source: CampaignSource) -> Iterator[str]:
    repository = repository_of(source)
    if source.sha:
        is_commit = COMMIT.match(source.sha) is not None
        short = f"`{source.sha[:7]}`" if is_commit else cell(source.sha, 40)
        ref = cell((source.ref or "").removeprefix("refs/heads/"), 80)
        commit = f"{repository}/commit/{source.sha}" if repository and is_commit else None
        yield link(short, commit) + (f" on {ref}" if ref else "")
    if source.event_name:
        yield cell(source.event_name, 40)
    if source.workflow_run_url:
        yield link("workflow run", source.workflow_run_url)


def _failures(page: Page, failed: Sequence[Cell]) -> None:
    if not failed:
        return
    rows = [
        f"| {_name(c)} | {_kind(c)} | {_short(c)} | {c.result.attempt} "
        f"| {duration(c.result.duration_ms)} | {billing_words(c.result.billing)} |"
        for c in worst_first(failed)
    ]
    head = ("Cell", "Class and code", "What happened", "Attempt", "Time", "Cost")
    page.table("Failed", head, "lllrrr", rows, "failed cells")


def _unresolved(page: Page, unresolved: Sequence[Cell]) -> None:
    """Show the cells that nobody knows about: neither passed nor failed, and never green."""
    if not unresolved:
        return
    rows = [
        f"| {_name(c)} | `{c.insight.state}` | {_short(c)} | {_file(c.insight.file)} |"
        for c in unresolved
    ]
    head = ("Cell", "State", "What is known", "File")
    page.table("Unresolved", head, "llll", rows, "unresolved cells")


def _suites(page: Page, campaign: Campaign, cells: Sequence[Cell], names: dict[str, str]) -> None:
    if not campaign.suites:
        return
    by_suite: dict[str, list[Cell]] = {}
    for c in cells:
        by_suite.setdefault(c.insight.execution_id.split(".")[0], []).append(c)
    rows = [
        f"| **{cell(names.get(suite.suite_id, suite.suite_id), 80)}** "
        f"| {strip(by_suite[suite.suite_id])} | {suite.passed:,} of {suite.selected:,} "
        f"| {_planned(suite)} | {duration(suite.duration_ms)} |"
        for suite in campaign.suites
    ]
    head = ("Suite", "", "Passed", "Planned", "Time")
    page.table("Suites", head, "llrrr", rows, "suites")
    page.add("<sub>🟩 passed 🟨 passed after a retry 🟥 failed ⬛ unresolved</sub>")


def _planned(suite: SuiteSummary) -> str:
    if suite.complete:
        return "all"
    if suite.selected == suite.expected:
        return "another definition"
    return f"{suite.selected:,} of {suite.expected:,}"


def _details(page: Page, failed: Sequence[Cell]) -> None:
    """Show errors in full and what the matchers saw, for those whose table row was not enough."""
    blocks = []
    for c in worst_first(failed):
        missed = [m for m in c.result.matcher_results or () if not m.passed]
        if len(one_line(c.explanation)) <= SHORT and not missed:
            continue
        text = "\n".join(
            [
                c.explanation,
                *(f"✗ {m.matcher.kind}: {m.detail}" for m in missed),
            ]
        )
        blocks.append(f"**{_plain(c)}**\n\n{pre(text, ERROR_BYTES)}\n")
    if blocks:
        page.fold(f"What the failures said ({len(blocks):,})", blocks, "failures")


def _flaky(page: Page, flaky: Sequence[Cell]) -> None:
    if not flaky:
        return
    rows = [f"- {_plain(c)} passed on attempt {c.result.attempt}" for c in flaky]
    title = f"Flaky: passed, but not on the first attempt ({len(flaky):,})"
    page.fold(title, rows, "flaky cells")


def _set_aside(page: Page, insights: Insights) -> None:
    """Name every file that was read and did not count, and why."""
    rows = [f"- {code(u.file)}: {cell(u.reason, 300)}" for u in insights.unreadable]
    rows += [
        f"- {code(e.file)} ({code(e.execution_id)}): {cell(e.reason, 300)}" for e in insights.extras
    ]
    rows += [
        f"- `{d.execution_id}`: {_files(d.others)} did not count, "
        + (f"{code(d.chosen)} did" if d.chosen else "and no other did")
        for d in insights.duplicates
    ]
    if rows:
        page.fold(f"Files that were set aside ({len(rows):,})", rows, "files")


def _files(names: Iterable[str]) -> str:
    return ", ".join(code(name) for name in names)


def _all(page: Page, cells: Sequence[Cell]) -> None:
    if not cells:
        return
    rows = [
        f"| {_sign(c)} | {_plain(c)} | {cell(c.result.model, 60)} | {c.result.attempt or ''} "
        f"| {duration(c.result.duration_ms) if c.result.attempt else ''} "
        f"| {billing_words(c.result.billing) if c.result.attempt else ''} |"
        for c in cells
    ]
    top = "| | Cell | Model | Attempt | Time | Cost |\n|:-:|:--|:--|--:|--:|--:|\n"
    page.fold(f"All {plural(len(cells), 'cell')}", rows, "cells", top=top)


def _sign(c: Cell) -> str:
    if c.unresolved:
        return "⬛"
    if c.failed:
        return "🟥"
    return "🟨" if c.insight.flaky else "🟩"


def _name(c: Cell) -> str:
    """Name the cell in two lines: the case, and where it ran. Ids are safe by their grammar."""
    suite, profile, environment, case = c.insight.execution_id.split(".")
    return f"**{case}**<br><sub>{suite} · {profile} · {environment}</sub>"


def _plain(c: Cell) -> str:
    return f"`{c.insight.execution_id}`"


def _file(name: str | None) -> str:
    return code(name) if name else ""


def _kind(c: Cell) -> str:
    said = c.insight.code
    return f"`{c.failure}`" + (f"<br>{code(said, 60)}" if said else "")


SHORT = 160


def _short(c: Cell) -> str:
    return cell(shorten(one_line(c.explanation), SHORT), SHORT)
