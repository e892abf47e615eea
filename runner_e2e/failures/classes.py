"""Errors that carry their class and code from where they are raised.

The tree. The class says what is done about it (``POLICY``), the code says what it was:

    ExecutionError
    ├── CandidateFailure           the agent, its output or its protocol
    ├── ProviderVariance           a well-behaved run whose structured object is malformed
    ├── TransientInfrastructure    may be gone in a minute
    ├── PermanentInfrastructure    will be there again next time
    ├── SecretLeak                 something secret reached what would leave the job
    └── CleanupFailure             something was left behind
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from runner_e2e.contracts.vocabulary import FailureClass
from runner_e2e.errors import ExitCode, RunnerE2EError
from runner_e2e.failures.policy import POLICY

MAX_MESSAGE_BYTES = 16_384


class ExecutionError(RunnerE2EError):
    """An execution ended without success. Raise one of its branches.

    ``code`` is a word in ``snake_case``, stable across versions: readers group by it.
    ``retry_after`` is what a server asked for, in seconds, where one did.
    """

    kind = "execution"
    failure_class: ClassVar[FailureClass]

    def __init__(
        self, code: str, message: str, *, hint: str | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.retry_after = retry_after
        self.exit_code: ExitCode = POLICY[self.failure_class].exit_code


class CandidateFailure(ExecutionError):
    """The candidate did not do what the case asks for."""

    failure_class: ClassVar[FailureClass] = "candidate_failure"


class ProviderVariance(ExecutionError):
    """All runs succeeded and the structured object they left is malformed. Only flows say so."""

    failure_class: ClassVar[FailureClass] = "provider_variance"


class TransientInfrastructure(ExecutionError):
    """Something under the candidate failed and may work in a minute."""

    failure_class: ClassVar[FailureClass] = "transient_infrastructure"


class PermanentInfrastructure(ExecutionError):
    """Something under the candidate is wrong and stays so until a person mends it."""

    failure_class: ClassVar[FailureClass] = "permanent_infrastructure"


class SecretLeak(ExecutionError):
    """A secret stands in what would have left the job."""

    failure_class: ClassVar[FailureClass] = "secret_leak"


class CleanupFailure(ExecutionError):
    """A process, a lease or a directory outlived its execution."""

    failure_class: ClassVar[FailureClass] = "cleanup_failure"


def deadline_passed(message: str, *, turn_running: bool) -> ExecutionError:
    """Name who used up the time: the candidate while a turn runs, else what the harness awaits."""
    error = CandidateFailure if turn_running else TransientInfrastructure
    return error("deadline", message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """How an attempt failed, after everything that went wrong was weighed."""

    failure_class: FailureClass
    code: str
    message: str
    retry_after: float | None = None


def combine(earlier: Failure | None, later: Failure | None) -> Failure | None:
    """Weigh a failure against one that came up while cleaning up after it.

    A leak outranks everything, then a cleanup that failed by its own class; else the earlier
    failure stands. Both messages are kept, so neither hides the other.
    """
    if earlier is None or later is None:
        return earlier or later
    leading = earlier
    if earlier.failure_class != "secret_leak" and later.failure_class in _OUTRANKS:
        leading = later
    return _joined(leading, earlier, later)


_OUTRANKS: frozenset[FailureClass] = frozenset({"secret_leak", "cleanup_failure"})


def combine_scan(earlier: Failure | None, scan: Failure | None) -> Failure | None:
    """Weigh a failure against one of the secret scan, which fails closed.

    A scan that could not look makes the result permanent infrastructure, whatever it was, unless
    it already is a leak or a cleanup failure.
    """
    if earlier is None or scan is None:
        return earlier or scan
    leading = scan
    if earlier.failure_class == "secret_leak" or (
        earlier.failure_class == "cleanup_failure" and scan.failure_class != "secret_leak"
    ):
        leading = earlier
    return _joined(leading, earlier, scan)


def _joined(leading: Failure, earlier: Failure, later: Failure) -> Failure:
    message = f"{earlier.message}\nafter that: {later.message}"
    return Failure(
        failure_class=leading.failure_class,
        code=leading.code,
        message=message.encode()[:MAX_MESSAGE_BYTES].decode("utf-8", "ignore"),
        retry_after=leading.retry_after,
    )
