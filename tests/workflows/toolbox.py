"""What the tests of the workflows share: the project's folders, npm bundles, the YAML itself."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

PROJECT = Path(__file__).resolve().parents[2]
HERE = PROJECT / "tests" / "workflows"
NODE_MODULES = PROJECT / "tests" / "node" / "node_modules"
BIN = PROJECT / ".venv" / "bin"

CALLABLE = ("campaign.yml", "execute.yml", "publish.yml")
"""Byte-identical in .github/workflows, from where GitHub lets others call them."""
CALLERS = ("dispatch.yml", "janitor.yml", "nightly.yml")
"""To copy: OWNER and the zeros stand for a repository and a commit."""
PLACEHOLDER = "0" * 40

Json = Any


def load(path: Path) -> Json:
    """A workflow as plain data."""
    return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


def shipped(name: str) -> Json:
    """One of our workflows as plain data."""
    return load(PROJECT / "workflows" / name)


# Some of the packages are CommonJS, and ask for Node's own modules at run time.
_REQUIRE = (
    "import { createRequire as bundledRequire } from 'node:module';"
    "const require = bundledRequire(import.meta.url);"
)


def bundle(source: Path, target: Path) -> None:
    """Make one file of a script and what it imports from npm."""
    subprocess.run(
        [
            NODE_MODULES / ".bin" / "esbuild",
            source,
            "--bundle",
            "--platform=node",
            "--format=esm",
            f"--banner:js={_REQUIRE}",
            "--log-level=warning",
            f"--outfile={target}",
        ],
        check=True,
        env={**os.environ, "NODE_PATH": str(NODE_MODULES)},
    )


class Language:
    """GitHub's own workflow parser and expression engine."""

    def __init__(self, script: Path) -> None:
        bundle(HERE / "node" / "language.mjs", script)
        self._script = script

    def ask(self, requests: Sequence[Mapping[str, Json]]) -> list[Json]:
        """One answer a request."""
        done = subprocess.run(
            ["node", self._script],
            check=True,
            input="\n".join(json.dumps(request) for request in requests),
            capture_output=True,
            text=True,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    def evaluate(self, text: str, contexts: Mapping[str, Json], status: str = "success") -> Json:
        """The value of ``${{ ... }}``, or of a bare condition."""
        expression = text.strip()
        if expression.startswith("${{"):
            assert expression.endswith("}}")
            assert expression.count("${{") == 1
            expression = expression[3:-2]
        (answer,) = self.ask([{"evaluate": expression, "contexts": contexts, "status": status}])
        assert "error" not in answer, answer
        return answer["value"]
