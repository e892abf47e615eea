"""The documents of Daytona's API, as far as they are read and written here.

The fields are those of the official client (``daytona-api-client`` 0.231), whose generated models
the tests hold every document against.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import Field

from runner_e2e.contracts.base import Document
from runner_e2e.contracts.scalars import Amount

MANAGED_LABEL = "runner-e2e"
"""On every sandbox of ours."""
TOKEN_LABEL = "runner-e2e-token"  # noqa: S105 - a label's name
"""The root that it was made for."""
EXECUTION_LABEL = "runner-e2e-execution"
EXPIRES_LABEL = "runner-e2e-expires"
"""After this moment (RFC 3339) nobody can still be using it."""

LIVING = frozenset({"started"})
COMING = frozenset(
    {
        "creating",
        "restoring",
        "starting",
        "pending_build",
        "building_snapshot",
        "pulling_snapshot",
        "resuming",
        "unknown",
    }
)
GONE = frozenset({"destroyed"})


class Sandbox(Document):
    """A sandbox, out of any answer that holds one."""

    id: str = Field(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9._-]+$")
    labels: dict[str, str]
    state: str = "unknown"
    cpu: Amount
    memory: Amount
    disk: Amount
    toolbox_proxy_url: str


class SandboxPage(Document):
    """One page of a listing."""

    items: tuple[Sandbox, ...]
    next_cursor: str | None


class StartedCommand(Document):
    """A command that runs in a session."""

    cmd_id: str = Field(pattern=r"^[A-Za-z0-9._-]+$")


class CommandState(Document):
    """How a command of a session stands. No exit code: it still runs."""

    exit_code: int | None = None


class Executed(Document):
    """A command that has ended."""

    exit_code: int | None = None
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxOrder:
    """A sandbox to be made. Sizes are whole cores and GiB, times are minutes."""

    name: str
    image: str
    cpu: int
    memory: int
    disk: int
    labels: dict[str, str]
    auto_stop_minutes: int
    ttl_minutes: int

    def document(self) -> dict[str, Any]:
        """The body of the request.

        Whatever becomes of us, Daytona ends it: when it idles, and deletes it as soon as it has
        stopped, and in any case after its time to live.
        """
        return {
            "name": self.name,
            "labels": self.labels,
            "cpu": self.cpu,
            "memory": self.memory,
            "disk": self.disk,
            "autoStopInterval": max(1, self.auto_stop_minutes),
            "autoDeleteInterval": 0,
            "ttlMinutes": max(1, self.ttl_minutes),
            "buildInfo": {"dockerfileContent": f"FROM {self.image}\n"},
        }
