"""The command target: the agent is any program, started once a turn."""

from runner_e2e.targets.command.protocol import PROTOCOL, TurnDocument, protocol_schema
from runner_e2e.targets.command.session import (
    COMMAND_CAPABILITIES,
    AgentCommand,
    CommandSession,
    interrupted,
)

__all__ = [
    "COMMAND_CAPABILITIES",
    "PROTOCOL",
    "AgentCommand",
    "CommandSession",
    "TurnDocument",
    "interrupted",
    "protocol_schema",
]
