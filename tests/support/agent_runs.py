"""Executions of the real agent programs against a model of the loopback interface."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner_e2e.catalog import load_catalog
from runner_e2e.contracts.result import Source
from runner_e2e.contracts.vocabulary import PresetName
from runner_e2e.execution import RunRequest
from tests.support.executions import NO_WAIT, Ran, run_request, write_catalog
from tests.support.fake_model import FakeModel, UseTool

PROGRAMS = Path(__file__).parents[1] / "live/agents/node_modules/.bin"
PATH = f"{PROGRAMS}:{os.environ['PATH']}"
KEY = "sk-fake-0123456789abcdef"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A preset under test, with what differs between the programs."""

    preset: PresetName
    provider: str
    credential: str
    path: str
    """Where the provider's API begins on the server."""
    tool_name: str
    argument: str
    """The tool that runs a command, and its argument."""

    def tool(self, command: str) -> UseTool:
        """Ask for a command."""
        arguments = {self.argument: command}
        if self.preset != "codex":
            arguments["description"] = "run a command"
        return UseTool(self.tool_name, arguments)


CODEX = Agent(
    preset="codex",
    provider="openai",
    credential="OPENAI_API_KEY",
    path="/v1",
    tool_name="exec_command",
    argument="cmd",
)
CLAUDE_CODE = Agent(
    preset="claude-code",
    provider="anthropic",
    credential="ANTHROPIC_API_KEY",
    path="",
    tool_name="Bash",
    argument="command",
)
OPENCODE = Agent(
    preset="opencode",
    provider="openrouter",
    credential="OPENROUTER_API_KEY",
    path="/v1",
    tool_name="bash",
    argument="command",
)
AGENTS = (CODEX, CLAUDE_CODE, OPENCODE)

PRICES = {"asOf": "2026-11-01", "url": "https://example.org/prices", "input": 3.0, "output": 15.0}


def agent_request(
    directory: Path,
    agent: Agent,
    model: FakeModel,
    *,
    payload: dict[str, Any] | None = None,
    **more: Any,
) -> RunRequest:
    """A request for one cell with a preset. Options of a request go there, others to the case."""
    request = {name: more.pop(name) for name in [*more] if name in RunRequest.__dataclass_fields__}
    path = write_catalog(directory / "catalog", "", **more)
    tree = json.loads(path.read_text())
    tree["profiles"][0] |= {
        "adapterType": agent.preset,
        "provider": agent.provider,
        "model": "test-model",
        "credential": agent.credential,
        "expectedRuntimeMetadata": {"adapterType": agent.preset, "provider": agent.provider},
        "agent": {"preset": agent.preset, "baseUrl": model.url + agent.path} | (payload or {}),
    }
    path.write_text(json.dumps(tree))
    catalog = load_catalog(path)
    temporary = directory / "tmp"
    temporary.mkdir(exist_ok=True)
    values: dict[str, Any] = {
        "execution": catalog.executions[0],
        "catalog_directory": catalog.directory,
        "target": catalog.file.target,
        "out": directory / "out",
        "source": Source(sha=None, ref=None, workflow_run_url=None),
        "environ": {"PATH": PATH, agent.credential: KEY},
        "backoff": NO_WAIT,
        "temporary_directory": temporary,
        "max_retries": 0,
    }
    return RunRequest(**values | request)


def run_preset(directory: Path, agent: Agent, model: FakeModel, **more: Any) -> Ran:
    """Run a preset as the one cell of a catalog."""
    return run_request(agent_request(directory, agent, model, **more))
