"""From a profile's payload to a program that can be started, its secrets in place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from runner_e2e.agents import PRESETS, Preset, Setup
from runner_e2e.catalog import Variables, render_agent, secret_names
from runner_e2e.contracts.base import canonical_json, explain
from runner_e2e.contracts.catalog import CommandAgent, MatrixExecution, ProfileFixture, SecretUse
from runner_e2e.contracts.scalars import JsonValue
from runner_e2e.contracts.vocabulary import KNOWN_CREDENTIALS
from runner_e2e.environments import RESERVED, RESERVED_PREFIX
from runner_e2e.evidence import Redactor
from runner_e2e.failures import PermanentInfrastructure
from runner_e2e.targets.command import AgentCommand


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """The secrets of an execution by name. ``values`` never appear in a repr."""

    values: Mapping[str, str] = field(repr=False)
    redactor: Redactor = field(repr=False)

    @classmethod
    def of(
        cls, execution: MatrixExecution, declared: tuple[str, ...], environ: Mapping[str, str]
    ) -> Secrets:
        """Take every declared credential that is set, whether or not the payload uses it."""
        names = {
            *KNOWN_CREDENTIALS,
            *declared,
            *execution.required_credentials,
            *secret_names(execution.profile.agent),
        }
        values = {name: environ[name] for name in sorted(names) if environ.get(name, "").strip()}
        return cls(values=values, redactor=Redactor(values))


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPayload:
    """A rendered payload and the secrets that it refers to, by name."""

    payload: dict[str, JsonValue]
    used: Mapping[str, str] = field(repr=False)


def agent_payload(
    execution: MatrixExecution, variables: Variables, secrets: Secrets
) -> AgentPayload:
    """Render the payload, its references left in place.

    Raises permanent infrastructure ``missing_credential`` naming every variable that is not set,
    before anything was paid for.
    """
    profile = execution.profile
    payload = render_agent(profile, variables)
    names = sorted(secret_names(payload) | _implied(profile))
    missing = [name for name in names if name not in secrets.values]
    if missing:
        raise PermanentInfrastructure(
            "missing_credential",
            f"{', '.join(missing)} must be set for profile {execution.profile.id}",
            hint="set it in the environment of runner-e2e, as a secret of the workflow",
        )
    return AgentPayload(payload=payload, used={name: secrets.values[name] for name in names})


def _implied(profile: ProfileFixture) -> set[str]:
    """The credential that a preset hands its program, unless the payload's ``env`` does so."""
    preset, env = profile.agent.get("preset"), profile.agent.get("env")
    known = next((one for name, one in PRESETS.items() if name == preset), None)
    if known is None or (isinstance(env, dict) and known.key_variable(profile.credential) in env):
        return set()
    return {profile.credential}


def needed_secrets(profile: ProfileFixture) -> set[str]:
    """Every credential whose value a run of the profile needs."""
    return {*secret_names(profile.agent), *_implied(profile)}


def missing_secrets(
    executions: Iterable[MatrixExecution], environ: Mapping[str, str]
) -> tuple[str, ...]:
    """The names of credentials that these executions need and ``environ`` does not have."""
    needed: set[str] = set()
    for execution in executions:
        needed |= needed_secrets(execution.profile)
        if execution.environment.credential:
            needed.add(execution.environment.credential)
    return tuple(sorted(name for name in needed if not environ.get(name, "").strip()))


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetUse:
    """A preset and what the profile says to it."""

    preset: Preset
    setup: Setup


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandProgram:
    """What a turn starts, and the preset that knows how, where there is one."""

    agent: AgentCommand
    preset: PresetUse | None = None


def command_program(
    execution: MatrixExecution, variables: Variables, secrets: Secrets
) -> CommandProgram:
    """Render the payload and put the secrets in.

    Raises permanent infrastructure as :func:`agent_payload`, and ``reserved_variable`` and
    ``bad_agent``: all before anything was paid for.
    """
    payload = agent_payload(execution, variables, secrets).payload
    data = canonical_json(payload)
    try:
        agent = CommandAgent.model_validate_json(data)
    except ValidationError as error:
        raise PermanentInfrastructure(
            "bad_agent",
            f"the agent of profile {execution.profile.id} is none: {explain(error, data)}",
        ) from None
    environment = agent.env or {}
    taken = [name for name in environment if name in RESERVED or name.startswith(RESERVED_PREFIX)]
    if taken:
        raise PermanentInfrastructure(
            "reserved_variable", f"profile {execution.profile.id} sets {', '.join(taken)}"
        )
    values = {
        name: secrets.values[use.name] if isinstance(use, SecretUse) else use
        for name, use in environment.items()
    }
    use = _preset_use(execution, agent)
    if use is not None:
        key, credential = use.setup.key, execution.profile.credential
        ours = use.preset.environment(use.setup)
        if key not in values:
            ours[key] = secrets.values[credential]
        values = ours | values
    command = agent.command or ((use.preset.program,) if use else ())
    return CommandProgram(agent=AgentCommand(command=command, environment=values), preset=use)


def _preset_use(execution: MatrixExecution, agent: CommandAgent) -> PresetUse | None:
    if agent.preset is None:
        return None
    profile, preset = execution.profile, PRESETS[agent.preset]
    setup = Setup(
        model=profile.model,
        provider=profile.provider,
        key=preset.key_variable(profile.credential),
        base_url=agent.base_url,
        prices=agent.prices,
        isolated=execution.environment.id == "daytona",
    )
    return PresetUse(preset=preset, setup=setup)
