"""OpenCode. Written against version 1.18.33."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runner_e2e.agents.preset import Setup, shell
from runner_e2e.agents.reading import (
    Reading,
    Sums,
    Tokens,
    amount,
    count,
    provider_failure,
    text,
    timed_out,
    unfinished,
)
from runner_e2e.contracts.scalars import JsonObject
from runner_e2e.contracts.vocabulary import PresetName
from runner_e2e.failures import ExecutionError

ADDRESSES: Mapping[str, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
}

_DIALECTS: Mapping[str, str] = {"openai": "@ai-sdk/openai", "anthropic": "@ai-sdk/anthropic"}
"""Packages that it has on board; any other provider speaks chat completions."""

REQUEST_MS = 600_000
SILENCE_MS = 300_000

_SCRIPT = """
export XDG_DATA_HOME="$RUNNER_E2E_STATE_DIR" && exec "$@"
"""

_WORD = re.compile(r"[a-z-]{1,40}")


@dataclass(frozen=True, slots=True)
class OpenCode:
    """``opencode run``."""

    name: PresetName = "opencode"
    program: str = "opencode"

    def key_variable(self, credential: str) -> str:
        """Any name will do: it is told which."""
        return credential

    def environment(self, setup: Setup) -> dict[str, str]:
        """The configuration, and no call but those to the model."""
        return {
            "OPENCODE_CONFIG_CONTENT": json.dumps(self._configuration(setup)),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            # Else each fresh home installs 64 MB that nobody uses.
            "npm_config_registry": "http://127.0.0.1:9/",
        }

    def _configuration(self, setup: Setup) -> dict[str, Any]:
        name = f"{setup.provider}/{setup.model}"
        options = {
            "apiKey": f"{{env:{setup.key}}}",
            "baseURL": setup.address(self.name, ADDRESSES),
            "timeout": REQUEST_MS,
            "chunkTimeout": SILENCE_MS,
        }
        provider = {
            "npm": _DIALECTS.get(setup.provider, "@ai-sdk/openai-compatible"),
            "name": setup.provider,
            "options": options,
            "models": {setup.model: {"name": setup.model}},
        }
        return {
            "autoupdate": False,
            "share": "disabled",
            "model": name,
            "small_model": name,
            "enabled_providers": [setup.provider],
            # Nobody is there to be asked, and events lie outside the workspace.
            "permission": {"bash": "allow", "edit": "allow", "external_directory": "allow"},
            "provider": {setup.provider: provider},
        }

    def command(
        self, setup: Setup, program: Sequence[str], session_id: str | None
    ) -> tuple[str, ...]:
        """Without a title it would ask the model for one."""
        del setup
        session = ["--session", session_id] if session_id else []
        run = ["run", "--format", "json", "--title", "runner-e2e", *session]
        return shell(_SCRIPT, *program, *run)

    def read(self, lines: Sequence[JsonObject], before: Sums) -> Reading:
        """Read the events. Each step of the turn tells its own tokens and cost."""
        said: list[str] = []
        session_id = reason = None
        tokens, cost = Tokens(), 0.0
        failure: ExecutionError | None = None
        for line in lines:
            session_id = session_id or text(line, "sessionID")
            match line.get("type"):
                case "step_start":
                    said = []
                case "text":
                    said.append(text(line, "part", "text") or "")
                case "step_finish":
                    reason = text(line, "part", "reason")
                    tokens += _tokens(line)
                    cost += amount(line, "part", "cost") or 0.0
                case "error":
                    failure = _failure(line)
                case _:
                    pass
        finished = reason == "stop"
        if failure is None and not finished:
            failure = _unfinished(reason)
        return Reading(
            message="\n".join(said) if finished else None,
            session_id=session_id,
            heard=session_id is not None,
            tokens=tokens if tokens.total else None,
            # It knows no price of most models, and says 0 then.
            cost=cost or None,
            failure=failure,
            sums=before,
        )


def _tokens(line: JsonObject) -> Tokens:
    tokens = ("part", "tokens")
    return Tokens(
        fresh=count(line, *tokens, "input"),
        cached=count(line, *tokens, "cache", "read"),
        written=count(line, *tokens, "cache", "write"),
        output=count(line, *tokens, "output") + count(line, *tokens, "reasoning"),
    )


def _unfinished(reason: str | None) -> ExecutionError:
    if reason is None or not _WORD.fullmatch(reason):
        return unfinished("opencode", "ended in the middle of its turn")
    return unfinished("opencode", f"ended its turn with {reason}")


def _failure(line: JsonObject) -> ExecutionError:
    status = count(line, "error", "data", "statusCode")
    words = text(line, "error", "data", "message") or ""
    if status:
        return provider_failure("opencode", status, words)
    if words == "The operation timed out.":
        return timed_out("opencode")
    return unfinished("opencode", "said that its turn failed")
