"""The installed Paperclip and the Node that runs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runner_e2e.failures import PermanentInfrastructure

DIRECTORY = "RUNNER_E2E_PAPERCLIP_DIR"
"""Names the directory that holds ``node_modules``, where it is not the usual one."""

OLDEST_NODE = 20
_NODE_WAIT_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """A Paperclip of the version that the catalog pins."""

    node: Path
    entry: Path
    version: str


def package_directory(version: str, environ: Mapping[str, str]) -> Path:
    """Where ``scripts/setup.sh paperclip`` installs: a cache outside of any checkout.

    As root it is the system's, since the server's user cannot enter root's home.
    """
    named = environ.get(DIRECTORY)
    if named:
        return Path(named)
    if os.geteuid() == 0:
        return Path("/var/cache/runner-e2e") / f"paperclip-{version}"
    home = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME") or Path.home()) / ".cache"
    return Path(home) / "runner-e2e" / f"paperclip-{version}"


def find_installation(version: str, environ: Mapping[str, str]) -> Installation:
    """Find Node and the package.

    Raises permanent infrastructure ``node_missing``, ``node_too_old`` or ``package_missing``,
    each with the command that mends it.
    """
    node = _find_node(environ)
    directory = package_directory(version, environ)
    package = directory / "node_modules" / "paperclipai"
    found = _version_of(package / "package.json")
    if found != version:
        what = "is not installed" if found is None else f"is wanted, {found} is installed"
        raise PermanentInfrastructure(
            "package_missing",
            f"Paperclip {version} {what} in {directory}",
            hint=f"npm install --prefix {directory} paperclipai@{version}",
        )
    return Installation(node=node, entry=package / "dist" / "index.js", version=version)


def _find_node(environ: Mapping[str, str]) -> Path:
    found = shutil.which("node", path=environ.get("PATH", os.defpath))
    hint = f"install Node {OLDEST_NODE} or newer and put it on PATH"
    if found is None:
        raise PermanentInfrastructure("node_missing", "node is not on PATH", hint=hint)
    done = subprocess.run(
        [found, "--version"],
        capture_output=True,
        text=True,
        timeout=_NODE_WAIT_S,
        check=False,
        env={"PATH": environ.get("PATH", os.defpath)},
    )
    said = re.match(r"v([0-9]+)\.", done.stdout)
    if said is None or int(said[1]) < OLDEST_NODE:
        raise PermanentInfrastructure(
            "node_too_old",
            f"{found} is Node {done.stdout.strip()[:40] or 'of no version'}",
            hint=hint,
        )
    return Path(found).resolve()


def _version_of(manifest: Path) -> str | None:
    try:
        version = json.loads(manifest.read_bytes()).get("version")
    except (OSError, ValueError, AttributeError):
        return None
    return version if isinstance(version, str) else None
