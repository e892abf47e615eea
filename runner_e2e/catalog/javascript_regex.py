"""A JavaScript regular expression in the dialect of the ``regex`` package."""

from __future__ import annotations

import re

_CODE_POINT = re.compile(r"u\{([0-9a-fA-F]{1,6})\}")
_NAME = re.compile(r"k<([A-Za-z_$][A-Za-z0-9_$]*)>")
_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_"}
_BOUNDS = re.compile(r"[0-9]+(,[0-9]*)?\}")
_SHARED_ESCAPES = "bfnrtvsSpPux"
_LINE_ENDS = r"\n\r\u2028\u2029"


def translate(pattern: str, flags: str) -> str:
    r"""Say the same in the other dialect. Raises ``ValueError`` for what has no translation.

    What differs: ``\d \w \b`` know only ASCII, ``$`` without ``m`` is the very end, ``.`` stops at
    four kinds of line end, ``[]`` and ``[^]`` are sets, a ``[`` inside a set is a character, and
    the other dialect's own extensions (fuzzy matching, inline flags, possessive repeats) do not
    exist.
    """
    return _Translation(pattern, flags).run()


class _Translation:
    def __init__(self, pattern: str, flags: str) -> None:
        self._pattern = pattern
        self._multiline = "m" in flags
        self._dot_all = "s" in flags
        self._at = 0

    def run(self) -> str:
        parts: list[str] = []
        while self._at < len(self._pattern):
            parts.append(self._next())
        return "".join(parts)

    def _next(self) -> str:
        character = self._pattern[self._at]
        self._at += 1
        rest = self._pattern[self._at :]
        result = character
        if character == "\\":
            result = self._escape()
        elif character == "[":
            result = self._set()
        elif character == "(":
            result = self._group()
        elif character == "$" and not self._multiline:
            result = r"\Z"
        elif character == "." and not self._dot_all:
            result = f"[^{_LINE_ENDS}]"
        elif character in "*+?}" and rest.startswith("+"):
            # The other dialect would read a possessive repeat.
            raise ValueError(f"nothing to repeat at character {self._at + 1} of {self._pattern!r}")
        elif character == "{" and not _BOUNDS.match(rest):
            result = r"\{"
        return result

    def _group(self) -> str:
        rest = self._pattern[self._at :]
        if rest.startswith("?") and not re.match(r"\?(:|=|!|<=|<!|<[A-Za-z_$])", rest):
            raise ValueError(f"the group ({rest[:3]} is not JavaScript in {self._pattern!r}")
        return "("

    def _set(self) -> str:
        negated = self._pattern.startswith("^", self._at)
        self._at += negated
        parts: list[str] = []
        opposites: list[str] = []
        while not self._pattern.startswith("]", self._at):
            if self._at >= len(self._pattern):
                raise ValueError(f"a [ is never closed in {self._pattern!r}")
            character = self._pattern[self._at]
            self._at += 1
            following = self._pattern[self._at : self._at + 1]
            if character == "\\" and following.lower() in _CLASSES:
                members = _CLASSES[following.lower()]
                (opposites if following.isupper() else parts).append(members)
                self._at += 1
            elif character == "\\":
                parts.append(self._character())
            else:
                parts.append(f"\\{character}" if character in "[&~|^" else character)
        self._at += 1
        return _joined_set("".join(parts), opposites, negated=negated)

    def _escape(self) -> str:
        """An escape outside of a set."""
        character = self._pattern[self._at : self._at + 1]
        if character.lower() in _CLASSES:
            self._at += 1
            return f"[{'^' if character.isupper() else ''}{_CLASSES[character.lower()]}]"
        if character in {"b", "B"}:
            self._at += 1
            return f"(?a:\\{character})"
        match = _NAME.match(self._pattern, self._at)
        if match is not None:
            self._at = match.end()
            return f"(?P={match[1]})"
        return self._character()

    def _character(self) -> str:
        """An escape that stands for the same in a set and outside of one."""
        character = self._pattern[self._at : self._at + 1]
        if not character:
            raise ValueError(f"{self._pattern!r} ends in the middle of an escape")
        self._at += 1
        match = _CODE_POINT.match(self._pattern, self._at - 1)
        if match is not None:
            self._at = match.end()
            return f"\\U{int(match[1], 16):08x}"
        if character == "0":
            return r"\x00"
        if character.isalpha() and character not in _SHARED_ESCAPES:
            # JavaScript reads the letter itself, the other dialect perhaps something else.
            return character
        return f"\\{character}"


def _joined_set(members: str, opposites: list[str], *, negated: bool) -> str:
    """A set as alternatives: the other dialect cannot hold an opposite that is only ASCII."""
    choices = [f"[{members}]"] if members else []
    choices += [f"[^{opposite}]" for opposite in opposites]
    if not choices:
        return r"[\s\S]" if negated else r"(?!)"
    if negated:
        return "".join(f"(?!{choice})" for choice in choices) + r"[\s\S]"
    return choices[0] if len(choices) == 1 else f"(?:{'|'.join(choices)})"
