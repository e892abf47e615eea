"""Read the declarations of the wire contract, as far as its file uses TypeScript.

Types come out in a small normal form, so that another description of the same JSON can be compared
with it: references are followed, ``readonly`` is dropped, the results of ``build...`` functions
stand for the functions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scalar:
    """``string``, ``number``, ``boolean``, ``null`` or ``unknown``."""

    name: str


@dataclass(frozen=True, slots=True)
class Words:
    """One of some strings."""

    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    item: Type


@dataclass(frozen=True, slots=True)
class Entries:
    """An object whose keys are free."""

    value: Type


@dataclass(frozen=True, slots=True)
class Fields:
    """An object. Each field has its type and whether it may be absent."""

    fields: Mapping[str, tuple[Type, bool]]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of several types that are not all words."""

    members: tuple[Type, ...]


Type = Scalar | Words | Items | Entries | Fields | AnyOf

TOKEN = re.compile(r'"[^"]*"|\w+|[{}()\[\]<>|;:,?=]')
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


class Declarations:
    """The exported types of one file, by name."""

    def __init__(self, text: str) -> None:
        self._tokens: list[str] = TOKEN.findall(COMMENT.sub("", text))
        self._starts: dict[str, int] = {}
        self._at = 0
        self.constants: dict[str, tuple[str, ...]] = {}
        tokens = self._tokens
        for index, token in enumerate(tokens):
            if token == "export":
                kind, name = tokens[index + 1 : index + 3]
                if kind == "const":
                    end = tokens.index("]", index)
                    words = [word.strip('"') for word in tokens[index:end] if word[0] == '"']
                    self.constants[name] = tuple(words)
                else:
                    # An interface begins with its brace, an alias after its equals sign.
                    self._starts[name] = index + (3 if kind == "interface" else 4)
        self.names = frozenset(self._starts)

    def type(self, name: str) -> Type:
        """The exported type ``name`` in normal form."""
        before, self._at = self._at, self._starts[name]
        try:
            return self._union()
        finally:
            self._at = before

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, *expected: str) -> bool:
        """Go past ``expected`` if it comes next."""
        found = tuple(self._tokens[self._at : self._at + len(expected)]) == expected
        if found:
            self._at += len(expected)
        return found

    def _expect(self, *expected: str) -> None:
        assert self._take(*expected), (expected, self._tokens[self._at : self._at + 5])

    def _union(self) -> Type:
        self._take("|")
        members = [self._postfix()]
        while self._take("|"):
            members.append(self._postfix())
        return either(members)

    def _postfix(self) -> Type:
        self._take("readonly")
        found = self._primary()
        while self._take("["):
            if self._take("]"):
                found = Items(found)
            else:
                key = self._next().strip('"')
                self._expect("]")
                assert isinstance(found, Fields)
                found = found.fields[key][0]
        return found

    def _primary(self) -> Type:
        match self._next():
            case "{":
                found: Type = self._object()
            case "[":
                found = self._list()
            case "(":
                self._expect("typeof")
                found = Words(frozenset(self.constants[self._next()]))
                self._expect(")", "[", "number", "]")
            case ("string" | "number" | "boolean" | "null" | "unknown") as name:
                found = Scalar(name)
            case word if word.startswith('"'):
                found = Words(frozenset([word.strip('"')]))
            case name:
                found = self._generic(name) if self._take("<") else self.type(name)
        return found

    def _list(self) -> Items:
        members = [self._union()]
        while self._take(","):
            members.append(self._union())
        self._expect("]")
        return Items(either(members))

    def _generic(self, name: str) -> Type:
        arguments = [self._union()]
        while not self._take(">"):
            self._take(",")
            if self._tokens[self._at] != ">":
                arguments.append(self._union())
        match name, arguments:
            case "Readonly", [only]:
                return only
            case "Array", [item]:
                return Items(item)
            case "Record", [Words(keys), value]:
                return Fields(dict.fromkeys(keys, (value, False)))
            case "Record", [Scalar("string"), value]:
                return Entries(value)
            case "Partial", [Fields(fields)]:
                return Fields({key: (value, True) for key, (value, _) in fields.items()})
            case "Exclude", [Words(words), Words(excluded)]:
                return Words(words - excluded)
            case _:
                raise NotImplementedError(f"{name}<{arguments}>")

    def _object(self) -> Fields:
        fields: dict[str, tuple[Type, bool]] = {}
        while not self._take("}"):
            name = self._next()
            optional = self._take("?")
            if self._take("("):
                while not self._take(")"):
                    self._at += 1
            self._expect(":")
            fields[name] = (self._union(), optional)
            self._take(";")
        return Fields(fields)


def either(members: list[Type]) -> Type:
    """The union of ``members``."""
    flat: list[Type] = []
    words: set[str] = set()
    for member in members:
        for part in member.members if isinstance(member, AnyOf) else (member,):
            if isinstance(part, Words):
                words |= part.words
            elif part not in flat:
                flat.append(part)
    if words:
        flat.append(Words(frozenset(words)))
    return flat[0] if len(flat) == 1 else AnyOf(tuple(flat))
