from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runner_e2e.environments import PREFIX, TemporaryRoot, abandoned_roots, delete_root
from runner_e2e.environments.roots import OWNER_FILE


@pytest.fixture
def root(tmp_path: Path) -> TemporaryRoot:
    return TemporaryRoot.create("a.b.c.d", tmp_path)


def make_old(path: Path) -> None:
    before = time.time() - 2 * 3600
    os.utime(path, (before, before))


def test_a_fresh_root_is_ours_alone(root: TemporaryRoot) -> None:
    assert root.path.name.startswith(PREFIX)
    assert root.path.stat().st_mode & 0o777 == 0o700
    assert root.delete() is None
    assert not root.path.exists()


@pytest.mark.parametrize("name", ["home", "xrunner-e2e-1", "Runner-e2e-1"])
def test_a_directory_without_the_prefix_is_never_deleted(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.mkdir()
    problem = delete_root(path)
    assert problem is not None
    assert "not deleted" in problem
    assert path.is_dir()


def test_a_link_with_the_prefix_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").touch()
    link = tmp_path / f"{PREFIX}link"
    link.symlink_to(precious)
    assert delete_root(link) is not None
    assert (precious / "file").exists()


def test_links_inside_a_root_are_removed_and_not_followed(
    root: TemporaryRoot, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.mkdir(mode=0o500)
    (root.path / "link").symlink_to(precious)
    assert root.delete() is None
    assert precious.is_dir()
    assert precious.stat().st_mode & 0o777 == 0o500


def test_deleting_what_is_gone_is_no_problem(root: TemporaryRoot) -> None:
    assert delete_root(root.path) is None
    assert root.delete() is None


def test_a_root_with_a_living_owner_is_not_abandoned(root: TemporaryRoot) -> None:
    assert list(abandoned_roots(root.path.parent)) == []
    root.release()
    (found,) = abandoned_roots(root.path.parent)
    assert (found.path, found.token) == (root.path, root.token)


def test_a_root_of_a_dead_process_is_abandoned(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib, os\n"
        "from runner_e2e.environments import TemporaryRoot\n"
        "TemporaryRoot.create('a.b.c.d', pathlib.Path(sys.argv[1]))\n"
        "os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert done.returncode == -9
    assert len(list(abandoned_roots(tmp_path))) == 1


def test_a_kept_root_is_not_abandoned(root: TemporaryRoot) -> None:
    root.keep()
    assert list(abandoned_roots(root.path.parent)) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nonsense",
        b"[]",
        b'{"token": ""}',
        b'{"token": "PATH="}',
        b'{"token": 1}',
        json.dumps({"token": "0" * 31}).encode(),
        b"[" * 4096,
    ],
)
def test_a_token_that_is_none_ends_no_process(content: bytes, root: TemporaryRoot) -> None:
    root.release()
    (root.path / OWNER_FILE).write_bytes(content)
    assert list(abandoned_roots(root.path.parent)) == []
    make_old(root.path)
    (found,) = abandoned_roots(root.path.parent)
    assert found.token is None


def test_a_root_without_an_owner_counts_only_when_it_is_old(tmp_path: Path) -> None:
    path = tmp_path / f"{PREFIX}bare"
    path.mkdir()
    assert list(abandoned_roots(tmp_path)) == []
    make_old(path)
    assert [one.path for one in abandoned_roots(tmp_path)] == [path]


@pytest.mark.parametrize("step", ["os.open", "fcntl.flock", "os.write"])
def test_a_root_is_nobodys_prey_at_any_moment_of_its_making(step: str, tmp_path: Path) -> None:
    script = f"""
import fcntl, os, pathlib, sys
from runner_e2e.environments import TemporaryRoot
original = {step}
def held(*given):
    if {step!r} != "os.write":
        done = original(*given)
    if getattr(held, "once", True):
        held.once = False
        print("here", flush=True)
        sys.stdin.readline()
    return original(*given) if {step!r} == "os.write" else done
{step} = held
root = TemporaryRoot.create("a.b.c.d", pathlib.Path(sys.argv[1]))
print(root.path.is_dir(), flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as maker:
        assert maker.stdout is not None
        assert maker.stdin is not None
        assert maker.stdout.readline() == "here\n"
        assert [one.path for one in abandoned_roots(tmp_path)] == []
        maker.stdin.write("\n")
        maker.stdin.flush()
        assert maker.stdout.readline() == "True\n"
