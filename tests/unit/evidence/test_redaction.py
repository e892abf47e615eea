"""Streams, parts and JSON: the boundary in the ways it is used."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.evidence import Redactor
from runner_e2e.evidence.scanner import MIN_OVERLAP, WINDOW

SECRET = "correct-Horse/Battery+staple"
REDACTOR = Redactor({"KEY": SECRET})


def streamed(redactor: Redactor, data: bytes, size: int) -> bytes:
    stream = redactor.stream()
    out = b"".join(stream.feed(data[at : at + size]) for at in range(0, len(data), size))
    return out + stream.close()


@pytest.mark.parametrize(
    "place",
    [
        *(WINDOW + offset for offset in (-40, -28, -14, -1, 0, 1)),
        *(WINDOW + MIN_OVERLAP + offset for offset in (-28, -14, -1, 0)),
        *(2 * WINDOW + offset for offset in (-14, 0)),
    ],
)
def test_a_secret_across_the_edge_of_a_window_is_blacked_out(place: int) -> None:
    before = b"x" * (place - 1) + b" "
    data = before + SECRET.encode() + b" " + b"y" * WINDOW
    expected = before + b"[REDACTED] " + b"y" * WINDOW
    assert streamed(REDACTOR, data, 100_003) == expected
    assert [finding.name for finding in REDACTOR.scan(iter([data[:place], data[place:]]))] == [
        "KEY"
    ]


@given(
    sizes=st.lists(st.integers(min_value=1, max_value=400_000), min_size=1, max_size=6),
    gaps=st.lists(st.integers(min_value=0, max_value=700_000), min_size=1, max_size=4),
)
def test_a_stream_is_cleaned_the_same_however_it_is_cut(sizes: list[int], gaps: list[int]) -> None:
    data = b"".join(b"z" * gap + b"\n" + SECRET.encode() + b"\n" for gap in gaps)
    stream = REDACTOR.stream()
    out, at, turn = bytearray(), 0, 0
    while at < len(data):
        size = sizes[turn % len(sizes)] + 50_000
        out += stream.feed(data[at : at + size])
        at, turn = at + size, turn + 1
    out += stream.close()
    assert bytes(out) == REDACTOR.redact(data).data
    assert [finding.name for finding in stream.findings] == ["KEY"]


def test_a_stream_without_secrets_is_not_changed() -> None:
    data = bytes(range(256)) * 20_000
    assert streamed(Redactor({"KEY": SECRET}), data, 65_536) == data


def test_a_scan_keeps_a_window_and_not_the_stream() -> None:
    piece = b"lorem ipsum dolor\n" * 10_000
    tracemalloc.start()
    try:
        REDACTOR.scan(piece for _ in range(200))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 12 * WINDOW


def test_half_of_a_secret_is_never_left_at_the_edge_of_a_part() -> None:
    data = f"aa{SECRET}bb".encode()
    for start in range(len(data)):
        for end in range(start, len(data) + 1):
            part = REDACTOR.redact_part(data, start, end).data.replace(b"[REDACTED]", b"")
            assert part in {b"", b"a", b"aa", b"b", b"bb", b"aab", b"aabb", b"ab", b"abb"}


@pytest.mark.parametrize("inside", [0, 1, 14, len(SECRET) - 1, len(SECRET)])
def test_a_cut_never_goes_through_a_secret(inside: int) -> None:
    data = b"x" * 100_000 + b" " + SECRET.encode() + b" " + b"y" * 100_000
    limit = 100_001 + inside
    whole = inside in (0, len(SECRET))
    assert REDACTOR.whole(data, limit) == data[: limit if whole else 100_001]


@pytest.mark.parametrize("seen", [0, 1, 14, len(SECRET) - 1])
def test_a_stream_that_is_read_no_further_ends_before_half_of_a_secret(seen: int) -> None:
    stream = REDACTOR.stream()
    clean = stream.feed(b"x " * WINDOW + SECRET.encode()[:seen]) + stream.close(broken_off=True)
    assert len(clean) > WINDOW
    assert set(clean) == set(b"x ")


def test_keys_and_values_are_cleaned_one_by_one() -> None:
    value = {"a": [f"x {SECRET}", 5, None, True], f"k-{SECRET}": {"b": "fine"}}
    clean, findings = REDACTOR.redact_json(value)
    assert clean == {"a": ["x [REDACTED]", 5, None, True], "k-[REDACTED]": {"b": "fine"}}
    assert [finding.name for finding in findings] == ["KEY"]


def test_punctuation_between_two_values_never_makes_a_secret() -> None:
    tree = {"openrouter_key": "", "note": "abcDEF1234567890abcDEF"}
    assert REDACTOR.redact_json(tree)[0] == tree
    assert REDACTOR.redact(json.dumps({"daytona_key": "abcDEF1234567890abcDEF"}).encode()).findings


@pytest.mark.parametrize(
    "key",
    [
        *("api_key", "apiKey", "api-key", "API_KEY", "access_token", "accessToken"),
        *("refresh-token", "auth", "Authorization", "bearer", "clientSecret"),
        *("cookie", "password", "secret", "token"),
    ],
)
@pytest.mark.parametrize("value", ["x", 5, ["a"], {"a": 1}, True])
def test_a_member_that_is_called_a_secret_is_blacked_out_whatever_it_is(
    key: str, value: Any
) -> None:
    assert REDACTOR.redact_json({key: value})[0] == {key: "[REDACTED]"}


@pytest.mark.parametrize("key", ["apiKeyRef", "tokens", "inputTokens", "secretRefs", "cookieCount"])
def test_a_member_that_only_speaks_of_secrets_is_left_alone(key: str) -> None:
    assert REDACTOR.redact_json({key: 5})[0] == {key: 5}


def test_a_secret_that_is_absent_is_still_absent() -> None:
    assert REDACTOR.redact_json({"token": None})[0] == {"token": None}


def test_json_nested_too_deep_is_refused() -> None:
    value: Any = 1
    for _ in range(300):
        value = [value]
    with pytest.raises(ValueError, match="nested deeper"):
        REDACTOR.redact_json(value)


@given(text=st.text())
def test_a_text_without_secrets_comes_back_as_it_was(text: str) -> None:
    assert REDACTOR.redact_text(text) == text


@given(data=st.binary(max_size=300))
def test_cleaning_twice_is_cleaning_once(data: bytes) -> None:
    once = REDACTOR.redact(data + SECRET.encode() + data).data
    assert REDACTOR.redact(once).data == once
