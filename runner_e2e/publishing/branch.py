"""Change a branch that others change too: read, apply our change, push with a lease, or again.

A change is not a patch: it is a function from what the branch holds now to what it should hold, and
it runs again on what another publisher left. So nothing of theirs is lost, and there is no lock.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from runner_e2e.errors import PublishingError
from runner_e2e.publishing.errors import LostRace
from runner_e2e.publishing.workbench import Entry, Tip, Workbench

RACE_SECONDS = 600.0
"""So long others may be faster. Somebody wins every round, so this is hundreds of publishers."""

NETWORK_TRIES = 6
_JITTER = random.SystemRandom()


@dataclass(slots=True, kw_only=True)
class Snapshot:
    """The branch at one moment."""

    bench: Workbench
    tip: Tip
    known: dict[str, Entry] = field(default_factory=dict)
    """What was listed so far."""
    contents: dict[str, bytes] = field(default_factory=dict)
    """By path, what was read so far."""

    def look(self, paths: Iterable[str]) -> None:
        """List and read ``paths`` at once; one that ends with ``/`` stands for its files."""
        found = self.bench.entries(self.tip, list(paths))
        self.known.update(found)
        blobs = {path: entry.oid for path, entry in found.items() if entry.kind == "blob"}
        contents = self.bench.read(blobs.values())
        self.contents.update({path: contents[oid] for path, oid in blobs.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What the branch should hold: bytes, or a blob that is stored already, or nothing, by path."""

    changes: Mapping[str, bytes | Stored | None]
    message: str
    new_root: bool = False
    """Leave the past behind."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A blob in the workbench."""

    oid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Where the branch stands, and whether we moved it."""

    commit: str | None
    moved: bool
    tries: int


Change = Callable[[Snapshot], Proposal | None]
"""``None``: the branch already is as it should be."""


def update_branch(bench: Workbench, change: Change, *, dry_run: bool = False) -> Update:
    """Apply ``change`` to the branch, as often as it takes.

    Raises a :class:`PublishingError` and leaves the branch as it was: at once where trying again
    is no use, :class:`LostRace` or :class:`NetworkFailed` when patience ends.
    """
    patience = _Patience()
    unsure = False
    while True:
        patience.begin()
        try:
            tip = bench.fetch()
            proposal = change(Snapshot(bench=bench, tip=tip))
            if proposal is None:
                # After a broken connection this means that our push arrived all the same.
                return Update(commit=tip.commit, moved=unsure, tries=patience.tries)
            commit = _make(bench, tip, proposal)
            if commit is None or dry_run:
                return Update(commit=tip.commit, moved=False, tries=patience.tries)
            unsure = True
            bench.push(commit, tip)
            return Update(commit=commit, moved=True, tries=patience.tries)
        except LostRace as failure:
            unsure = False
            patience.wait(failure)
        except PublishingError as failure:
            if not failure.retryable:
                raise
            patience.wait(failure)


def _make(bench: Workbench, tip: Tip, proposal: Proposal) -> str | None:
    """The commit to push; ``None`` when it would change nothing."""
    fresh = {path: c for path, c in proposal.changes.items() if isinstance(c, bytes)}
    stored = dict(zip(fresh, bench.store(list(fresh.values())), strict=True))
    tree = bench.tree(
        tip,
        {
            path: content.oid if isinstance(content, Stored) else stored.get(path)
            for path, content in proposal.changes.items()
        },
    )
    if tree == tip.tree and not proposal.new_root:
        return None
    return bench.commit(tree, None if proposal.new_root else tip.commit, proposal.message)


class _Patience:
    """How long to wait and when to give up. Waits are random, or all would come back at once.

    The wait after a lost race grows from the time that a try takes: among many publishers, or on a
    busy machine, a try takes long, and there short waits would only make everybody slower.
    """

    def __init__(self) -> None:
        self.tries = 0
        self._races = 0
        self._breaks = 0
        self._began = time.monotonic()
        self._end = self._began + RACE_SECONDS

    def begin(self) -> None:
        """Count one more try."""
        self.tries += 1
        self._began = time.monotonic()

    def wait(self, failure: PublishingError) -> None:
        """Sleep before the next try, or raise ``failure`` when there is none."""
        now = time.monotonic()
        if isinstance(failure, LostRace):
            if now > self._end:
                raise failure
            took = now - self._began
            longest = min(max(2.0, 8 * took), (0.05 + took / 2) * 2**self._races)
            self._races = min(self._races + 1, 10)
        else:
            self._breaks += 1
            if self._breaks >= NETWORK_TRIES:
                raise failure
            longest = min(20.0, 0.5 * 2**self._breaks)
        time.sleep(_JITTER.uniform(0, longest))
