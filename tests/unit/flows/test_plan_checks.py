from __future__ import annotations

import pytest

from runner_e2e.flows.checks import numbered_steps

STEPS = [
    "1. Look",
    "2) Leap",
    "3 - Think",
    "3- Think",
    "4: Look",
    "4 : Look",
    "5— Look",
    "5 — Look",
    "10.",
    "## 1. Look",
    "- 1. Look",
    "* 1. Look",
    "+ 2) Look",
    "Step 1: Look",
    "step 2. Look",
    "### Step 3 - Look",
    "**1.** Look",
    "__2)__ Look",
    "`3.` Look",
    "   4. Look",
    "\t5. Look",
    "- **Step 1:** Look",
    "1.\tLook",
]
NO_STEPS = [
    "",
    "Look",
    "1.5 times",
    "1.Look",
    "2026",
    "a 1. Look",
    "Steps 1. Look",
    "1 Look",
    "- Look",
    "٣. Look",
    "Step one: Look",
]


@pytest.mark.parametrize("line", STEPS)
def test_a_numbered_line_is_a_step(line: str) -> None:
    assert numbered_steps(f"Plan\n{line}\n") == 1


@pytest.mark.parametrize("line", NO_STEPS)
def test_any_other_line_is_no_step(line: str) -> None:
    assert numbered_steps(line) == 0


def test_a_long_line_of_digits_takes_no_time_to_refuse() -> None:
    assert numbered_steps("1" * 1_000_000 + "." + " \t" * 1_000_000) == 0
