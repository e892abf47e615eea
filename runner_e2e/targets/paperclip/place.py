"""A server's place in an execution: prepared before the session, looked at after it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runner_e2e.catalog import ADAPTER_PACKAGE
from runner_e2e.evidence import Finding, Ledger, Scanner
from runner_e2e.failures import SecretLeak
from runner_e2e.flows import CancelToken
from runner_e2e.targets.paperclip.account import Account
from runner_e2e.targets.paperclip.home import Home
from runner_e2e.targets.paperclip.package import find_installation
from runner_e2e.targets.paperclip.records import Records
from runner_e2e.targets.paperclip.server import EndProcesses, Server
from runner_e2e.targets.paperclip.session import PaperclipSession

_CHUNK = 1024 * 1024
_CODEX_LOGIN = re.compile(
    r"paperclip-home/instances/default/"
    r"(companies/[0-9a-f-]{36}/(agents/[0-9a-f-]{36}/)?)?codex-home/auth\.json"
)


@dataclass(slots=True, kw_only=True)
class PaperclipPlace:
    """A root of ours with everything that a server needs.

    ``environ`` is the harness's environment: only ``PATH`` of it reaches the server. ``marker``
    marks every process that the server starts, and ``end_processes`` ends them all.
    """

    version: str
    root: Path
    environ: Mapping[str, str] = field(repr=False)
    marker: Mapping[str, str]
    end_processes: EndProcesses
    cancel: CancelToken
    _home: Home | None = None

    @property
    def workspace(self) -> Path:
        """Where the agent works. It is there once the session is."""
        return self.root / "workspace"

    def session(
        self,
        *,
        agent: Mapping[str, Any],
        secrets: Mapping[str, str],
        name: str,
        provider: str,
        ledger: Ledger,
    ) -> PaperclipSession:
        """Prepare the home and make the session, which boots the server when it starts.

        Raises permanent infrastructure where Node, the package or the access to them is missing.
        """
        installation = find_installation(self.version, self.environ)
        account = Account.current()
        self._home = Home.create(self.root, account)
        account.require_access(
            [installation.node, installation.entry, self._home.workspace, *_named_paths(agent)]
        )
        server = Server(
            installation=installation,
            home=self._home,
            account=account,
            path=self.environ.get("PATH", os.defpath),
            marker=self.marker,
            end_processes=self.end_processes,
            cancel=self.cancel,
        )
        return PaperclipSession(
            server=server,
            agent=agent,
            secrets=secrets,
            name=name,
            provider=provider,
            cancel_token=self.cancel,
            records=Records(ledger=ledger),
        )

    def verify(self, secrets: Mapping[str, str]) -> None:
        """Look at what a stopped server left.

        Raises permanent infrastructure ``not_isolated`` and, where the value of a secret lies in
        any file in clear, a secret leak.
        """
        home = self._home
        if home is None or not (home.instance / "db").exists():  # it never got as far as its data
            return
        found = persisted_secrets(self.root, secrets)
        if found:
            places = "; ".join(f"{path}: {finding.reason}" for path, finding in found[:10])
            raise SecretLeak("secret_persisted", f"a secret lies on the server's disk: {places}")
        home.check()


def _named_paths(agent: Mapping[str, Any]) -> Iterator[Path]:
    """The files beside the catalog that a payload names: those, the server's user must read."""
    adapter = agent.get("adapterConfig")
    arguments = adapter.get("args") if isinstance(adapter, dict) else None
    names = [*(arguments if isinstance(arguments, list) else ()), agent.get(ADAPTER_PACKAGE)]
    for name in names:
        if isinstance(name, str) and name.startswith("/") and Path(name).exists():
            yield Path(name)


def persisted_secrets(root: Path, secrets: Mapping[str, str]) -> list[tuple[str, Finding]]:
    """Where known values lie below ``root``, in any form. Keys of others are not searched."""
    scanner = Scanner(secrets, shapes=())
    if not scanner.forms:
        return []
    return [
        (path.relative_to(root).as_posix(), finding)
        for path in _plain_files(root)
        if not _is_codex_login(path, root)
        for finding in _scan(path, scanner)
    ]


def _is_codex_login(path: Path, root: Path) -> bool:
    """Whether the server wrote the file for Codex, which reads its key from nowhere else."""
    relative = path.relative_to(root).as_posix()
    return (
        _CODEX_LOGIN.fullmatch(relative) is not None
        and stat.S_IMODE(path.stat().st_mode) == stat.S_IRUSR | stat.S_IWUSR
    )


def _plain_files(root: Path) -> Iterator[Path]:
    for directory, _, names in os.walk(root):
        for name in names:
            path = Path(directory, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _scan(path: Path, scanner: Scanner) -> tuple[Finding, ...]:
    findings: dict[Finding, None] = {}
    tail = b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            window = tail + chunk
            findings.update(dict.fromkeys(scanner.exact_findings(window)))
            tail = window[-scanner.overlap :]
    return tuple(findings)
