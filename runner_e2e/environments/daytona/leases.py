"""Sandboxes of one attempt: made, watched, deleted, and remembered for the bill."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

from runner_e2e.billing import Lease
from runner_e2e.contracts.catalog import DaytonaOptions
from runner_e2e.contracts.timestamps import format_timestamp
from runner_e2e.environments.daytona.client import DaytonaClient
from runner_e2e.environments.daytona.documents import (
    COMING,
    EXECUTION_LABEL,
    EXPIRES_LABEL,
    GONE,
    LIVING,
    MANAGED_LABEL,
    TOKEN_LABEL,
    Sandbox,
    SandboxOrder,
)
from runner_e2e.failures import (
    ExecutionError,
    PermanentInfrastructure,
    TransientInfrastructure,
)

MARGIN_MINUTES = 5
"""What a sandbox outlives its attempt by: one silent turn must not have it stopped."""
TTL_MARGIN_MINUTES = 15
NAME_TOKEN = 12
_LABEL_LENGTH = 63

Note = Callable[[str, str, str | None], None]
"""Called with the id, when it was made, and when it was deleted."""


@dataclass(slots=True, kw_only=True)
class Held:
    """A sandbox that was made, and its time."""

    sandbox: Sandbox
    acquired_at: str
    released_at: str | None = None

    def lease(self) -> Lease:
        """What it is billed by."""
        return Lease(
            acquired_at=self.acquired_at,
            released_at=self.released_at,
            cpu=self.sandbox.cpu,
            memory_gib=self.sandbox.memory,
            disk_gib=self.sandbox.disk,
        )


@dataclass(slots=True, kw_only=True)
class Sandboxes:
    """The sandboxes of one attempt. ``token`` is on all of them, and on no other."""

    client: DaytonaClient
    token: str
    execution_id: str
    image: str
    options: DaytonaOptions
    attempt_ms: int
    note: Note
    made: list[Held] = field(default_factory=list)
    _asked: int = 0
    _uncertain: bool = False
    """A create went wrong in a way that may have left a sandbox."""

    def create(self) -> Held:
        """Make a sandbox and wait until it runs."""
        order = self._order()
        asked_at = _now()
        self._asked += 1
        self._uncertain = True
        try:
            sandbox = self.client.create(order, late=self._delete_late)
        except PermanentInfrastructure:  # a clear no: nothing was made
            self._uncertain = False
            raise
        self._uncertain = False
        held = Held(sandbox=sandbox, acquired_at=asked_at)
        self.made.append(held)
        self.note(sandbox.id, asked_at, None)
        held.sandbox = self._started(sandbox)
        return held

    def _order(self) -> SandboxOrder:
        minutes = math.ceil(self.attempt_ms / 60_000)
        ttl = minutes + TTL_MARGIN_MINUTES
        expires = datetime.now(UTC) + timedelta(minutes=ttl + MARGIN_MINUTES)
        return SandboxOrder(
            name=f"runner-e2e-{self.token[:NAME_TOKEN]}-{self._asked + 1}",
            image=self.image,
            cpu=_whole("cpu", self.options.cpu),
            memory=_whole("memory", self.options.memory),
            disk=_whole("disk", self.options.disk),
            labels={
                MANAGED_LABEL: "1",
                TOKEN_LABEL: self.token,
                EXECUTION_LABEL: self.execution_id[:_LABEL_LENGTH],
                EXPIRES_LABEL: format_timestamp(expires),
            },
            auto_stop_minutes=minutes + MARGIN_MINUTES,
            ttl_minutes=ttl,
        )

    def _delete_late(self, sandbox: Sandbox) -> None:
        """Delete what was made after nobody waited for it any more."""
        self.client.delete(sandbox.id)

    def _started(self, sandbox: Sandbox) -> Sandbox:
        pace = self.client.pace
        until = time.monotonic() + pace.start
        while sandbox.state not in LIVING:
            if sandbox.state == "build_failed":
                raise PermanentInfrastructure(
                    "sandbox_build_failed",
                    f"sandbox {sandbox.id} could not be built from its image",
                    hint="pull the image yourself: is it public, and for this architecture?",
                )
            if sandbox.state not in COMING:
                raise TransientInfrastructure(
                    "sandbox_failed", f"sandbox {sandbox.id} did not start: it is {sandbox.state}"
                )
            if time.monotonic() >= until:
                raise TransientInfrastructure(
                    "sandbox_start_timeout",
                    f"sandbox {sandbox.id} is {sandbox.state} after {pace.start:.0f} s",
                )
            self.client.sleep(pace.poll)
            found = self.client.get(sandbox.id)
            if found is None:
                raise TransientInfrastructure(
                    "sandbox_lost", f"sandbox {sandbox.id} was gone before it had started"
                )
            sandbox = found
        return sandbox

    def alive(self, held: Held) -> bool:
        """Whether it still runs."""
        found = self.client.get(held.sandbox.id)
        return found is not None and found.state in LIVING

    def release(self, held: Held) -> str | None:
        """Delete a sandbox and see it gone. Returns what went wrong, ``None`` for nothing."""
        if held.released_at is not None:
            return None
        identity = held.sandbox.id
        try:
            self.client.delete(identity)
            problem = self._confirm(identity)
        except ExecutionError as error:
            return f"sandbox {identity} may still run: {error.message}"
        if problem is None:
            held.released_at = _now()
            self.note(identity, held.acquired_at, held.released_at)
        return problem

    def _confirm(self, identity: str) -> str | None:
        """Wait until it is gone. An interrupted harness has no time for that."""
        pace = self.client.pace
        until = time.monotonic() + pace.delete
        while not self._stopped:
            found = self.client.get(identity)
            if found is None or found.state in GONE:
                return None
            if time.monotonic() >= until:
                return f"sandbox {identity} is still {found.state} after {pace.delete:.0f} s"
            self.client.sleep(pace.poll)
        return None

    @property
    def _stopped(self) -> bool:
        return self.client.cancel is not None and self.client.cancel.cancelled

    def close(self) -> tuple[str, ...]:
        """Delete all of them, also those that a failed create may have left."""
        if self._stopped:
            return self._fire()
        problems = self._release_all(*self.made)
        if self._uncertain:
            problems += self._sweep()
        return tuple(problem for problem in problems if problem is not None)

    def _sweep(self) -> list[str | None]:
        """Delete what carries our token and was never told to us."""
        try:
            found = [
                one
                for one in self.client.find({MANAGED_LABEL: "1", TOKEN_LABEL: self.token})
                if carries(one, self.token) and one.state not in GONE
            ]
        except ExecutionError as error:
            return [f"a failed create may have left a sandbox: {error.message}"]
        known = {held.sandbox.id for held in self.made}
        lost = [Held(sandbox=one, acquired_at=_now()) for one in found if one.id not in known]
        return self._release_all(*lost)

    def _fire(self) -> tuple[str, ...]:
        """Send every delete at once; wait for the answers as long as a signal allows."""
        problems: dict[str, str] = {}
        jobs: dict[str, Callable[[], list[str | None]]] = {
            f"sandbox {held.sandbox.id}": partial(self._release_all, held)
            for held in self.made
            if held.released_at is None
        }
        if self._uncertain:
            jobs["what a create may have left"] = self._sweep

        def fire(name: str, job: Callable[[], list[str | None]]) -> None:
            found = [problem for problem in job() if problem is not None]
            if found:
                problems[name] = "; ".join(found)

        threads = {
            name: threading.Thread(
                target=fire, args=(name, job), name="runner-e2e-delete", daemon=True
            )
            for name, job in jobs.items()
        }
        for thread in threads.values():
            thread.start()
        until = time.monotonic() + self.client.pace.cancelled
        for name, thread in threads.items():
            thread.join(max(0.0, until - time.monotonic()))
            if thread.is_alive():
                problems[name] = f"no answer yet to the delete of {name}"
        return tuple(problems.values())

    def _release_all(self, *all_held: Held) -> list[str | None]:
        return [self.release(held) for held in all_held]


def carries(sandbox: Sandbox, token: str) -> bool:
    """Whether a sandbox is really ours: a server may ignore the labels it was asked for."""
    labels: Mapping[str, str] = sandbox.labels
    return labels.get(MANAGED_LABEL) == "1" and labels.get(TOKEN_LABEL) == token


def _whole(name: str, size: float) -> int:
    if size != int(size) or size < 1:
        raise PermanentInfrastructure(
            "bad_sandbox_size",
            f"daytona.{name} is {size}; Daytona knows whole numbers from 1",
            hint="correct it in the environment of the catalog",
        )
    return int(size)


def _now() -> str:
    return format_timestamp(datetime.now(UTC))
