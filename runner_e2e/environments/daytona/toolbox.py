"""What can be done inside a sandbox: run commands, move files."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from runner_e2e.environments.daytona.client import NOT_FOUND, DaytonaClient
from runner_e2e.environments.daytona.documents import (
    CommandState,
    Executed,
    Sandbox,
    StartedCommand,
)
from runner_e2e.environments.daytona.errors import bad_answer, broken, refused

_CHUNK = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """The inside of one sandbox."""

    client: DaytonaClient
    url: str

    @classmethod
    def of(cls, client: DaytonaClient, sandbox: Sandbox) -> Toolbox:
        """The toolbox of a sandbox, whose address came from Daytona.

        Raises ``bad_answer`` for an address that the key must not be sent to in clear.
        """
        base = urlsplit(sandbox.toolbox_proxy_url)
        ours = urlsplit(client.account.api_url)
        if base.scheme not in {"https", ours.scheme} or not base.hostname or base.username:
            raise bad_answer("create a sandbox", "the address of its toolbox")
        return cls(client=client, url=f"{sandbox.toolbox_proxy_url.rstrip('/')}/{sandbox.id}")

    def execute(self, script: str, *, seconds: int = 30) -> Executed:
        """Run a shell script to its end, and once more where no answer came."""
        doing = "run a command"
        response = self.client.repeated(
            "POST",
            f"{self.url}/process/execute",
            doing,
            json={"command": f"sh -c {shlex.quote(script)}", "timeout": seconds},
            timeout=seconds + self.client.pace.request,
        )
        return self.client.read(Executed, response, doing)

    def start(self, session: str, script: str) -> str:
        """Start a shell script that runs on in ``session``; returns the command's id."""
        doing = "start the agent"
        url = f"{self.url}/process/session"

        def send() -> str:
            client = self.client
            self._post(url, {"sessionId": session}, doing)
            body = {"command": f"sh -c {shlex.quote(script)}", "runAsync": True}
            response = self._post(f"{url}/{session}/exec", body, doing)
            return client.read(StartedCommand, response, doing).cmd_id

        return self.client.interruptible(send)

    def _post(self, url: str, body: dict[str, object], doing: str) -> httpx.Response:
        """Send once: what starts something must not start it twice."""
        try:
            response = self.client.http.post(url, json=body)
        except httpx.HTTPError as error:
            raise broken(error, doing) from error
        if not response.is_success:
            raise refused(response, doing)
        return response

    def exit_code(self, session: str, command_id: str) -> int | None:
        """How a started command ended; ``None`` while it runs."""
        doing = "look at the agent"
        url = f"{self.url}/process/session/{session}/command/{command_id}"
        response = self.client.repeated("GET", url, doing)
        return self.client.read(CommandState, response, doing).exit_code

    def upload(self, path: str, data: bytes) -> None:
        """Write a file, its directories with it."""
        self.client.repeated(
            "POST",
            f"{self.url}/files/upload-v2",
            "upload a file",
            params={"path": path},
            content=data,
            headers={"Content-Type": "application/octet-stream"},
            timeout=4 * self.client.pace.request,
        )

    def download(self, path: str) -> Iterator[bytes] | None:
        """A file piece by piece, as far as it is wanted; ``None`` where there is none."""
        doing = "download a file"
        request = self.client.http.build_request(
            "GET", f"{self.url}/files/download", params={"path": path}
        )
        try:
            response = self.client.interruptible(
                lambda: self.client.http.send(request, stream=True), late=httpx.Response.close
            )
            if not response.is_success:
                response.read()
        except httpx.HTTPError as error:
            raise broken(error, doing) from error
        if response.status_code == NOT_FOUND:
            return None
        if not response.is_success:
            raise refused(response, doing)
        return _pieces(response, doing)

    def read(self, path: str, limit: int) -> bytes | None:
        """The first ``limit`` bytes of a file; ``None`` where there is none."""
        pieces = self.download(path)
        if pieces is None:
            return None
        data = bytearray()
        for piece in pieces:
            data += piece[: limit - len(data)]
            if len(data) >= limit:
                break
        return bytes(data)


def _pieces(response: httpx.Response, doing: str) -> Iterator[bytes]:
    try:
        yield from response.iter_bytes(_CHUNK)
    except httpx.HTTPError as error:
        raise broken(error, doing) from error
    finally:
        response.close()
