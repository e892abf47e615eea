"""Anthropic's Claude Code. Written against versions 2.1.197 and 2.1.332."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner_e2e.agents.preset import Setup, shell
from runner_e2e.agents.reading import (
    OVERLOADED,
    Reading,
    Sums,
    Tokens,
    amount,
    at,
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

ADDRESSES: Mapping[str, str] = {"anthropic": "https://api.anthropic.com"}

RETRIES = "3"
"""Its own ten cost three minutes where a key is wrong."""

TOOLS = "Bash,Edit,Glob,Grep,NotebookEdit,Read,Write"
"""What it may use unasked. Nobody is there to be asked, and root may not skip all questions."""

_SCRIPT = """
export CLAUDE_CONFIG_DIR="$RUNNER_E2E_STATE_DIR/claude" && mkdir -p "$CLAUDE_CONFIG_DIR" &&
program=$1 && shift && exec "$program" --add-dir "${RUNNER_E2E_EVENTS%/*}" "$@"
"""

_PREFIX = "API Error: "
_OVERLOADED = re.compile(r"^API Error: (?:Repeated )?529\b")
_LOST = re.compile(r"^API Error: Unable to connect|^Connection error")
_SILENT = re.compile(r"timed out|idle timeout", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ClaudeCode:
    """``claude -p``."""

    name: PresetName = "claude-code"
    program: str = "claude"

    def key_variable(self, credential: str) -> str:
        """It looks in one place only, whatever the credential is called."""
        del credential
        return "ANTHROPIC_API_KEY"

    def environment(self, setup: Setup) -> dict[str, str]:
        """No call but those to the model."""
        return {
            "ANTHROPIC_BASE_URL": setup.address(self.name, ADDRESSES),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": RETRIES,
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
        }

    def command(
        self, setup: Setup, program: Sequence[str], session_id: str | None
    ) -> tuple[str, ...]:
        """The stream says how far it came, also where it is killed."""
        flags = ["-p", "--output-format", "stream-json", "--verbose"]
        flags += ["--permission-mode", "acceptEdits", "--allowedTools", TOOLS]
        flags += ["--model", setup.model]
        resume = ["--resume", session_id] if session_id else []
        return shell(_SCRIPT, program[0], *flags, *program[1:], *resume)

    def read(self, lines: Sequence[JsonObject], before: Sums) -> Reading:
        """Read the events: the first names the session, the last one is the result."""
        session_id = model = None
        heard = False
        result: JsonObject | None = None
        for line in lines:
            if line.get("type") == "system" and line.get("subtype") == "init":
                session_id, model = text(line, "session_id"), text(line, "model")
            elif line.get("type") == "assistant":
                heard = True
            elif line.get("type") == "result":
                result = line
        if result is None:
            failure = unfinished(self.name, "ended without a result")
            return Reading(
                session_id=session_id, heard=heard, model=model, failure=failure, sums=before
            )
        tokens, told = _tokens(result), _told(result)
        total = amount(result, "total_cost_usd")
        # From 2.1.332 on the cost is that of the session, and so is modelUsage.
        running = before.tokens.total > 0 and told.total >= before.tokens.total + tokens.total
        cost = total if total is None or not running else max(0.0, total - before.cost)
        failed = result.get("is_error") is not False or result.get("subtype") != "success"
        failure_ = _failure(result) if failed else None
        return Reading(
            message=None if failed else text(result, "result"),
            session_id=text(result, "session_id") or session_id,
            heard=True,
            model=model,
            tokens=tokens,
            cost=cost,
            failure=failure_,
            sums=Sums(tokens=told, cost=total or 0.0),
        )


def _tokens(result: JsonObject) -> Tokens:
    return Tokens(
        fresh=count(result, "usage", "input_tokens"),
        cached=count(result, "usage", "cache_read_input_tokens"),
        written=count(result, "usage", "cache_creation_input_tokens"),
        output=count(result, "usage", "output_tokens"),
    )


def _told(result: JsonObject) -> Tokens:
    """What it says of each model, in sum."""
    models = at(result, "modelUsage")
    total = Tokens()
    for usage in models.values() if isinstance(models, dict) else ():
        total += Tokens(
            fresh=count(usage, "inputTokens"),
            cached=count(usage, "cacheReadInputTokens"),
            written=count(usage, "cacheCreationInputTokens"),
            output=count(usage, "outputTokens"),
        )
    return total


def _failure(result: JsonObject) -> ExecutionError:
    """Name a failed turn. It prints an API error as its result; ``subtype`` says success."""
    words = text(result, "result") or ""
    status = count(result, "api_error_status")
    if status:
        return provider_failure("claude-code", status, words)
    if _OVERLOADED.match(words):
        return provider_failure("claude-code", OVERLOADED, words)
    if _LOST.match(words):
        return unreachable("claude-code")
    if _SILENT.search(words.removeprefix(_PREFIX)[:100]):
        return timed_out("claude-code")
    return unfinished("claude-code", "said that its turn failed")
