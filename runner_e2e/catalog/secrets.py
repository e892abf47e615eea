"""Secrets in a payload: named by ``$secretRef``, never written out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from runner_e2e.catalog.quoting import holds_key
from runner_e2e.catalog.source import Place
from runner_e2e.catalog.wording import nearest, shown
from runner_e2e.contracts.scalars import JsonValue
from runner_e2e.errors import Problem

SECRET_REF = "$secretRef"  # noqa: S105 - the key that names a secret

_REVOKE = "name the credential: {$secretRef: NAME}; and revoke the key"

# Reference 1.8 rule 10: the names that only a secret stands under.
_SECRET_KEY = re.compile(r"(?:api[-_ ]?key|access[-_ ]?token|credential|secret)$", re.IGNORECASE)


def secret_problems(payload: JsonValue, place: Place, known: Collection[str]) -> Iterator[Problem]:
    """Everything about secrets that is wrong in a payload."""
    # All texts at once: a payload without any key, as nearly all are, is searched only once.
    suspect = holds_key("\n".join(_texts(payload)))
    yield from _problems(payload, place, known, suspect=suspect)


def _texts(payload: JsonValue) -> Iterator[str]:
    if isinstance(payload, str):
        yield payload
    elif isinstance(payload, list):
        for item in payload:
            yield from _texts(item)
    elif isinstance(payload, dict):
        for key, item in payload.items():
            yield key
            yield from _texts(item)


def _problems(
    payload: JsonValue, place: Place, known: Collection[str], *, suspect: bool
) -> Iterator[Problem]:
    if isinstance(payload, dict):
        if SECRET_REF in payload:
            yield from _reference_problems(payload, place, known)
            return
        for key, value in payload.items():
            if suspect and holds_key(key):
                yield place.problem("a key of this mapping is shaped like a secret", hint=_REVOKE)
            if isinstance(value, str) and value.strip() and _SECRET_KEY.search(key):
                yield (place / key).problem(
                    "a raw secret may not stand in a catalog",
                    hint="name the credential: {$secretRef: NAME}",
                )
            else:
                yield from _problems(value, place / key, known, suspect=suspect)
    elif isinstance(payload, list):
        for index, value in enumerate(payload):
            yield from _problems(value, place / index, known, suspect=suspect)
    elif suspect and isinstance(payload, str) and holds_key(payload):
        # The text is not repeated: this message is printed in logs.
        yield place.problem("this text holds what looks like a provider's key", hint=_REVOKE)


def _reference_problems(
    payload: dict[str, JsonValue], place: Place, known: Collection[str]
) -> Iterator[Problem]:
    for key in payload.keys() - {SECRET_REF}:
        yield (place / key).problem(f"{SECRET_REF} must stand alone", key=True)
    name = payload[SECRET_REF]
    if not isinstance(name, str):
        yield (place / SECRET_REF).problem("must be the name of a credential")
    elif name not in known:
        yield (place / SECRET_REF).problem(
            f"{shown(name)} is not a known credential",
            hint=nearest(name, known) or "declare it under credentials",
        )


def secret_names(payload: JsonValue) -> frozenset[str]:
    """The credentials that a payload asks for. Their values must be set where it runs."""
    if isinstance(payload, dict):
        name = payload.get(SECRET_REF)
        if isinstance(name, str):
            return frozenset({name})
        return frozenset().union(*map(secret_names, payload.values()))
    if isinstance(payload, list):
        return frozenset().union(*map(secret_names, payload))
    return frozenset()
