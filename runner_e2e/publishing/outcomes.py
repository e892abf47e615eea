"""What git's words about a push or a fetch mean. Facts: the table of outcomes in docs.

Only a lost race and a broken connection are worth another try: a policy says the same thing the
next time, and asking again with a bad token locks accounts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from runner_e2e.errors import PublishingError
from runner_e2e.publishing import errors

Outcome = Literal[
    "too_large", "disk_full", "race", "permission", "policy", "not_found", "network", "unknown"
]

# Tried in this order. A size limit and a missing right are told by hooks too, so they come before
# policy; "cannot lock ref" is a race also where the server says "remote rejected" around it.
_WORDS: Mapping[Outcome, tuple[str, ...]] = {
    "too_large": (
        r"GH001",
        r"exceeds? [^\n]*file size limit",
        r"larger than [^\n]*limit",
        r"pack exceeds maximum",
        r"(?:HTTP|error:) 413",
    ),
    "disk_full": (r"No space left on device", r"Disk quota exceeded", r"File too large"),
    "permission": (
        r"(?:HTTP|error:) 40[13]",
        r"Authentication failed",
        r"could not read (?:Username|Password)",
        r"terminal prompts disabled",
        r"Invalid username or (?:password|token)",
        r"[Pp]ermission denied",
        r"[Pp]ermission to [^\n]* denied",
        r"denied to ",
        r"Write access to repository not granted",
        r"Resource not accessible",
        r"insufficient permission",
        r"Host key verification failed",
    ),
    "race": (
        # Our own git says "rejected"; "remote rejected" is the server's rule, which stays.
        r"\[rejected\][^\n]*\((?:fetch first|non-fast-forward|stale info)\)",
        r"\(failed to update ref\)",
        r"\(incorrect old value provided\)",
        r"reference already exists",
        r"cannot lock ref",
        r"is at [0-9a-f]{40,64} but expected",
    ),
    "policy": (
        r"GH0(?:06|13)",
        r"hook declined",
        r"protected branch",
        r"[Rr]epository rule",
        r"denying ",
        r"refusing to ",
        r"branch is currently checked out",
        r"shallow update not allowed",
        r"\[remote rejected\](?![^\n]*unpacker error)",
    ),
    "not_found": (
        r"does not appear to be a git repository",
        r"[Rr]epository (?:'[^\n]*' )?(?:not found|does not exist)",
        r"(?:HTTP|error:) 404",
    ),
    "network": (
        r"(?:HTTP|error:) (?:408|429|5[0-9][0-9])",
        r"[Cc]onnection (?:reset|refused|timed out|closed|was closed)",
        r"[Ee]arly EOF",
        r"unexpected disconnect",
        r"hung up unexpectedly",
        r"Could not resolve host",
        r"[Ff]ailed to connect",
        r"Couldn't connect",
        r"Operation (?:timed out|too slow)",
        r"(?:Recv|Send) failure",
        r"RPC failed",
        r"Empty reply",
        r"SSL_(?:ERROR_SYSCALL|read)",
        r"GnuTLS recv",
        r"Network is unreachable",
        r"No route to host",
        r"expected flush after",
    ),
}
_PATTERNS = tuple((outcome, re.compile("|".join(words))) for outcome, words in _WORDS.items())

RETRYABLE: frozenset[Outcome] = frozenset({"race", "network"})


def classify(text: str) -> Outcome:
    """Tell what went wrong from what git printed, in the C locale."""
    for outcome, pattern in _PATTERNS:
        if pattern.search(text):
            return outcome
    return "unknown"


_ERRORS: Mapping[Outcome, tuple[type[PublishingError], str, str]] = {
    "too_large": (
        errors.TooLarge,
        "the server refuses a file as too large",
        "`runner-e2e history prune` makes room; a single file over 100 MiB can never be pushed",
    ),
    "disk_full": (
        errors.DiskFull,
        "there was no room left to write",
        "make room where the message says, here or on the server, and publish again",
    ),
    "race": (
        errors.LostRace,
        "other publishers were faster every time",
        "publish again; nothing has to be cleaned up",
    ),
    "permission": (
        errors.PermissionMissing,
        "the credentials do not allow it",
        "the job needs `permissions: contents: write`; pull requests from forks never have it",
    ),
    "policy": (
        errors.RefusedByPolicy,
        "the server's rules refuse the push",
        "allow this publisher to push to the branch, or publish to a branch that no rule protects",
    ),
    "not_found": (
        errors.RemoteNotFound,
        "there is no repository there, or none that these credentials may see",
        "check --remote; a private repository needs a token that can read it",
    ),
    "network": (
        errors.NetworkFailed,
        "the server could not be reached",
        "publish again when it is back; a push that arrived all the same is recognised",
    ),
    "unknown": (
        errors.GitFailed,
        "git failed",
        "git's own words are above; the report is kept, so publish again when it is mended",
    ),
}


def error_of(outcome: Outcome, doing: str, words: str) -> PublishingError:
    """The error to raise: what was being done, what it means, git's own words."""
    kind, meaning, hint = _ERRORS[outcome]
    said = _essence(words)
    return kind(
        f"{doing}: {meaning}" + (f"\n{said}" if said else ""),
        hint=hint,
        retryable=outcome in RETRYABLE,
    )


def _essence(words: str, limit: int = 12) -> str:
    """Git's lines without its advice, indented, at most ``limit``."""
    lines = [line.rstrip() for line in words.splitlines()]
    lines = [
        line
        for line in lines
        if line.strip() and not line.startswith(("hint:", "To ", "Done", "remote: Resolving"))
    ]
    cut = [f"... {len(lines) - limit} more lines"] if len(lines) > limit else []
    return "\n".join(f"  {line[:300]}" for line in lines[:limit] + cut)
