"""The page of one campaign."""

from __future__ import annotations

from collections.abc import Mapping

from runner_e2e import wording
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.history import CellSeries
from runner_e2e.contracts.insights import Insights
from runner_e2e.contracts.plan import CampaignSource, Plan
from runner_e2e.site import text
from runner_e2e.site.cells import Matrix, count_kinds, lay_out
from runner_e2e.site.details import FACTS, pictures, record
from runner_e2e.site.pages import render
from runner_e2e.site.problems import problems
from runner_e2e.site.words import KINDS, Kind

_MAX_PROBLEMS = 100
_MAX_LISTED = 30
_MAX_PICTURES = 200
_MAX_ASIDE = 200
_MAX_FULL_CELLS = 2_000
"""Above it a tile is only its shape and word, and a passed cell's matchers stay in campaign.json:
a browser lays out a hundred thousand elements in seconds, and a person reads none of them."""


def headline(campaign: Campaign, counts: Mapping[Kind, int]) -> tuple[str, str]:
    """The outcome in one sentence, and its colour: ``good``, ``bad`` or ``open``."""
    if campaign.selected == 0:
        return "Nothing was selected", "open"
    parts = [
        f"{counts[kind]:,} {KINDS[kind]}"
        for kind in ("failed", "unclean", "unresolved")
        if counts[kind]
    ]
    if parts:
        listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
        tone = "bad" if counts["failed"] or counts["unclean"] else "open"
        return f"{listed} of {campaign.selected:,}", tone
    green = counts["passed"] + counts["flaky"]
    if campaign.passed != campaign.selected or green != campaign.selected:
        doubt = f"{campaign.passed:,} of {campaign.selected:,} passed, and its cells say {green:,}"
        return doubt, "open"
    if not campaign.cleanup_passed:
        return "Everything passed, but clean-up failed", "bad"
    return f"All {campaign.selected:,} passed" if campaign.selected > 1 else "Passed", "good"


def source_of(source: CampaignSource) -> dict[str, str | None]:
    """What ran, ready to print: names made visible, links only where they are safe."""
    ref = source.ref
    for prefix in ("refs/heads/", "refs/tags/"):
        ref = ref.removeprefix(prefix) if ref else ref
    return {
        "sha": wording.brief(source.sha, 64)[:12] if source.sha else None,
        "commit": text.commit_url(text.repository_url(source), source.sha),
        "ref": wording.brief(ref, 100) if ref else None,
        "event": wording.brief(source.event_name, 60) if source.event_name else None,
        "run": text.web_url(source.workflow_run_url),
    }


def campaign_page(
    campaign: Campaign,
    insights: Insights,
    plan: Plan,
    *,
    assets: str | None = None,
    verdicts: Mapping[str, str] | None = None,
    series: Mapping[str, CellSeries] | None = None,
) -> bytes:
    """One HTML page: outcome, what is red and why, the matrix of every suite, each cell's detail.

    ``assets`` is the relative address of the published ``assets`` directory; without it style and
    script are inlined and the page is one file. ``verdicts`` says what history makes of a cell, by
    execution id; ``series``, by suite id, is drawn as its last nights. Same arguments, same bytes.
    """
    matrices = lay_out(campaign, insights, plan, verdicts=verdicts or {}, series=series or {})
    cells = [cell for matrix in matrices for cell in matrix.cells]
    counts = count_kinds(cells)
    compact = len(cells) > _MAX_FULL_CELLS
    found = problems(cells)
    sentence, tone = headline(campaign, counts)
    return render(
        "campaign.html",
        base=assets,
        data={
            "facts": FACTS,
            "labels": _labels(matrices),
            "cells": {cell.id: record(cell, compact=compact) for cell in cells},
        },
        title=f"{sentence} · {campaign.campaign_id}",
        headline=sentence,
        tone=tone,
        campaign=campaign,
        insights=insights,
        plan=plan,
        source=source_of(campaign.source),
        words=KINDS,
        counts=counts,
        strip=_strip(counts),
        problems=found[:_MAX_PROBLEMS],
        more_problems=max(0, len(found) - _MAX_PROBLEMS),
        listed=_MAX_LISTED,
        matrices=matrices,
        compact=compact,
        summaries={suite.suite_id: suite for suite in campaign.suites},
        verdicts=sorted({cell.verdict for cell in cells if cell.verdict}),
        gallery=[(cell, shot) for cell in cells for shot in pictures(cell)][:_MAX_PICTURES],
        aside=_MAX_ASIDE,
        cost=wording.cost(insights.cost.at_least, complete=insights.cost.unpriced == 0),
    )


def _labels(matrices: tuple[Matrix, ...]) -> dict[str, dict[str, str]]:
    """By suite, the labels of its parts, which the panel of a cell names it by."""
    return {
        matrix.suite.id: {
            "": wording.brief(matrix.suite.label),
            **{f"p:{each.id}": wording.brief(each.label) for each in matrix.suite.profiles},
            **{f"e:{each.id}": wording.brief(each.label) for each in matrix.suite.environments},
            **{f"c:{each.id}": wording.brief(each.label) for each in matrix.suite.tasks},
        }
        for matrix in matrices
    }


def _strip(counts: Mapping[Kind, int]) -> list[tuple[Kind, float, float]]:
    """The campaign as one bar of width 1000: kind, start and width of each part that is there.

    A single red cell among thousands stays visible: no part is thinner than six units.
    """
    selected = {kind: n for kind, n in counts.items() if n and kind != "unselected"}
    total = sum(selected.values())
    if not total:
        return []
    widths = {kind: max(6.0, 1000 * n / total) for kind, n in selected.items()}
    scale = 1000 / sum(widths.values())
    parts: list[tuple[Kind, float, float]] = []
    start = 0.0
    for kind, width in widths.items():
        parts.append((kind, round(start, 2), round(width * scale, 2)))
        start += width * scale
    return parts
