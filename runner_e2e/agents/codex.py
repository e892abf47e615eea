"""OpenAI's Codex. Written against version 0.171.0."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner_e2e.agents.preset import Setup, shell
from runner_e2e.agents.reading import (
    Reading,
    Sums,
    Tokens,
    count,
    provider_failure,
    text,
    timed_out,
    unfinished,
    unreachable,
)
from runner_e2e.contracts.scalars import JsonObject
from runner_e2e.contracts.vocabulary import PresetName
from runner_e2e.failures import ExecutionError

ADDRESSES: Mapping[str, str] = {
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
}

IDLE_MS = 300_000
"""How long a stream may be silent: reasoning can take minutes."""

# The sandbox that codex puts its commands into must let them write events.
_SCRIPT = """
export CODEX_HOME="$RUNNER_E2E_STATE_DIR/codex" && mkdir -p "$CODEX_HOME" &&
program=$1 && shift &&
exec "$program" -c "sandbox_workspace_write.writable_roots=[\\"${RUNNER_E2E_EVENTS%/*}\\"]" "$@"
"""

_STATUS = re.compile(r"(?:unexpected status|last status:) ([1-5][0-9]{2})\b")
_BODY_STATUS = re.compile(r'^\{.*"error"', re.DOTALL)
_SILENT = re.compile(r"idle timeout waiting for|stream disconnected before completion")
_BUSY = re.compile(r"high demand", re.IGNORECASE)
_LOST = re.compile(r"error sending request|waiting for network|connection (?:failed|refused)")


@dataclass(frozen=True, slots=True)
class Codex:
    """``codex exec --json``."""

    name: PresetName = "codex"
    program: str = "codex"

    def key_variable(self, credential: str) -> str:
        """Any name will do: it is told which."""
        return credential

    def environment(self, setup: Setup) -> dict[str, str]:
        """Everything is on the command line."""
        del setup
        return {}

    def command(
        self, setup: Setup, program: Sequence[str], session_id: str | None
    ) -> tuple[str, ...]:
        """Settings of ours, then what the profile adds, so that it has the last word."""
        settings: list[str] = []
        for key, value in self._settings(setup).items():
            settings += ["-c", f"{key}={json.dumps(value)}"]
        resume = ["resume"] if session_id else []
        session = [session_id] if session_id else []
        turn = ["exec", *resume, "--json", "--skip-git-repo-check", *session, "-"]
        return shell(_SCRIPT, program[0], *settings, *program[1:], *turn)

    def _settings(self, setup: Setup) -> dict[str, str | int | bool]:
        provider = "model_providers.runner-e2e"
        return {
            "model": setup.model,
            "model_provider": "runner-e2e",
            "sandbox_mode": "danger-full-access" if setup.isolated else "workspace-write",
            "web_search": "disabled",
            "check_for_update_on_startup": False,
            # Both look names up at start; the second one waits for ever for a lost network.
            "analytics.enabled": False,
            "features.plugins": False,
            "features.unbounded_connection_retries": False,
            f"{provider}.name": setup.provider,
            f"{provider}.base_url": setup.address(self.name, ADDRESSES),
            f"{provider}.env_key": setup.key,
            f"{provider}.wire_api": "responses",
            f"{provider}.request_max_retries": 2,
            f"{provider}.stream_max_retries": 2,
            f"{provider}.stream_idle_timeout_ms": IDLE_MS,
        }

    def read(self, lines: Sequence[JsonObject], before: Sums) -> Reading:
        """Read the events. Their token counts go on over all turns of a thread."""
        message = session_id = None
        heard = False
        tokens: Tokens | None = None
        failure: ExecutionError | None = unfinished(self.name, "ended in the middle of its turn")
        sums = before
        for line in lines:
            match line.get("type"):
                case "thread.started":
                    session_id = text(line, "thread_id")
                case "item.started" | "item.completed" if text(line, "item", "type") != "error":
                    heard = True
                    if text(line, "item", "type") == "agent_message":
                        message = text(line, "item", "text")
                case "turn.completed":
                    sums = Sums(tokens=_tokens(line))
                    tokens = sums.tokens.since(before.tokens)
                    failure, heard = None, True
                case "turn.failed":
                    failure = _failure(text(line, "error", "message") or "")
                case _:
                    pass
        return Reading(
            message=message,
            session_id=session_id,
            heard=heard,
            tokens=tokens,
            failure=failure,
            sums=sums,
        )


def _tokens(line: JsonObject) -> Tokens:
    cached = count(line, "usage", "cached_input_tokens")
    written = count(line, "usage", "cache_write_input_tokens")
    return Tokens(
        fresh=max(0, count(line, "usage", "input_tokens") - cached - written),
        cached=cached,
        written=written,
        output=count(line, "usage", "output_tokens"),
    )


def _failure(words: str) -> ExecutionError:
    """Name a failed turn. Codex has no field for the status, only these sentences of its own."""
    if status := _STATUS.search(words):
        return provider_failure("codex", int(status[1]), words)
    if _BODY_STATUS.match(words):  # it prints a 400 as the bare body
        return provider_failure("codex", 400, words)
    if _BUSY.search(words):
        return provider_failure("codex", 503, words)
    if _SILENT.search(words):
        return timed_out("codex")
    if _LOST.search(words):
        return unreachable("codex")
    return unfinished("codex", "said that its turn failed")
