"""List prices of environments. A price without a date and a source is not a price."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from runner_e2e.contracts.base import Document
from runner_e2e.contracts.scalars import Amount, HttpUrl
from runner_e2e.contracts.vocabulary import EnvironmentId


class RuntimePrices(Document):
    """What an hour costs in US dollars, as a public page said on a day (``YYYY-MM-DD``).

    Credits, discounts and free allowances are left out on purpose: they are not the list price.
    """

    provider: EnvironmentId
    as_of: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    url: HttpUrl
    cpu_core_hour_usd: Amount
    memory_gib_hour_usd: Annotated[Amount, Field(alias="memoryGiBHourUsd")]
    disk_gib_hour_usd: Annotated[Amount, Field(alias="diskGiBHourUsd")]

    def hourly(self, *, cpu: float, memory_gib: float, disk_gib: float) -> float:
        """US dollars for an hour of this size."""
        return (
            cpu * self.cpu_core_hour_usd
            + memory_gib * self.memory_gib_hour_usd
            + disk_gib * self.disk_gib_hour_usd
        )


DAYTONA_PRICES: tuple[RuntimePrices, ...] = (
    RuntimePrices(
        provider="daytona",
        as_of="2026-08-27",
        url="https://www.daytona.io/pricing",
        cpu_core_hour_usd=0.0504,
        memory_gib_hour_usd=0.0162,
        disk_gib_hour_usd=0.000108,
    ),
)
"""Oldest first. A new price is a new row; an old campaign keeps the price of its day."""


def prices_at(moment: datetime, table: Sequence[RuntimePrices]) -> RuntimePrices:
    """Pick the newest prices that were known at ``moment``, else the oldest of the table."""
    day = moment.astimezone(UTC).date().isoformat()
    known = [prices for prices in table if prices.as_of <= day]
    return known[-1] if known else table[0]
