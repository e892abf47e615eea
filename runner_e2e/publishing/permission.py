"""Whether a campaign could be published, found out without publishing one."""

from __future__ import annotations

from collections.abc import Mapping

from runner_e2e.publishing.destination import Destination
from runner_e2e.publishing.workbench import open_workbench


def check_permission(destination: Destination, environ: Mapping[str, str]) -> None:
    """Ask the remote to accept a commit, without sending it.

    Raises a :class:`PublishingError` that says why not. A server that decides only when it sees the
    commit, as one with a protected branch does, says so at the real push first.
    """
    with open_workbench(destination, environ) as bench:
        tip = bench.fetch()
        tree = tip.tree or bench.git.output("mktree").decode().strip()
        commit = bench.commit(tree, tip.commit, "Would this be accepted?")
        bench.push(commit, tip, dry_run=True)
