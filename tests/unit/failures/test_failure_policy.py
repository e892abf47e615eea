from __future__ import annotations

import pytest

from runner_e2e.contracts.vocabulary import FAILURE_CLASSES, FailureClass
from runner_e2e.errors import ExitCode, RunnerE2EError
from runner_e2e.failures import (
    POLICY,
    CandidateFailure,
    CleanupFailure,
    ExecutionError,
    Failure,
    PermanentInfrastructure,
    ProviderVariance,
    SecretLeak,
    TransientInfrastructure,
    combine,
    combine_scan,
    deadline_passed,
)


def failure(failure_class: FailureClass, message: str = "it broke") -> Failure:
    return Failure(failure_class=failure_class, code=failure_class, message=message)


def test_the_table_has_a_row_for_every_class_and_no_other() -> None:
    assert set(POLICY) == set(FAILURE_CLASSES)


def test_only_transient_infrastructure_and_provider_variance_are_tried_again() -> None:
    retried = {name for name, policy in POLICY.items() if policy.retry}
    assert retried == {"transient_infrastructure", "provider_variance"}


def test_only_what_the_candidate_did_is_measured() -> None:
    measured = {name for name, policy in POLICY.items() if policy.measured}
    assert measured == {"candidate_failure", "provider_variance"}


@pytest.mark.parametrize(
    ("failure_class", "exit_code"),
    [
        ("candidate_failure", 1),
        ("provider_variance", 1),
        ("transient_infrastructure", 4),
        ("permanent_infrastructure", 5),
        ("secret_leak", 6),
        ("cleanup_failure", 7),
    ],
)
def test_every_class_owns_its_exit_code(failure_class: FailureClass, exit_code: int) -> None:
    assert POLICY[failure_class].exit_code == exit_code


@pytest.mark.parametrize(
    ("error", "failure_class"),
    [
        (CandidateFailure, "candidate_failure"),
        (ProviderVariance, "provider_variance"),
        (TransientInfrastructure, "transient_infrastructure"),
        (PermanentInfrastructure, "permanent_infrastructure"),
        (SecretLeak, "secret_leak"),
        (CleanupFailure, "cleanup_failure"),
    ],
)
def test_an_error_carries_its_class_code_and_exit_code(
    error: type[ExecutionError], failure_class: FailureClass
) -> None:
    raised = error("some_code", "what happened", hint="what to do", retry_after=3)
    assert isinstance(raised, RunnerE2EError)
    assert (raised.failure_class, raised.code) == (failure_class, "some_code")
    assert (raised.message, raised.hint, raised.retry_after) == ("what happened", "what to do", 3)
    assert raised.exit_code == POLICY[failure_class].exit_code


def test_a_deadline_is_the_candidates_while_a_turn_runs() -> None:
    error = deadline_passed("turn 2 took too long", turn_running=True)
    assert (error.failure_class, error.code) == ("candidate_failure", "deadline")


def test_a_deadline_is_infrastructure_while_the_harness_waits_for_something_else() -> None:
    error = deadline_passed("no server", turn_running=False)
    assert (error.failure_class, error.code) == ("transient_infrastructure", "deadline")
    assert error.exit_code == ExitCode.TRANSIENT_INFRASTRUCTURE


@pytest.mark.parametrize("later", FAILURE_CLASSES)
def test_an_earlier_leak_outranks_whatever_the_cleanup_says(later: FailureClass) -> None:
    combined = combine(failure("secret_leak"), failure(later))
    assert combined is not None
    assert combined.failure_class == "secret_leak"


@pytest.mark.parametrize("earlier", [name for name in FAILURE_CLASSES if name != "secret_leak"])
@pytest.mark.parametrize("later", ["cleanup_failure", "secret_leak"])
def test_a_failed_cleanup_or_a_late_leak_outranks_what_came_before(
    earlier: FailureClass, later: FailureClass
) -> None:
    combined = combine(failure(earlier), failure(later))
    assert combined is not None
    assert combined.failure_class == later


@pytest.mark.parametrize("earlier", FAILURE_CLASSES)
@pytest.mark.parametrize("later", ["transient_infrastructure", "permanent_infrastructure"])
def test_the_earlier_class_stands_when_the_cleanup_met_mere_infrastructure(
    earlier: FailureClass, later: FailureClass
) -> None:
    combined = combine(failure(earlier), failure(later))
    assert combined is not None
    assert (combined.failure_class, combined.code) == (earlier, earlier)


def test_without_an_earlier_failure_the_cleanup_gives_the_class() -> None:
    later = failure("transient_infrastructure")
    assert combine(None, later) == later
    assert combine(later, None) == later
    assert combine(None, None) is None


def test_both_messages_are_kept() -> None:
    combined = combine(failure("candidate_failure", "first"), failure("cleanup_failure", "second"))
    assert combined is not None
    assert "first" in combined.message
    assert "second" in combined.message


def test_a_combined_message_is_cut_between_characters() -> None:
    combined = combine(failure("candidate_failure", "é" * 20_000), failure("cleanup_failure", "x"))
    assert combined is not None
    assert len(combined.message.encode()) <= 16_384


@pytest.mark.parametrize("earlier", FAILURE_CLASSES)
def test_a_scan_that_could_not_look_makes_any_ordinary_failure_permanent(
    earlier: FailureClass,
) -> None:
    combined = combine_scan(failure(earlier), failure("permanent_infrastructure"))
    kept = {"secret_leak", "cleanup_failure"}
    assert combined is not None
    assert combined.failure_class == (earlier if earlier in kept else "permanent_infrastructure")


def test_a_leak_that_the_scan_finds_outranks_everything() -> None:
    for earlier in FAILURE_CLASSES:
        combined = combine_scan(failure(earlier), failure("secret_leak"))
        assert combined is not None
        assert combined.failure_class == "secret_leak"
    assert combine_scan(None, None) is None
