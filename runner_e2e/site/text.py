"""How a page says a number, a moment, a link and a stranger's text."""

from __future__ import annotations

import math
import re
from urllib.parse import quote

from runner_e2e.contracts.billing import BillingSummary
from runner_e2e.contracts.result import Source
from runner_e2e.contracts.scalars import is_confined
from runner_e2e.contracts.timestamps import parse_timestamp

# What turns text round, hides in it, or breaks a line where none is wanted: the bidirectional
# controls, zero-width characters, C0 and C1 controls, the two Unicode line ends.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_RUN_URL = re.compile(r"(https?://[^/\s]+/[\w.-]+/[\w.-]+)/actions/runs/[0-9]+(/.*)?")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_CENT = 0.01
_MICRO_DOLLAR = 1e-6
_SECOND = 1_000
_MINUTE = 60
_HOUR = 3_600

UNKNOWN = "\N{EN DASH}"
"""What stands where nothing was observed. Never a zero."""


def visible(text: str, limit: int = 200) -> str:
    """Cut ``text`` to ``limit`` characters and spell out what a reader could not see in it.

    A page escapes HTML on its own; this keeps a name from reversing its neighbours or posing as
    another one, and a page from growing with what an agent printed.
    """
    head = text[:limit].replace("\r\n", "\n")
    shown = _INVISIBLE.sub(lambda match: f"\\u{ord(match.group()):04x}", head)
    shown = _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", shown)
    if len(text) > limit:
        shown += f"… (cut; {len(text):,} characters in all)"
    return shown


def money(usd: float) -> str:
    """US dollars: two decimals, and two digits that count where cents would hide the amount."""
    if usd >= _CENT or usd == 0:
        return f"${usd:,.2f}"
    if usd < _MICRO_DOLLAR:
        return "<$0.000001"
    decimals = min(6, 1 - math.floor(math.log10(usd)))
    return f"${usd:.{decimals}f}"


def cost(usd: float, *, complete: bool) -> str:
    """An amount that says when it is only a lower bound, and never calls the unknown free."""
    if complete:
        return money(usd)
    return f"at least {money(usd)}" if usd else "unpriced"


def cell_cost(billing: BillingSummary | None) -> str:
    """What one execution cost, as far as it is known."""
    if billing is None:
        return UNKNOWN
    return cost(billing.observed_and_estimated_cost_usd, complete=billing.complete)


def duration(milliseconds: float | None) -> str:
    """A span in its two largest units: ``850 ms``, ``3.2 s``, ``4 min 05 s``, ``2 h 07 min``."""
    if milliseconds is None:
        return UNKNOWN
    if milliseconds < _SECOND:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / _SECOND
    if round(seconds, 1) < _MINUTE:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE:02d} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60:,} h {minutes % 60:02d} min"


def short_duration(milliseconds: float) -> str:
    """A span for a narrow place: ``0.8s``, ``41.9s``, ``4m05``, ``2h07``."""
    seconds = milliseconds / _SECOND
    if round(seconds, 1) < _MINUTE:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < _HOUR:
        return f"{whole // _MINUTE}m{whole % _MINUTE:02d}"
    minutes = round(seconds / _MINUTE)
    return f"{minutes // _MINUTE:,}h{minutes % _MINUTE:02d}"


def number(value: float) -> str:
    """A count with its thousands apart, short from ten thousand on: ``9,876``, ``12.3 k``."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size * (10 if unit == "k" else 1):
            return f"{value / size:,.1f} {unit}"
    return f"{value:,.0f}"


def plural(count: int, word: str, many: str | None = None) -> str:
    """``1 cell``, ``2 cells``."""
    return f"{count:,} {word if count == 1 else many or word + 's'}"


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
