"""Write a report, byte for byte the same for the same input."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner_e2e.campaigns.build import Aggregate
from runner_e2e.campaigns.trees import Unreadable
from runner_e2e.contracts.base import dump
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.plan import Plan
from runner_e2e.errors import UsageError
from runner_e2e.evidence.files import write_atomically

EMPTY_RESULTS = b'"results":[]}\n'


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What was written, relative to the report."""

    paths: tuple[str, ...]


def dump_campaign(campaign: Campaign) -> bytes:
    """Give what ``dump(campaign)`` gives, without holding it as text and as bytes at once."""
    shell = dump(campaign.model_copy(update={"results": ()}))
    results = b",".join(dump(result)[:-1] for result in campaign.results)
    return b"".join((shell.removesuffix(EMPTY_RESULTS), b'"results":[', results, b"]}\n"))


def write_report(aggregate: Aggregate, plan: Plan, out: Path) -> Written:
    """Write campaign, insights, plan and pictures below ``out``.

    Raises :class:`UsageError` where a picture changed since it was collected, before anything of
    the report claims to have it.
    """
    for image in aggregate.images:
        try:
            write_atomically(out / image.target, image.read())
        except Unreadable as error:
            raise UsageError(
                f"{image.tree.name}{image.path}: {error}",
                hint="the artifacts changed while they were read; aggregate them again",
            ) from None
        finally:
            image.tree.close()
    documents = {
        "plan.json": dump(plan),
        "insights.json": dump(aggregate.insights),
        "campaign.json": dump_campaign(aggregate.campaign),
    }
    for name, data in documents.items():
        write_atomically(out / name, data)
    return Written(paths=(*documents, *(image.target for image in aggregate.images)))
