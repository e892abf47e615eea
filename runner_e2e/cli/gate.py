"""``runner-e2e gate``: whether a report may pass."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runner_e2e.cli import options, output
from runner_e2e.cli.published import Where, judged, open_history
from runner_e2e.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner_e2e.contracts.judgement import Gate, Verdict


class Word(StrEnum):
    """The verdicts that can fail a gate."""

    NEW_FAILURE = "new_failure"
    BROKEN = "broken"
    KNOWN_BROKEN = "known_broken"
    UNMEASURED = "unmeasured"
    FLAKY = "flaky"


def gate(
    report: Annotated[
        Path, typer.Argument(metavar="REPORT", help="What aggregate wrote.", show_default=False)
    ],
    history: Where = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VERDICT",
            help="new_failure, broken, known_broken, unmeasured, flaky: all but the last unless "
            "told otherwise. Repeatable, and a comma separates several.",
            show_default=False,
        ),
    ] = None,
    today: Annotated[
        str | None,
        typer.Option(metavar="YYYY-MM-DD", help="The day that quarantines are held against (UTC)."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Fail (exit 1) on verdicts, on a suite's thresholds and on expired quarantines."""
    from runner_e2e.cli.documents import read_document, read_plan
    from runner_e2e.contracts.campaign import Campaign
    from runner_e2e.contracts.insights import Insights
    from runner_e2e.insights import judge_gate

    words, day = parse_words(fail_on), parse_day(today)
    campaign = read_document(Campaign, report / "campaign.json")
    plan = read_plan(report / "plan.json")
    insights = read_document(Insights, report / "insights.json")
    verdicts = judged(open_history(history), campaign, insights, plan)
    found = judge_gate(campaign.campaign_id, plan, verdicts, day=day, fail_on=words)
    if json:
        output.answer_document(found)
    else:
        tell(found)
    output.finish(ExitCode.OK if found.opened else ExitCode.FAILED)


def parse_words(given: Sequence[str] | None) -> frozenset[Verdict]:
    """Read ``--fail-on``. Raises :class:`UsageError` for what is no verdict."""
    from runner_e2e.insights import DEFAULT_FAIL_ON

    if given is None:
        return DEFAULT_FAIL_ON
    names = [name.strip() for each in given for name in each.split(",")]
    known: list[Verdict] = []
    for name in names:
        try:
            known.append(Word(name).value)
        except ValueError:
            raise UsageError(
                f"--fail-on {name!r} is no verdict that can fail a gate",
                hint=f"take some of {', '.join(Word)}",
            ) from None
    return frozenset(known)


def parse_day(given: str | None) -> str:
    """Read ``--today``, by default today. Raises :class:`UsageError` for what is no day."""
    from datetime import UTC, date, datetime

    if given is None:
        return datetime.now(UTC).date().isoformat()
    try:
        return date.fromisoformat(given).isoformat()
    except ValueError:
        raise UsageError(f"--today {given!r} is no day", hint="write it as 2026-11-30") from None


def tell(found: Gate) -> None:
    """Say what keeps the gate shut, what was excused, and what can be tidied up."""
    for finding in found.findings:
        name = finding.execution_id or finding.suite_id or found.campaign_id
        kind = "" if finding.kind == "cell" else f"{finding.kind.replace('_', ' ')}: "
        output.answer(f"{name}: {kind}{finding.message}")
    for finding in found.excused:
        output.narrate(f"excused: {finding.execution_id}: {finding.message}")
    for notice in found.notices:
        output.narrate(f"note: {notice}")
    count = len(found.findings)
    output.answer(
        f"{found.campaign_id}: the gate is open"
        if found.opened
        else f"{found.campaign_id}: {count} finding{'' if count == 1 else 's'}"
    )
