"""The temporary directory that an execution lives in, and deleting it without ever deleting more.

A root holds ``owner.json`` under an exclusive lock for as long as its harness lives. The kernel
drops the lock when the harness dies, however it dies, so a sweep needs no heartbeat, no clock and
no process id that may have been given to somebody else.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from runner_e2e.contracts.timestamps import format_timestamp

PREFIX = "runner-e2e-"
OWNER_FILE = "owner.json"
MAX_OWNER_BYTES = 4096
JUST_MADE_S = 3600
DELETE_WAITS_S = (0.25, 0.5)

_TOKEN = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporaryRoot:
    """A root of ours. ``token`` marks every process that was started for it."""

    path: Path
    token: str
    created_at: str
    lock: int

    @classmethod
    def create(cls, execution_id: str, parent: Path | None = None) -> TemporaryRoot:
        """Make a fresh root below ``parent``, by default the system's temporary directory."""
        base = (parent or Path(tempfile.gettempdir())).resolve()
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
        token = secrets.token_hex(16)
        created_at = format_timestamp(datetime.now(UTC))
        lock = os.open(path / OWNER_FILE, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        owner = {"token": token, "executionId": execution_id, "createdAt": created_at}
        os.write(lock, json.dumps(owner | {"pid": os.getpid()}).encode())
        return cls(path=path, token=token, created_at=created_at, lock=lock)

    def delete(self) -> str | None:
        """Delete the root. Returns what went wrong, ``None`` for nothing."""
        problem = delete_root(self.path)
        self.release()
        return problem

    def keep(self) -> None:
        """Leave the root for a person to look at: no sweep takes it."""
        os.ftruncate(self.lock, 0)
        os.pwrite(self.lock, json.dumps({"kept": True}).encode(), 0)
        self.release()

    def release(self) -> None:
        """Give up the root without deleting it: from here on a sweep may."""
        with contextlib.suppress(OSError):
            os.close(self.lock)


def delete_root(path: Path) -> str | None:
    """Delete a root in three tries. Returns what went wrong, ``None`` for nothing.

    Refuses whatever is not a directory of ours with our prefix. Links are removed, not followed.
    """
    if not path.name.startswith(PREFIX):
        return f"{path.name} was not deleted: its name does not begin with {PREFIX}"
    problem = None
    for wait in (*DELETE_WAITS_S, None):
        try:
            if not stat.S_ISDIR(path.lstat().st_mode):
                return f"{path.name} was not deleted: it is no directory"
        except FileNotFoundError:
            return None
        problem = remove_tree(path)
        if problem is None:
            return None
        if wait is not None:
            make_writable(path)
            time.sleep(wait)
    return problem


def remove_tree(path: Path) -> str | None:
    """Remove a directory that an agent filled. Returns what went wrong, ``None`` for nothing.

    The system's ``rm`` does it: an agent can nest directories deeper than Python's recursion and
    longer than any path may be.
    """
    done = subprocess.run(["rm", "-rf", "--", str(path)], capture_output=True, check=False)
    if not os.path.lexists(path):
        return None
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    # The names in it are the agent's; the reason at its end is the system's.
    return f"{path.name} could not be deleted: {said[-1].rpartition(': ')[2] if said else 'rm'}"


def make_writable(path: Path) -> None:
    """Let the owner into every directory below ``path``. Links are not followed."""
    subprocess.run(["chmod", "-R", "u+rwx", "--", str(path)], capture_output=True, check=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AbandonedRoot:
    """A root whose harness is dead. ``token`` is ``None`` where the owner file says nothing."""

    path: Path
    token: str | None


def abandoned_roots(parent: Path | None = None) -> Iterator[AbandonedRoot]:
    """Find the roots below ``parent`` that nobody owns any more.

    A root without an owner file, or with one that names no owner, was made this moment or tampered
    with; it counts after an hour.
    """
    base = (parent or Path(tempfile.gettempdir())).resolve()
    for path in sorted(base.glob(f"{PREFIX}*")):
        try:
            status = path.lstat()
        except OSError:
            continue
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            continue
        try:
            descriptor = os.open(path / OWNER_FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            if _is_old(status):
                yield AbandonedRoot(path=path, token=None)
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            owner = _owner(os.read(descriptor, MAX_OWNER_BYTES))
            token = _token_of(owner)
            if owner.get("kept") is not True and (token is not None or _is_old(status)):
                yield AbandonedRoot(path=path, token=token)
        except BlockingIOError:
            continue
        finally:
            os.close(descriptor)


def _is_old(status: os.stat_result) -> bool:
    """Whether whoever made a root has had the time to say so."""
    return time.time() - status.st_mtime > JUST_MADE_S


def _owner(data: bytes) -> dict[str, object]:
    try:
        owner = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return owner if isinstance(owner, dict) else {}


def _token_of(owner: dict[str, object]) -> str | None:
    """Read the token. An agent can write this file, so only the exact shape counts."""
    token = owner.get("token")
    return token if isinstance(token, str) and _TOKEN.fullmatch(token) else None
