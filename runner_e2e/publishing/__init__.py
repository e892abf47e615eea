"""What may become public, and how it gets onto a branch that many publishers share."""

from runner_e2e.publishing.bundle import Bundle, build_bundle
from runner_e2e.publishing.destination import Destination
from runner_e2e.publishing.lanes import Render, render_site
from runner_e2e.publishing.maintain import BranchView, Maintenance, prune, show, squash
from runner_e2e.publishing.permission import check_permission
from runner_e2e.publishing.publish import Publication, publish
from runner_e2e.publishing.rebuild import rebuild

__all__ = [
    "BranchView",
    "Bundle",
    "Destination",
    "Maintenance",
    "Publication",
    "Render",
    "build_bundle",
    "check_permission",
    "prune",
    "publish",
    "rebuild",
    "render_site",
    "show",
    "squash",
]
