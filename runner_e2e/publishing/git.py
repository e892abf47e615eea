"""Running git so that the user's settings decide how a server is reached, and nothing else.

Two kinds of setting meet here. How to reach a server (credentials, SSH, proxies, certificates,
``insteadOf``) is the user's business, so the global and the system configuration stay in force, and
what a checkout has of that kind is handed on. What git writes (hooks, signatures, line endings,
templates, follow-up pushes) is ours, so those settings are overridden from the command scope, which
beats every file. That scope travels in the environment (``GIT_CONFIG_COUNT``), not in arguments:
arguments are visible to every user of the machine, and a token may be among the values.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner_e2e.publishing.errors import GitFailed, NetworkFailed
from runner_e2e.publishing.outcomes import classify, error_of

Setting = tuple[str, str]

TIMEOUT_SECONDS = 600
"""For one git command. A push of a large bundle over a slow line takes minutes, not more."""

AUTHOR_NAME = "runner-e2e"
AUTHOR_EMAIL = "runner-e2e@localhost"

# What of the caller's GIT_* environment says how to reach a server. All else is left out: inside a
# hook GIT_DIR or GIT_INDEX_FILE would send us into the user's repository, and GIT_TRACE_* prints
# into the words that we have to understand.
_REACHING = re.compile(
    r"^GIT_(?:ASKPASS|SSH|SSH_COMMAND|SSH_VARIANT|SSL_.*|PROXY_.*|HTTP_.*|TERMINAL_PROMPT"
    r"|ALLOW_PROTOCOL|EXEC_PATH|CONFIG_GLOBAL|CONFIG_SYSTEM|CONFIG_NOSYSTEM"
    r"|(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL))$"
)

_OURS: tuple[Setting, ...] = (
    ("core.hooksPath", os.devnull),
    ("core.autocrlf", "false"),
    ("core.attributesFile", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.fsync", "none"),  # the repository lives for one publication
    ("core.logAllRefUpdates", "false"),
    ("core.sparseCheckout", "false"),
    ("core.splitIndex", "false"),
    ("index.sparse", "false"),
    ("feature.manyFiles", "false"),
    ("commit.gpgSign", "false"),
    ("push.gpgSign", "false"),
    ("push.followTags", "false"),
    ("push.recurseSubmodules", "no"),
    ("push.pushOption", ""),
    ("fetch.recurseSubmodules", "no"),
    ("fetch.prune", "false"),
    ("fetch.writeCommitGraph", "false"),
    ("fetch.fsckObjects", "false"),
    ("transfer.fsckObjects", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("i18n.commitEncoding", "UTF-8"),
    ("color.ui", "never"),
    ("advice.pushUpdateRejected", "false"),
    # Version 2 lets blobs be asked for by object id, and does not list every ref of the server.
    ("protocol.version", "2"),
    # A server that goes silent must not hold a paid runner.
    ("http.lowSpeedLimit", "1000"),
    ("http.lowSpeedTime", "60"),
)

_USER_INFO = re.compile(r"(?<=://)[^/@\s:]*:[^/@\s]*@")


def git_environment(environ: Mapping[str, str], settings: Iterable[Setting]) -> dict[str, str]:
    """The environment of a git child: reach servers as the user does, write as we do.

    ``settings`` come after the user's own command-scope settings and before ours.
    """
    child = {
        name: value
        for name, value in environ.items()
        if not name.startswith("GIT_") or _REACHING.match(name)
    }
    for name in ("LANGUAGE", "LC_MESSAGES"):
        child.pop(name, None)
    # The classifier reads git's words, so they must be English.
    child |= {"LC_ALL": "C", "LANG": "C", "GIT_OPTIONAL_LOCKS": "0"}
    child.setdefault("GIT_TERMINAL_PROMPT", "0")
    for role in ("AUTHOR", "COMMITTER"):
        child.setdefault(f"GIT_{role}_NAME", AUTHOR_NAME)
        child.setdefault(f"GIT_{role}_EMAIL", AUTHOR_EMAIL)
    return with_settings(child, [*_callers_settings(environ), *settings, *_OURS])


def with_settings(environ: Mapping[str, str], settings: Sequence[Setting]) -> dict[str, str]:
    """``environ`` with ``settings`` as git's command scope. A later one wins."""
    child = dict(environ)
    child["GIT_CONFIG_COUNT"] = str(len(settings))
    for index, (key, value) in enumerate(settings):
        child[f"GIT_CONFIG_KEY_{index}"] = key
        child[f"GIT_CONFIG_VALUE_{index}"] = value
    return child


def _callers_settings(environ: Mapping[str, str]) -> list[Setting]:
    count = environ.get("GIT_CONFIG_COUNT", "")
    if not count.isdecimal():
        return []
    pairs = (
        (environ.get(f"GIT_CONFIG_KEY_{index}"), environ.get(f"GIT_CONFIG_VALUE_{index}"))
        for index in range(min(int(count), 1000))
    )
    return [(key, value) for key, value in pairs if key is not None and value is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """How a git command ended. ``words`` is what it said to people, without any secret."""

    returncode: int
    stdout: bytes
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Git:
    """Git in one directory with one environment."""

    directory: Path
    environ: Mapping[str, str]
    secrets: tuple[str, ...] = ()
    """Values that must not appear in a message."""

    def run(self, *arguments: str, stdin: bytes = b"") -> Completed:
        """Run ``git ARGUMENTS`` to its end, whatever that is.

        Raises :class:`GitFailed` when there is no git, :class:`NetworkFailed` when it hangs.
        """
        try:
            done = subprocess.run(
                ["git", *arguments],
                cwd=self.directory,
                env=dict(self.environ),
                input=stdin,
                capture_output=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except FileNotFoundError:
            raise GitFailed(
                "git is not installed, or not on PATH", hint="install git 2.36 or newer"
            ) from None
        except subprocess.TimeoutExpired:
            raise NetworkFailed(
                f"`git {arguments[0]}` took more than {TIMEOUT_SECONDS} seconds",
                hint="publish again when the server answers",
                retryable=True,
            ) from None
        words = done.stderr.decode("utf-8", "replace")
        return Completed(
            returncode=done.returncode, stdout=done.stdout, words=scrub(words, self.secrets)
        )

    def output(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """What a command that must succeed printed. Raises :class:`GitFailed` and its kin."""
        done = self.run(*arguments, stdin=stdin)
        if done.returncode != 0:
            raise error_of(classify(done.words), f"git {arguments[0]}", done.words)
        return done.stdout


def scrub(text: str, secrets: Iterable[str]) -> str:
    """``text`` without ``secrets`` and without passwords in URLs."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return _USER_INFO.sub("***@", text)
