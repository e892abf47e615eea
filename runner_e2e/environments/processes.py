"""Ending processes: a group, and whatever ran away from it.

Every process of an execution carries the root's token in its environment and children inherit it,
also those that fork twice and call ``setsid``. On Linux ``/proc`` finds them; elsewhere only the
process group is ours to end.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

MARKER = "RUNNER_E2E_EXECUTION"
KILL_WAIT_S = 3.0
_PROC = Path("/proc")
QUIET_SCANS = 2
WARY_SCANS = 25
_POLL_S = 0.02


def marked_processes(token: str, root: Path | None = None) -> tuple[int, ...]:
    """Find the live processes of an execution, by its token.

    With ``root``, also those that cleared their environment but stand in the root without a
    terminal. A person's shell has a terminal, so it is left alone.
    """
    if not _PROC.is_dir():
        return ()
    needle = f"{MARKER}={token}".encode()
    return tuple(
        pid
        for pid in _all_processes()
        if pid != os.getpid() and (_carries(pid, needle) or (root and _stands_in(pid, root)))
    )


def _all_processes() -> list[int]:
    """Every process id, the newest first: what is on the run is mostly new, and soon gone."""
    return sorted(
        (int(entry.name) for entry in os.scandir(_PROC) if entry.name.isdecimal()), reverse=True
    )


def _carries(pid: int, needle: bytes) -> bool:
    try:
        environment = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:  # gone, or another user's, whom we could not end either
        return False
    return needle in environment.split(b"\0")


def _stands_in(pid: int, root: Path) -> bool:
    try:
        directory = (_PROC / str(pid) / "cwd").readlink()
        fields = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return False
    state, terminal = fields[0], fields[4]
    return directory.is_relative_to(root) and state != b"Z" and terminal == b"0"


def signal_group(group: int, number: int) -> None:
    """Signal a process group whose leader has not been reaped, so that the id is still its own."""
    # macOS answers EPERM for a group of zombies.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def signal_marked(token: str, root: Path | None, number: int) -> tuple[int, ...]:
    """Signal every process of an execution. Returns those that were there."""
    found = marked_processes(token, root)
    for pid in found:
        _signal_if_still_ours(pid, token, root, number)
    return found


def _signal_if_still_ours(pid: int, token: str, root: Path | None, number: int) -> None:
    """Signal through a descriptor: between the scan and the kill an id can change its owner."""
    if sys.platform != "linux":
        return
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return
    try:
        if _carries(pid, f"{MARKER}={token}".encode()) or (root and _stands_in(pid, root)):
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(descriptor, number)
    finally:
        os.close(descriptor)


def end_marked(token: str, root: Path | None = None, *, grace: float = 0.0) -> tuple[int, ...]:
    """End every process of an execution: TERM, ``grace`` seconds, KILL. Returns the survivors.

    A process that forks and exits all the time slips through many a scan. So one that finds nothing
    is believed only when it is repeated, and many times over once something was found.
    """
    if grace:
        signal_marked(token, root, signal.SIGTERM)
    kill_at = time.monotonic() + grace
    give_up = kill_at + KILL_WAIT_S
    empty, wanted = 0, QUIET_SCANS
    last: tuple[int, ...] = ()
    while True:
        if time.monotonic() >= kill_at:
            found = signal_marked(token, root, signal.SIGKILL)
        else:
            found = marked_processes(token, root)
        if found:
            empty, wanted, last = 0, WARY_SCANS, found
        else:
            empty += 1
        if empty == wanted:
            return ()
        if time.monotonic() >= give_up:
            return last
        if found and time.monotonic() < kill_at:
            time.sleep(_POLL_S)
