"""How large the pages are, how long they take to make, and how soon a person can use them.

Run with ``python -m benchmarks.pages``. Times are the best of three; "interactive" is from the
start of the navigation to the end of our script, in headless Chromium. Prints a table; exits 1
where a limit is missed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.history import CellSeries
from runner_e2e.contracts.insights import Insights
from runner_e2e.contracts.plan import Plan
from runner_e2e.contracts.vocabulary import CellState
from runner_e2e.history import History
from runner_e2e.site import campaign_page, history_pages
from tests.support import showcase as the
from tests.support.chromium import Browser, chromium
from tests.support.documents import make_campaign, make_insights, make_plan, make_result

REPEATS = 3
SUITES = 5
CASES = 5
NIGHTS: tuple[CellState, ...] = (*("passed",) * 40, "failed", "missing", *("passed",) * 18)
LIMITS: dict[int, dict[str, float]] = {
    1_000: {"bytes": 1_500_000, "interactive ms": 1_000},
    10_000: {"generated ms": 3_000},
}


def documents(cells: int) -> tuple[Campaign, Insights, Plan, dict[str, CellSeries]]:
    """Give ``cells`` in five suites, every fiftieth red, each with matchers, turns and history."""
    suites = [
        the.planned_suite(
            f"suite-{number}",
            f"Suite {number}",
            profiles=[
                (f"profile-number-{each}", f"Profile number {each}")
                for each in range(cells // SUITES // CASES // len(the.ENVIRONMENTS))
            ],
            tasks=[(f"case-number-{each}", f"Case number {each}") for each in range(CASES)],
        )
        for number in range(SUITES)
    ]
    plan = make_plan([each for suite in suites for each in suite.execution_ids], suites=suites)
    results = [
        make_result(
            execution_id,
            status="failed" if number % 50 == 0 else "passed",
            matcher_results=the.matcher_results(passed=number % 50 != 0),
            turn_timings=(the.turn_timing(1), the.turn_timing(2)),
            issue_identifier=f"RUN-{number}",
        )
        for number, execution_id in enumerate(plan.expected)
    ]
    campaign = make_campaign(results, plan=plan)
    series = {
        suite.id: the.make_series(dict.fromkeys(suite.execution_ids, NIGHTS), suite.id)
        for suite in suites
    }
    return campaign, make_insights(campaign, plan=plan), plan, series


def best(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what ``work`` gives, and the least time it took, in milliseconds."""
    times, value = [], None
    for _ in range(REPEATS):
        begun = time.perf_counter()
        value = work()
        times.append((time.perf_counter() - begun) * 1000)
    return value, min(times)


def interactive(browser: Browser, page: Path) -> float:
    """Give the least time from navigation to the end of our script, in milliseconds."""
    times = []
    for _ in range(REPEATS):
        browser.open(page)
        assert browser.evaluate("document.documentElement.dataset.ready") == "yes"
        times.append(
            float(
                browser.evaluate(
                    "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
                )
            )
        )
    return min(times)


def filtered(browser: Browser) -> float:
    """Give how long a search keeps the page busy, in milliseconds."""
    return float(
        browser.evaluate(
            "(() => { const q = document.getElementById('q'), begun = performance.now();"
            " q.value = 'matchers'; q.dispatchEvent(new Event('input'));"
            " document.body.getBoundingClientRect(); return performance.now() - begun; })()"
        )
    )


def measure(browser: Browser, directory: Path, cells: int) -> dict[str, float]:
    """Measure the page of a campaign of ``cells`` and the pages of its history."""
    campaign, insights, plan, series = documents(cells)
    page, generated = best(lambda: campaign_page(campaign, insights, plan, series=series))
    file = directory / f"{cells}.html"
    file.write_bytes(page)
    figures = {"bytes": len(page), "generated ms": generated}
    figures["interactive ms"] = interactive(browser, file)
    figures["search ms"] = filtered(browser)
    empty = History.empty()
    pages, took = best(lambda: history_pages(empty.index, empty.rows, series))
    figures["history bytes"] = sum(map(len, pages.values()))
    figures["history generated ms"] = took
    return figures


def main() -> int:
    """Print the figures; 1 when one is over its limit."""
    over = False
    with tempfile.TemporaryDirectory() as directory, chromium() as browser:
        for cells, limits in LIMITS.items():
            print(f"  {cells:,} cells")
            for name, value in measure(browser, Path(directory), cells).items():
                limit = limits.get(name)
                print(f"    {name:<22}{value:12,.0f}" + (f"  at most {limit:,}" if limit else ""))
                over |= limit is not None and value > limit
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
