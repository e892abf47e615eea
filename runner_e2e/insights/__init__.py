"""Judgement: formulas, verdicts, comparisons, estimates and gates. Pure."""
