"""Where an attempt plays: a place for the agent, and the session on it, by the catalog's target."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, assert_never

from runner_e2e.catalog import Variables
from runner_e2e.contracts.catalog import CommandTarget, PaperclipTarget
from runner_e2e.environments import MARKER, LocalWorkplace, TemporaryRoot, end_marked
from runner_e2e.execution.agent import Secrets, agent_command, agent_payload
from runner_e2e.execution.request import RunRequest
from runner_e2e.failures import PermanentInfrastructure
from runner_e2e.flows import Session
from runner_e2e.targets.command import CommandSession
from runner_e2e.targets.paperclip import PaperclipPlace, PaperclipSession

MAX_LOGS_BYTES = 40 * 1024 * 1024
"""Both logs of all turns together: what fits into the evidence beside everything else."""
MAX_LOG_BYTES = 5 * 1024 * 1024


class Stage(Protocol):
    """A place in a root, and what is looked at there once everything has stopped."""

    @property
    def workspace_path(self) -> str:
        """The directory the agent starts in."""

    def session(self, variables: Variables) -> Session:
        """Begin. Called once."""

    def verify(self) -> None:
        """Look at what is left, after the session was closed. Raises an execution error."""

    def hand_over(self, target: Path) -> None:
        """Write the evidence below ``target``, still unredacted."""


@dataclass(slots=True, kw_only=True)
class CommandStage:
    """A workplace of this machine, for a program that is started once a turn."""

    request: RunRequest
    secrets: Secrets
    number: int
    workplace: LocalWorkplace

    @property
    def workspace_path(self) -> str:
        """The directory the agent starts in."""
        return self.workplace.workspace_path

    def session(self, variables: Variables) -> CommandSession:
        """Begin with the profile's program."""
        request = self.request
        return CommandSession(
            workplace=self.workplace,
            agent=agent_command(request.execution, variables, self.secrets),
            execution_id=request.execution.id,
            attempt=self.number,
            cancel_token=request.cancel,
        )

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
        )
        return self._session

    def verify(self) -> None:
        """The server kept to its home, and no secret lies there in clear."""
        self.place.verify(self.secrets.values)

    def hand_over(self, target: Path) -> None:
        """Write what the server's runs left."""
        if self._session is not None:
            self._session.hand_over(target)


def stage_of(request: RunRequest, secrets: Secrets, number: int, root: TemporaryRoot) -> Stage:
    """The stage for the target. Raises permanent infrastructure ``unsupported_environment``."""
    execution, target = request.execution, request.target
    if execution.environment.id != "local":
        raise PermanentInfrastructure(
            "unsupported_environment",
            f"the {target.kind} target cannot run in {execution.environment.id}",
        )
    match target:
        case CommandTarget():
            share = MAX_LOGS_BYTES // (2 * execution.task.expected_run_count)
            workplace = LocalWorkplace(
                root=root,
                ambient=request.environ,
                cancel=request.cancel,
                log_bytes=min(MAX_LOG_BYTES, share),
            )
            return CommandStage(
                request=request, secrets=secrets, number=number, workplace=workplace
            )
        case PaperclipTarget():
            place = PaperclipPlace(
                version=target.version,
                root=root.path,
                environ=request.environ,
                marker={MARKER: root.token},
                end_processes=lambda grace: end_marked(root.token, root.path, grace=grace),
                cancel=request.cancel,
            )
            return PaperclipStage(request=request, secrets=secrets, number=number, place=place)
        case _ as never:
            assert_never(never)
