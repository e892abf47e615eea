"""All presets by name."""

from __future__ import annotations

from collections.abc import Mapping

from runner_e2e.agents.claude_code import ClaudeCode
from runner_e2e.agents.codex import Codex
from runner_e2e.agents.opencode import OpenCode
from runner_e2e.agents.preset import Preset
from runner_e2e.contracts.vocabulary import PresetName

PRESETS: Mapping[PresetName, Preset] = {
    "codex": Codex(),
    "claude-code": ClaudeCode(),
    "opencode": OpenCode(),
}
