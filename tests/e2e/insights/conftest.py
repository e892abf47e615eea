"""The command line, called as a person calls it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from runner_e2e.cli.main import run

Cli = Callable[..., tuple[int, str, str]]
"""Exit code, stdout and stderr of one call."""


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return int(code), said.out, said.err

    return call
