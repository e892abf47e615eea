"""What the product imports is what it declares: a dependency of a dependency may go any day."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]


def imported(directory: Path) -> set[str]:
    """The top-level names of all modules that any file below imports."""
    names: set[str] = set()
    for path in directory.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names


def test_every_library_that_is_imported_is_declared_and_no_other() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {
        re.split(r"[^A-Za-z0-9_.-]", requirement)[0].lower().replace("_", "-")
        for requirement in project["dependencies"]
    }
    owners = packages_distributions()
    third_party = imported(ROOT / "runner_e2e") - set(sys.stdlib_module_names) - {"runner_e2e"}
    used = {owners[name][0].lower().replace("_", "-") for name in third_party}
    assert used == declared
