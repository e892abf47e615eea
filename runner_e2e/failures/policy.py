"""What each failure class means for the rest of the house. One table, read by everybody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from runner_e2e.contracts.vocabulary import FailureClass
from runner_e2e.errors import ExitCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The consequences of one class."""

    retry: bool
    """Another attempt is worth its money: the cause may be gone by then."""
    measured: bool
    """The outcome says something about the candidate, so it counts in rates and verdicts."""
    exit_code: ExitCode


POLICY: Mapping[FailureClass, Policy] = MappingProxyType(
    {
        "candidate_failure": Policy(retry=False, measured=True, exit_code=ExitCode.FAILED),
        "provider_variance": Policy(retry=True, measured=True, exit_code=ExitCode.FAILED),
        "transient_infrastructure": Policy(
            retry=True, measured=False, exit_code=ExitCode.TRANSIENT_INFRASTRUCTURE
        ),
        "permanent_infrastructure": Policy(
            retry=False, measured=False, exit_code=ExitCode.PERMANENT_INFRASTRUCTURE
        ),
        "secret_leak": Policy(retry=False, measured=False, exit_code=ExitCode.SECRET_LEAK),
        "cleanup_failure": Policy(retry=False, measured=False, exit_code=ExitCode.CLEANUP_FAILED),
    }
)
