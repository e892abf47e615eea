"""What the environment was used for and, by list price, what that comes to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from runner_e2e.billing.prices import DAYTONA_PRICES, RuntimePrices, prices_at
from runner_e2e.billing.usage import exact_sum
from runner_e2e.contracts.billing import RuntimeUsage
from runner_e2e.contracts.timestamps import parse_timestamp
from runner_e2e.contracts.vocabulary import EnvironmentId

MILLISECONDS_PER_HOUR = 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpan:
    """When a run of the agent began and ended, as timestamps, as far as that is known."""

    started_at: str | None
    finished_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """One sandbox, its times and its size (cores, GiB, GiB), as far as that is known."""

    acquired_at: str
    released_at: str | None = None
    updated_at: str | None = None
    cpu: float | int | None = None
    memory_gib: float | int | None = None
    disk_gib: float | int | None = None


def runtime_usage(
    environment: EnvironmentId,
    runs: Iterable[RunSpan],
    leases: Sequence[Lease] = (),
    *,
    finished_at: str | None = None,
    table: Sequence[RuntimePrices] = DAYTONA_PRICES,
) -> RuntimeUsage:
    """Work out the runtime usage of one attempt.

    A lease ends when it was released, else with the attempt (``finished_at``), else when it was
    last seen. One lease whose time or size is unknown makes the cost ``unavailable``.
    """
    duration = sum(_milliseconds(run.started_at, run.finished_at) or 0 for run in runs)
    if environment == "local":
        return _local(duration)
    times = [
        _milliseconds(lease.acquired_at, lease.released_at or finished_at or lease.updated_at)
        for lease in leases
    ]
    fields: dict[str, Any] = {
        "provider": environment,
        "agent_run_duration_ms": duration,
        "lease_duration_ms": sum(time or 0 for time in times) if leases else None,
        "lease_count": len(leases),
        **_agreed_size(leases),
    }
    priced = [
        _priced(lease, time, table)
        for lease, time in zip(leases, times, strict=True)
        if time is not None
    ]
    known = [price for price in priced if price is not None]
    if not leases or len(known) < len(leases):
        return RuntimeUsage(
            **fields, cost_status="unavailable", cost_source="provider_cost_unavailable"
        )
    return RuntimeUsage(
        **fields,
        estimated_list_cost_usd=exact_sum(cost for cost, _ in known),
        cost_status="estimated",
        cost_source="daytona_public_list_price",
        pricing_as_of=known[-1][1].as_of,
        pricing_url=known[-1][1].url,
    )


def add_runtime(parts: Sequence[RuntimeUsage]) -> RuntimeUsage:
    """Sum up the runtime usage of all attempts of one execution; there must be one at least.

    A cost that is unknown in one attempt is unknown in the sum.
    """
    if len(parts) == 1:
        return parts[0]
    durations = [part.lease_duration_ms for part in parts if part.lease_duration_ms is not None]
    fields: dict[str, Any] = {
        "provider": parts[0].provider,
        "agent_run_duration_ms": sum(part.agent_run_duration_ms for part in parts),
        "lease_duration_ms": sum(durations) if durations else None,
        "lease_count": sum(part.lease_count for part in parts),
    }
    for name in ("cpu_cores", "memory_gib", "disk_gib"):
        sizes = {getattr(part, name) for part in parts}
        if len(sizes) == 1:
            fields[name] = sizes.pop()
    # The worst known status speaks for all: what cannot be priced hides nothing.
    last = max(parts, key=lambda part: _STATUS_RANK[part.cost_status])
    if last.cost_status == "estimated":
        fields["estimated_list_cost_usd"] = exact_sum(
            part.estimated_list_cost_usd or 0 for part in parts
        )
        fields |= {"pricing_as_of": last.pricing_as_of, "pricing_url": last.pricing_url}
    return RuntimeUsage(**fields, cost_status=last.cost_status, cost_source=last.cost_source)


_STATUS_RANK = {"not_metered": 0, "estimated": 1, "unavailable": 2}


def unreported_runtime(environment: EnvironmentId, duration_ms: float) -> RuntimeUsage:
    """Stand in for the runtime usage of a result that carries none."""
    if environment == "local":
        return _local(duration_ms)
    return RuntimeUsage(
        provider=environment,
        agent_run_duration_ms=duration_ms,
        lease_duration_ms=None,
        lease_count=0,
        cost_status="unavailable",
        cost_source="provider_cost_unavailable",
    )


def _local(duration_ms: float) -> RuntimeUsage:
    return RuntimeUsage(
        provider="local",
        agent_run_duration_ms=duration_ms,
        lease_duration_ms=None,
        lease_count=0,
        cost_status="not_metered",
        cost_source="local_not_metered",
    )


def _moment(timestamp: str | None) -> datetime | None:
    if timestamp is None:
        return None
    try:
        return parse_timestamp(timestamp)
    except ValueError:
        return None


def _milliseconds(start: str | None, end: str | None) -> int | None:
    """Time between two timestamps, never negative; ``None`` where one is missing or is none."""
    began, ended = _moment(start), _moment(end)
    if began is None or ended is None:
        return None
    return max(0, round((ended - began).total_seconds() * 1000))


def _priced(
    lease: Lease, milliseconds: int, table: Sequence[RuntimePrices]
) -> tuple[float, RuntimePrices] | None:
    acquired = _moment(lease.acquired_at)
    if acquired is None or lease.cpu is None or lease.memory_gib is None or lease.disk_gib is None:
        return None
    prices = prices_at(acquired, table)
    hourly = prices.hourly(cpu=lease.cpu, memory_gib=lease.memory_gib, disk_gib=lease.disk_gib)
    return hourly * milliseconds / MILLISECONDS_PER_HOUR, prices


def _agreed_size(leases: Sequence[Lease]) -> dict[str, Any]:
    """Give the size that all leases have; a field in which they differ is left out."""
    sizes = {
        "cpu_cores": {lease.cpu for lease in leases},
        "memory_gib": {lease.memory_gib for lease in leases},
        "disk_gib": {lease.disk_gib for lease in leases},
    }
    return {name: values.pop() for name, values in sizes.items() if len(values) == 1}
