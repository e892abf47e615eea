"""The documents that a publication reads and writes: the default lane's, and its own lane's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from runner_e2e.contracts.history import CampaignRows, CellSeries, HistoryIndex
from runner_e2e.errors import DocumentError
from runner_e2e.history import HISTORY_FILE, INDEX_FILE, History
from runner_e2e.insights import WORDS, all_verdicts
from runner_e2e.publishing.branch import Snapshot
from runner_e2e.publishing.destination import Destination
from runner_e2e.publishing.errors import UnreadableBranch

Render = Callable[[HistoryIndex, CampaignRows, Mapping[str, CellSeries]], Mapping[str, bytes]]
"""The pages of a lane and what they need, by path below the lane."""


def render_site(
    history: HistoryIndex, rows: CampaignRows, series: Mapping[str, CellSeries]
) -> dict[str, bytes]:
    """The dashboard of a lane with its assets."""
    # Templates are heavy, and only a publication needs them.
    from runner_e2e.site import assets, history_pages  # noqa: PLC0415 - see above

    verdicts = all_verdicts(series.values())
    said = {
        name: WORDS[each.verdict] for name, each in verdicts.items() if each.verdict != "passed"
    }
    return {**assets(), **history_pages(history, rows, series, verdicts=said)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """The default lane's history, and the other one's where the campaign belongs to another."""

    root: History
    own: History | None

    def histories(self) -> tuple[History, ...]:
        """All that a campaign of this lane is recorded in."""
        return (self.root,) if self.own is None else (self.root, self.own)

    def files(self, destination: Destination, render: Render) -> dict[str, bytes]:
        """Every document and page by its path on the branch."""
        files: dict[str, bytes] = {}
        for history in self.histories():
            root = destination.lane_root(history.lane)
            files.update({root + path: data for path, data in lane_files(history, render).items()})
        return files


def lane_files(history: History, render: Render) -> dict[str, bytes]:
    """The documents and pages of one lane by their path below it.

    Pages show the lane's own campaigns only: what a pull request came to says nothing of the
    default branch.
    """
    own = tuple(row for row in history.rows.campaigns if row.lane == history.lane)
    rows = history.rows.model_copy(update={"campaigns": own})
    # Documents come last: no page may take the place of one.
    return {**render(history.index, rows, history.series), **history.files()}


def read_lanes(
    now: Snapshot, destination: Destination, lane: str | None, also: Iterable[str] = ()
) -> Lanes:
    """Read what a publication to ``lane`` needs, in one request; ``also`` is looked at as well.

    Raises :class:`UnreadableBranch` for a document that cannot be read: what is not understood is
    never replaced.
    """
    roots = dict.fromkeys(destination.lane_root(one) for one in (None, lane))
    paths = [root + name for root in roots for name in (HISTORY_FILE, INDEX_FILE)]
    now.look([*paths, *(f"{root}cells/" for root in roots), *also])
    root = read_history(now, destination, None)
    return Lanes(root=root, own=None if lane is None else read_history(now, destination, lane))


def read_history(now: Snapshot, destination: Destination, lane: str | None) -> History:
    """A lane's history from what the snapshot has read. Raises :class:`UnreadableBranch`."""
    below = destination.lane_root(lane)
    try:
        history = History.read(lambda path: now.contents.get(below + path), lane)
    except DocumentError as error:
        raise UnreadableBranch(
            f"{destination.branch}:{below}{error.source}: {error.reason}; nothing was written",
            hint=error.hint,
        ) from None
    if below + INDEX_FILE in now.contents:
        return history
    campaigns = now.bench.entries(now.tip, [f"{below}campaigns"]).values()
    if any(entry.kind == "tree" for entry in campaigns):
        raise UnreadableBranch(
            f"{destination.branch}:{below} has campaigns and no {INDEX_FILE}; nothing was written",
            hint="`runner-e2e history rebuild` makes it again from the published bundles",
        )
    return history
