"""Which GitHub we talk to and which token it gets, from the environment and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Self

import httpx

from runner_e2e.errors import UsageError

DEFAULT_SERVER = "https://github.com"
DEFAULT_API = "https://api.github.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class GithubServer:
    """One GitHub: github.com, or an Enterprise server. ``api_url`` has no ``/`` at its end."""

    api_url: str
    token: str | None = field(default=None, repr=False)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        """Read ``GITHUB_API_URL``, ``GITHUB_SERVER_URL``, ``GITHUB_TOKEN`` and ``GH_TOKEN``.

        Raises :class:`UsageError` for an address that is no plain one, or that would carry a token
        over the network in the clear.
        """

        def value(name: str) -> str | None:
            return environ.get(name, "").strip() or None

        name = "GITHUB_API_URL" if value("GITHUB_API_URL") else "GITHUB_SERVER_URL"
        address = _address(value(name) or DEFAULT_SERVER, name)
        url = _text(address) if name == "GITHUB_API_URL" else _api_of(address)
        token = value("GITHUB_TOKEN") or value("GH_TOKEN")
        if token is not None:
            if not (token.isascii() and token.isprintable() and " " not in token):
                raise UsageError(
                    "the token holds characters that no token has",
                    hint="look at how GITHUB_TOKEN or GH_TOKEN is set; a line break may be in it",
                )
            if address.scheme == "http" and not _is_loopback(address.host):
                raise UsageError(
                    f"{url} is not https, so anybody on the way could read the token",
                    hint=f"mend {name}",
                )
        return cls(api_url=url, token=token)

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port: where the token may go."""
        return origin_of(self.api_url)


def origin_of(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port of an http or https URL. Raises ``ValueError`` for others."""
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL:
        raise ValueError("it is no URL") from None
    plain = parts.scheme in ("http", "https") and parts.host and not parts.userinfo
    if not plain or "%" in parts.host:
        raise ValueError("it is no plain http or https URL")
    return parts.scheme, parts.host, parts.port or (443 if parts.scheme == "https" else 80)


def _address(text: str, name: str) -> httpx.URL:
    hint = "it looks like https://github.example or https://github.example/api/v3"
    try:
        origin_of(text)
    except ValueError as error:
        # Not quoted: somebody may have put a password into it.
        raise UsageError(f"{name}: {error}", hint=hint) from None
    parts = httpx.URL(text)
    if parts.query or parts.fragment:
        raise UsageError(f"{name} has more than a host and a path", hint=hint)
    return parts


def _api_of(server: httpx.URL) -> str:
    """Where a server keeps its API: three products, three answers."""
    if server.host == "github.com":
        return DEFAULT_API
    if server.host.endswith(".ghe.com"):
        return _text(server.copy_with(host=f"api.{server.host}"))
    return f"{_text(server)}/api/v3"


def _text(url: httpx.URL) -> str:
    return str(url).rstrip("/")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
