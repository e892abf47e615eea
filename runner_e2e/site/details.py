"""Everything that the page says about one cell once somebody opens it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runner_e2e import wording
from runner_e2e.billing import billing_words
from runner_e2e.contracts.base import canonical_json, dump_tree
from runner_e2e.contracts.billing import BillingSummary
from runner_e2e.contracts.evidence import evidence_path
from runner_e2e.contracts.matcher import Matcher
from runner_e2e.contracts.result import Result, TurnTiming
from runner_e2e.site import text
from runner_e2e.site.cells import Cell
from runner_e2e.site.words import STATE_MEANINGS

_MATCHER_LIMIT = 400
_ERROR_LIMIT = 2_000
_MAX_MATCHERS = 50
_MAX_TURNS = 50

FACTS = (
    "Attempt",
    "Run attempt",
    "Ran for",
    "Started",
    "Cost",
    "Model spend",
    "Runtime estimate",
    "Tokens",
    "Agent time",
    "Lease time",
    "Provider and model",
    "Runtime",
    "Issue",
    "Clean-up",
    "Repeats",
    "Quarantine",
    "Read from",
)
"""The names of a cell's facts, in the order in which :func:`facts` gives them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One matcher as a page shows it."""

    passed: bool
    kind: str
    expected: str
    detail: str

    @property
    def said(self) -> tuple[str, str, str]:
        """Kind, expectation and what was observed."""
        return self.kind, self.expected, self.detail


def _expectation(matcher: Matcher) -> str:
    content = dump_tree(matcher)
    del content["kind"]
    said = {
        name: value if isinstance(value, str) else canonical_json(value).decode()
        for name, value in content.items()
    }
    if len(said) == 1:
        return next(iter(said.values()))
    return ", ".join(f"{name}: {value}" for name, value in said.items())


def checks(result: Result | None) -> tuple[Check, ...]:
    """The matchers of a result, the failed ones first, at most fifty."""
    found = (result.matcher_results if result else None) or ()
    ordered = sorted(found, key=lambda each: each.passed)[:_MAX_MATCHERS]
    return tuple(
        Check(
            passed=each.passed,
            kind=each.matcher.kind,
            expected=wording.brief(_expectation(each.matcher), _MATCHER_LIMIT),
            detail=wording.brief(each.detail, _MATCHER_LIMIT),
        )
        for each in ordered
    )


def _money_facts(billing: BillingSummary | None) -> tuple[str | None, ...]:
    if billing is None:
        return (None, None, None, None, None, None)
    llm, runtime = billing.llm, billing.runtime
    spend = "none reported"
    if llm.runs_with_reported_cost:
        priced = f"{llm.runs_with_reported_cost} of {wording.plural(llm.run_count, 'run')} priced"
        spend = f"{wording.money(llm.reported_cost_usd)} reported, {priced}"
    tokens = None
    if llm.runs_with_token_usage:
        tokens = (
            f"{text.number(llm.input_tokens)} in, {text.number(llm.output_tokens)} out, "
            f"{text.number(llm.cached_input_tokens)} cached"
        )
    estimate = {
        "estimated": wording.money(runtime.estimated_list_cost_usd or 0) + " at list price",
        "not_metered": "not metered",
        "unavailable": "unknown",
    }[runtime.cost_status]
    return (
        billing_words(billing),
        spend,
        estimate,
        tokens,
        wording.duration(runtime.agent_run_duration_ms),
        None if runtime.lease_duration_ms is None else wording.duration(runtime.lease_duration_ms),
    )


def facts(cell: Cell) -> list[str | None]:
    """The values of :data:`FACTS`; ``None`` where there is nothing to say."""
    insight, result = cell.insight, cell.result
    ran = result is not None and result.attempt > 0
    confirm = insight.confirm if insight else None
    lead: list[str | None] = [None, None, None, None]
    money: tuple[str | None, ...] = _money_facts(result.billing if result and ran else None)
    tail: list[str | None] = [None, None, None, None]
    if result is not None and ran:
        lead = [
            str(result.attempt),
            str(insight.run_attempt) if insight and insight.run_attempt else None,
            wording.duration(result.duration_ms),
            text.moment(result.started_at),
        ]
        issue = result.issue_identifier or result.issue_id
        tail = [
            wording.brief(f"{result.provider} / {result.model}", 200),
            result.runtime_mode,
            wording.brief(issue, 100) if issue else None,
            result.cleanup.replace("_", " "),
        ]
    return [
        *lead,
        *money,
        *tail,
        f"{confirm.passed} of {confirm.repeats} passed" if confirm else None,
        cell.quarantine,
        wording.brief(insight.file, 300) if insight and insight.file else None,
    ]


def _turns(result: Result | None) -> tuple[TurnTiming, ...]:
    return ((result.turn_timings if result else None) or ())[:_MAX_TURNS]


def _turn(timing: TurnTiming) -> list[str | int]:
    return [
        timing.turn,
        wording.duration(timing.scheduler_latency_ms),
        wording.duration(timing.run_duration_ms),
        wording.duration(timing.response_latency_ms),
        timing.lease_acquisition_outcome,
    ]


def pictures(cell: Cell) -> list[tuple[str, str]]:
    """Label and relative link of every screenshot that the report has."""
    result = cell.result
    if result is None:
        return []
    found = []
    for shot in result.screenshots or ():
        path = evidence_path(result.execution_id, result.attempt, shot.file)
        href = text.evidence_href(path) if path in cell.pictures else None
        if shot.publication == "public-runner-fixture" and href:
            found.append((wording.brief(shot.label, 120), href))
    return found


def record(cell: Cell, *, compact: bool = False) -> dict[str, Any]:
    """The cell's part of the data island. Short keys: there are thousands of them.

    ``compact`` leaves the matchers and turns of a passed cell out.

    ``k`` kind, ``w`` word, ``p`` profile, ``e`` environment, ``c`` case, ``s`` suite, ``b`` blame,
    ``o`` code, ``m`` meaning or error, ``f`` facts, ``x`` matchers, ``t`` turns, ``g`` pictures,
    ``v`` verdict, ``h`` history in words. What is empty is left out.
    """
    insight, result = cell.insight, cell.result
    content: dict[str, Any] = {
        "k": cell.kind,
        "w": cell.word,
        "s": cell.suite.id,
        "p": cell.profile.id,
        "e": cell.environment.id,
        "c": cell.task.id,
    }
    if cell.kind == "unselected":
        return content
    message = (result.error if result else None) or (insight.reason if insight else None)
    if message is None and cell.kind not in ("passed", "flaky"):
        message = STATE_MEANINGS[insight.state if insight else "missing"]
    brief = compact and cell.kind == "passed"
    content |= {
        "b": cell.blame,
        "o": wording.brief(insight.code, 100) if insight and insight.code else None,
        "m": wording.brief(message, _ERROR_LIMIT) if message else None,
        "f": facts(cell),
        "x": [] if brief else [[int(c.passed), *c.said] for c in checks(result)],
        "t": [] if brief else [_turn(t) for t in _turns(result)],
        "g": pictures(cell),
        "v": cell.verdict,
        "h": cell.trail.words if cell.trail else None,
    }
    return {key: value for key, value in content.items() if value}
