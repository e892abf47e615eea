"""A known value is found however it was written down, and nothing of it is left."""

from __future__ import annotations

import base64
import gzip
import html
import json
import quopri
import re
import textwrap
import urllib.parse
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.evidence import Redactor
from runner_e2e.evidence.forms import exact_forms, too_short

SECRET = 'hunter2/Very+Secret=Välue & "more"'
NAME = "OPENAI_API_KEY"

FORMS: dict[str, Callable[[str], bytes]] = {
    "raw": str.encode,
    "base64, first alignment": lambda value: base64.b64encode(value.encode()),
    "base64, second alignment": lambda value: base64.b64encode(b"a" + value.encode() + b"zz"),
    "base64, third alignment": lambda value: base64.b64encode(b"ab" + value.encode() + b"z"),
    "base64, basic authorization": lambda value: base64.b64encode(f"user:{value}".encode()),
    "base64 for URLs": lambda value: base64.urlsafe_b64encode(b"??>" + value.encode()),
    "base64 in lines": lambda value: "\n".join(
        textwrap.wrap(base64.b64encode(value.encode()).decode(), 12)
    ).encode(),
    "hex": lambda value: value.encode().hex().encode(),
    "HEX": lambda value: value.encode().hex().upper().encode(),
    "URL": lambda value: urllib.parse.quote(value, safe="").encode(),
    "URL with slashes": lambda value: urllib.parse.quote(value).encode(),
    "URL of a form": lambda value: urllib.parse.quote_plus(value).encode(),
    "URL in small hex": lambda value: re.sub(
        "%..", lambda escape: escape[0].lower(), urllib.parse.quote(value, safe="")
    ).encode(),
    "JSON": lambda value: json.dumps(value).encode(),
    "JSON in UTF-8": lambda value: json.dumps(value, ensure_ascii=False).encode(),
    "JSON in JSON": lambda value: json.dumps(json.dumps({"k": value})).encode(),
    "JSON with slashes escaped": lambda value: json.dumps(value).replace("/", "\\/").encode(),
    "JSON of Go": lambda value: json.dumps(value).replace("&", "\\u0026").encode(),
    "HTML": lambda value: html.escape(value).encode(),
    "UTF-16 LE": lambda value: value.encode("utf-16-le"),
    "UTF-16 BE": lambda value: value.encode("utf-16-be"),
    "UTF-16 with a mark": lambda value: f"\ufeffx {value}".encode("utf-16-le"),
    "split over two lines": lambda value: f"{value[:9]}\n{value[9:]}".encode(),
    "split by CRLF": lambda value: f"{value[:9]}\r\n{value[9:]}".encode(),
}
PLAIN = "abcDEF1234567890" * 2


@pytest.mark.parametrize("value", [SECRET, PLAIN], ids=["awkward", "plain"])
@pytest.mark.parametrize("form", FORMS)
def test_a_value_is_found_and_blacked_out_in_every_form(form: str, value: str) -> None:
    redactor = Redactor({NAME: value})
    data = b"before " + FORMS[form](value) + b" after"
    clean = redactor.redact(data)
    assert [finding.name for finding in clean.findings if finding.leak] == [NAME]
    assert b"[REDACTED]" in clean.data
    assert redactor.scan([data])
    assert not redactor.scanner.exact_findings(clean.data)
    assert clean.data.startswith(b"before ")
    assert clean.data.endswith(b" after")


def test_a_finding_says_the_form_and_never_the_value() -> None:
    clean = Redactor({NAME: PLAIN}).redact(base64.b64encode(PLAIN.encode()))
    assert [finding.reason for finding in clean.findings] == [
        "exact value of OPENAI_API_KEY, in base64"
    ]


def test_values_that_overlap_are_blacked_out_as_one() -> None:
    redactor = Redactor({"A": "secret-one-two", "B": "one-two-three!"})
    assert redactor.redact_text("x secret-one-two-three! y") == "x [REDACTED] y"


def test_the_longer_of_two_values_wins() -> None:
    redactor = Redactor({"A": "password", "B": "password-and-more"})
    assert redactor.redact_text("password-and-more password") == "[REDACTED] [REDACTED]"


def test_a_shape_that_begins_before_a_value_leaves_no_tail_of_it() -> None:
    value = "A1b2C3d4E5f6G7h8+tail/of+it"
    text = Redactor({"A": value}).redact_text(f"sk-proj-XXXXXXXXXX1{value} end")
    assert text == "[REDACTED] end"


def test_lines_of_a_key_are_secret_by_themselves() -> None:
    key = "-----BEGIN K-----\n" + "MIIB" * 8 + "\n" + "q9Zx" * 8 + "\n-----END K-----"
    redactor = Redactor({"KEY": key})
    assert "q9Zxq9Zx" not in redactor.redact_text(f"log: {'q9Zx' * 8} :end")
    assert redactor.redact_text("-----BEGIN K-----") == "-----BEGIN K-----"


def test_a_brace_of_a_json_secret_does_not_black_out_all_json() -> None:
    secret = json.dumps({"type": "service_account", "private_key_id": "0123456789"}, indent=2)
    assert Redactor({"GOOGLE": secret}).redact_text('{"a": 1}') == '{"a": 1}'


def test_a_value_too_short_to_tell_apart_is_not_searched_and_is_named() -> None:
    redactor = Redactor({"A": "dummy", "B": "  ", "C": "longer-than-that"})
    assert redactor.too_short == ("A",)
    assert redactor.redact_text("a dummy text") == "a dummy text"
    assert too_short({"A": "1234567 "}) == ("A",)
    assert not exact_forms({"A": "1234567"})


def test_white_space_around_a_value_is_no_part_of_it() -> None:
    assert Redactor({"A": " padded-secret\n"}).redact_text("x padded-secret y") == "x [REDACTED] y"


def test_without_secrets_nothing_is_touched() -> None:
    text = "nothing to see, not even \udce9 or \x00 here"
    assert Redactor().redact_text(text) == text


def test_other_encodings_are_not_claimed() -> None:
    """The boundary's promise is a list; this is what is known to be outside of it."""
    redactor = Redactor({NAME: PLAIN})
    assert not redactor.scan([gzip.compress(PLAIN.encode()), PLAIN[::-1].encode()])
    assert redactor.scan([quopri.encodestring(PLAIN.encode())])


VALUES = st.text(
    alphabet=st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=8, max_size=60
).filter(lambda value: len(value.strip().encode()) >= 8)


@given(
    value=VALUES,
    before=st.binary(max_size=40),
    after=st.binary(max_size=40),
    alignment=st.integers(min_value=0, max_value=2),
)
def test_any_value_is_found_raw_and_in_base64_at_any_alignment(
    value: str, before: bytes, after: bytes, alignment: int
) -> None:
    redactor = Redactor({"A": value})
    raw = value.strip().encode()
    assert redactor.scanner.exact_findings(before + raw + after)
    around = b"x" * (3 * len(before) + alignment)
    assert redactor.scanner.exact_findings(base64.b64encode(around + raw + after))


@given(value=VALUES, noise=st.lists(st.binary(max_size=30), min_size=1, max_size=5))
def test_nothing_of_a_value_is_left_after_it_was_blacked_out(
    value: str, noise: list[bytes]
) -> None:
    redactor = Redactor({"A": value})
    raw = value.strip().encode()
    clean = redactor.redact(raw.join(noise)).data
    # The mark itself may hold a part of a value that is made of its letters.
    assert raw not in clean.replace(b"[REDACTED]", b"\xff").replace(b"\xff\xff", b"\xff")
