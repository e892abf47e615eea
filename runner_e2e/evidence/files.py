"""Writing files so that nobody ever reads half of one."""

from __future__ import annotations

import secrets
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path``, making its directory where needed.

    The bytes go to a temporary name beside it and are renamed, so a reader, or a job that dies,
    sees the old file or the new one. The file gets the mode that ``open`` would give it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name[:64]}.{secrets.token_hex(6)}")
    try:
        with temporary.open("xb") as file:
            file.write(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
