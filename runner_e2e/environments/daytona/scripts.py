"""The shell scripts that run inside a sandbox, in any image that has ``sh`` and its few friends."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

MARKER = "RUNNER_E2E_EXECUTION"
FOREIGN_EXIT, ABSENT_EXIT = 4, 3
"""How :func:`locate` ends for a path that leads out, and for one where nothing is."""


def turn_script(
    *, directory: str, workspace: str, environment: Mapping[str, str], command: Sequence[str]
) -> bytes:
    """Become the agent. The file holds secrets, so it removes itself first."""
    here = shlex.quote(directory)
    lines = [
        f"rm -f {here}/run.sh",
        "umask 077",
        *(f"export {name}={shlex.quote(value)}" for name, value in environment.items()),
        f": > {here}/events.jsonl",
        f"cd {shlex.quote(workspace)} || exit 125",
        f"exec {shlex.join(command)} <{here}/prompt.txt >{here}/stdout.log 2>{here}/stderr.log",
    ]
    return ("\n".join(lines) + "\n").encode()


def prepare(root: str) -> str:
    """Make the directories of an attempt."""
    names = " ".join(
        shlex.quote(f"{root}/{name}") for name in ("workspace", "home", "tmp", "state", "turns")
    )
    return f"umask 077; mkdir -p {names}"


def empty(directory: str) -> str:
    """Empty a directory."""
    where = shlex.quote(directory)
    return f"rm -rf {where} && mkdir -m 700 {where}"


def signal_marked(token: str, signal: str) -> str:
    """Signal every process that carries the token, and say how many there were."""
    return (
        f"n=0; for d in /proc/[0-9]*; do "
        f"if tr '\\000' '\\n' <$d/environ 2>/dev/null | grep -qx {MARKER}={token}; then "
        f"kill -{signal} ${{d#/proc/}} 2>/dev/null && n=$((n+1)); fi; done 2>/dev/null; echo $n"
    )


def sizes(paths: Sequence[str]) -> str:
    """Count the bytes of files together."""
    return f"cat {shlex.join(paths)} 2>/dev/null | wc -c"


def locate(workspace: str, path: str) -> str:
    """Print where a workspace path really is and how long the file there is."""
    return (
        f'w=$(readlink -f -- {shlex.quote(workspace)}) && cd -- "$w" || exit {ABSENT_EXIT}; '
        f"p=$(readlink -f -- {shlex.quote(path)}) || exit {ABSENT_EXIT}; "
        f'case $p in "$w"/*) ;; *) exit {FOREIGN_EXIT};; esac; '
        f'[ -f "$p" ] || exit {ABSENT_EXIT}; printf \'%s\\n\' "$p"; wc -c <"$p"'
    )


def pack(root: str, archive: str) -> str:
    """Put what survives a sandbox into an archive."""
    return f"tar -C {shlex.quote(root)} -czf {shlex.quote(archive)} workspace home state"


def unpack(root: str, archive: str) -> str:
    """Take it out again in the next one."""
    where = shlex.quote(archive)
    return f"tar -C {shlex.quote(root)} -xzf {where} && rm -f {where}"
