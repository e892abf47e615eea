"""Looking, before money is spent, for what would end a campaign: accounts, images, programs."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from runner_e2e.agents import PRESETS
from runner_e2e.contracts.catalog import MatrixExecution, ProfileFixture
from runner_e2e.environments.daytona import (
    IMAGE_VARIABLE,
    KEY_VARIABLE,
    DaytonaAccount,
    DaytonaClient,
    Probe,
    image_from_environ,
    look_up,
    probe_sandbox,
)
from runner_e2e.execution.agent import needed_secrets
from runner_e2e.failures import ExecutionError
from runner_e2e.flows import CancelToken

State = Literal["ok", "problem", "unknown"]

VERSION_TIMEOUT_S = 30.0
MAX_VERSION = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check came to. ``fix`` says what to do about a problem."""

    check: str
    subject: str
    state: State
    message: str
    fix: str | None = None


def check_executions(
    executions: Sequence[MatrixExecution], environ: Mapping[str, str], cancel: CancelToken
) -> Iterator[Finding]:
    """Check everything that these executions need, each thing once."""
    profiles = {one.profile.id: one.profile for one in executions}
    for profile in profiles.values():
        yield from _credentials(profile, environ)
    local = {one.profile.id: one.profile for one in executions if one.environment.id == "local"}
    for profile in local.values():
        yield from _local_program(profile, environ)
    remote = {one.profile.id: one.profile for one in executions if one.environment.id == "daytona"}
    if remote:
        yield from _daytona(list(remote.values()), environ, cancel)


def _credentials(profile: ProfileFixture, environ: Mapping[str, str]) -> Iterator[Finding]:
    for name in sorted(needed_secrets(profile)):
        present = bool(environ.get(name, "").strip())
        yield Finding(
            check="credential",
            subject=profile.id,
            state="ok" if present else "problem",
            message=f"{name} is {'set' if present else 'not set'}",
            fix=None if present else f"export {name}, or add it to the secrets of the repository",
        )


def _program(profile: ProfileFixture) -> tuple[str, bool] | None:
    """The program of a profile, and whether it surely knows ``--version``."""
    command, preset = profile.agent.get("command"), profile.agent.get("preset")
    known = next((one for name, one in PRESETS.items() if name == preset), None)
    if isinstance(command, list) and command and isinstance(command[0], str):
        return command[0], known is not None
    return (known.program, True) if known else None


def _local_program(profile: ProfileFixture, environ: Mapping[str, str]) -> Iterator[Finding]:
    program = _program(profile)
    if program is None:
        return
    name, versioned = program
    place = shutil.which(name, path=environ.get("PATH"))
    if place is None:
        yield Finding(
            check="program",
            subject=profile.id,
            state="problem",
            message=f"{name} is not on PATH",
            fix=f"install {name}, or name it in the command of profile {profile.id}",
        )
        return
    version = _version(place, environ) if versioned else "is there"
    yield Finding(
        check="program",
        subject=profile.id,
        state="ok" if version else "problem",
        message=f"{name} {version}" if version else f"{name} does not say its version",
        fix=None if version else f"run {name} --version yourself; install it again if it fails",
    )


def _version(place: str, environ: Mapping[str, str]) -> str | None:
    with tempfile.TemporaryDirectory(prefix="runner-e2e-doctor-") as home:
        try:
            done = subprocess.run(
                [place, "--version"],
                env={"PATH": environ.get("PATH", ""), "HOME": home, "TERM": "dumb"},
                cwd=home,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=VERSION_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
    return _first_line(done.stdout.decode("utf-8", "replace")) if done.returncode == 0 else None


def _first_line(text: str) -> str | None:
    lines = [line for line in text.splitlines() if line.strip()]
    return "".join(one for one in lines[0][:MAX_VERSION] if one.isprintable()) if lines else None


def _daytona(
    profiles: Sequence[ProfileFixture], environ: Mapping[str, str], cancel: CancelToken
) -> Iterator[Finding]:
    try:
        account = DaytonaAccount.from_environ(environ)
    except ExecutionError as error:
        yield _problem("credential", "daytona", error)
        account = None
    else:
        yield Finding(
            check="credential", subject="daytona", state="ok", message=f"{KEY_VARIABLE} is set"
        )
    try:
        image = image_from_environ(environ)
    except ExecutionError as error:
        yield _problem("image", "daytona", error)
        return
    yield _resolvable(image)
    if account is None:
        return
    programs = {one.id: found for one in profiles if (found := _program(one)) is not None}
    names = sorted({name for name, versioned in programs.values() if versioned})
    client = DaytonaClient(account=account, cancel=cancel)
    try:
        probe = probe_sandbox(client, image, names)
    finally:
        client.close()
    yield from _permissions(probe)
    versions = dict(probe.programs)
    for profile_id, (name, _) in programs.items():
        if name in versions:
            yield _in_image(profile_id, name, versions[name])


def _resolvable(image: str) -> Finding:
    try:
        found = look_up(image)
    except ExecutionError as error:
        return Finding(check="image", subject="daytona", state="unknown", message=error.message)
    if found == "missing":
        return Finding(
            check="image",
            subject="daytona",
            state="problem",
            message=f"{image} is not in its registry",
            fix=f"push it again, or correct {IMAGE_VARIABLE}",
        )
    if found == "private":
        message = f"{image} is not for everybody, so only Daytona can tell whether it is there"
        return Finding(check="image", subject="daytona", state="unknown", message=message)
    return Finding(
        check="image", subject="daytona", state="ok", message=f"{image} is in its registry"
    )


def _permissions(probe: Probe) -> Iterator[Finding]:
    if probe.create is not None:
        yield _problem("sandbox", "daytona", probe.create)
    if probe.delete is not None:
        yield Finding(
            check="sandbox",
            subject="daytona",
            state="problem",
            message=probe.delete,
            fix=f"give the key of {KEY_VARIABLE} the permission to delete sandboxes, "
            "then run runner-e2e sweep",
        )
    if probe.create is None and probe.delete is None:
        message = "a sandbox was made from the image and deleted again"
        yield Finding(check="sandbox", subject="daytona", state="ok", message=message)


def _in_image(profile_id: str, name: str, version: str | None) -> Finding:
    line = _first_line(version) if version else None
    if line is None:
        return Finding(
            check="program",
            subject=profile_id,
            state="problem",
            message=f"{name} is not in the image of {IMAGE_VARIABLE}",
            fix=f"install {name} in the image and name its new digest",
        )
    return Finding(check="program", subject=profile_id, state="ok", message=f"{name} {line}")


def _problem(check: str, subject: str, error: ExecutionError) -> Finding:
    return Finding(
        check=check,
        subject=subject,
        state="problem",
        message=error.message,
        fix=error.hint or "run runner-e2e doctor again in a minute",
    )
