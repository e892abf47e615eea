"""An agent that lays traps in its workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runner_e2e.matchers import FileRefused, WorkspaceFiles


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("outside")
    root = tmp_path / "workspace"
    (root / "sub").mkdir(parents=True)
    (root / "sub/a.txt").write_text("inside")
    return root


def test_a_file_inside_is_read(root: Path) -> None:
    files = WorkspaceFiles(root)
    assert files.read_file("sub/a.txt") == b"inside"
    assert files.read_file("./sub//a.txt") == b"inside"
    assert files.read_file("sub/none.txt") is None
    assert files.read_file("none/none.txt") is None


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../secret.txt", "sub/../../secret.txt", "", "a\0b"]
)
def test_a_path_that_leads_out_is_refused(root: Path, path: str) -> None:
    files = WorkspaceFiles(root)
    with pytest.raises(FileRefused):
        files.read_file(path)
    with pytest.raises(FileRefused):
        files.has_file(path)


def test_a_link_to_a_file_outside_is_refused(root: Path) -> None:
    (root / "link").symlink_to("../secret.txt")
    with pytest.raises(FileRefused, match="leads out"):
        WorkspaceFiles(root).read_file("link")


def test_a_link_to_a_directory_outside_is_refused(root: Path) -> None:
    (root / "door").symlink_to("..")
    with pytest.raises(FileRefused, match="leads out"):
        WorkspaceFiles(root).read_file("door/secret.txt")


def test_a_link_that_stays_inside_is_followed(root: Path) -> None:
    (root / "link").symlink_to("sub/a.txt")
    assert WorkspaceFiles(root).read_file("link") == b"inside"


def test_a_link_in_a_circle_is_refused(root: Path) -> None:
    (root / "loop").symlink_to("loop")
    with pytest.raises(FileRefused):
        WorkspaceFiles(root).read_file("loop")


def test_a_link_to_nothing_is_no_file(root: Path) -> None:
    (root / "link").symlink_to("nothing")
    assert WorkspaceFiles(root).read_file("link") is None


def test_what_is_no_regular_file_is_no_file_and_does_not_hold_us_up(root: Path) -> None:
    os.mkfifo(root / "pipe")
    files = WorkspaceFiles(root)
    assert files.read_file("pipe") is None
    assert files.read_file("sub") is None
    assert not files.has_file("sub")


def test_a_file_too_large_is_refused_to_read_but_is_there(root: Path) -> None:
    (root / "big").write_bytes(b"x" * 11)
    files = WorkspaceFiles(root, max_bytes=10)
    assert files.has_file("big")
    with pytest.raises(FileRefused, match="larger than 10 bytes"):
        files.read_file("big")
    (root / "big").write_bytes(b"x" * 10)
    assert files.read_file("big") == b"x" * 10


def test_a_workspace_that_is_reached_through_a_link_is_still_one(root: Path) -> None:
    door = root.parent / "door"
    door.symlink_to(root)
    assert WorkspaceFiles(door).read_file("sub/a.txt") == b"inside"
