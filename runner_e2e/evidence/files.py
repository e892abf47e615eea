"""Writing files so that nobody ever reads half of one."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path``, making its directory where needed.

    The bytes go to a temporary name beside it and are renamed, so a reader, or a job that dies,
    sees the old file or the new one. The file gets the mode that ``open`` would give it. Raises
    :class:`OSError` that names ``path``.
    """
    if not path.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    temporary = path.with_name(f".{path.name[:64]}.{secrets.token_hex(6)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            file.write(data)
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        # Named after what was to be written: of our temporary name nobody has heard.
        raise OSError(error.errno, error.strerror, str(path)) from error
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
