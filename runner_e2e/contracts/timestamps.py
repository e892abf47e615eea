"""Timestamps as the documents write them: UTC, milliseconds, ``Z``. Reads no clock."""

from __future__ import annotations

from datetime import UTC, datetime


def format_timestamp(moment: datetime) -> str:
    """Write an aware ``moment`` as ``2026-11-30T20:05:42.123Z`` (cut, not rounded)."""
    if moment.tzinfo is None:
        raise ValueError("a timestamp needs a time zone")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_timestamp(text: str) -> datetime:
    """Read an RFC 3339 timestamp into an aware UTC moment.

    Raises :class:`ValueError` where it is none. A leap second reads as the second before it,
    since Python has no word for it and no order depends on that second.
    """
    if text[17:19] == "60":
        text = text[:17] + "59" + text[19:]
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return moment.astimezone(UTC)
