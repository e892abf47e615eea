"""What looks like a key is one; what only begins like one is not. Samples are joined here so that
no scanner of a forge takes this file for a leak."""

from __future__ import annotations

import base64
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_e2e.evidence import Redactor
from runner_e2e.evidence.shapes import SHAPES, looks_random

RANDOM = "a8Xk29Qz7LmP4vTy6WnB1cRd5sEf3gHj0KoU"
BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"


def jwt(header: object) -> str:
    part = base64.urlsafe_b64encode(json.dumps(header).encode()).decode().rstrip("=")
    return f"{part}.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{RANDOM}"


KEYS: dict[str, tuple[str, ...]] = {
    "an OpenAI key": (
        "sk-" + RANDOM,
        "sk-proj-" + "abcdefghij_klmnop-q",
        "sk-svcacct-" + RANDOM,
        "sk-admin-" + RANDOM,
        "sk-test-" + "1234567890abcdef",
    ),
    "an Anthropic key": ("sk-ant-" + "api03-" + RANDOM, "sk-ant-" + "x" * 16),
    "an OpenRouter key": ("sk-or-" + "v1-" + "0123456789abcdef" * 4,),
    "a Daytona key": ("dtn_" + "0123456789abcdef" * 4,),
    "a named provider key": (
        "DAYTONA_API_KEY=" + RANDOM,
        '"openrouter-key": "' + RANDOM,
        "OpenRouterApiKey: " + RANDOM,
    ),
    "a GitHub token": (
        *(f"gh{letter}_" + RANDOM for letter in "pousr"),
        "github_pat_" + "11ABCDEFG0" + RANDOM,
        "ghs_" + "123456_" + jwt({"alg": "RS256"}),
    ),
    "an AWS key id": ("AKIA" + "IOSFODNN7EXAMPLE", "ASIA" + "IOSFODNN7EXAMPLE"),
    "an AWS secret key": ("aws_secret_access_key = " + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",),
    "a Google key": ("AIza" + RANDOM[:35],),
    "a Google token": ("ya29." + RANDOM,),
    "a Google client secret": ("GOCSPX-" + RANDOM[:28],),
    "a Slack token": ("xoxb-" + "123456789012-abcDEF", "xapp-" + "1-A012345-6789-abc"),
    "a Slack webhook": ("https://hooks.slack.com/services/" + "T0123/B0123/" + RANDOM[:24],),
    "a private key": (
        f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n{BODY}\n-----END RSA PRIVATE KEY-----",
        f"-----BEGIN PRIVATE KEY-----\\n{BODY}\\n-----END PRIVATE KEY-----",
        f"-----BEGIN OPENSSH PRIVATE KEY-----\r\n{BODY}\r\n",
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{BODY}\n-----END PGP PRIVATE KEY BLOCK-----",
        f"-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,00FF\n\n{BODY}\n",
    ),
    "a JSON web token": (jwt({"alg": "HS256", "typ": "JWT"}),),
}
SAMPLES = [(name, sample) for name, samples in KEYS.items() for sample in samples]


def test_every_shape_that_is_a_leak_has_a_sample() -> None:
    assert {shape.name for shape in SHAPES if shape.leak} == set(KEYS)


@pytest.mark.parametrize(("name", "sample"), SAMPLES)
@pytest.mark.parametrize(
    ("before", "after"), [("", ""), (" ", "\n"), ('{"k":"', '"}'), ("=", "&x=1"), ("/", "?")]
)
def test_a_key_is_found_and_blacked_out(name: str, sample: str, before: str, after: str) -> None:
    clean = Redactor().redact(f"{before}{sample}{after}".encode())
    leaks = [finding for finding in clean.findings if finding.leak]
    assert [finding.name for finding in leaks] == [name]
    assert leaks[0].reason == f"secret-shaped: {name}"
    assert RANDOM[-12:].encode() not in clean.data
    assert BODY[-20:].encode() not in clean.data


@pytest.mark.parametrize(("name", "sample"), SAMPLES)
def test_a_key_is_found_in_utf_16(name: str, sample: str) -> None:
    found = Redactor().scan([f" {sample} ".encode("utf-16-le")])
    assert name in {finding.name for finding in found}


@pytest.mark.parametrize(("name", "sample"), SAMPLES)
def test_a_shape_declares_what_it_can_begin_with(name: str, sample: str) -> None:
    for shape in SHAPES:
        for match in re.finditer(shape.find, sample.encode()):
            assert match[0][0] in shape.first, (name, shape.name)


@pytest.mark.parametrize(
    "text",
    [
        "ASIAPACIFICREGIONSALES",
        "ASIAPACIFICREGIONSAL",
        "XAKIAIOSFODNN7EXAMPLE",
        "task-loading-spinner-container-of-doom",
        "sk-loading-spinner-container-of-doom",
        "sk-2-items-in-a-row-of-some-kind",
        "risk-based-approach-to-everything-here",
        "disk-0123456789abcdef0123456789abcdef",
        "sk-" + "short1",
        "daytona_api_key: environment.variable.name",
        "OPENROUTER_API_KEY is not set in this environment",
        "openrouter-key-management-documentation-page",
        "the file begins with -----BEGIN PRIVATE KEY----- and then goes on",
        "-----BEGIN PUBLIC KEY-----\n" + BODY,
        "-----BEGIN CERTIFICATE-----\n" + BODY,
        "eyJhbGci" + "OiJI.notajwt.becauseshort",
        "eyJ" + "a" * 20 + "." + "b" * 20 + "." + "c" * 20,
        "paperclip.runner-e2e.campaign/v2",
        "runner_e2e.evidence.scanner.Scanner",
        "ghp_" + "example",
        "xoxb-your-token-goes-here",
        "AIza" + "-" * 35,
        "AIza" + "x" * 34,
        "commit 3d3c42e5aac5ba805825da76410c181273ba90b1",
        "sha256:" + "0123456789abcdef" * 4,
        "https://example.test:8080/path?x=1",
        "https://user@example.test/",
        "token usage: 12345",
        "bearer of bad news-about-everything-here",
        "api_key: str = None",
        "password: required",
    ],
)
def test_an_ordinary_text_is_no_key_and_stays_as_it_is(text: str) -> None:
    assert Redactor().redact_text(text) == text


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (
            f"Authorization: Bearer {RANDOM}",
            "Authorization: Bearer [REDACTED_SECRET_SHAPE]",
        ),
        (
            "https://user:t0ken!x@git.example.test/repo",
            "https://[REDACTED_SECRET_SHAPE]git.example.test/repo",
        ),
        (f"x-api-key: {RANDOM}", "x-api-key: [REDACTED_SECRET_SHAPE]"),
        (f'{{"api_key": "{RANDOM}"}}', '{"api_key": "[REDACTED_SECRET_SHAPE]"}'),
        (f'\\"password\\":\\"{RANDOM}\\"', '\\"password\\":\\"[REDACTED_SECRET_SHAPE]\\"'),
    ],
)
def test_headers_and_assignments_are_blacked_out_without_being_leaks(text: str, clean: str) -> None:
    redacted = Redactor().redact(text.encode())
    assert redacted.data.decode() == clean
    assert [finding.leak for finding in redacted.findings] == [False]


def test_a_key_inside_a_header_is_still_a_leak() -> None:
    redacted = Redactor().redact(f"authorization: bearer sk-proj-{RANDOM}".encode())
    assert any(finding.leak for finding in redacted.findings)
    assert RANDOM.encode() not in redacted.data


def test_a_key_behind_hyphenated_words_is_found() -> None:
    text = "sk-" + "words-and-" * 60 + "sk-proj-" + RANDOM
    assert RANDOM not in Redactor().redact_text(text)


@pytest.mark.parametrize(
    "unit",
    [
        "sk-a-",
        "ghp_x.",
        "eyJabcdefgh.",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY----- and ",
        "a.a://",
        "bearer abcdefghijklmnopqrst ",
        "password=aaaaaaa1 ",
    ],
)
def test_input_made_to_hurt_is_read_to_its_end(unit: str) -> None:
    data = (unit * (1_000_000 // len(unit))).encode()
    redactor = Redactor()
    assert len(redactor.redact(data).data) > 0
    redactor.scan([data.decode().encode("utf-16-le")])


@given(
    words=st.lists(
        st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12), max_size=12
    )
)
def test_words_in_small_letters_joined_by_hyphens_never_look_random(words: list[str]) -> None:
    assert not looks_random("-".join(words).encode())
