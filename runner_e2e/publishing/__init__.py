"""What may become public, and how it gets onto a branch that many publishers share."""

from runner_e2e.publishing.bundle import Bundle, build_bundle
from runner_e2e.publishing.destination import Destination
from runner_e2e.publishing.publish import Publication, publish, render_site

__all__ = [
    "Bundle",
    "Destination",
    "Publication",
    "build_bundle",
    "publish",
    "render_site",
]
