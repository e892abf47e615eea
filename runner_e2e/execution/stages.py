"""Where an attempt plays: a place for the agent, and the session on it, by the catalog's target."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, assert_never

from runner_e2e.agents import PresetWorkplace
from runner_e2e.billing import Lease
from runner_e2e.catalog import Variables
from runner_e2e.contracts.catalog import CommandTarget, DaytonaOptions, PaperclipTarget
from runner_e2e.environments import MARKER, MAX_LOG_BYTES, LocalWorkplace, TemporaryRoot, end_marked
from runner_e2e.environments.daytona import (
    DaytonaAccount,
    DaytonaClient,
    DaytonaWorkplace,
    Note,
    Sandboxes,
    expect_sandboxes,
    image_from_environ,
)
from runner_e2e.evidence import Ledger
from runner_e2e.execution.agent import Secrets, agent_payload, command_program
from runner_e2e.execution.records import RESULT_FILE
from runner_e2e.execution.request import RunRequest
from runner_e2e.failures import PermanentInfrastructure
from runner_e2e.flows import Capability, Session, Workplace
from runner_e2e.targets.command import COMMAND_CAPABILITIES, CommandSession
from runner_e2e.targets.paperclip import FIXTURES_FILE, PaperclipPlace, PaperclipSession

MAX_LOGS_BYTES = 40 * 1024 * 1024
"""Both logs of all turns together: what fits into the evidence beside everything else."""


class Stage(Protocol):
    """A place in a root, and what is looked at there once everything has stopped."""

    ledger: Ledger
    """Every secret that was taken out before it could be cut in two."""

    @property
    def workspace_path(self) -> str:
        """The directory the agent starts in."""

    def session(self, variables: Variables) -> Session:
        """Begin. Called once."""

    @property
    def leases(self) -> tuple[Lease, ...]:
        """What is paid for by the hour."""

    @property
    def required(self) -> tuple[str, ...]:
        """The evidence of a pass beside that of every target."""

    def verify(self) -> None:
        """Look at what is left, after the session was closed. Raises an execution error."""

    def hand_over(self, target: Path) -> None:
        """Write the evidence below ``target``, still unredacted."""


@dataclass(slots=True, kw_only=True)
class CommandStage:
    """A workplace here or at Daytona, for a program that is started once a turn."""

    request: RunRequest
    secrets: Secrets
    number: int
    workplace: Workplace
    ledger: Ledger

    @property
    def workspace_path(self) -> str:
        """The directory the agent starts in."""
        return self.workplace.workspace_path

    def session(self, variables: Variables) -> CommandSession:
        """Begin with the profile's program."""
        request = self.request
        program = command_program(request.execution, variables, self.secrets)
        workplace, use = self.workplace, program.preset
        if use is not None:
            workplace = PresetWorkplace(inner=workplace, preset=use.preset, setup=use.setup)
        leased = {Capability.LEASES} if workplace.environment_id == "daytona" else set()
        return CommandSession(
            workplace=workplace,
            agent=program.agent,
            capabilities=COMMAND_CAPABILITIES | leased,
            execution_id=request.execution.id,
            attempt=self.number,
            cancel_token=request.cancel,
            quote=lambda text: self.ledger.text(RESULT_FILE, text),
        )

    @property
    def leases(self) -> tuple[Lease, ...]:
        """What the workplace leased."""
        return self.workplace.leases

    @property
    def required(self) -> tuple[str, ...]:
        """A command has no fixtures."""
        return ()

    def verify(self) -> None:
        """Nothing is kept that the evidence does not have."""

    def hand_over(self, target: Path) -> None:
        """Write the logs of all turns and the pictures."""
        self.workplace.hand_over(target)


@dataclass(slots=True, kw_only=True)
class PaperclipStage:
    """A server of this attempt's own."""

    request: RunRequest
    secrets: Secrets
    number: int
    place: PaperclipPlace
    ledger: Ledger
    _session: PaperclipSession | None = field(default=None)

    @property
    def workspace_path(self) -> str:
        """The directory the agent starts in."""
        return str(self.place.workspace)

    def session(self, variables: Variables) -> PaperclipSession:
        """Begin with the profile's agent. The server boots when the task is started."""
        execution = self.request.execution
        agent = agent_payload(execution, variables, self.secrets)
        self._session = self.place.session(
            agent=agent.payload,
            secrets=agent.used,
            name=f"{execution.id}-{self.number}",
            provider=execution.profile.provider,
            ledger=self.ledger,
        )
        return self._session

    @property
    def leases(self) -> tuple[Lease, ...]:
        """The server runs on this machine."""
        return ()

    @property
    def required(self) -> tuple[str, ...]:
        """What was set up, and how the server describes each run."""
        turns = range(1, self.request.execution.task.expected_run_count + 1)
        return (FIXTURES_FILE, *(f"turns/{turn}/run.json" for turn in turns))

    def verify(self) -> None:
        """The server kept to its home, and no secret lies there in clear."""
        self.place.verify(self.secrets.values)

    def hand_over(self, target: Path) -> None:
        """Write what the server's runs left."""
        if self._session is not None:
            self._session.hand_over(target)


def _workplace(request: RunRequest, root: TemporaryRoot, note: Note, ledger: Ledger) -> Workplace:
    """Where the turns of a command agent run."""
    execution = request.execution
    share = MAX_LOGS_BYTES // (2 * execution.task.expected_run_count)
    log_bytes = min(MAX_LOG_BYTES, share)
    if execution.environment.id == "local":
        return LocalWorkplace(
            root=root,
            ambient=request.environ,
            cancel=request.cancel,
            ledger=ledger,
            log_bytes=log_bytes,
        )
    account = DaytonaAccount.from_environ(request.environ)
    image = image_from_environ(request.environ)
    expect_sandboxes(root)
    return DaytonaWorkplace(
        sandboxes=Sandboxes(
            client=DaytonaClient(account=account, cancel=request.cancel),
            token=root.token,
            execution_id=execution.id,
            image=image,
            options=execution.environment.daytona or DaytonaOptions(),
            attempt_ms=execution.task.attempt_timeout_ms.daytona,
            note=note,
        ),
        ledger=ledger,
        program_files=request.catalog_directory.absolute(),
        log_bytes=log_bytes,
    )


def stage_of(
    request: RunRequest, secrets: Secrets, number: int, root: TemporaryRoot, note: Note
) -> Stage:
    """The stage for the target. Raises permanent infrastructure ``unsupported_environment``.

    ``note`` hears of every sandbox as it comes and goes.
    """
    execution, target = request.execution, request.target
    ledger = Ledger(secrets.redactor)
    match target:
        case CommandTarget():
            workplace = _workplace(request, root, note, ledger)
            return CommandStage(
                request=request,
                secrets=secrets,
                number=number,
                workplace=workplace,
                ledger=ledger,
            )
        case PaperclipTarget():
            if execution.environment.id != "local":
                raise PermanentInfrastructure(
                    "unsupported_environment",
                    f"the {target.kind} target cannot run in {execution.environment.id}",
                )
            place = PaperclipPlace(
                version=target.version,
                root=root.path,
                environ=request.environ,
                marker={MARKER: root.token},
                end_processes=lambda grace: end_marked(root.token, root.path, grace=grace),
                cancel=request.cancel,
            )
            return PaperclipStage(
                request=request, secrets=secrets, number=number, place=place, ledger=ledger
            )
        case _ as never:
            assert_never(never)
