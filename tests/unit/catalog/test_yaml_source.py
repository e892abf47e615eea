from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.catalog.yaml_source import MAX_FILE_BYTES, YamlFault, YamlSource

PATH = Path("runner-e2e.yaml")


def read(text: str | bytes) -> YamlSource:
    return YamlSource(PATH, text.encode() if isinstance(text, str) else text)


def fault(text: str | bytes) -> str:
    with pytest.raises(YamlFault) as caught:
        read(text)
    return str(caught.value.problem(PATH))


@pytest.mark.parametrize(
    ("scalar", "expected"),
    [
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("null", None),
        ("''", ""),
        ("010", 10),
        ("0o10", 8),
        ("0x1F", 31),
        ("-3", -3),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("2026-01-01", "2026-01-01"),
        ("'5'", "5"),
        ("!!str 5", "5"),
    ],
)
def test_scalars_mean_what_yaml_1_2_says(scalar: str, expected: object) -> None:
    value = read(f"key: {scalar}\n").value["key"]
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", "1:1: the file is empty"),
        (b" \n\n", "1:1: the file is empty"),
        (b"# only a comment\n", "1:1: the file holds nothing but comments"),
        (b"a: 1\n---\nb: 2\n", "2:1: the file holds more than one document"),
        (b"a:\n\tb: 1\n", "2:1: not YAML: while scanning"),
        (b"a: 1\nb: caf\xe9\n", "2:7: the file is not UTF-8: byte 0xe9"),
        ("a: 1".encode("utf-16"), "1:1: the file is not UTF-8"),
        (b"a: [1\nb: 2\n", "2:2: not YAML: while parsing a flow sequence"),
        (b"a: 'open\n", "not YAML: while scanning a quoted scalar"),
        (b"a: 1\nb: \x01\n", "2:4: not YAML: the character '\\x01' is not allowed"),
        (b"# old\n%YAML 1.1\n---\na: yes\n", "2:1: the file is YAML 1.1; a catalog is YAML 1.2"),
        (b"a: *nowhere\n", "1:4: not YAML: found undefined alias"),
        (b"[" * 5000, "1:1: the file is nested too deeply"),
    ],
)
def test_a_file_that_is_no_yaml_is_one_clear_problem(text: bytes, expected: str) -> None:
    assert expected in fault(text)


def test_a_tab_gets_the_hint_to_use_spaces() -> None:
    assert "(indent with spaces)" in fault("a:\n\tb: 1\n")


def test_a_huge_file_is_not_parsed() -> None:
    assert f"at most {MAX_FILE_BYTES}" in fault(b"a" * (MAX_FILE_BYTES + 1))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: 2\na: 3\n", "3:1: the key 'a' occurs twice (the first one is on line 1)"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", "3:3: YAML 1.2 has no merge key <<"),
        ("a: &x {b: *x}\n", "1:4: an alias that contains itself has no end"),
        ("a: !custom 1\n", "1:4: the tag !custom means nothing"),
        ("a: !!python/object:os.system x\n", "means nothing in a catalog"),
        ("? [a]\n: 1\n", "1:3: a key must be a word"),
        ("a: .inf\n", "1:4: a number must be finite"),
        ("a: 1e999\n", "1:4: a number must be finite"),
        ("a: 123456789012345678901\n", "1:4: an integer must fit in 64 bits"),
        ('a: "\\ud800"\n', "1:4: half of a surrogate pair"),
    ],
)
def test_what_json_cannot_say_is_reported_where_it_is_written(text: str, expected: str) -> None:
    (problem,) = read(text).problems
    assert expected in str(problem)


def test_nested_aliases_are_stopped_before_they_fill_the_memory() -> None:
    levels = (
        f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 12)
    )
    text = "\n".join(["a0: &a0 [x, x, x, x, x, x, x, x, x, x]", *levels])
    assert "aliases of this file repeat more than" in fault(text)


def test_an_alias_stands_for_its_value() -> None:
    source = read("a: &x {b: [1]}\nc: *x\n")
    assert source.value == {"a": {"b": [1]}, "c": {"b": [1]}}
    assert source.problems == ()


def test_an_anchor_may_be_used_again() -> None:
    assert read("a: &x 1\nb: &x 2\nc: *x\n").value["c"] == 2


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert read(b"\xef\xbb\xbfa: 1\n").value == {"a": 1}


def test_positions_lead_to_keys_and_values() -> None:
    source = read("tasks:\n  - id: one\n  - id: two\n    flow: {x: 1}\n")
    assert source.position(("tasks", 1)) == (3, 5)
    assert source.position(("tasks", 1, "flow", "x")) == (4, 15)
    assert source.key_position(("tasks", 1, "flow")) == (4, 5)
    assert source.position(("tasks", 1, "absent", "deeper")) == (3, 5)


def reads_or_reports(data: bytes) -> bool:
    """Whether the reader ends in a value or in a fault with a position."""
    try:
        read(data)
    except YamlFault as caught:
        return caught.line >= 1 and caught.column >= 1
    return True


@given(st.binary(max_size=200))
def test_no_bytes_make_the_reader_fail_otherwise(data: bytes) -> None:
    assert reads_or_reports(data)


@given(st.text(alphabet="ab:-[]{}&*!|>'\"%@`#,? \n\t0", max_size=60))
def test_no_text_makes_the_reader_fail_otherwise(text: str) -> None:
    assert reads_or_reports(text.encode())
