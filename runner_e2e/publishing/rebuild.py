"""Make every mutable document again from the published bundles.

What has no bundle any more (it was pruned) is taken from the newest version of the documents that
can be read: the present one, else one from the branch's past.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from runner_e2e.contracts.base import D, dump, parse
from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.history import (
    CELLS_V1,
    BundleManifest,
    CampaignRows,
    CellSeries,
    HistoryIndex,
)
from runner_e2e.contracts.insights import Insights
from runner_e2e.contracts.plan import Plan
from runner_e2e.errors import DocumentError
from runner_e2e.history import (
    HISTORY_FILE,
    INDEX_FILE,
    History,
    campaign_path,
    cells_file,
    lane_directory,
)
from runner_e2e.publishing.branch import Proposal, Snapshot, update_branch
from runner_e2e.publishing.bundle import DOCUMENTS, MANIFEST_FILE
from runner_e2e.publishing.destination import Destination
from runner_e2e.publishing.lanes import Render, lane_files, render_site
from runner_e2e.publishing.maintain import LANE_NAME, Maintenance, status_of
from runner_e2e.publishing.workbench import open_workbench

_MANIFEST = re.compile(
    rf"^(?:lanes/(?P<lane>[^/]+)/)?campaigns/(?P<id>[^/]+)/{re.escape(MANIFEST_FILE)}$"
)
_BEGUN = re.compile(
    rf"^(?:lanes/(?P<lane>[^/]+)/)?"
    rf"(?:campaigns/|{re.escape(HISTORY_FILE)}$|{re.escape(INDEX_FILE)}$)"
)
BUNDLES_PER_READ = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A bundle on the branch, by its manifest."""

    lane: str | None
    campaign_id: str
    folder: str

    @property
    def paths(self) -> tuple[str, ...]:
        """The manifest and the documents that a history is made from."""
        return tuple(self.folder + name for name in (MANIFEST_FILE, *DOCUMENTS))


def rebuild(
    destination: Destination,
    *,
    dry_run: bool = False,
    render: Render = render_site,
    environ: Mapping[str, str] | None = None,
) -> Maintenance:
    """Write all documents and pages anew. Bundles are only read.

    A bundle that cannot be read is left out with a warning and keeps the row it had. Raises a
    :class:`PublishingError`.
    """
    done: list[_Rebuilding] = []

    def change(now: Snapshot) -> Proposal | None:
        rebuilding = _Rebuilding(now, destination)
        done[:] = [rebuilding]
        return rebuilding.proposal(render)

    with open_workbench(destination, os.environ if environ is None else environ) as bench:
        update = update_branch(bench, change, dry_run=dry_run)
    return Maintenance(
        status=status_of(update, dry_run=dry_run),
        commit=update.commit,
        campaigns=tuple(done[0].added),
        warnings=tuple(done[0].warnings),
    )


class _Rebuilding:
    """One look at the branch and the histories that its bundles make."""

    def __init__(self, now: Snapshot, destination: Destination) -> None:
        self._now = now
        self._destination = destination
        self._files = now.bench.below(now.tip, destination.root)
        self.added: list[str] = []
        self.warnings: list[str] = []

    def proposal(self, render: Render) -> Proposal | None:
        """The branch with its documents made again; ``None`` where nothing of a history is."""
        found = list(self._find())
        begun = self._lanes()
        if not begun:
            return None
        live = [one for one in found if one.folder + DOCUMENTS[0] in self._files]
        dead = {one.campaign_id for one in found} - {one.campaign_id for one in live}
        lanes = sorted(lane for lane in begun if lane is not None)
        histories = {lane: self._salvage(lane) for lane in (None, *lanes)}
        urls = {
            entry.campaign_id: entry.public_url
            for history in histories.values()
            for entry in history.index.campaigns
        }
        readable = list(self._read(live))
        recorded = {one.campaign_id for one, *_ in readable}
        for lane, history in histories.items():
            others = {row.campaign_id for row in history.rows.campaigns} - recorded
            histories[lane] = history.keeping(others).pruned(dead)
        for one, manifest, campaign, insights, plan in readable:
            path = campaign_path(one.campaign_id)
            url = self._destination.public_url(one.lane, path)
            if self._destination.base_url is None:
                url = urls.get(one.campaign_id, url)
            for lane in dict.fromkeys((None, one.lane)):
                histories[lane] = histories[lane].add(
                    campaign, insights, plan, manifest, public_url=url, lane=one.lane
                )
            self.added.append(one.campaign_id)
        changes: dict[str, bytes] = {}
        for lane, history in histories.items():
            below = self._destination.lane_root(lane)
            files = {**_lost_series(history), **lane_files(history, render)}
            changes.update({below + path: data for path, data in files.items()})
        message = f"Rebuild the history\n\n{len(self.added)} bundles were read.\n"
        return Proposal(changes=changes, message=message)

    def _lanes(self) -> set[str | None]:
        """Every lane that has bundles or one of the two documents, whole or not."""
        root = self._destination.root
        found = (_BEGUN.match(path.removeprefix(root)) for path in self._files)
        lanes: set[str | None] = {match["lane"] for match in found if match is not None}
        return {lane for lane in lanes if lane is None or LANE_NAME.match(lane)}

    def _find(self) -> Iterator[_Found]:
        root = self._destination.root
        for path in self._files:
            match = _MANIFEST.match(path.removeprefix(root))
            if match is None:
                continue
            lane = match["lane"]
            if lane is None or LANE_NAME.match(lane):
                folder = root + lane_directory(lane) + campaign_path(match["id"])
                yield _Found(lane=lane, campaign_id=match["id"], folder=folder)

    def _read(
        self, live: Sequence[_Found]
    ) -> Iterator[tuple[_Found, BundleManifest, Campaign, Insights, Plan]]:
        """The documents of every bundle that is whole."""
        for start in range(0, len(live), BUNDLES_PER_READ):
            part = live[start : start + BUNDLES_PER_READ]
            oids = {p: self._files[p].oid for one in part for p in one.paths if p in self._files}
            contents = self._now.bench.read(oids.values())
            for one in part:
                data = {path: contents[oids[path]] for path in one.paths if path in oids}
                try:
                    yield one, *_documents(one, data)
                except DocumentError as error:
                    self.warnings.append(f"left out: {error}")

    def _salvage(self, lane: str | None) -> History:
        """A lane's history from what of its documents can be read, now or earlier."""
        below = self._destination.lane_root(lane)
        empty = History.empty(lane)
        rows = self._newest(CampaignRows, below + INDEX_FILE) or empty.rows
        index = self._newest(HistoryIndex, below + HISTORY_FILE) or empty.index
        suites = {
            path.removeprefix(f"{below}cells/").removesuffix(".json")
            for path in self._files
            if path.startswith(f"{below}cells/")
        }
        series = {}
        for suite in sorted(suites | index.latest_by_suite.keys()):
            one = self._newest(CellSeries, below + cells_file(suite))
            if one is not None and one.suite_id == suite:
                series[suite] = one
        return History(lane=lane, index=index, rows=rows, series=series)

    def _newest(self, model: type[D], path: str) -> D | None:
        """The newest version of a document that can be read; ``None`` where there is none."""
        bench = self._now.bench
        versions = [self._files[path].oid] if path in self._files else []
        for oid in versions:
            try:
                return parse(model, bench.read([oid])[oid], path)
            except DocumentError as error:
                self.warnings.append(f"made anew: {error}")
        bench.deepen()
        for oid in bench.past_versions(path):
            try:
                return parse(model, bench.read([oid])[oid], path)
            except DocumentError:
                continue
        return None


def _lost_series(history: History) -> dict[str, bytes]:
    """An empty document for every suite whose outcomes are nowhere any more: it must be there."""
    return {
        cells_file(suite): dump(CellSeries(schema=CELLS_V1, suite_id=suite, campaigns={}, cells={}))
        for suite in history.index.latest_by_suite
        if suite not in history.series
    }


def _documents(
    one: _Found, data: Mapping[str, bytes]
) -> tuple[BundleManifest, Campaign, Insights, Plan]:
    """Parse a bundle's documents and hold them against its manifest. Raises `DocumentError`."""
    for path in one.paths:
        if path not in data:
            raise DocumentError(path, "it is missing")
    manifest = parse(BundleManifest, data[one.paths[0]], one.paths[0])
    digests = {file.path: file.sha256 for file in manifest.files}
    for name in DOCUMENTS:
        if hashlib.sha256(data[one.folder + name]).hexdigest() != digests.get(name):
            raise DocumentError(one.folder + name, "it is not what its manifest says")
    _, campaign_file, insights_file, plan_file = one.paths
    campaign = parse(Campaign, data[campaign_file], campaign_file)
    insights = parse(Insights, data[insights_file], insights_file)
    plan = parse(Plan, data[plan_file], plan_file)
    if manifest.campaign_id != one.campaign_id or campaign.campaign_id != one.campaign_id:
        raise DocumentError(one.folder, "it holds another campaign than its name says")
    return manifest, campaign, insights, plan
