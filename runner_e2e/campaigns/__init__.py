"""From artifacts to a campaign that is exactly as green as it was."""

from runner_e2e.campaigns.build import Aggregate, aggregate, local_campaign_id
from runner_e2e.campaigns.collect import collect
from runner_e2e.campaigns.evidence import PublicImage
from runner_e2e.campaigns.jobs import JobHistory, JobRun
from runner_e2e.campaigns.observations import Collection, Observation
from runner_e2e.campaigns.report import Written, dump_campaign, write_report
from runner_e2e.campaigns.trees import (
    Broken,
    DirectoryTree,
    Found,
    Source,
    Tree,
    Unreadable,
    ZipTree,
)
from runner_e2e.campaigns.verdict import exit_code

__all__ = [
    "Aggregate",
    "Broken",
    "Collection",
    "DirectoryTree",
    "Found",
    "JobHistory",
    "JobRun",
    "Observation",
    "PublicImage",
    "Source",
    "Tree",
    "Unreadable",
    "Written",
    "ZipTree",
    "aggregate",
    "collect",
    "dump_campaign",
    "exit_code",
    "local_campaign_id",
    "write_report",
]
