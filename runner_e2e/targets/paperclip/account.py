"""As whom a Paperclip server runs: never as root, which its database refuses."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner_e2e.failures import PermanentInfrastructure

UNPRIVILEGED = "nobody"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Who owns the server's directories and processes. ``ids`` is ``None`` for ourselves."""

    ids: tuple[int, int] | None
    name: str

    @classmethod
    def current(cls) -> Account:
        """Ourselves, or as root the unprivileged user that every system has."""
        if os.geteuid() != 0:
            return cls(ids=None, name="this user")
        user = pwd.getpwnam(UNPRIVILEGED)
        return cls(ids=(user.pw_uid, user.pw_gid), name=UNPRIVILEGED)

    @property
    def popen(self) -> dict[str, Any]:
        """The arguments with which ``subprocess`` starts a program as this account."""
        if self.ids is None:
            return {}
        return {"user": self.ids[0], "group": self.ids[1], "extra_groups": ()}

    def own(self, *paths: Path) -> None:
        """Give the paths to the account."""
        for path in paths:
            if self.ids is not None:
                os.chown(path, *self.ids)

    def require_access(self, paths: Sequence[Path]) -> None:
        """Make sure that the account can read the paths, with every directory above them."""
        script = 'for path; do test -r "$path" || { printf %s "$path"; exit 1; }; done'
        done = subprocess.run(
            ["sh", "-c", script, "sh", *map(str, paths)],
            capture_output=True,
            check=False,
            **self.popen,
        )
        if done.returncode != 0:
            raise PermanentInfrastructure(
                "out_of_reach",
                f"{self.name}, as whom the server runs, cannot read {done.stdout.decode()}",
                hint="a server never runs as root: use directories that everybody may enter, for "
                "temporary files by setting TMPDIR",
            )
