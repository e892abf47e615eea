"""Where a campaign is published: which branch of which remote, under which prefix."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from runner_e2e.errors import UsageError
from runner_e2e.history import lane_directory
from runner_e2e.publishing.errors import RemoteNotFound
from runner_e2e.publishing.git import Git, Setting, git_environment, scrub, with_settings

REMOTE = "publishing"
"""What the remote is called in a repository of ours: no user configures one of that name."""

_PREFIX_PART = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$")
# Git's own rules for a branch name, as far as they matter for a single ref (git-check-ref-format).
_BAD_BRANCH = re.compile(
    r"\.\.|[\x00-\x20\x7f~^:?*\[\\]|//|@\{|\.lock(?:/|$)|(?:^|/)\.|[/.]$|^[-/]"
)

# What of a checkout's own configuration says how to reach a server. `actions/checkout` leaves the
# job's token in http.<server>.extraheader there.
_DATA_KEYS = re.compile(r"^(?:http\..*|url\..*|ssh\.variant)$", re.IGNORECASE)
_PROGRAM_KEYS = re.compile(
    r"^(?:credential\..*|core\.sshcommand|core\.askpass|core\.gitproxy)$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Raises :class:`UsageError` when a part is not usable."""

    branch: str
    remote: str = "origin"
    """A remote's name in ``checkout``, a URL, or the path of a repository."""
    prefix: str = ""
    """The directory on the branch; empty is its root."""
    base_url: str | None = None
    """The address at which the root of the branch is served, when it is."""
    default_branch: str | None = None
    """Whose campaigns the default lane holds; ``None`` asks the remote's HEAD."""
    checkout: Path = field(default_factory=Path)
    """Where ``remote`` is looked up. Only read, never changed."""
    token: str | None = field(default=None, repr=False)
    """A token for HTTPS, as in ``GITHUB_TOKEN``. It stays out of arguments, files and messages."""

    def __post_init__(self) -> None:
        prefix = self.prefix.strip("/")
        object.__setattr__(self, "prefix", prefix)
        parts = prefix.split("/") if prefix else []
        if any(not _PREFIX_PART.match(part) for part in parts):
            raise UsageError(
                f"--prefix {self.prefix!r} is not usable as a directory",
                hint="use letters, digits, '.', '_' and '-', with '/' between directories",
            )
        branch = self.branch.removeprefix("refs/heads/")
        object.__setattr__(self, "branch", branch)
        if not branch or branch == "HEAD" or _BAD_BRANCH.search(branch):
            raise UsageError(
                f"--branch {self.branch!r} is not a branch name",
                hint="name a branch that only runner-e2e writes to, such as e2e-history",
            )
        if self.base_url is not None:
            object.__setattr__(self, "base_url", _checked_base_url(self.base_url))

    @property
    def ref(self) -> str:
        """The branch as a full ref."""
        return f"refs/heads/{self.branch}"

    @property
    def root(self) -> str:
        """The prefix as the beginning of a path: empty, or ending with ``/``."""
        return f"{self.prefix}/" if self.prefix else ""

    def lane_root(self, lane: str | None) -> str:
        """Where a lane's documents begin on the branch."""
        return self.root + lane_directory(lane)

    def public_url(self, lane: str | None, path: str) -> str:
        """The address of ``path`` below a lane; without a base, relative to the lane."""
        if self.base_url is None:
            return path
        return f"{self.base_url}/{self.lane_root(lane)}{path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """A remote, resolved: its address without credentials, and what git needs to reach it."""

    url: str
    environ: Mapping[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)

    def git(self, directory: Path) -> Git:
        """Git in ``directory``, able to reach this remote."""
        return Git(directory=directory, environ=self.environ, secrets=self.secrets)


def resolve_remote(destination: Destination, environ: Mapping[str, str]) -> Remote:
    """Find the remote's address and how to reach it.

    Raises :class:`RemoteNotFound` when the checkout has no remote of that name.
    """
    checkout = destination.checkout.absolute()
    configured = _checkout_settings(checkout, environ)
    url = _address(destination.remote, checkout, configured)
    url, settings, secrets = _without_password(url)
    if destination.token:
        settings = _token_settings(url, destination.token)
        secrets += _forms(f"x-access-token:{destination.token}", destination.token)
    reaching = [pair for pair in configured if _may_import(pair[0], checkout)]
    secrets += tuple(
        value.rpartition(" ")[2] for key, value in reaching if key.lower().endswith("extraheader")
    )
    return Remote(
        url=url,
        environ=git_environment(environ, [*reaching, *settings, (f"remote.{REMOTE}.url", url)]),
        secrets=tuple(secret for secret in secrets if len(secret) >= 4),  # noqa: PLR2004 - shorter is no secret and would shred messages
    )


def _checkout_settings(checkout: Path, environ: Mapping[str, str]) -> list[Setting]:
    """What the checkout itself configures, worktree included; nothing where there is no checkout.

    A checkout that belongs to another user, as in a job container, is read all the same: only
    addresses and headers are taken from it then.
    """
    if not checkout.is_dir():
        return []
    base = git_environment(environ, [])
    count = int(base["GIT_CONFIG_COUNT"])
    pairs = [(base[f"GIT_CONFIG_KEY_{i}"], base[f"GIT_CONFIG_VALUE_{i}"]) for i in range(count)]
    child = with_settings(base, [*pairs, ("safe.directory", "*")])
    done = Git(directory=checkout, environ=child).run("config", "--null", "--show-scope", "--list")
    if done.returncode != 0:
        return []
    fields = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    settings = []
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key, newline, value = entry.partition("\n")
        if scope in {"local", "worktree"}:
            settings.append((key, value if newline else "true"))
    return settings


def _may_import(key: str, checkout: Path) -> bool:
    if _DATA_KEYS.match(key):
        return True
    # A foreign owner may say where to push, not which programs run as us.
    return bool(_PROGRAM_KEYS.match(key)) and checkout.stat().st_uid == os.geteuid()


def _address(remote: str, checkout: Path, configured: list[Setting]) -> str:
    """The URL of ``remote``. We fetch from where we push, or every lease would be stale."""
    for key in (f"remote.{remote}.pushurl", f"remote.{remote}.url"):
        urls = [value for name, value in configured if name == key]
        if urls:
            return _absolute(urls[0], checkout)
    if "://" in remote or re.match(r"^[^/]+:", remote):
        return remote
    path = checkout / remote
    if path.is_dir():
        return str(path)
    if "/" in remote or remote.startswith("."):
        raise RemoteNotFound(
            f"{remote} is not a directory, so there is no repository to publish to",
            hint="make one with `git init --bare`, or name a remote or a URL",
        )
    if _top(checkout) is None:
        raise RemoteNotFound(
            f"{checkout} is no git checkout, so it has no remote named {remote!r}",
            hint="run this in a checkout, or give --remote a URL or the path of a repository",
        )
    raise RemoteNotFound(
        f"the checkout {checkout} has no remote named {remote!r}",
        hint="give --remote a URL, or the name of one of the checkout's remotes",
    )


def _absolute(url: str, checkout: Path) -> str:
    """A remote's path is relative to the top of its checkout."""
    if "://" in url or re.match(r"^[^/]+:", url) or url.startswith("/"):
        return url
    return str((_top(checkout) or checkout) / url)


def _top(directory: Path) -> Path | None:
    """Where the checkout begins that ``directory`` is in; ``None`` where it is in none."""
    return next((p for p in (directory, *directory.parents) if (p / ".git").exists()), None)


def _without_password(url: str) -> tuple[str, list[Setting], tuple[str, ...]]:
    """Move a password from an HTTP address into a header: a URL shows up in arguments and files."""
    parts = urlsplit(url) if "://" in url else None
    if parts is None or parts.scheme not in {"http", "https"} or "@" not in parts.netloc:
        return url, [], ()
    user, _, host = parts.netloc.rpartition("@")
    clean = urlunsplit(parts._replace(netloc=host))
    pair = user if ":" in user else f"{user}:"
    return clean, [_header(clean, pair)], _forms(pair, *filter(None, user.split(":", 1)))


def _token_settings(url: str, token: str) -> list[Setting]:
    if not url.startswith(("https://", "http://")):
        return []
    # An empty value drops the headers set before, or the server would see two Authorizations.
    return [(f"http.{url}.extraHeader", ""), _header(url, f"x-access-token:{token}")]


def _header(url: str, pair: str) -> Setting:
    encoded = base64.b64encode(pair.encode()).decode()
    return (f"http.{url}.extraHeader", f"Authorization: Basic {encoded}")


def _forms(pair: str, *values: str) -> tuple[str, ...]:
    """A secret as it could show up in git's words."""
    return (base64.b64encode(pair.encode()).decode(), pair, *values)


def _checked_base_url(url: str) -> str:
    parts = urlsplit(url)
    if (
        parts.scheme not in {"http", "https"}
        or not parts.hostname
        or parts.username is not None
        or parts.query
        or parts.fragment
        or re.search(r"[\s\x00-\x1f\"'<>\\]", url)
    ):
        raise UsageError(
            f"--base-url {scrub(url, ())!r} is not a plain web address",
            hint="give the address of the branch's root, such as https://acme.example/dashboard",
        )
    return url.rstrip("/")
