"""How verdicts are said, the same in every sink. Plain text, without markup."""

from __future__ import annotations

from collections.abc import Mapping

from runner_e2e.contracts.judgement import CellVerdict, Rate, Verdict, WindowStart
from runner_e2e.insights.formulas import wilson
from runner_e2e.wording import plural

WORDS: Mapping[Verdict, str] = {
    "passed": "passed",
    "recovered": "recovered",
    "flaky": "flaky",
    "new_failure": "new failure",
    "broken": "broken",
    "known_broken": "known broken",
    "unmeasured": "unmeasured",
}
FLAKY_MEANS = (
    "Flaky: the cell passed on a later attempt only, or a repeat contradicted its failure, or its "
    "failures came and went."
)
_WINDOW: Mapping[WindowStart, str] = {
    "definition": "the suite's definition changed",
    "model": "the model changed",
    "image": "the image changed",
}


def rate_words(rate: Rate) -> str:
    """``13 of 14 green (69 to 99%)``. The interval is what a few nights are worth."""
    if not rate.measured:
        return "never measured"
    return f"{rate.passed} of {rate.measured} green ({_percents(rate.low, rate.high)})"


def flaky_words(flaky: int, measured: int) -> str:
    """``3 of 60 (2 to 14%)``."""
    if not measured:
        return "never measured"
    interval = wilson(flaky, measured)
    return f"{flaky} of {measured} ({_percents(interval.low, interval.high)})"


def _percents(low: float, high: float) -> str:
    return f"{low:.0%} to {high:.0%}".replace("%", "", 1)


def chance_words(chance: float) -> str:
    """``0.7%``, and never a 0 that nobody measured."""
    return "less than 0.1%" if chance < 0.001 else f"{chance:.1%}"  # noqa: PLR2004  what .1% shows


def evidence_words(verdict: CellVerdict) -> str:
    """How sure it is, in a sentence without a full stop."""
    parts = [_told(verdict)]
    if verdict.window:
        parts.append(f"counted since {_WINDOW[verdict.window]}")
    return "; ".join(part for part in parts if part)


def _told(verdict: CellVerdict) -> str:
    match verdict.verdict:
        case "unmeasured":
            if verdict.before is None:
                return "never measured"
            return f"{WORDS[verdict.before]} when it was last measured"
        case "flaky" | "passed" | "recovered":
            return _not_red(verdict)
        case _:
            return _red(verdict)


def _not_red(verdict: CellVerdict) -> str:
    said = rate_words(verdict.recent)
    if verdict.verdict == "recovered":
        return f"red before, {said} lately"
    if verdict.repeats_passed:
        tries = verdict.repeats_passed + verdict.repeats_failed
        return f"red, then {verdict.repeats_passed} of {plural(tries, 'repeat')} passed; {said}"
    flaky = verdict.recent.flaky
    return f"{said}, both answers in {flaky}" if flaky else said


def _red(verdict: CellVerdict) -> str:
    parts = [f"red {_times(verdict.campaigns)}"]
    if verdict.repeats_failed:
        parts[0] += f", {plural(verdict.repeats_failed, 'repeat')} failed too"
    if verdict.earlier.measured:
        parts.append(f"before that {rate_words(verdict.earlier)}")
        if verdict.chance is not None:
            parts.append(f"noise alone does that {chance_words(verdict.chance)} of the time")
    elif verdict.window is None:
        parts.append("never green so far")
    return "; ".join(parts)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times in a row"
