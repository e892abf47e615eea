"""What the keys of providers look like, and what only looks like one.

The finds of all shapes are one RE2 expression, which takes linear time whatever it is fed; a
``guard`` in Python then turns away ordinary words.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import string
from collections.abc import Callable
from dataclasses import dataclass

Guard = Callable[[bytes], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One kind of secret.

    RE2 looks for ``find``, which is short and of a bounded length; ``rest`` is what then belongs to
    it, bounded too, since a candidate may print anything. Both are expressions over bytes.
    """

    name: str
    first: bytes
    """The bytes that a match can begin with; saves trying the others on a candidate."""
    find: bytes
    rest: bytes = b""
    guard: Guard | None = None
    leak: bool = True
    """False where a find is only better blacked out: a header or an assignment holds anything."""
    keep: bytes = b""
    """The beginning of a match that stays readable, as an expression."""


_DIGIT = re.compile(rb"\d")
_RUN = re.compile(rb"[A-Za-z0-9]+")
_LONG_BASE64 = re.compile(rb"[A-Za-z0-9+/=]{40}")

RANDOM_MIXED = 8
RANDOM_LETTERS = 16


def looks_random(token: bytes) -> bool:
    """Tell a random token from words joined by hyphens.

    One run of it must mix letters and digits over eight characters or more, or capital and small
    letters over sixteen or more.
    """
    for run in _RUN.findall(token):
        mixed = not run.isalpha() and not run.isdigit()
        cased = not run.islower() and not run.isupper() and not run.istitle()
        if (mixed and len(run) >= RANDOM_MIXED) or (cased and len(run) >= RANDOM_LETTERS):
            return True
    return False


def _has_digit(token: bytes) -> bool:
    return _DIGIT.search(token) is not None


def _is_jwt(token: bytes) -> bool:
    """Tell whether the first part is the header of a JWT; other dotted base64 is no secret."""
    header = token.split(b".", 1)[0]
    try:
        decoded = json.loads(base64.urlsafe_b64decode(header + b"=" * (-len(header) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return False
    return isinstance(decoded, dict) and "alg" in decoded


def _has_key_body(block: bytes) -> bool:
    """Tell a key from a text that speaks of one. A body may be escaped, as in JSON."""
    return _LONG_BASE64.search(block) is not None


_TOKEN = rb"[A-Za-z0-9_-]"
_MORE = _TOKEN + rb"{0,512}"
_BASE64 = rb"[A-Za-z0-9+/=\s\\:,]"

SHAPES: tuple[Shape, ...] = (
    Shape(name="an Anthropic key", first=b"s", find=rb"\bsk-ant-" + _TOKEN + rb"{16}", rest=_MORE),
    Shape(name="an OpenRouter key", first=b"s", find=rb"\bsk-or-" + _TOKEN + rb"{16}", rest=_MORE),
    Shape(
        name="an OpenAI key",
        first=b"s",
        find=rb"\bsk-(?:proj|svcacct|admin)-" + _TOKEN + rb"{16}",
        rest=_MORE,
    ),
    Shape(
        name="an OpenAI key",
        first=b"s",
        find=rb"\bsk-" + _TOKEN + rb"{16}",
        rest=_MORE,
        guard=looks_random,
    ),
    Shape(
        name="a Daytona key",
        first=b"d",
        find=rb"\bdtn_[A-Za-z0-9]{16}",
        rest=rb"[A-Za-z0-9]{0,512}",
    ),
    Shape(
        name="a named provider key",
        first=b"oOdD",
        find=rb"(?i:openrouter|daytona)[_-]?(?i:api)?[_-]?(?i:key)[\"'=: ]{1,6}[A-Za-z0-9._-]{12}",
        rest=rb"[A-Za-z0-9._-]{0,512}",
        guard=looks_random,
    ),
    Shape(
        name="a GitHub token",
        first=b"g",
        find=rb"\bgh[pousr]_[A-Za-z0-9][A-Za-z0-9_.-]{29}",
        rest=rb"[A-Za-z0-9_.-]{0,2048}",
        guard=looks_random,
    ),
    Shape(name="a GitHub token", first=b"g", find=rb"\bgithub_pat_[A-Za-z0-9_]{22}", rest=_MORE),
    Shape(name="an AWS key id", first=b"A", find=rb"\bAKIA[A-Z2-7]{16}\b"),
    Shape(name="an AWS key id", first=b"A", find=rb"\bASIA[A-Z2-7]{16}\b", guard=_has_digit),
    Shape(
        name="an AWS secret key",
        first=b"aA",
        find=rb"(?i:aws_?secret_?access_?key)[\"'=: ]{1,6}[A-Za-z0-9/+]{40}",
    ),
    Shape(name="a Google key", first=b"A", find=rb"\bAIza" + _TOKEN + rb"{35}", guard=looks_random),
    Shape(name="a Google token", first=b"y", find=rb"\bya29\." + _TOKEN + rb"{20}", rest=_MORE),
    Shape(
        name="a Google client secret",
        first=b"G",
        find=rb"\bGOCSPX-" + _TOKEN + rb"{24}",
        rest=_MORE,
    ),
    Shape(
        name="a Slack token",
        first=b"x",
        find=rb"\bxox[abeoprs]-[A-Za-z0-9-]{10}",
        rest=rb"[A-Za-z0-9-]{0,512}",
        guard=_has_digit,
    ),
    Shape(
        name="a Slack token",
        first=b"x",
        find=rb"\bxapp-[0-9]-[A-Za-z0-9-]{10}",
        rest=rb"[A-Za-z0-9-]{0,512}",
    ),
    Shape(
        name="a Slack webhook",
        first=b"h",
        find=rb"\bhooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/]{18}",
        rest=rb"[A-Za-z0-9/]{0,512}",
        guard=_has_digit,
    ),
    Shape(
        name="a private key",
        first=b"-",
        find=rb"-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----",
        rest=_BASE64
        + rb"{0,12288}(?:-[A-Za-z0-9]"
        + _BASE64
        + rb"{0,128}){0,16}(?:-----END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----)?",
        guard=_has_key_body,
    ),
    Shape(
        name="a JSON web token",
        first=b"e",
        find=rb"\beyJ[A-Za-z0-9_-]{8}",
        rest=rb"[A-Za-z0-9_-]{0,1024}\.[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{16,1024}",
        guard=_is_jwt,
    ),
    Shape(
        name="a bearer header",
        first=b"bB",
        find=rb"(?i:\bbearer)\s{1,4}[A-Za-z0-9._~+/=-]{16}",
        rest=rb"[A-Za-z0-9._~+/=-]{0,8192}",
        guard=looks_random,
        leak=False,
        keep=rb"\S+\s+",
    ),
    Shape(
        name="an assignment to a secret name",
        first=b"xXaArRcCpP",
        find=rb"(?i:\bx-api-key|api[_-]?key|access[_-]?token|refresh[_-]?token"
        rb"|client[_-]?secret|passw(?:or)?d)\\?[\"']?\s?[=:]\s?\\?[\"']?[A-Za-z0-9._~+/=-]{8}",
        rest=rb"[A-Za-z0-9._~+/=-]{0,512}",
        guard=_has_digit,
        leak=False,
        keep=rb"[^=:]+[=:]\s?\\?[\"']?",
    ),
    Shape(
        name="a password in a URL",
        first=string.ascii_lowercase.encode(),
        find=rb"\b[a-z][a-z0-9+.-]{1,20}://[^/\s:@\"']{0,64}:[^/\s:@\"']{3,128}@",
        leak=False,
        keep=rb"[^:]+://",
    ),
)
"""The narrow before the wide: the first that matches at a place names it."""
