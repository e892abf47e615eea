"""The pages that people look at: self-contained, offline, and the same bytes every time."""

from runner_e2e.site.campaign import campaign_page
from runner_e2e.site.history import history_pages
from runner_e2e.site.pages import assets

__all__ = ["assets", "campaign_page", "history_pages"]
