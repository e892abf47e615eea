"""Making the smallest sandbox and deleting it again: may this key do both, does the image start?"""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from runner_e2e.contracts.catalog import DaytonaOptions
from runner_e2e.environments.daytona.client import DaytonaClient
from runner_e2e.environments.daytona.leases import Sandboxes
from runner_e2e.environments.daytona.toolbox import Toolbox
from runner_e2e.failures import ExecutionError

PROBE_MS = 5 * 60_000
_PROBE_ID = "doctor.probe.daytona.probe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What a probe found. ``programs`` are the versions of those that were asked for."""

    create: ExecutionError | None = None
    delete: str | None = None
    """What went wrong at the delete, or is left."""
    programs: tuple[tuple[str, str | None], ...] = ()


def probe_sandbox(client: DaytonaClient, image: str, programs: Sequence[str]) -> Probe:
    """Make a sandbox of one core, look for ``programs`` in it, delete it."""
    sandboxes = Sandboxes(
        client=client,
        token=secrets.token_hex(16),
        execution_id=_PROBE_ID,
        image=image,
        options=DaytonaOptions(cpu=1, memory=1, disk=1),
        attempt_ms=PROBE_MS,
        note=lambda *_: None,
    )
    found: list[tuple[str, str | None]] = []
    problem: ExecutionError | None = None
    try:
        held = sandboxes.create()
        toolbox = Toolbox.of(client, held.sandbox)
        found = [(program, _version(toolbox, program)) for program in programs]
    except ExecutionError as error:
        problem = error
    finally:
        left = "; ".join(sandboxes.close()) or None
    return Probe(create=problem, delete=left, programs=tuple(found))


def _version(toolbox: Toolbox, program: str) -> str | None:
    name = shlex.quote(program)
    done = toolbox.execute(f"command -v {name} >/dev/null && {name} --version 2>/dev/null")
    return done.result.strip() if done.exit_code == 0 else None
