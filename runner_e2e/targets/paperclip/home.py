"""The directories and the configuration of one server, all of them inside one root."""

from __future__ import annotations

import json
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runner_e2e.failures import PermanentInfrastructure
from runner_e2e.targets.paperclip.account import Account

JWT_SECRET = "PAPERCLIP_AGENT_JWT_SECRET"  # noqa: S105 - the name of one
SIGNING_SECRET = "PAPERCLIP_TOOL_ACTION_SIGNING_SECRET"  # noqa: S105 - the name of one


def free_ports(count: int) -> tuple[int, ...]:
    """Ask the system for free loopback ports. They stay free unless somebody takes them now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return tuple(one.getsockname()[1] for one in sockets)
    finally:
        for one in sockets:
            one.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Where a server lives. ``secrets`` are its own, made up for this attempt alone."""

    root: Path
    http_port: int
    database_port: int
    secrets: Mapping[str, str] = field(repr=False)

    @classmethod
    def create(cls, root: Path, account: Account) -> Home:
        """Make the directories and write the configuration, all of it the account's."""
        http_port, database_port = free_ports(2)
        home = cls(
            root=root,
            http_port=http_port,
            database_port=database_port,
            secrets={name: secrets.token_hex(32) for name in (JWT_SECRET, SIGNING_SECRET)},
        )
        if account.ids is not None:
            root.chmod(0o711)  # the account may pass through, no more
        inner = (home.data, home.data / "instances", home.instance)
        for directory in (*inner, home.workspace, home.user_home, home.temporary, home.tools):
            directory.mkdir(mode=0o700)
            account.own(directory)
        for path, text in (
            (home.config_file, json.dumps(home.config(), indent=2)),
            (home.instance / ".env", "".join(f"{k}={v}\n" for k, v in home.secrets.items())),
        ):
            path.touch(mode=0o600)
            path.write_text(text)
            account.own(path)
        return home

    @property
    def data(self) -> Path:
        """What the server calls its data directory."""
        return self.root / "paperclip-home"

    @property
    def instance(self) -> Path:
        """The one instance in it."""
        return self.data / "instances" / "default"

    @property
    def config_file(self) -> Path:
        """What the server is told, and what it is looked at afterwards."""
        return self.instance / "config.json"

    @property
    def workspace(self) -> Path:
        """Where the agent works."""
        return self.root / "workspace"

    @property
    def user_home(self) -> Path:
        """``HOME`` of the server and its agents."""
        return self.root / "home"

    @property
    def temporary(self) -> Path:
        """``TMPDIR`` of the server and its agents."""
        return self.root / "tmp"

    @property
    def tools(self) -> Path:
        """The governed tool and the record of its calls."""
        return self.root / "tools"

    def config(self) -> dict[str, Any]:
        """``config.json``: embedded database, local storage and secrets, loopback only."""
        instance = self.instance
        return {
            "$meta": {"version": 1, "updatedAt": "2026-01-01T00:00:00.000Z", "source": "onboard"},
            "database": {
                "mode": "embedded-postgres",
                "embeddedPostgresDataDir": str(instance / "db"),
                "embeddedPostgresPort": self.database_port,
                "backup": {
                    "enabled": False,
                    "intervalMinutes": 60,
                    "retentionDays": 7,
                    "dir": str(instance / "data" / "backups"),
                },
            },
            "logging": {"mode": "file", "logDir": str(instance / "logs")},
            "server": {
                "deploymentMode": "local_trusted",
                "exposure": "private",
                "bind": "loopback",
                "host": "127.0.0.1",
                "port": self.http_port,
                "allowedHostnames": [],
                "serveUi": False,
            },
            "telemetry": {"enabled": False},
            "updates": {"checkEnabled": False},
            "auth": {"baseUrlMode": "auto", "disableSignUp": False},
            "storage": {
                "provider": "local_disk",
                "localDisk": {"baseDir": str(instance / "data" / "storage")},
                "s3": {
                    "bucket": "paperclip",
                    "region": "us-east-1",
                    "prefix": "",
                    "forcePathStyle": False,
                },
            },
            "secrets": {
                "provider": "local_encrypted",
                "strictMode": False,
                "localEncrypted": {"keyFilePath": str(instance / "secrets" / "master.key")},
            },
        }

    def environment(self, path: str, marker: Mapping[str, str]) -> dict[str, str]:
        """The server's whole environment. Nothing of the harness's own comes in but ``PATH``."""
        return {
            "LANG": "C.UTF-8",
            "PATH": path,
            "HOME": str(self.user_home),
            "TMPDIR": str(self.temporary),
            "XDG_CACHE_HOME": str(self.user_home / ".cache"),
            "PAPERCLIP_HOME": str(self.data),
            "HOST": "127.0.0.1",
            "PORT": str(self.http_port),
            "SERVE_UI": "false",
            "CI": "1",
            "DO_NOT_TRACK": "1",
            "PAPERCLIP_TELEMETRY_DISABLED": "1",
            "PAPERCLIP_DB_BACKUP_ENABLED": "false",
            "PAPERCLIP_ENABLE_COMPANY_DELETION": "true",
            **marker,
        }

    def check(self) -> None:
        """Make sure that the server still kept to itself.

        Raises permanent infrastructure ``not_isolated``.
        """
        found = self._configuration()
        ours = self.config()
        for part, keys in _ISOLATING.items():
            section = found.get(part)
            for key in keys:
                if not isinstance(section, dict) or section.get(key) != ours[part][key]:
                    raise PermanentInfrastructure(
                        "not_isolated", f"the server's configuration of {part}.{key} was changed"
                    )
        if "connectionString" in found["database"]:
            raise PermanentInfrastructure("not_isolated", "the server used another database")
        if not (self.instance / "db").is_dir():
            raise PermanentInfrastructure("not_isolated", "the server left no database of its own")

    def _configuration(self) -> dict[str, Any]:
        try:
            found = json.loads(self.config_file.read_bytes())
        except (OSError, ValueError):
            found = None
        if not isinstance(found, dict):
            raise PermanentInfrastructure("not_isolated", "the server's configuration is gone")
        return found


_ISOLATING: Mapping[str, tuple[str, ...]] = {
    "database": ("mode", "embeddedPostgresDataDir"),
    "logging": ("logDir",),
    "storage": ("provider", "localDisk"),
    "secrets": ("provider", "localEncrypted"),
}
