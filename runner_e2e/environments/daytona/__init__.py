"""Daytona: sandboxes for command turns."""

from runner_e2e.environments.daytona.account import (
    IMAGE_VARIABLE,
    KEY_VARIABLE,
    DaytonaAccount,
    image_from_environ,
)
from runner_e2e.environments.daytona.client import DaytonaClient, Pace
from runner_e2e.environments.daytona.documents import Sandbox, SandboxOrder
from runner_e2e.environments.daytona.leases import Note, Sandboxes
from runner_e2e.environments.daytona.probe import Probe, probe_sandbox
from runner_e2e.environments.daytona.registry import look_up
from runner_e2e.environments.daytona.sweep import (
    SandboxSweep,
    expect_sandboxes,
    expects_sandboxes,
    sweep_sandboxes,
)
from runner_e2e.environments.daytona.workplace import DaytonaWorkplace

__all__ = [
    "IMAGE_VARIABLE",
    "KEY_VARIABLE",
    "DaytonaAccount",
    "DaytonaClient",
    "DaytonaWorkplace",
    "Note",
    "Pace",
    "Probe",
    "Sandbox",
    "SandboxOrder",
    "SandboxSweep",
    "Sandboxes",
    "expect_sandboxes",
    "expects_sandboxes",
    "image_from_environ",
    "look_up",
    "probe_sandbox",
    "sweep_sandboxes",
]
