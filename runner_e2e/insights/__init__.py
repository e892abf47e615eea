"""Judgement: formulas, verdicts, comparisons, estimates and gates. Pure."""

from runner_e2e.insights.compare import Side, compare
from runner_e2e.insights.estimates import estimate_cell, estimate_executions
from runner_e2e.insights.gate import DEFAULT_FAIL_ON, judge_gate
from runner_e2e.insights.verdicts import all_verdicts, cell_verdicts, verdict_of
from runner_e2e.insights.words import FLAKY_MEANS, WORDS, evidence_words, flaky_words, rate_words

__all__ = [
    "DEFAULT_FAIL_ON",
    "FLAKY_MEANS",
    "WORDS",
    "Side",
    "all_verdicts",
    "cell_verdicts",
    "compare",
    "estimate_cell",
    "estimate_executions",
    "evidence_words",
    "flaky_words",
    "judge_gate",
    "rate_words",
    "verdict_of",
]
