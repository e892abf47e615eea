"""The grammar and the range of what documents are made of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from runner_e2e.contracts import scalars
from runner_e2e.contracts.scalars import MAX_SAFE_INTEGER, is_confined
from runner_e2e.contracts.timestamps import format_timestamp, parse_timestamp
from tests.contract.strategies import trees


def accepts(kind: Any, value: object) -> bool:
    try:
        TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError:
        return False
    return True


# Timestamps


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30T20:05:42.123Z",
        "2026-11-30T20:05:42Z",
        "2026-11-30T20:05:42.1Z",
        "2026-11-30T20:05:42.123456789Z",
        "2026-11-30T20:05:42+05:30",
        "2024-02-29T00:00:00Z",
        "2000-02-29T00:00:00Z",
        "2016-12-31T23:59:60Z",
        "1000-01-01T00:00:00+23:59",
        "2999-12-31T23:59:60-23:59",
    ],
)
def test_a_timestamp_is_a_moment(text: str) -> None:
    assert accepts(scalars.Timestamp, text)
    assert parse_timestamp(text).tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-30",
        "2026-11-30T20:05:42",
        "2026-11-30 20:05:42Z",
        "2026-11-30T20:05:42z",
        "2026-11-30T20:05:42Z\n",
        " 2026-11-30T20:05:42Z",
        "2026-11-30T24:00:00Z",
        "2026-11-30T20:60:42Z",
        "2026-11-30T20:05:61Z",
        "2026-11-30T20:05:42.Z",
        "2026-11-30T20:05:42.1234567890Z",
        "2026-11-30T20:05:42+0530",
        "2026-11-30T20:05:42+24:00",
        "2026-11-30T20:05:42+05:60",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2024-02-30T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-11-31T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "9999-12-31T23:59:59-01:00",
        "\u0662026-11-30T20:05:42Z",
    ],
)
def test_what_is_no_moment_is_no_timestamp(text: str) -> None:
    assert not accepts(scalars.Timestamp, text)


@given(trees(scalars.Timestamp))
def test_every_timestamp_of_a_document_can_be_read(text: str) -> None:
    assert parse_timestamp(text).utcoffset() == timedelta(0)


@given(
    st.datetimes(
        datetime(1000, 1, 3),  # noqa: DTZ001  hypothesis wants naive bounds beside timezones
        datetime(2999, 12, 29),  # noqa: DTZ001
        timezones=st.integers(-1439, 1439).map(
            lambda minutes: timezone(timedelta(minutes=minutes))
        ),
    )
)
def test_what_we_write_is_a_timestamp_of_the_same_millisecond(moment: datetime) -> None:
    text = format_timestamp(moment)
    assert accepts(scalars.Timestamp, text)
    assert text.endswith("Z")
    lost = moment - parse_timestamp(text)
    assert timedelta(0) <= lost < timedelta(milliseconds=1)
    assert format_timestamp(parse_timestamp(text)) == text


# URLs


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/agents/actions/runs/1",
        "http://localhost:3100/",
        "http://127.0.0.1:3100",
        "http://[::1]:3100/x",
        "https://example.com?page=1",
        "https://example.com/@scope/name#part",
        "http://paperclip_server:3100/health",
    ],
)
def test_http_urls(url: str) -> None:
    assert accepts(scalars.HttpUrl, url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://",
        "https:///path",
        "//example.com/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://user:secret@example.com/",
        "https://token@example.com/",
        "https://github.com\\@evil.example/",
        "https://example.com/a b",
        "https://example.com/\n",
        "https://example.com/\u0000",
        "HTTPS://example.com/\r\nX: y",
        " https://example.com/",
    ],
)
def test_what_is_no_plain_http_url_or_carries_credentials(url: str) -> None:
    assert not accepts(scalars.HttpUrl, url)


# Ids


def test_an_execution_id_has_four_parts_and_at_most_200_bytes() -> None:
    assert accepts(scalars.ExecutionId, "core.runner-codex.local.plan_revise")
    longest = f"core.{'p' * 180}.local.12345678"
    assert len(longest) == 200
    assert accepts(scalars.ExecutionId, longest)
    assert not accepts(scalars.ExecutionId, f"{longest}x")


def test_a_result_may_have_the_three_parts_of_the_first_version() -> None:
    assert accepts(scalars.ResultExecutionId, "runner-codex.local.plan")
    assert accepts(scalars.ResultExecutionId, "core.runner-codex.local.plan")
    assert not accepts(scalars.ExecutionId, "runner-codex.local.plan")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a.b",
        "a.b.c.d.e",
        "a..b.c",
        ".a.b.c",
        "a.b.c.",
        "A.b.c.d",
        "-a.b.c.d",
        "_a.b.c.d",
        "a.b.c.d\n",
        "a.b.c.d/e",
        "a.b.c.\u00e9",
        "a.b.c.\u0661",
        "../a.b.c",
    ],
)
def test_what_is_no_execution_id(text: str) -> None:
    assert not accepts(scalars.ExecutionId, text)
    assert not accepts(scalars.ResultExecutionId, text)


@pytest.mark.parametrize("text", ["", "-", "A", "a.b", "a/b", "a\n", ".", ".."])
def test_what_is_no_item_id(text: str) -> None:
    assert not accepts(scalars.ItemId, text)


def test_a_campaign_id_is_a_safe_directory_name() -> None:
    assert accepts(scalars.CampaignId, "gha-15000000001-1")
    assert accepts(scalars.CampaignId, "local-2026-11-30T20-05-42-123Z")
    assert accepts(scalars.CampaignId, "a" * 200)
    for bad in ("", ".", "..", ".git", "-x", "a/b", "a\\b", "a b", "a" * 201, "a\n", "a:b"):
        assert not accepts(scalars.CampaignId, bad), bad


def test_a_digest_is_lower_case_hex() -> None:
    assert accepts(scalars.Sha256, "0123456789abcdef" * 4)
    for bad in ("", "a" * 63, "a" * 65, "A" * 64, "g" * 64, "a" * 64 + "\n"):
        assert not accepts(scalars.Sha256, bad), bad


# Paths


@pytest.mark.parametrize(
    "path",
    ["a", "a/b.png", "turns/1/stdout.log", ".hidden", "a b", "\u00e9/\U0001f9ea", "...", "a.."],
)
def test_a_path_that_stays_inside(path: str) -> None:
    assert accepts(scalars.RelativePath, path)
    assert is_confined(path)


@pytest.mark.parametrize(
    "path", ["", "/etc/passwd", "a\\b", "..", "../a", "a/..", "a/../b", ".", "./a", "a//b", "a/"]
)
def test_a_path_that_does_not_stay_inside(path: str) -> None:
    assert not is_confined(path)


@pytest.mark.parametrize(
    "path", ["", "/a", "\\a", "a\\b", "a\nb", "a\u0000", "\u001b[31m", "a" * 4097]
)
def test_a_path_that_can_never_be_right_is_refused_when_read(path: str) -> None:
    assert not accepts(scalars.RelativePath, path)


@given(st.text(alphabet="./\\ab", max_size=8))
def test_a_confined_path_never_leaves_its_directory(path: str) -> None:
    depth = 0
    for part in path.replace("\\", "/").split("/"):
        depth += {"..": -1, ".": 0, "": 0}.get(part, 1)
        if depth < 0:
            assert not is_confined(path)


# Numbers


def test_counts_are_whole_and_exact_in_javascript() -> None:
    assert accepts(scalars.Count, 0)
    assert accepts(scalars.Count, MAX_SAFE_INTEGER)
    assert not accepts(scalars.Ordinal, 0)
    for bad in (-1, MAX_SAFE_INTEGER + 1, 1.0, True, "1", None):
        assert not accepts(scalars.Count, bad), bad
        assert not accepts(scalars.Ordinal, bad), bad


@pytest.mark.parametrize("kind", [scalars.Milliseconds, scalars.Amount])
def test_quantities_are_finite_and_not_negative(kind: Any) -> None:
    for good in (0, 0.0, 1, 1.5, 1e300, 5e-324):
        assert accepts(kind, good), good
    for bad in (-1, -0.5, float("nan"), float("inf"), True, "1", None):
        assert not accepts(kind, bad), bad


def test_a_whole_quantity_stays_whole_and_a_share_ends_at_one() -> None:
    amount: TypeAdapter[int | float] = TypeAdapter(scalars.Amount)
    assert amount.dump_json(amount.validate_json("3")) == b"3"
    assert amount.dump_json(amount.validate_json("3.0")) == b"3.0"
    assert accepts(scalars.Share, 0)
    assert accepts(scalars.Share, 1)
    assert accepts(scalars.Share, 0.25)
    for bad in (-0.1, 1.1, 2, float("nan")):
        assert not accepts(scalars.Share, bad), bad


def test_the_two_ways_to_write_a_number_are_all_that_a_range_knows() -> None:
    with pytest.raises(TypeError, match="union of two kinds"):
        TypeAdapter[str](Annotated[str, scalars._Range("from 0")])
