from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runner_e2e.publishing import Destination, publish
from runner_e2e.publishing.destination import resolve_remote
from tests.e2e.publishing.support import (
    BRANCH,
    Bare,
    clean_environment,
    git,
    make_report,
    plain_page,
    tree_bytes,
)


def dirty(tmp_path: Path, server: Bare) -> Path:
    """A clone with staged, unstaged and untracked changes."""
    server.write({"a.txt": b"a\n", "b.txt": b"b\n"}, branch="main")
    checkout = tmp_path / "checkout"
    git(tmp_path, "clone", "--quiet", server.url, str(checkout))
    (checkout / "a.txt").write_text("changed\n")
    (checkout / "b.txt").write_text("staged\n")
    git(checkout, "add", "b.txt")
    (checkout / "c.txt").write_text("new\n")
    return checkout


def detached(tmp_path: Path, server: Bare) -> Path:
    checkout = dirty(tmp_path, server)
    git(checkout, "checkout", "--quiet", "--detach")
    return checkout


def shallow(tmp_path: Path, server: Bare) -> Path:
    server.write({"a.txt": b"1\n"}, branch="main")
    server.write({"a.txt": b"2\n"}, branch="main")
    git(tmp_path, "clone", "--quiet", "--depth=1", server.url, "checkout")
    return tmp_path / "checkout"


def in_a_worktree(tmp_path: Path, server: Bare) -> Path:
    checkout = dirty(tmp_path, server)
    git(checkout, "worktree", "add", "--quiet", str(tmp_path / "tree"), "-b", "topic")
    return tmp_path / "tree"


def with_the_branch_checked_out(tmp_path: Path, server: Bare) -> Path:
    server.write({"notes.md": b"x\n"}, branch=BRANCH)
    git(tmp_path, "clone", "--quiet", "--branch", BRANCH, server.url, "checkout")
    (tmp_path / "checkout" / "notes.md").write_text("mine\n")
    return tmp_path / "checkout"


@pytest.mark.parametrize(
    "make", [dirty, detached, shallow, in_a_worktree, with_the_branch_checked_out]
)
def test_the_users_checkout_is_untouched_byte_for_byte(
    make: object, tmp_path: Path, server: Bare, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(make)
    work = tmp_path / "work"
    work.mkdir()
    checkout = make(work, server)
    hook = checkout / ".git" / "hooks" / "pre-push"
    if hook.parent.is_dir():
        hook.write_text("#!/bin/sh\nexit 1\n")
        hook.chmod(0o755)
    before = list(tree_bytes(work))
    monkeypatch.chdir(checkout)

    publication = publish(
        make_report(tmp_path, 1), Destination(branch=BRANCH, prefix="e2e"), render=plain_page
    )

    assert publication.status == "published"
    assert publication.commit == server.tip()
    assert list(tree_bytes(work)) == before


def test_inside_a_hook_the_users_repository_is_not_written_to(tmp_path: Path, server: Bare) -> None:
    work = tmp_path / "work"
    work.mkdir()
    checkout = dirty(work, server)
    before = list(tree_bytes(work))
    environ = clean_environment() | {
        "GIT_DIR": str(checkout / ".git"),
        "GIT_INDEX_FILE": str(checkout / ".git" / "index"),
        "GIT_WORK_TREE": str(checkout),
        "GIT_TRACE": "1",
        "GIT_OBJECT_DIRECTORY": str(checkout / ".git" / "objects"),
    }

    destination = Destination(branch=BRANCH, checkout=checkout)
    publication = publish(make_report(tmp_path, 1), destination, render=plain_page, environ=environ)

    assert publication.status == "published"
    assert list(tree_bytes(work)) == before


def test_a_report_inside_the_checkout_is_only_read(tmp_path: Path, server: Bare) -> None:
    checkout = dirty(tmp_path, server)
    report = make_report(checkout, 1)
    before = list(tree_bytes(checkout))

    publish(report, Destination(branch=BRANCH, checkout=checkout), render=plain_page)

    assert list(tree_bytes(checkout)) == before


def test_a_relative_remote_of_the_checkout_is_found_from_a_directory_below(
    tmp_path: Path, server: Bare
) -> None:
    checkout = dirty(tmp_path, server)
    git(checkout, "remote", "set-url", "origin", os.path.relpath(server.path, checkout))
    below = checkout / "deep" / "down"
    below.mkdir(parents=True)

    publish(make_report(tmp_path, 1), Destination(branch=BRANCH, checkout=below), render=plain_page)

    assert server.ids() == ["gha-1-1"]


LIMITED = """
import resource, sys
from pathlib import Path
from runner_e2e.errors import RunnerE2EError
from runner_e2e.publishing import Destination, publish
from runner_e2e.publishing.destination import resolve_remote
from tests.e2e.publishing.support import plain_page

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
try:
    publish(Path(sys.argv[1]), Destination(branch="e2e-history", remote=sys.argv[2]),
            render=plain_page)
except RunnerE2EError as error:
    print(error.kind, int(error.exit_code), error.message)
"""


def test_a_disk_that_is_full_is_told_and_nothing_is_left_behind(
    tmp_path: Path, server: Bare
) -> None:
    report = make_report(tmp_path, 1)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    root = Path(__file__).resolve().parents[3]

    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(report), server.url, "4000"],
        env=clean_environment() | {"PYTHONPATH": str(root), "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.startswith("disk_full 10 "), done
    assert done.stderr == ""
    assert list(temporary.iterdir()) == []
    assert (report / "campaign.json").is_file()
    assert server.git("for-each-ref") == ""


FAKE_SSH = """#!/bin/sh
# What ssh does, without the network: run the last argument as a command.
echo "$@" >> "$0.calls"
for last; do :; done
exec sh -c "$last"
"""


@pytest.mark.parametrize("form", ["ssh://git@ssh.invalid{path}", "git@ssh.invalid:{path}"])
def test_over_ssh_the_command_of_the_checkout_is_used(
    form: str, tmp_path: Path, server: Bare
) -> None:
    program = tmp_path / "fake-ssh"
    program.write_text(FAKE_SSH)
    program.chmod(0o755)
    checkout = dirty(tmp_path, server)
    git(checkout, "remote", "set-url", "origin", form.format(path=server.path))
    git(checkout, "config", "core.sshCommand", str(program))
    git(checkout, "config", "ssh.variant", "ssh")
    destination = Destination(branch=BRANCH, checkout=checkout, token="planted-token-0123456789")

    publish(make_report(tmp_path, 1), destination, render=plain_page)

    assert server.ids() == ["gha-1-1"]
    calls = Path(f"{program}.calls").read_text()
    assert "git-receive-pack" in calls
    assert "planted-token" not in calls


def test_a_checkout_of_another_user_says_where_to_push_and_runs_no_program_of_his(
    tmp_path: Path, server: Bare, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = dirty(tmp_path, server)
    git(checkout, "config", "core.sshCommand", f"touch {tmp_path}/run; false")
    git(checkout, "config", "credential.helper", f"!touch {tmp_path}/run")
    if os.geteuid() == 0:
        for path in [checkout, *checkout.rglob("*")]:
            os.chown(path, 12345, 12345, follow_symlinks=False)
    owner = checkout.stat().st_uid
    monkeypatch.setattr("os.geteuid", lambda: owner + 1)

    remote = resolve_remote(Destination(branch=BRANCH, checkout=checkout), clean_environment())

    assert remote.url == server.url
    values = [value for key, value in remote.environ.items() if key.startswith("GIT_CONFIG_VALUE")]
    assert not any("touch" in value for value in values)


def test_a_repository_with_sha256_object_ids_is_published_to(tmp_path: Path) -> None:
    path = tmp_path / "sha256.git"
    path.mkdir()
    git(path, "init", "--quiet", "--bare", "--object-format=sha256", "--initial-branch=main")
    data = b"commit refs/heads/main\ncommitter O <o@example.invalid> 0 +0000\ndata 1\nx\n"
    git(path, "fast-import", "--quiet", stdin=data)
    for run in (1, 2):
        destination = Destination(branch=BRANCH, remote=str(path), default_branch="main")
        publish(make_report(tmp_path, run), destination, render=plain_page)

    assert git(path, "rev-list", "--count", BRANCH) == "2"
    assert len(git(path, "rev-parse", BRANCH)) == 64
