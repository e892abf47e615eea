"""JavaScript regexes on the ``regex`` engine, which can be stopped while it searches.

A catalog is also read by people who know the contract from TypeScript, so its patterns mean what
they mean there. What has no meaning in JavaScript is refused, also where ``regex`` has one.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache

import regex

from runner_e2e.catalog.expressions import ExpressionError

MAX_PATTERN = 10_000
MAX_GROUP_DEPTH = 100
MAX_EXPANSION = 100_000
"""The regex compiler writes fixed repeats out: ``(?:a{9999}){9999}`` would eat the machine."""

MAX_DIGITS = 9
"""Of a number of repeats; the engine counts in 32 bits."""

_SPACE_RANGES = (
    *((9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029)),
    *((0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
)
_CLASSES = {
    "d": ((48, 57),),
    "w": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "s": _SPACE_RANGES,
}
_LINE_ENDS = r"\n\r\u2028\u2029"
_CONTROL = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
_WORD = r"(?-i:[0-9A-Za-z_])"
_GROUPS = re.compile(r"\\.|\[(?:[^\]\\]|\\.)*\]|(\((?!\?))|\(\?<(?![=!])([^>()]*)>", re.DOTALL)
"""Where capturing groups open; escapes and brackets are passed over."""
_BOUNDARY = rf"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))"


@lru_cache(maxsize=256)
def compile_regex(pattern: str, flags: str) -> regex.Pattern[str]:
    r"""Compile a JavaScript regex for searching.

    Flags ``i m s u`` act; ``g y d`` mean nothing to a search and are ignored. ``\d \w \b`` are
    ASCII and ``$`` without ``m`` is the end of the text, as in JavaScript. Raises
    :class:`ExpressionError`.
    """
    for flag in flags:
        if flag == "v":
            raise ExpressionError("the regex flag 'v' is not supported; use 'u'")
        if flag not in "imsugyd":
            raise ExpressionError(f"{flag!r} is no regex flag; there are i, m, s, u, g, y and d")
        if flags.count(flag) > 1:
            raise ExpressionError(f"the regex flag {flag!r} is given twice")
    if len(pattern) > MAX_PATTERN:
        raise ExpressionError(f"the regex is longer than {MAX_PATTERN} characters")
    translated = _Translator(pattern, flags).translate()
    try:
        return regex.compile(translated, regex.V0 | (regex.I if "i" in flags else 0))
    except (regex.error, RecursionError, OverflowError) as error:
        raise ExpressionError(f"the regex {pattern!r} is wrong: {error}") from None


def _ranges(letter: str) -> str:
    r"""Write ``\d \w \s`` or, by the capital letter, everything else, for inside brackets."""
    ranges = _CLASSES[letter.lower()]
    if letter.isupper():
        edges = [-1, *(edge for pair in ranges for edge in pair), 0x110000]
        # What lies between the ranges: from one past each end to one before the next start.
        pairs = zip(edges[::2], edges[1::2], strict=True)
        ranges = tuple((low + 1, high - 1) for low, high in pairs if low + 1 < high)
    return "".join(f"{_literal(chr(a))}-{_literal(chr(b))}" for a, b in ranges)


def _literal(character: str) -> str:
    if character.isascii() and character.isalnum():
        return character
    return f"\\U{ord(character):08X}"


class _Translator:
    """Rewrites a JavaScript pattern, character by character, in the syntax of ``regex``."""

    def __init__(self, pattern: str, flags: str) -> None:
        self.pattern = pattern
        self.flags = flags
        self.at = 0
        self.output: list[str] = []
        self.repeatable = False
        # Per open group: what it comes to when written out, and its last atom.
        self.sizes: list[list[int]] = [[0, 0]]
        self.names = [match[2] or "" for match in _GROUPS.finditer(pattern) if match[0][0] == "("]

    def fault(self, reason: str) -> ExpressionError:
        return ExpressionError(f"the regex {self.pattern[:200]!r} is wrong: {reason}")

    def take(self, expression: str) -> re.Match[str] | None:
        match = re.compile(expression, re.DOTALL).match(self.pattern, self.at)
        if match:
            self.at = match.end()
        return match

    def atom(self, text: str, *, repeatable: bool = True) -> None:
        self.output.append(text)
        self.repeatable = repeatable
        self.sizes[-1][0] += 1
        self.sizes[-1][1] = 1

    def translate(self) -> str:
        while self.at < len(self.pattern):
            self.step()
        if len(self.sizes) > 1:
            raise self.fault("a group is not closed")
        return "".join(self.output)

    def step(self) -> None:
        if match := self.take(r"[*+?]|\{(\d+)(,(\d*))?\}"):
            self.quantifier(match)
        elif self.take(r"\\"):
            self.escape()
        elif self.take(r"\["):
            self.bracket()
        elif match := self.take(r"\((\?(?:[:=!]|<[=!]|<[^>()]*>|[^:=!<]|$|<))?"):
            self.open_group(match[1] or "")
        elif self.take(r"\)"):
            self.close_group()
        elif self.take(r"\|"):
            self.output.append("|")
            self.repeatable = False
        elif match := self.take(r"[.^$]"):
            self.atom(self.symbol(match[0]), repeatable=match[0] == ".")
        else:
            character = self.pattern[self.at]
            if "u" in self.flags and character in "{}]":
                raise self.fault(f"{character!r} must be escaped under the flag 'u'")
            self.at += 1
            self.atom(_literal(character))

    def symbol(self, symbol: str) -> str:
        if symbol == ".":
            return "(?s:.)" if "s" in self.flags else f"[^{_LINE_ENDS}]"
        if symbol == "^":
            return rf"(?:\A|(?<=[{_LINE_ENDS}]))" if "m" in self.flags else r"\A"
        return rf"(?:\Z|(?=[{_LINE_ENDS}]))" if "m" in self.flags else r"\Z"

    def quantifier(self, match: re.Match[str]) -> None:
        if not self.repeatable:
            raise self.fault(f"there is nothing to repeat before {match[0]!r}")
        times = 1
        if max(len(match[1] or ""), len(match[3] or "")) > MAX_DIGITS:
            raise self.fault(f"{match[0][:20]!r} repeats too often")
        if match[1] is not None:
            times = int(match[1])
            if match[3] and int(match[3]) < times:
                raise self.fault(f"{match[0]!r} counts down")
        size = self.sizes[-1]
        size[0] += size[1] * max(times - 1, 0)
        size[1] *= max(times, 1)
        if size[0] > MAX_EXPANSION:
            raise self.fault(f"its repeats come to more than {MAX_EXPANSION} characters")
        lazy = self.take(r"\?")
        self.output.append(match[0] + ("?" if lazy else ""))
        self.repeatable = False

    def open_group(self, kind: str) -> None:
        if kind in {"?:", "?=", "?!", "?<=", "?<!"}:
            self.output.append(f"({kind}")
        elif kind.startswith("?<") and kind.endswith(">"):
            name = kind[2:-1]
            if not re.fullmatch(r"[\w$]+", name) or name[0].isdigit():
                raise self.fault(f"{name!r} is no name for a group")
            if self.names.count(name) > 1:
                raise self.fault(f"two groups are called {name!r}")
            self.output.append("(")
        elif kind:
            raise self.fault(f"JavaScript has no group that begins with '({kind}'")
        else:
            self.output.append("(")
        if len(self.sizes) > MAX_GROUP_DEPTH:
            raise self.fault(f"groups are nested deeper than {MAX_GROUP_DEPTH}")
        self.sizes.append([0, 0])
        self.repeatable = False

    def close_group(self) -> None:
        if len(self.sizes) == 1:
            raise self.fault("a group is closed that was not opened")
        size = self.sizes.pop()[0] + 1
        self.output.append(")")
        self.sizes[-1][0] += size
        self.sizes[-1][1] = size
        self.repeatable = True
        if self.sizes[-1][0] > MAX_EXPANSION:
            raise self.fault(f"its repeats come to more than {MAX_EXPANSION} characters")

    def escape(self) -> None:
        if match := self.take(r"[dDwWsS]"):
            self.atom(f"(?-i:[{_ranges(match[0])}])")
        elif self.take(r"b"):
            self.atom(_BOUNDARY, repeatable=False)
        elif self.take(r"B"):
            self.atom(f"(?!{_BOUNDARY})", repeatable=False)
        elif match := self.take(r"[1-9]\d*"):
            self.reference(int(match[0]))
        elif any(self.names) and (match := self.take(r"k<([^>]*)>")):
            if match[1] not in self.names:
                raise self.fault(f"no group is called {match[1]!r}")
            self.reference(self.names.index(match[1]) + 1)
        elif text := self.property():
            self.atom(text)
        else:
            self.atom(_literal(self.character()))

    def reference(self, number: int) -> None:
        if number > len(self.names):
            raise self.fault(f"there is no group {number}")
        # In JavaScript a group that took no part matches the empty text.
        self.atom(rf"(?:(?({number})\{number}|))")

    def property(self) -> str | None:
        match = self.take(r"[pP]\{[\w=]+\}") if "u" in self.flags else None
        return f"\\{match[0]}" if match else None

    def character(self) -> str:
        """Read what stands after a backslash as one character."""
        if self.take(r"0(?!\d)"):
            return "\0"
        if match := self.take(r"c([A-Za-z])"):
            return chr(ord(match[1]) % 32)
        if (number := self.hexadecimal()) is not None:
            return number
        match = self.take(r".")
        if match is None:
            raise self.fault("it ends in a backslash")
        if match[0] in _CONTROL:
            return _CONTROL[match[0]]
        if match[0].isalnum() and ("u" in self.flags or match[0].isdigit()):
            raise self.fault(f"'\\{match[0]}' means nothing")
        return match[0]

    def hexadecimal(self) -> str | None:
        if match := self.take(r"u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})"):
            return bytes.fromhex(match[1] + match[2]).decode("utf-16-be")
        match = self.take(r"x([\da-fA-F]{2})|u([\da-fA-F]{4})")
        if match is None and "u" in self.flags:
            match = self.take(r"u\{(0*[\da-fA-F]{1,6})\}")
        if match is None:
            return None
        number = int(match[1] or match[2], 16)
        if number > sys.maxunicode:
            raise self.fault(f"{match[0]!r} is past the last code point")
        return chr(number)

    def bracket(self) -> None:
        negated = self.take(r"\^")
        items: list[str] = []
        while not self.take(r"\]"):
            low, single = self.member()
            if not (self.take(r"-(?!\])")):
                items.append(low)
                continue
            high, high_single = self.member()
            if single is None or high_single is None:
                if "u" in self.flags:
                    raise self.fault("a range in brackets goes from character to character")
                items.extend((low, _literal("-"), high))
            elif single > high_single:
                raise self.fault(f"the range {single}-{high_single} counts down")
            else:
                items.append(f"{low}-{high}")
        if items:
            self.atom(f"[{'^' if negated else ''}{''.join(items)}]")
        else:
            self.atom("(?s:.)" if negated else "(?!)")

    def member(self) -> tuple[str, str | None]:
        r"""One member of brackets and, where it is one character, that character."""
        if self.take(r"\\"):
            if match := self.take(r"[dDwWsS]"):
                return _ranges(match[0]), None
            if text := self.property():
                return text, None
            character = "\b" if self.take(r"b") else self.character()
        elif match := self.take(r"."):
            character = match[0]
        else:
            raise self.fault("a bracket is not closed")
        return _literal(character), character
