"""Which workflow run a campaign belongs to, in which lane, and which of two came later."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from datetime import datetime
from urllib.parse import urlsplit

from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.history import IndexRow, RunIdentity
from runner_e2e.contracts.plan import CampaignSource
from runner_e2e.contracts.timestamps import parse_timestamp

_RUN_PATH = re.compile(
    r"^/(?P<repository>[^/]+/[^/]+)/actions/runs/(?P<run>[0-9]{1,20})(?:/attempts/(?P<attempt>[0-9]{1,9}))?/?$"
)
_CAMPAIGN_ID = re.compile(r"^gha-(?P<run>[0-9]{1,20})-(?P<attempt>[0-9]{1,9})$")
MAX_LANE = 60

Key = tuple[str, ...]
"""Campaigns with the same key are attempts of one workflow run: only the last one counts."""

Order = tuple[datetime, int, int, str]


def run_identity(source: CampaignSource) -> RunIdentity | None:
    """Server, repository and run id from the workflow run's address; ``None`` without one."""
    if source.workflow_run_url is None:
        return None
    parts = urlsplit(source.workflow_run_url)
    match = _RUN_PATH.match(parts.path)
    if match is None:
        return None
    return RunIdentity(
        server=parts.netloc.lower(), repository=match["repository"], run_id=match["run"]
    )


def run_attempt(campaign: Campaign) -> int:
    """GitHub's re-run counter: from the run's address, else from the campaign's id, else 1."""
    url = campaign.source.workflow_run_url
    match = _RUN_PATH.match(urlsplit(url).path) if url else None
    if match is not None and match["attempt"]:
        return max(1, int(match["attempt"]))
    named = _CAMPAIGN_ID.match(campaign.campaign_id)
    if named is not None and (match is None or match["run"] == named["run"]):
        return max(1, int(named["attempt"]))
    return 1


def row_key(row: IndexRow) -> Key:
    """What history is keyed by: the workflow run, without one the campaign itself."""
    if row.run is None:
        return (row.campaign_id,)
    return (row.run.server, row.run.repository.lower(), row.run.run_id)


def row_order(row: IndexRow) -> Order:
    """Later is greater: ``generatedAt``, then run id, then run attempt.

    The campaign id comes last so that the order is total, whatever comes in.
    """
    run_id = int(row.run.run_id) if row.run is not None and row.run.run_id.isdecimal() else 0
    return (parse_timestamp(row.generated_at), run_id, row.run_attempt, row.campaign_id)


def precedence(row: IndexRow) -> tuple[int, datetime, str]:
    """Among campaigns of one workflow run the greatest counts: the higher attempt."""
    return (row.run_attempt, parse_timestamp(row.generated_at), row.campaign_id)


def mark_superseded(rows: Iterable[IndexRow]) -> tuple[IndexRow, ...]:
    """Bring rows into order, newest first, and mark all but the last attempt of every run."""
    rows = tuple(rows)
    winners: dict[Key, IndexRow] = {}
    for row in rows:
        best = winners.setdefault(row_key(row), row)
        if precedence(row) > precedence(best):
            winners[row_key(row)] = row
    marked = []
    for row in sorted(rows, key=row_order, reverse=True):
        winner = winners[row_key(row)].campaign_id
        by = None if winner == row.campaign_id else winner
        changed = row.superseded_by != by
        marked.append(row.model_copy(update={"superseded_by": by}) if changed else row)
    return tuple(marked)


def lane_of(source: CampaignSource, default_branch: str | None) -> str | None:
    """The lane of a campaign; ``None`` is the default lane.

    ``default_branch`` is a branch name or a full ref. Without a ref, or where nobody knows a
    default branch, the default lane is meant. A pull request never gets there, also not where its
    workflow runs on the base branch (``pull_request_target``).
    """
    ref = source.ref
    pull = re.match(r"^refs/pull/([0-9]+)/", ref or "")
    if pull is not None:
        return f"pull-{pull[1]}"
    if source.event_name is not None and source.event_name.startswith("pull_request"):
        return "pull-requests"
    if ref is None or default_branch is None or ref == full_ref(default_branch):
        return None
    for prefix, kind in (("refs/heads/", "branch"), ("refs/tags/", "tag")):
        if ref.startswith(prefix):
            return _lane_name(kind, ref.removeprefix(prefix))
    return _lane_name("ref", ref)


def full_ref(branch: str) -> str:
    """``main`` as ``refs/heads/main``; a full ref as it is."""
    return branch if branch.startswith("refs/") else f"refs/heads/{branch}"


def _lane_name(kind: str, name: str) -> str:
    """A directory name for a ref; where letters had to give, a digest keeps two refs apart."""
    plain = re.sub(r"[^a-z0-9._]+", "-", name.lower()).strip("-.")
    if plain == name and len(plain) <= MAX_LANE:
        return f"{kind}-{plain}"
    mark = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{kind}-{plain[:MAX_LANE].strip('-.')}-{mark}"
