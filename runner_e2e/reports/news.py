"""What is new in a campaign: which cells, since which commit, and how sure that is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from runner_e2e.contracts.judgement import CampaignRef, CellVerdict, Verdict
from runner_e2e.contracts.plan import CampaignSource
from runner_e2e.insights import FLAKY_MEANS, WORDS, evidence_words, flaky_words
from runner_e2e.reports.markdown import Page
from runner_e2e.reports.text import link
from runner_e2e.reports.wording import Cell
from runner_e2e.wording import cell, one_line, plural, shorten

Verdicts = Mapping[str, CellVerdict]
"""By execution id."""

REPOSITORY = re.compile(r"^(https?://[^/]+/[^/]+/[^/]+)/actions/runs/[0-9]+")
COMMIT = re.compile(r"^[0-9a-f]{40}([0-9a-f]{24})?$")
ORDER: tuple[Verdict, ...] = (
    "broken",
    "new_failure",
    "known_broken",
    "flaky",
    "recovered",
    "unmeasured",
)
MARKS: Mapping[Verdict, str] = {"broken": "🔴", "new_failure": "🟠", "known_broken": "⚫"}
SAID = 120


def tell_news(
    page: Page, cells: Sequence[Cell], verdicts: Verdicts, source: CampaignSource
) -> None:
    """Add the sentence and the tables that answer what is new."""
    found = [(c, verdicts[c.insight.execution_id]) for c in cells if _has(c, verdicts)]
    counts = Counter(verdict.verdict for _, verdict in found)
    page.add(f"**{headline(counts)}**")
    repository = repository_of(source)
    new = [pair for pair in found if pair[1].verdict in {"broken", "new_failure"}]
    new.sort(key=lambda pair: ORDER.index(pair[1].verdict))
    if new:
        rows = [_row(c, verdict, repository) for c, verdict in new]
        head = ("Cell", "Verdict", "Since", "How sure", "What happened")
        page.table("What is new", head, "lllll", rows, "new failures")
    known = [pair for pair in found if pair[1].verdict == "known_broken"]
    if known:
        rows = [_row(c, verdict, repository) for c, verdict in known]
        head = ("Cell", "Verdict", "Since", "How sure", "What happened")
        page.table("Known before", head, "lllll", rows, "known failures")
    others = [pair for pair in found if pair[1].verdict in {"flaky", "recovered", "unmeasured"}]
    others.sort(key=lambda pair: ORDER.index(pair[1].verdict))
    if others:
        rows = [_line(c, verdict, repository) for c, verdict in others]
        title = f"Recovered, flaky and unmeasured ({len(others):,})"
        top = "\n\n".join([FLAKY_MEANS, *where_noise_is(verdicts)])
        page.fold(title, rows, "cells", top=f"{top}\n\n")


PARTS = (("profile", 1), ("environment", 2), ("case", 3))


def where_noise_is(verdicts: Verdicts) -> Iterator[str]:
    """Where flaky results pile up, over the last 30 campaigns of every cell.

    Nothing for a part that all cells share. What is flaky in one environment only is rarely the
    agent's doing.
    """
    for name, place in PARTS:
        flaky: Counter[str] = Counter()
        measured: Counter[str] = Counter()
        for execution_id, verdict in verdicts.items():
            part = execution_id.split(".")[place]
            flaky[part] += verdict.month.flaky
            measured[part] += verdict.month.measured
        if len(measured) < 2 or not flaky.total():  # noqa: PLR2004  a comparison needs two
            continue
        worst = sorted(measured, key=lambda part: -flaky[part] / max(1, measured[part]))
        said = (f"`{part}` {flaky_words(flaky[part], measured[part])}" for part in worst[:5])
        yield f"Flaky by {name}: {', '.join(said)}."


def headline(counts: Mapping[Verdict, int]) -> str:
    """How many of each, the new ones first. What simply passed is in the title already."""
    parts = []
    for word in ORDER:
        count = counts.get(word, 0)
        if count and word == "new_failure":
            parts.append(f"{plural(count, 'new failure')} that may be noise")
        elif count:
            parts.append(f"{count:,} {WORDS[word]}")
    new = counts.get("broken", 0) + counts.get("new_failure", 0)
    if not parts:
        return "Nothing new: every cell passed as before"
    return ("" if new else "Nothing is newly red: ") + ", ".join(parts)


def repository_of(source: CampaignSource) -> str | None:
    """The address of the repository whose workflow ran."""
    found = REPOSITORY.match(source.workflow_run_url or "")
    return found[1] if found else None


def since_words(verdict: CellVerdict, repository: str | None) -> str:
    """Which commits can have done it: those after the last one that ended the other way."""
    since, other = verdict.since, verdict.last_other
    if since is None:
        return ""
    day = since.generated_at[:10]
    if other is None:
        begun = "the first that counts" if verdict.window else "the first campaign"
        return f"{_commit(since, repository)}, {begun}<br><sub>{day}</sub>"
    if since.sha is None or other.sha is None:
        return f"<sub>{day}, commits unknown</sub>"
    if since.sha == other.sha:
        return f"{_commit(since, repository)}<br><sub>{day}, the same commit passed before</sub>"
    both = COMMIT.match(since.sha) and COMMIT.match(other.sha)
    span = f"`{other.sha[:7]}..{since.sha[:7]}`" if both else cell(f"{other.sha}..{since.sha}", 60)
    url = f"{repository}/compare/{other.sha}...{since.sha}" if repository and both else None
    return f"{link(span, url)}<br><sub>{day}</sub>"


def _has(c: Cell, verdicts: Verdicts) -> bool:
    return c.insight.execution_id in verdicts


def _commit(ref: CampaignRef, repository: str | None) -> str:
    if ref.sha is None:
        return "an unknown commit"
    if not COMMIT.match(ref.sha):
        return cell(ref.sha, 40)
    return link(f"`{ref.sha[:7]}`", f"{repository}/commit/{ref.sha}" if repository else None)


def _row(c: Cell, verdict: CellVerdict, repository: str | None) -> str:
    suite, profile, environment, case = c.insight.execution_id.split(".")
    return (
        f"| **{case}**<br><sub>{suite} · {profile} · {environment}</sub> "
        f"| {MARKS[verdict.verdict]} {WORDS[verdict.verdict]} "
        f"| {since_words(verdict, repository)} | {_sure(verdict)} "
        f"| {cell(shorten(one_line(c.explanation), SAID), SAID)} |"
    )


def _sure(verdict: CellVerdict) -> str:
    first, *rest = evidence_words(verdict).split("; ")
    return f"{first}<br><sub>{'; '.join(rest)}</sub>" if rest else first


def _line(c: Cell, verdict: CellVerdict, repository: str | None) -> str:
    commits = since_words(verdict, repository).replace("<br>", " ")
    since = f", since {commits}" if verdict.verdict == "recovered" and commits else ""
    return (
        f"- {WORDS[verdict.verdict]}: `{c.insight.execution_id}`, {evidence_words(verdict)}{since}"
    )


def plain_news(verdicts: Verdicts) -> Iterator[str]:
    """The same as plain lines for a terminal, the new ones first."""
    told = [(name, each) for name, each in verdicts.items() if each.verdict in ORDER]
    for name, verdict in sorted(told, key=lambda pair: ORDER.index(pair[1].verdict)):
        yield f"{WORDS[verdict.verdict]:<12} {name}: {evidence_words(verdict)}"
