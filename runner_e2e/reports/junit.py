"""``junit.xml``: a suite per suite, for every tool that reads JUnit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from runner_e2e.contracts.campaign import Campaign, SuiteSummary
from runner_e2e.contracts.insights import Insights
from runner_e2e.contracts.plan import Plan
from runner_e2e.reports.text import cut_bytes, xml
from runner_e2e.reports.wording import Cell, cells_of, labels
from runner_e2e.wording import one_line, shorten

BODY_BYTES = 16_384
MESSAGE = 300
FAILURES = frozenset({"candidate_failure", "provider_variance"})
"""What the candidate did wrong. Everything else that is not green is an error; nothing is called
skipped, since most readers take that for green."""


def junit_xml(campaign: Campaign, insights: Insights, plan: Plan) -> bytes:
    """Write one ``testcase`` for every planned cell, in the order of the plan."""
    by_suite: dict[str, list[Cell]] = {}
    cells = cells_of(campaign, insights)
    for cell in cells:
        by_suite.setdefault(cell.insight.execution_id.split(".")[0], []).append(cell)
    names = labels(plan)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites{_totals(cells)}"]
    lines[-1] += f' name="{xml(campaign.campaign_id)}">'
    for suite in campaign.suites:
        lines += _suite(suite, by_suite[suite.suite_id], names, campaign)
    lines.append("</testsuites>")
    return ("\n".join(lines) + "\n").encode()


def _totals(cells: Sequence[Cell]) -> str:
    red = [cell for cell in cells if not cell.result.green]
    failures = sum(cell.failure in FAILURES for cell in red)
    seconds = sum(cell.result.duration_ms for cell in cells) / 1000
    return (
        f' tests="{len(cells)}" failures="{failures}" errors="{len(red) - failures}"'
        f' skipped="0" time="{seconds:.3f}"'
    )


def _suite(
    suite: SuiteSummary, cells: Sequence[Cell], names: Mapping[str, str], campaign: Campaign
) -> Iterator[str]:
    started = min(cell.result.started_at for cell in cells)
    yield (f'<testsuite name="{xml(suite.suite_id)}"{_totals(cells)} timestamp="{xml(started)}">')
    yield from _properties(
        label=names.get(suite.suite_id),
        definition=suite.suite_definition_hash,
        campaign=campaign.campaign_id,
        planned=f"{suite.selected} of {suite.expected}",
        sha=campaign.source.sha,
        ref=campaign.source.ref,
        run=campaign.source.workflow_run_url,
    )
    for cell in cells:
        yield from _case(cell)
    yield "</testsuite>"


def _case(cell: Cell) -> Iterator[str]:
    result, insight = cell.result, cell.insight
    where, _, case = insight.execution_id.rpartition(".")
    yield (
        f'<testcase classname="{xml(where)}" name="{xml(case)}" '
        f'time="{result.duration_ms / 1000:.3f}">'
    )
    billing = result.billing
    yield from _properties(
        state=insight.state,
        attempt=str(result.attempt),
        runAttempt=None if insight.run_attempt is None else str(insight.run_attempt),
        code=insight.code,
        flaky="true" if insight.flaky else None,
        provider=result.provider,
        model=result.model,
        cleanup=result.cleanup,
        costUsd=None if billing is None else f"{billing.observed_and_estimated_cost_usd:.6f}",
        costComplete=None if billing is None else str(billing.complete).lower(),
        file=insight.file,
    )
    if not result.green:
        tag = "failure" if cell.failure in FAILURES else "error"
        message = xml(shorten(one_line(cell.explanation), MESSAGE))
        body = xml_lines(_body(cell))
        yield f'<{tag} type="{xml(cell.failure)}" message="{message}">{body}</{tag}>'
    yield "</testcase>"


def _body(cell: Cell) -> str:
    missed = [match for match in cell.result.matcher_results or () if not match.passed]
    lines = [cell.explanation, *(f"{match.matcher.kind}: {match.detail}" for match in missed)]
    return cut_bytes("\n".join(lines), BODY_BYTES)


def xml_lines(text: str) -> str:
    """Text of an element: a newline may stay one there."""
    return xml(text).replace("&#10;", "\n")


def _properties(**values: str | None) -> Iterable[str]:
    given = [(name, value) for name, value in values.items() if value is not None]
    yield "<properties>"
    for name, value in given:
        yield f'<property name="{name}" value="{xml(shorten(value, MESSAGE))}"/>'
    yield "</properties>"
