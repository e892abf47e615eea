"""GitHub as a place to run in and to read from.

What speaks HTTP is imported from its own modules, since the commands that do not should not wait
for it: :mod:`runner_e2e.github.source` and :mod:`runner_e2e.github.server`.
"""

from runner_e2e.github.runtime import ActionsRuntime

__all__ = ["ActionsRuntime"]
