"""What the presets have in common: reading JSON lines, counting tokens, naming failures.

The lines are a program's own, but what stands in their texts is the model's. So only fields with a
fixed meaning decide on a class, and no message repeats what the program wrote.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import orjson

from runner_e2e.contracts.catalog import ModelPrices
from runner_e2e.contracts.scalars import MAX_SAFE_INTEGER, JsonObject
from runner_e2e.failures import (
    CandidateFailure,
    ExecutionError,
    InfrastructureText,
    PermanentInfrastructure,
    ProviderVariance,
    TransientInfrastructure,
    classify_http,
)

OVERLOADED = 529
"""The status with which Anthropic says that it has too much to do."""
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens in normal form: no part is counted in another one."""

    fresh: int = 0
    cached: int = 0
    written: int = 0
    """Input that was written to the provider's cache."""
    output: int = 0
    """Reasoning included."""

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(**{one.name: _of(self, one) + _of(other, one) for one in fields(self)})

    def since(self, earlier: Tokens) -> Tokens:
        """What came on top of ``earlier``, for a program that counts on over all turns."""
        return Tokens(
            **{one.name: max(0, _of(self, one) - _of(earlier, one)) for one in fields(self)}
        )

    @property
    def total(self) -> int:
        """All of them."""
        return self.fresh + self.cached + self.written + self.output

    def cost(self, prices: ModelPrices) -> float:
        """US dollars by these prices."""
        cached = prices.input if prices.cached_input is None else prices.cached_input
        written = prices.input if prices.cache_write is None else prices.cache_write
        parts = (
            self.fresh * prices.input,
            self.cached * cached,
            self.written * written,
            self.output * prices.output,
        )
        return math.fsum(parts) / _MILLION


def _of(tokens: Tokens, one: Any) -> int:
    return int(getattr(tokens, one.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """What a program says it used, where that goes on over all turns of a session."""

    tokens: Tokens = Tokens()
    cost: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A turn, as its program told it."""

    message: str | None = None
    """The final answer."""
    session_id: str | None = None
    heard: bool = False
    """The model has answered something, so the session is there to go on with."""
    model: str | None = None
    tokens: Tokens | None = None
    """Of this turn alone."""
    cost: float | None = None
    """The program's own figure for this turn; ``None`` where it has none."""
    failure: ExecutionError | None = None
    sums: Sums = field(default_factory=Sums)

    def usage(self, prices: ModelPrices | None) -> JsonObject | None:
        """The usage event's fields, ``None`` where nothing was told."""
        if self.tokens is None:
            return None
        usage: JsonObject = {
            "inputTokens": self.tokens.fresh + self.tokens.written,
            "cachedInputTokens": self.tokens.cached,
            "outputTokens": self.tokens.output,
            "cacheWriteTokens": self.tokens.written,
        }
        if prices is not None:
            usage["costUsd"] = self.tokens.cost(prices)
            usage["costSource"] = "catalog_prices"
            usage["pricesAsOf"], usage["pricesUrl"] = prices.as_of, prices.url
        elif self.cost is not None:
            usage["costUsd"], usage["costSource"] = self.cost, "agent_program"
        return usage


def json_lines(data: bytes) -> list[JsonObject]:
    """The objects among the lines; what else a program prints is for its log."""
    found: list[JsonObject] = []
    for line in data.splitlines():
        if not line.startswith(b"{"):
            continue
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def at(value: object, *keys: str) -> Any:
    """The value below these keys; ``None`` where any is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def count(value: object, *keys: str) -> int:
    """A number of tokens; what is none counts nothing."""
    found = at(value, *keys)
    sound = isinstance(found, int) and not isinstance(found, bool)
    return found if sound and 0 <= found <= MAX_SAFE_INTEGER else 0


def amount(value: object, *keys: str) -> float | None:
    """An amount of money, where there is one."""
    found = at(value, *keys)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return float(found) if 0 <= found <= MAX_SAFE_INTEGER else None


def text(value: object, *keys: str) -> str | None:
    """A text, where there is one."""
    found = at(value, *keys)
    return found if isinstance(found, str) else None


def provider_failure(program: str, status: int, words: str) -> ExecutionError:
    """The failure of a turn to which the provider answered with an error status."""
    said = f"{program} gave up: the provider answered {status}"
    if status == OVERLOADED:
        return ProviderVariance("overloaded", f"{said}, overloaded")
    failure_class, code = classify_http(status, InfrastructureText(words))
    if failure_class == "transient_infrastructure":
        return TransientInfrastructure(code, said)
    return PermanentInfrastructure(code, said, hint="the turn's logs hold the provider's words")


def unreachable(program: str) -> ExecutionError:
    """The failure of a turn whose provider could not be reached."""
    return TransientInfrastructure(
        "connection_lost", f"{program} gave up: it lost the connection to the provider"
    )


def timed_out(program: str) -> ExecutionError:
    """The failure of a turn whose provider went silent."""
    return TransientInfrastructure("timeout", f"{program} gave up: the provider went silent")


def unfinished(program: str, reason: str) -> ExecutionError:
    """The failure of a turn that ended without saying that it was done."""
    return CandidateFailure("agent_unfinished", f"{program} {reason}")
