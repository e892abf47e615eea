"""Publish one report: bundle, index, pointers and pages in one commit."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from runner_e2e.contracts.base import dump, parse
from runner_e2e.contracts.history import BundleManifest
from runner_e2e.errors import DocumentError
from runner_e2e.history import INDEX_FILE, History, campaign_path, lane_of
from runner_e2e.publishing.branch import Proposal, Snapshot, Stored, update_branch
from runner_e2e.publishing.budgets import check_budgets
from runner_e2e.publishing.bundle import MANIFEST_FILE, Bundle, build_bundle
from runner_e2e.publishing.destination import Destination
from runner_e2e.publishing.errors import BundleConflict, PlaceTaken, PrivateFile, UnreadableBranch
from runner_e2e.publishing.lanes import Lanes, Render, read_lanes, render_site
from runner_e2e.publishing.workbench import Workbench, open_workbench


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """What came of it. ``paths`` are those of the bundle on the branch."""

    status: Literal["published", "unchanged", "dry_run"]
    campaign_id: str
    lane: str | None
    commit: str | None
    """Where the branch stands."""
    url: str | None
    """The campaign's address, where the destination has a base URL."""
    paths: tuple[str, ...]
    warnings: tuple[str, ...]
    tries: int


def publish(
    report: Path,
    destination: Destination,
    *,
    dry_run: bool = False,
    render: Render = render_site,
    environ: Mapping[str, str] | None = None,
) -> Publication:
    """Publish the report directory; publishing the same again changes nothing.

    Raises a :class:`PublishingError` of the kind that says what to do, :class:`UsageError` or
    :class:`DocumentError` when the report itself is not usable. The report is only read.
    """
    bundle = build_bundle(report)
    with open_workbench(destination, os.environ if environ is None else environ) as bench:
        # A repository that holds nothing but the dashboard has no say in which branch is the main.
        head = None if bench.head_branch == destination.ref else bench.head_branch
        default = destination.default_branch or head
        work = _Publishing(
            bundle=bundle,
            destination=destination,
            lane=lane_of(bundle.campaign.source, default),
            render=render,
            stored=_store(bench, bundle),
        )
        warnings: list[str] = []
        update = update_branch(bench, lambda now: work.apply(now, warnings), dry_run=dry_run)
    status: Literal["published", "unchanged"] = "published" if update.moved else "unchanged"
    url = destination.public_url(work.lane, work.folder) if destination.base_url else None
    return Publication(
        status="dry_run" if dry_run else status,
        campaign_id=bundle.campaign.campaign_id,
        lane=work.lane,
        commit=update.commit,
        url=url,
        paths=tuple(work.bundle_paths()),
        warnings=tuple(dict.fromkeys(warnings)),
        tries=update.tries,
    )


def _store(bench: Workbench, bundle: Bundle) -> dict[str, Stored]:
    """Put the bundle's files into the workbench, exactly as they were when they were checked."""
    copies = []
    for file in bundle.manifest.files:
        copy = bench.stage()
        shutil.copyfile(bundle.directory / file.path, copy, follow_symlinks=False)
        with copy.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != file.sha256:
                raise PrivateFile(
                    f"{bundle.directory / file.path} changed while it was published",
                    hint="let whatever writes there finish, then publish again",
                )
        copies.append(copy)
    oids = bench.store(copies)
    paths = [file.path for file in bundle.manifest.files]
    return {path: Stored(oid) for path, oid in zip(paths, oids, strict=True)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Publishing:
    """One report on its way to one lane."""

    bundle: Bundle
    destination: Destination
    lane: str | None
    render: Render
    stored: Mapping[str, Stored]

    @property
    def folder(self) -> str:
        """Where the bundle lies below its lane."""
        return campaign_path(self.bundle.campaign.campaign_id)

    def bundle_paths(self) -> list[str]:
        """Every path of the bundle on the branch; the manifest is the last."""
        folder = self.destination.lane_root(self.lane) + self.folder
        return [folder + path for path in (*self.stored, MANIFEST_FILE)]

    def apply(self, now: Snapshot, warnings: list[str]) -> Proposal | None:
        """The branch with this campaign in it; ``None`` when it is there already."""
        manifest_path = self.bundle_paths()[-1]
        lanes = read_lanes(now, self.destination, self.lane, also=(manifest_path,))
        published = self._published(now.contents.get(manifest_path), manifest_path)
        campaign_id = self.bundle.campaign.campaign_id
        if published and all(history.row(campaign_id) for history in lanes.histories()):
            return None
        new = tuple(
            root
            for root in (self.destination.lane_root(one.lane) for one in lanes.histories())
            if root + INDEX_FILE not in now.contents
        )
        lanes = Lanes(
            root=self._add(lanes.root), own=None if lanes.own is None else self._add(lanes.own)
        )
        documents = lanes.files(self.destination, self.render)
        if now.tip.commit is None:
            # Jekyll would drop what begins with an underscore, and take minutes over the rest.
            documents[".nojekyll"] = b""
        else:
            self._check_place(now, new, documents)
        check_budgets(documents, self.bundle.manifest, lanes.root, warnings)
        changes: dict[str, bytes | Stored | None] = dict(documents)
        changes.update(zip(self.bundle_paths(), self.stored.values(), strict=False))
        changes[manifest_path] = dump(self.bundle.manifest)
        return Proposal(changes=changes, message=self._message())

    def _add(self, history: History) -> History:
        return history.add(
            self.bundle.campaign,
            self.bundle.insights,
            self.bundle.plan,
            self.bundle.manifest,
            public_url=self.destination.public_url(self.lane, self.folder),
            lane=self.lane,
        )

    def _published(self, data: bytes | None, path: str) -> bool:
        """Whether this very bundle is there. Another one under the same id is refused."""
        if data is None:
            return False
        try:
            there = parse(BundleManifest, data, path)
        except DocumentError as error:
            raise UnreadableBranch(str(error), hint="mend or remove that manifest") from None
        if there.bundle_digest == self.bundle.manifest.bundle_digest:
            return True
        raise BundleConflict(
            f"{there.campaign_id} was published before with other content, in "
            f"{path.rpartition('/')[0]}",
            hint="published bundles never change; run the campaign again under a new id",
        )

    def _check_place(
        self, now: Snapshot, new: tuple[str, ...], documents: Mapping[str, bytes]
    ) -> None:
        """Where a lane begins nothing may lie in our way: it would be somebody else's."""
        paths = [path for path in documents if path.startswith(new)]
        taken = now.bench.entries(now.tip, paths) if paths else {}
        if taken:
            raise PlaceTaken(
                f"{self.destination.ref} already holds {', '.join(sorted(taken)[:3])}, which is "
                "not ours",
                hint="publish under a --prefix of its own, or to a branch of its own",
            )

    def _message(self) -> str:
        campaign = self.bundle.campaign
        lane = "" if self.lane is None else f" in lane {self.lane}"
        return (
            f"Publish {campaign.campaign_id}{lane}\n\n"
            f"{campaign.passed} of {campaign.selected} passed. "
            f"Bundle {self.bundle.manifest.bundle_digest}.\n"
        )
