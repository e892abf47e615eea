"""Tokens and reported model spend, out of what providers and agents call them.

Everything read here was written by somebody else. A number counts when it is finite, not negative
and a double holds it exactly; whatever else stands there is as good as nothing. Nothing is unknown,
and unknown is never zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from runner_e2e.contracts.billing import LlmUsage
from runner_e2e.contracts.scalars import MAX_SAFE_INTEGER
from runner_e2e.contracts.vocabulary import LlmCostStatus

INPUT_KEYS = ("inputTokens", "input", "promptTokens")
OUTPUT_KEYS = ("outputTokens", "output", "completionTokens")
CACHED_KEYS = ("cachedInputTokens", "cacheReadTokens", "cachedReadTokens")
COST_KEYS = ("cacheAdjustedCostUsd", "costUsd", "providerCostUsd")
MEASUREMENTS = ("runDelta", "total", "cumulative")
"""A provider reports one run, or one run beside a running sum; the run comes first."""


class RunUsage(NamedTuple):
    """One run: its tokens, and its cost in US dollars where one was reported."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost: float | int | None


def summarize_usage(usage: Mapping[str, Any] | None, run_ids: Sequence[str]) -> LlmUsage:
    """Sum up the usage of one result over its runs.

    ``usage`` is one object for the only run, or ``{"runs": [{"usage": ...}, ...]}``. A run that
    reported nothing still counts as a run: that is what makes the sum ``partial``.
    """
    runs = [_run_usage(entry) for entry in _entries(usage, run_ids)]
    return LlmUsage(
        **_counts(
            run_count=len(runs),
            runs_with_token_usage=sum(any(run[:3]) for run in runs),
            runs_with_reported_cost=sum(run.cost is not None for run in runs),
            input_tokens=sum(run.input_tokens for run in runs),
            output_tokens=sum(run.output_tokens for run in runs),
            cached_input_tokens=sum(run.cached_tokens for run in runs),
            reported_cost_usd=exact_sum(run.cost or 0 for run in runs),
        )
    )


def exact_sum(amounts: Iterable[float | int]) -> float | int:
    """Sum up without rounding on the way, so that the order never shows. Whole stays whole."""
    listed = list(amounts)
    whole = all(isinstance(amount, int) for amount in listed)
    return sum(listed) if whole else math.fsum(listed)


def add_usage(parts: Iterable[LlmUsage]) -> LlmUsage:
    """Sum up usages. Of none at all the sum is ``unavailable``, not a reported zero."""
    listed = list(parts)
    return LlmUsage(
        **_counts(
            run_count=sum(part.run_count for part in listed),
            runs_with_token_usage=sum(part.runs_with_token_usage for part in listed),
            runs_with_reported_cost=sum(part.runs_with_reported_cost for part in listed),
            input_tokens=sum(part.input_tokens for part in listed),
            output_tokens=sum(part.output_tokens for part in listed),
            cached_input_tokens=sum(part.cached_input_tokens for part in listed),
            reported_cost_usd=exact_sum(part.reported_cost_usd for part in listed),
        )
    )


def join_usage(
    attempts: Iterable[tuple[Mapping[str, Any] | None, Sequence[str]]],
) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """Put the usage and the run ids of all attempts together, as a result carries them.

    Money that a failed attempt spent is spent. An attempt without a run id and without usage
    keeps its place as one run of which nothing is known.
    """
    listed = list(attempts)
    joined: list[dict[str, Any]] = []
    for usage, run_ids in listed:
        for index, entry in enumerate(_entries(usage, run_ids)):
            run: dict[str, Any] = {"runId": run_ids[index]} if index < len(run_ids) else {}
            joined.append(run | ({"usage": dict(entry)} if entry is not None else {}))
    ids = tuple(run_id for _, run_ids in listed for run_id in run_ids)
    reported = any("usage" in run for run in joined)
    return ({"runs": joined} if reported or len(listed) > 1 else None), ids


def _entries(
    usage: Mapping[str, Any] | None, run_ids: Sequence[str]
) -> list[Mapping[str, Any] | None]:
    """One entry per run, ``None`` where it reported nothing."""
    entries: list[Mapping[str, Any] | None]
    runs = usage.get("runs") if usage is not None else None
    if isinstance(runs, list | tuple):
        entries = [_object(run.get("usage")) if isinstance(run, dict) else None for run in runs]
    else:
        entries = [usage] if usage is not None else []
    missing = max(len(run_ids), 1) - len(entries)
    return entries + [None] * missing


def _run_usage(usage: Mapping[str, Any] | None) -> RunUsage:
    if usage is None:
        return RunUsage(0, 0, 0, None)
    measured = _measurement(usage)
    tokens = [
        int(_first_number(measured, keys) or 0) for keys in (INPUT_KEYS, OUTPUT_KEYS, CACHED_KEYS)
    ]
    cost = _cost(usage, measured)
    # Zero dollars for no tokens is a field nobody filled in, not a free run.
    if cost == 0 and not any(tokens[:2]):
        cost = None
    return RunUsage(tokens[0], tokens[1], tokens[2], cost)


def _measurement(usage: Mapping[str, Any]) -> Mapping[str, Any]:
    for candidate in (*(_object(usage.get(name)) for name in MEASUREMENTS), usage):
        if candidate is not None and any(key in candidate for key in INPUT_KEYS + OUTPUT_KEYS):
            return candidate
    return usage


def _cost(usage: Mapping[str, Any], measured: Mapping[str, Any]) -> float | int | None:
    for place in (usage, measured):
        cost = _first_number(place, COST_KEYS)
        if cost is not None:
            return cost
    detail = _object(usage.get("cost")) or _object(measured.get("cost")) or {}
    currency = detail.get("currency")
    if currency is None or (isinstance(currency, str) and currency.upper() == "USD"):
        return _first_number(detail, ("amount", "total"))
    return None


def _object(value: Any) -> Mapping[str, Any] | None:
    return value if isinstance(value, dict) else None


def _first_number(place: Mapping[str, Any], keys: Iterable[str]) -> float | int | None:
    for key in keys:
        value = place.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if 0 <= value <= MAX_SAFE_INTEGER:
            return value
    return None


def _counts(**counts: float) -> dict[str, Any]:
    """Complete the counts with the total and the status; keep them in the contract's range."""
    tokens = ("input_tokens", "cached_input_tokens", "output_tokens")
    counts["total_tokens"] = sum(counts[name] for name in tokens)
    status = cost_status(
        run_count=int(counts["run_count"]),
        priced=int(counts["runs_with_reported_cost"]),
        with_tokens=int(counts["runs_with_token_usage"]),
    )
    limited = {
        name: count if name == "reported_cost_usd" else min(int(count), MAX_SAFE_INTEGER)
        for name, count in counts.items()
    }
    return {**limited, "cost_status": status}


def cost_status(*, run_count: int, priced: int, with_tokens: int) -> LlmCostStatus:
    """Say how far the reported cost covers the runs."""
    if run_count == 0:
        return "unavailable"
    if priced == run_count:
        return "reported"
    if priced > 0:
        return "partial"
    return "unpriced" if with_tokens > 0 else "unavailable"
