"""Presets for real agent programs: Codex, Claude Code, OpenCode."""

from runner_e2e.agents.preset import Preset, Setup
from runner_e2e.agents.presets import PRESETS
from runner_e2e.agents.reading import Reading, Sums, Tokens
from runner_e2e.agents.workplace import PresetWorkplace

__all__ = ["PRESETS", "Preset", "PresetWorkplace", "Reading", "Setup", "Sums", "Tokens"]
