"""A comparison of two campaigns, as a table for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from runner_e2e.contracts.judgement import CellChange, Comparison, Totals
from runner_e2e.insights import evidence_words
from runner_e2e.wording import duration, money, plural

ORDER = ("regression", "recovery", "unmeasured", "still_failing", "only_in_one")
"""The changes that are listed, the worst first. What still passes is only counted."""


def comparison_headline(comparison: Comparison) -> str:
    """What changed, and whether that is more than noise, in one sentence."""
    if not comparison.pairs:
        return "Nothing can be compared: no cell was measured in both campaigns"
    if not comparison.regressions and not comparison.recoveries:
        return f"No change in {plural(comparison.pairs, 'cell')} that both measured"
    flips = (
        f"{plural(comparison.regressions, 'regression')} and "
        f"{plural(comparison.recoveries, 'recovery', 'recoveries')} "
        f"in {plural(comparison.pairs, 'cell')} that both measured"
    )
    if comparison.distinguishable:
        return f"{flips}: more than noise (p = {comparison.p:.3f})"
    return (
        f"{flips}: as a whole not distinguishable from noise (p = {comparison.p:.2f}; "
        "six to none is the least that would be)"
    )


def comparison_table(comparison: Comparison) -> str:
    """Plain text: the headline, both sides, and a row for every cell that is not simply green."""
    lines = [comparison_headline(comparison), ""]
    lines += [
        f"  base       {_side(comparison.base)}",
        f"  candidate  {_side(comparison.candidate)}",
    ]
    rows = [(c.change.replace("_", " "), c.execution_id, *_columns(c)) for c in _shown(comparison)]
    if rows:
        header = ("CHANGE", "CELL", "BASE", "CANDIDATE", "HOW SURE", "COST", "TIME")
        table = [header, *rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines.append("")
        lines += [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in table
        ]
    return "\n".join([*lines, *_notes(comparison)])


def comparison_markdown(comparison: Comparison) -> str:
    """The same for a job summary or a comment. Everything in it is ours or an id."""
    lines = [f"## {comparison_headline(comparison)}", ""]
    lines += ["| | Campaign | Result |", "|:--|:--|:--|"]
    for name, side in (("Base", comparison.base), ("Candidate", comparison.candidate)):
        lines.append(f"| {name} | `{side.campaign.campaign_id}` | {_figures(side)} |")
    rows = [
        f"| {c.change.replace('_', ' ')} | `{c.execution_id}` | {' | '.join(_columns(c))} |"
        for c in _shown(comparison)
    ]
    if rows:
        lines += [
            "",
            "| Change | Cell | Base | Candidate | How sure | Cost | Time |",
            "|:--|:--|:--|:--|:--|:--|:--|",
            *rows,
        ]
    return "\n".join([*lines, *_notes(comparison), ""])


def _shown(comparison: Comparison) -> Sequence[CellChange]:
    listed = [
        c
        for c in comparison.cells
        if c.change in ORDER or c.cost_anomaly is not None or c.duration_anomaly is not None
    ]
    order = {name: place for place, name in enumerate(ORDER)}
    return sorted(listed, key=lambda c: (order.get(c.change, len(ORDER)), not c.distinguishable))


def _columns(change: CellChange) -> tuple[str, str, str, str, str]:
    return (
        change.base,
        change.candidate,
        _sure(change),
        _pair(change.cost_base_usd, change.cost_candidate_usd, money, change.cost_anomaly),
        _pair(
            change.duration_base_ms,
            change.duration_candidate_ms,
            duration,
            change.duration_anomaly,
        ),
    )


def _sure(change: CellChange) -> str:
    parts = []
    if change.change in {"regression", "recovery"}:
        said = "more than noise" if change.distinguishable else "not distinguishable"
        parts.append(said if change.q is None else f"{said} (q = {change.q:.2g})")
    if change.verdict is not None and change.change in {"regression", "still_failing"}:
        parts.append(
            f"{change.verdict.verdict.replace('_', ' ')}: {evidence_words(change.verdict)}"
        )
    if change.drift:
        parts.append("another definition")
    return "; ".join(parts)


def _pair(
    base: float | None,
    candidate: float | None,
    say: Callable[[float], str],
    anomaly: str | None,
) -> str:
    """Both figures, or ``?`` for one that nobody knows; a word where it is out of the ordinary."""
    before = "?" if base is None else say(base)
    after = "?" if candidate is None else say(candidate)
    mark = f" (unusually {anomaly})" if anomaly else ""
    return f"{before} -> {after}{mark}"


def _side(side: Totals) -> str:
    sha = f" at {side.campaign.sha[:7]}" if side.campaign.sha else ""
    return f"{side.campaign.campaign_id}{sha}: {_figures(side)}"


def _figures(side: Totals) -> str:
    parts = [f"{side.passed:,} passed", f"{side.failed:,} failed"]
    if side.unmeasured:
        parts.append(f"{side.unmeasured:,} unmeasured")
    if side.unpriced and not side.cost_at_least_usd:
        parts.append("cost unknown")
    elif side.unpriced:
        parts.append(f"at least {money(side.cost_at_least_usd)} ({side.unpriced:,} unpriced)")
    else:
        parts.append(money(side.cost_at_least_usd))
    parts.append(f"{duration(side.duration_ms)} of testing")
    return ", ".join(parts)


def _notes(comparison: Comparison) -> Iterator[str]:
    if comparison.drift:
        yield ""
        yield "Definitions differ (--allow-drift): a change may be the task's and not the agent's."
