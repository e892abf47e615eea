"""GitHub as a place to run in and to read from."""

from runner_e2e.github.runtime import ActionsRuntime

__all__ = ["ActionsRuntime"]
