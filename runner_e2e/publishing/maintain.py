"""Looking at a published history, and making room: show, prune, squash."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from runner_e2e.contracts.base import parse
from runner_e2e.contracts.history import BundleManifest, IndexRow
from runner_e2e.contracts.scalars import is_confined
from runner_e2e.contracts.timestamps import parse_timestamp
from runner_e2e.errors import DocumentError, UsageError
from runner_e2e.history import KEPT_BUNDLES, History, campaign_path, prunable
from runner_e2e.publishing.branch import Proposal, Snapshot, Update, update_branch
from runner_e2e.publishing.bundle import MANIFEST_FILE
from runner_e2e.publishing.destination import Destination
from runner_e2e.publishing.errors import UnreadableBranch
from runner_e2e.publishing.lanes import (
    Lanes,
    Render,
    lane_files,
    read_lanes,
    render_site,
)
from runner_e2e.publishing.patience import patiently
from runner_e2e.publishing.workbench import open_workbench

LANE_DAYS = 90
"""A lane other than the default one goes when nothing was published to it for so long."""

LANE_NAME = re.compile(r"^[a-z]+(?:-[a-z0-9._-]+)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchView:
    """A published history as it stands. ``history`` is that of the lane that was asked for."""

    commit: str | None
    history: History
    lanes: tuple[str, ...]
    bundles: int
    """How many campaigns still have their files, in all lanes."""
    bundle_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintenance:
    """What was done to the branch, or would be."""

    status: Literal["changed", "unchanged", "dry_run"]
    commit: str | None
    campaigns: tuple[str, ...] = ()
    """Those that were touched."""
    lanes: tuple[str, ...] = ()
    """Those that were removed."""
    removed: tuple[str, ...] = ()
    """Paths that were deleted."""
    warnings: tuple[str, ...] = ()


def show(
    destination: Destination, *, lane: str | None = None, environ: Mapping[str, str] | None = None
) -> BranchView:
    """Read a published history; changes nothing.

    Raises a :class:`PublishingError`, :class:`UsageError` for what can be no lane.
    """
    if lane is not None and not LANE_NAME.match(lane):
        raise UsageError(
            f"{lane!r} is not the name of a lane",
            hint="lanes are called like branch-topic, tag-v1 or pull-12",
        )
    with open_workbench(destination, os.environ if environ is None else environ) as bench:
        now = Snapshot(bench=bench, tip=patiently(bench.fetch))
        lanes = read_lanes(now, destination, lane)
    rows = lanes.root.rows.campaigns
    return BranchView(
        commit=now.tip.commit,
        history=lanes.own or lanes.root,
        lanes=lane_names(rows),
        bundles=sum(row.bundle_bytes > 0 for row in rows),
        bundle_bytes=sum(row.bundle_bytes for row in rows),
    )


def lane_names(rows: Iterable[IndexRow]) -> tuple[str, ...]:
    """The lanes that rows name, as far as such a name can be a directory of ours."""
    return tuple(sorted({row.lane for row in rows if row.lane and LANE_NAME.match(row.lane)}))


def squash(
    destination: Destination, *, dry_run: bool = False, environ: Mapping[str, str] | None = None
) -> Maintenance:
    """Leave the branch's past behind: the same files, one new root, pushed with a lease.

    A branch whose documents cannot be read is not squashed, since its past may be needed to mend
    them. Raises a :class:`PublishingError`.
    """

    def change(now: Snapshot) -> Proposal | None:
        root = read_lanes(now, destination, None).root
        if now.tip.commit is None or not now.bench.parents(now.tip.commit):
            return None
        count = len(root.rows.campaigns)
        message = f"Squash the history of {destination.branch}\n\n{count} campaigns.\n"
        return Proposal(changes={}, message=message, new_root=True)

    with open_workbench(destination, os.environ if environ is None else environ) as bench:
        update = update_branch(bench, change, dry_run=dry_run)
    return Maintenance(status=status_of(update, dry_run=dry_run), commit=update.commit)


def status_of(update: Update, *, dry_run: bool) -> Literal["changed", "unchanged", "dry_run"]:
    """One word for what came of an update."""
    if dry_run:
        return "dry_run"
    return "changed" if update.moved else "unchanged"


def prune(
    destination: Destination,
    *,
    keep: int = KEPT_BUNDLES,
    max_age_days: float | None = None,
    lane_days: float = LANE_DAYS,
    now: datetime | None = None,
    dry_run: bool = False,
    render: Render = render_site,
    environ: Mapping[str, str] | None = None,
) -> Maintenance:
    """Delete old bundles; what history knows of them, and their manifests, stay.

    The newest ``keep`` bundles of the default lane stay and so many of all other lanes together,
    unless they are older than ``max_age_days``; what a pointer names stays in any case. A lane that
    got nothing for ``lane_days`` goes as a whole. Only files that our manifests name, and our own
    documents, are ever deleted. Raises a :class:`PublishingError`.
    """
    moment = now or datetime.now(UTC)
    done: list[_Pruning] = []

    def change(snapshot: Snapshot) -> Proposal | None:
        pruning = _Pruning(snapshot, destination, render)
        done[:] = [pruning]
        oldest = None if max_age_days is None else moment - timedelta(days=max_age_days)
        pruning.decide(keep, oldest, moment - timedelta(days=lane_days))
        return pruning.proposal()

    with open_workbench(destination, os.environ if environ is None else environ) as bench:
        update = update_branch(bench, change, dry_run=dry_run)
    return Maintenance(
        status=status_of(update, dry_run=dry_run),
        commit=update.commit,
        campaigns=tuple(done[0].campaigns),
        lanes=tuple(done[0].lanes_gone),
        removed=tuple(done[0].removed),
    )


class _Pruning:
    """One look at the branch and what may go from it."""

    def __init__(self, now: Snapshot, destination: Destination, render: Render) -> None:
        self._now = now
        self._destination = destination
        self._render = render
        self._root = read_lanes(now, destination, None).root
        self._lanes: dict[str, History] = {}
        self.campaigns: list[str] = []
        self.lanes_gone: list[str] = []
        self.removed: list[str] = []

    def decide(self, keep: int, oldest: datetime | None, lane_oldest: datetime) -> None:
        """Choose the campaigns and the lanes that go."""
        rows = self._root.rows.campaigns
        for lane in lane_names(rows):
            newest = next(row for row in rows if row.lane == lane)
            history = read_lanes(self._now, self._destination, lane).own
            if history is None or not history.rows.campaigns:
                continue
            self._lanes[lane] = history
            if parse_timestamp(newest.generated_at) < lane_oldest:
                self.lanes_gone.append(lane)
        living = self._lanes.keys() - set(self.lanes_gone)
        groups: tuple[tuple[Callable[[IndexRow], bool], Iterable[History]], ...] = (
            (lambda row: row.lane is None, (self._root,)),
            (lambda row: row.lane in living, (self._lanes[lane] for lane in living)),
        )
        for belongs, histories in groups:
            named = frozenset().union(*(history.named() for history in histories))
            chosen = [row for row in rows if belongs(row)]
            self.campaigns += prunable(chosen, named=named, keep=keep, oldest=oldest)
        gone = set(self.lanes_gone)
        self.campaigns += [r.campaign_id for r in rows if r.lane in gone and r.bundle_bytes > 0]

    def proposal(self) -> Proposal | None:
        """The branch without them; ``None`` when nothing goes."""
        if not self.campaigns and not self.lanes_gone:
            return None
        changes: dict[str, bytes | None] = dict(self._documents())
        self.removed = sorted({*self._bundle_files(), *self._lane_documents()})
        changes.update(dict.fromkeys(self.removed))
        count = len(self.campaigns)
        message = f"Prune {count} bundle{'' if count == 1 else 's'}\n\n"
        return Proposal(changes=changes, message=message + "\n".join(self.campaigns) + "\n")

    def _documents(self) -> dict[str, bytes]:
        root = self._root.pruned(self.campaigns)
        documents = Lanes(root=root, own=None).files(self._destination, self._render)
        for lane, history in self._lanes.items():
            if lane not in self.lanes_gone:
                own = history.pruned(self.campaigns)
                files = lane_files(own, self._render)
                below = self._destination.lane_root(lane)
                documents.update({below + path: data for path, data in files.items()})
        return documents

    def _bundle_files(self) -> Iterable[str]:
        """Every file that the manifests of the chosen campaigns name."""
        folders = [self._folder(row) for row in self._rows_of(self.campaigns)]
        manifests = [folder + MANIFEST_FILE for folder in folders]
        self._now.look(manifests)
        for folder, path in zip(folders, manifests, strict=True):
            data = self._now.contents.get(path)
            if data is not None:
                yield from (folder + name for name in manifest_paths(data, path))

    def _lane_documents(self) -> Iterable[str]:
        """The documents, pages and remaining manifests of lanes that go as a whole."""
        for lane in self.lanes_gone:
            below = self._destination.lane_root(lane)
            ours = set(lane_files(self._lanes[lane], self._render))
            rows = self._lanes[lane].rows.campaigns
            ours |= {campaign_path(row.campaign_id) + MANIFEST_FILE for row in rows}
            for path in self._now.bench.below(self._now.tip, below):
                name = path.removeprefix(below)
                if name in ours or name.startswith("assets/"):
                    yield path

    def _rows_of(self, campaign_ids: Collection[str]) -> list[IndexRow]:
        wanted = set(campaign_ids)
        return [row for row in self._root.rows.campaigns if row.campaign_id in wanted]

    def _folder(self, row: IndexRow) -> str:
        return self._destination.lane_root(row.lane) + campaign_path(row.campaign_id)


def manifest_paths(data: bytes, path: str) -> tuple[str, ...]:
    """The files that a manifest names, all inside its bundle. Raises :class:`UnreadableBranch`."""
    try:
        manifest = parse(BundleManifest, data, path)
    except DocumentError as error:
        raise UnreadableBranch(
            f"{error}; nothing was deleted", hint="mend or remove that manifest"
        ) from None
    names = tuple(file.path for file in manifest.files)
    bad = [name for name in names if not is_confined(name)]
    if bad:
        raise UnreadableBranch(
            f"{path} names {bad[0]!r}, outside of its bundle; nothing was deleted",
            hint="somebody changed that manifest; restore it from the branch's past",
        )
    return names
