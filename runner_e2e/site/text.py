"""How a page says a number, a moment and a link."""

from __future__ import annotations

import re
from urllib.parse import quote

from runner_e2e.contracts.result import Source
from runner_e2e.contracts.scalars import is_confined
from runner_e2e.contracts.timestamps import parse_timestamp

_COMMIT = re.compile(r"[0-9a-f]{40}")
_RUN_URL = re.compile(r"(https?://[^/\s]+/[\w.-]+/[\w.-]+)/actions/runs/[0-9]+(/.*)?")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_SECOND = 1_000
_MINUTE = 60


def short_duration(milliseconds: float) -> str:
    """A span for a narrow place: ``0.8s``, ``41.9s``, ``4m05``, ``2h07``."""
    seconds = milliseconds / _SECOND
    if round(seconds, 1) < _MINUTE:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60 * _MINUTE:
        return f"{whole // _MINUTE}m{whole % _MINUTE:02d}"
    minutes = round(seconds / _MINUTE)
    return f"{minutes // _MINUTE:,}h{minutes % _MINUTE:02d}"


def number(value: float) -> str:
    """A count with its thousands apart, short from ten thousand on: ``9,876``, ``12.3 k``."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size * (10 if unit == "k" else 1):
            return f"{value / size:,.1f} {unit}"
    return f"{value:,.0f}"


def moment(timestamp: str) -> str:
    """A timestamp for people, in UTC: ``30 Nov 2026, 20:05 UTC``."""
    at = parse_timestamp(timestamp)
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}, {at:%H:%M} UTC"


def day(timestamp: str) -> str:
    """The UTC day of a timestamp: ``2026-11-30``."""
    return parse_timestamp(timestamp).date().isoformat()


def web_url(url: str | None) -> str | None:
    """The address if it is one that a browser should follow from a report, else ``None``."""
    if url is None or not re.fullmatch(r"https?://[^\s\"'<>\\]+", url):
        return None
    return url


def repository_url(source: Source) -> str | None:
    """The address of the repository, read off the workflow run's."""
    found = _RUN_URL.fullmatch(web_url(source.workflow_run_url) or "")
    return found.group(1) if found else None


def commit_url(repository: str | None, sha: str | None) -> str | None:
    """Where the commit can be read; only for a full hash in a repository with a web address."""
    if web_url(repository) is None or sha is None or not _COMMIT.fullmatch(sha):
        return None
    return f"{repository}/commit/{sha}"


def evidence_href(path: str) -> str | None:
    """A relative link to a file of the report, or ``None`` for a path that leaves it."""
    if not is_confined(path):
        return None
    # The leading "./" keeps a first part such as "javascript:x" from being read as a scheme.
    return "./" + "/".join(quote(part) for part in path.split("/"))
