"""A server by itself: taken ports, a restart, a kill, and its database."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import httpx

from runner_e2e.environments import MARKER, TemporaryRoot, end_marked
from runner_e2e.flows import CancelToken, Deadline
from runner_e2e.targets.paperclip.account import Account
from runner_e2e.targets.paperclip.home import Home
from runner_e2e.targets.paperclip.package import find_installation
from runner_e2e.targets.paperclip.server import Server
from tests.live.paperclip.live import example, processes_in

BOOT_MS = 120_000


def test_taken_ports_a_restart_and_a_kill_leave_nothing_behind(directory: Path) -> None:
    root = TemporaryRoot.create("live", directory)
    account = Account.current()
    home = Home.create(root.path, account)
    target = example().file.target
    assert target.kind == "paperclip"
    server = Server(
        installation=find_installation(target.version, os.environ),
        home=home,
        account=account,
        path=os.environ["PATH"],
        marker={MARKER: root.token},
        end_processes=lambda grace: end_marked(root.token, root.path, grace=grace),
        cancel=CancelToken(),
    )
    try:
        with socket.create_server(("127.0.0.1", home.http_port)):
            server.start(Deadline.after(BOOT_MS))
            assert server.port != home.http_port
            health = httpx.get(f"{server.base_url}/api/health", trust_env=False).json()
            assert health["version"] == target.version
        server.restart(Deadline.after(BOOT_MS))
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        database = processes_in(home.data)
        assert database  # it outlives its server
    finally:
        problems = server.close()
        server.forget()
    home.check()
    assert problems == ()
    assert processes_in(root.path) == []
    assert root.delete() is None
