"""Every error owns an exit code and a word, and carries its hint."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from runner_e2e import errors
from runner_e2e.errors import (
    BudgetExceeded,
    CatalogError,
    DocumentError,
    ExitCode,
    Interrupted,
    NothingSelected,
    Problem,
    PublishingError,
    RunnerE2EError,
    UsageError,
)

OF_DESIGN = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 70, 130, 143}

PROBLEMS = (
    Problem(file="runner-e2e.yaml", line=3, column=5, message="no such flow", hint="warm?"),
    Problem(file="more.yaml", line=1, column=1, message="empty"),
)

EXAMPLES: dict[type[RunnerE2EError], tuple[RunnerE2EError, ExitCode, str]] = {
    RunnerE2EError: (RunnerE2EError("it", hint="do"), ExitCode.FAILED, "error"),
    UsageError: (UsageError("it", hint="do"), ExitCode.USAGE, "usage"),
    CatalogError: (CatalogError(PROBLEMS), ExitCode.USAGE, "catalog"),
    DocumentError: (DocumentError("f", "it", hint="do"), ExitCode.USAGE, "document"),
    NothingSelected: (
        NothingSelected("it", hint="do"),
        ExitCode.NOTHING_SELECTED,
        "nothing_selected",
    ),
    BudgetExceeded: (BudgetExceeded("it", hint="do"), ExitCode.BUDGET, "budget"),
    PublishingError: (PublishingError("it", hint="do"), ExitCode.PUBLISHING, "publishing"),
    Interrupted: (Interrupted(signal.SIGTERM, "it", hint="do"), ExitCode.SIGTERM, "interrupted"),
}


def kinds(base: type[RunnerE2EError] = RunnerE2EError) -> Iterator[type[RunnerE2EError]]:
    yield base
    for kind in base.__subclasses__():
        if kind.__module__ == errors.__name__:
            yield from kinds(kind)


def test_the_exit_codes_are_those_of_the_design_and_unique() -> None:
    assert {code.value for code in ExitCode} == OF_DESIGN
    assert len(ExitCode.__members__) == len(OF_DESIGN)


def test_every_error_has_an_example_here_and_a_word_of_its_own() -> None:
    assert set(kinds()) == set(EXAMPLES)
    words = [kind.kind for kind in kinds()]
    assert len(words) == len(set(words))


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.__name__)
def test_an_error_has_its_code_its_word_and_a_hint(kind: type[RunnerE2EError]) -> None:
    error, code, word = EXAMPLES[kind]
    assert error.exit_code is code
    assert error.kind == word
    assert error.hint
    assert str(error) == error.message


def test_a_document_error_names_the_file_first() -> None:
    error = DocumentError("a/result.json", "attempt: field required")
    assert error.message == "a/result.json: attempt: field required"
    assert (error.source, error.reason) == ("a/result.json", "attempt: field required")


def test_a_hint_is_optional() -> None:
    assert UsageError("it").hint is None


def test_a_catalog_error_lists_every_problem_with_its_place() -> None:
    error = CatalogError(PROBLEMS)
    assert error.problems == PROBLEMS
    assert error.message == (
        "the catalog has 2 problems:\n"
        "  runner-e2e.yaml:3:5: no such flow (warm?)\n"
        "  more.yaml:1:1: empty"
    )
    assert "1 problem:" in CatalogError(PROBLEMS[:1]).message


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, ExitCode.SIGINT), (signal.SIGTERM, ExitCode.SIGTERM)]
)
def test_an_interruption_ends_as_shells_expect(number: signal.Signals, code: ExitCode) -> None:
    assert Interrupted(number, "stopped").exit_code is code


def test_only_a_lost_race_is_tried_again() -> None:
    assert not PublishingError("refused").retryable
    assert PublishingError("raced", retryable=True).retryable
