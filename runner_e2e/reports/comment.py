"""The comment on a pull request: the summary, smaller, and always findable again."""

from __future__ import annotations

from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.insights import Insights
from runner_e2e.contracts.plan import Plan
from runner_e2e.reports.markdown import Page
from runner_e2e.reports.news import Verdicts
from runner_e2e.reports.summary import fill
from runner_e2e.reports.text import link

MARKER = "<!-- runner-e2e -->"
"""The first line: by it the comment is edited the next time, instead of repeated."""
COMMENT_CHARACTERS = 60_000
"""GitHub's message says 65,536; how it counts is not documented."""


def comment_markdown(
    campaign: Campaign,
    insights: Insights,
    plan: Plan,
    *,
    page_url: str | None = None,
    verdicts: Verdicts | None = None,
    budget: int = COMMENT_CHARACTERS,
) -> str:
    """Write a comment of at most ``budget`` characters.

    Where GitHub still refuses it (422), call again with half the budget: the sections of the
    summary go from the last to the first, the marker and the outcome stay.
    """
    where = link("the full page", page_url) if page_url else "the job summary"
    page = Page(budget, f"_There was not room for everything here; {where} has the rest._", _units)
    page.add(MARKER)
    fill(page, campaign, insights, plan, page_url, verdicts=verdicts)
    return page.text()


def _units(text: str) -> int:
    """Count as JavaScript counts: an emoji is two."""
    return len(text.encode("utf-16-le")) // 2
