"""Change a branch that others change too: read, apply our change, push with a lease, or again.

A change is not a patch: it is a function from what the branch holds now to what it should hold, and
it runs again on what another publisher left. So nothing of theirs is lost, and there is no lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from runner_e2e.errors import PublishingError
from runner_e2e.publishing.errors import LostRace, PlaceTaken
from runner_e2e.publishing.patience import Patience
from runner_e2e.publishing.workbench import Tip, Workbench


@dataclass(slots=True, kw_only=True)
class Snapshot:
    """The branch at one moment."""

    bench: Workbench
    tip: Tip
    contents: dict[str, bytes] = field(default_factory=dict)
    """By path, what was read so far."""

    def look(self, paths: Iterable[str]) -> None:
        """List and read ``paths`` at once; one that ends with ``/`` stands for its files."""
        found = self.bench.entries(self.tip, list(paths))
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
    patience = Patience()
    pushed: set[str] = set()
    unsure = False
    while True:
        patience.begin()
        try:
            tip = bench.fetch()
            proposal = change(Snapshot(bench=bench, tip=tip))
            if proposal is None:
                # After a broken connection this means that our push arrived all the same. Git may
                # even have sent it twice and been told that it lost against itself.
                moved = unsure or tip.commit in pushed
                return Update(commit=tip.commit, moved=moved, tries=patience.tries)
            commit = _make(bench, tip, proposal)
            if commit is None or dry_run:
                return Update(commit=tip.commit, moved=False, tries=patience.tries)
            pushed.add(commit)
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
    _check_kinds(bench, tip, [path for path, c in proposal.changes.items() if c is not None])
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


def _check_kinds(bench: Workbench, tip: Tip, paths: Sequence[str]) -> None:
    """Git keeps no file and folder of one name, so what is in our way is named and left alone."""
    folders = {path[:end] for path in paths for end, char in enumerate(path) if char == "/"}
    ours = {*paths, *folders}
    # Asked for a folder and what is in it, git lists all that is in it.
    for path, entry in bench.entries(tip, sorted(ours)).items():
        if path in ours and (entry.kind == "tree") != (path in folders):
            kind = "folder" if entry.kind == "tree" else "file"
            raise PlaceTaken(
                f"{bench.ref}:{path} is a {kind}, and ours would have the same name",
                hint="take it off the branch, or publish under a --prefix of its own",
            )
