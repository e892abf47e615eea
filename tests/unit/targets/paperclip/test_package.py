from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from runner_e2e.failures import PermanentInfrastructure
from runner_e2e.targets.paperclip import DIRECTORY, find_installation, package_directory

VERSION = "2026.824.1"


def _node(directory: Path, says: str) -> str:
    """A PATH on which a program called node says this."""
    directory.mkdir()
    node = directory / "node"
    node.write_text(f"#!/bin/sh\necho '{says}'\n")
    node.chmod(0o755)
    return str(directory)


def _install(directory: Path, version: str) -> None:
    package = directory / "node_modules" / "paperclipai"
    package.mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"version": version}))


def _refusal(environ: dict[str, str]) -> PermanentInfrastructure:
    with pytest.raises(PermanentInfrastructure) as caught:
        find_installation(VERSION, environ)
    return caught.value


def test_the_package_and_node_are_found_by_version(tmp_path: Path) -> None:
    _install(tmp_path / "cache", VERSION)
    path = _node(tmp_path / "bin", "v22.1.0")
    found = find_installation(VERSION, {"PATH": path, DIRECTORY: str(tmp_path / "cache")})
    assert found.entry == tmp_path / "cache/node_modules/paperclipai/dist/index.js"
    assert found.node == (tmp_path / "bin/node").resolve()


def test_a_machine_without_node_is_told_to_install_it(tmp_path: Path) -> None:
    error = _refusal({"PATH": str(tmp_path)})
    assert error.code == "node_missing"
    assert "Node 20" in (error.hint or "")


@pytest.mark.parametrize("says", ["v18.20.1", "not a version"])
def test_a_node_that_is_too_old_is_named_with_its_version(tmp_path: Path, says: str) -> None:
    error = _refusal({"PATH": _node(tmp_path / "bin", says)})
    assert error.code == "node_too_old"
    assert str(tmp_path / "bin" / "node") in error.message


def test_a_missing_package_comes_with_the_command_that_installs_it(tmp_path: Path) -> None:
    environ = {"PATH": _node(tmp_path / "bin", "v20.0.0"), DIRECTORY: str(tmp_path / "cache")}
    error = _refusal(environ)
    assert error.code == "package_missing"
    assert error.hint == f"npm install --prefix {tmp_path / 'cache'} paperclipai@{VERSION}"


@pytest.mark.parametrize("content", [b'{"version": "2026.1.0"}', b"[]", b"{", b'{"version": 1}'])
def test_another_version_does_not_do(tmp_path: Path, content: bytes) -> None:
    _install(tmp_path / "cache", VERSION)
    manifest = tmp_path / "cache/node_modules/paperclipai/package.json"
    manifest.write_bytes(content)
    environ = {"PATH": _node(tmp_path / "bin", "v20.0.0"), DIRECTORY: str(tmp_path / "cache")}
    assert _refusal(environ).code == "package_missing"


def test_the_cache_lies_outside_of_every_checkout(tmp_path: Path) -> None:
    found = package_directory(VERSION, {"XDG_CACHE_HOME": str(tmp_path), "HOME": "/nowhere"})
    cache = Path("/var/cache") if os.geteuid() == 0 else tmp_path
    assert found == cache / "runner-e2e" / f"paperclip-{VERSION}"
