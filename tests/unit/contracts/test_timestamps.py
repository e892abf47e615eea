"""Moments as documents write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from runner_e2e.contracts.timestamps import format_timestamp, parse_timestamp

MOMENT = datetime(2026, 11, 30, 20, 5, 42, 123_999, tzinfo=UTC)


def test_a_moment_is_written_in_utc_with_milliseconds_cut() -> None:
    assert format_timestamp(MOMENT) == "2026-11-30T20:05:42.123Z"
    assert format_timestamp(MOMENT.replace(microsecond=0)) == "2026-11-30T20:05:42.000Z"


def test_another_zone_is_the_same_moment() -> None:
    india = timezone(timedelta(hours=5, minutes=30))
    assert format_timestamp(MOMENT.astimezone(india)) == "2026-11-30T20:05:42.123Z"
    assert parse_timestamp("2026-12-01T01:35:42.123999+05:30") == MOMENT


def test_a_moment_without_zone_is_refused_both_ways() -> None:
    with pytest.raises(ValueError, match="needs a time zone"):
        format_timestamp(MOMENT.replace(tzinfo=None))
    with pytest.raises(ValueError, match="has no time zone"):
        parse_timestamp("2026-11-30T20:05:42")


def test_a_leap_second_reads_as_the_second_before() -> None:
    assert parse_timestamp("2016-12-31T23:59:60.5Z") == datetime(
        2016, 12, 31, 23, 59, 59, 500_000, tzinfo=UTC
    )


@pytest.mark.parametrize("text", ["", "yesterday", "2026-02-30T00:00:00Z", "1764532800"])
def test_what_is_no_timestamp_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_timestamp(text)
