"""Why a publication failed: one class for each thing that a person would do about it.

In every case the branch is as it was and the report is still on disk.
"""

from __future__ import annotations

from runner_e2e.errors import PublishingError


class PrivateFile(PublishingError):
    """The report holds something that may not become public."""

    kind = "private_file"


class BundleConflict(PublishingError):
    """Another bundle was published under this campaign id; published bundles never change."""

    kind = "bundle_conflict"


class UnreadableBranch(PublishingError):
    """A document on the branch cannot be read, so nothing may be written over it."""

    kind = "unreadable_branch"


class PlaceTaken(PublishingError):
    """Files that are not ours lie where ours would go."""

    kind = "place_taken"


class TooLarge(PublishingError):
    """A file or the site is over its budget, or over the server's limit."""

    kind = "too_large"


class RefusedByPolicy(PublishingError):
    """A protected branch, a ruleset or a hook of the server said no."""

    kind = "refused_by_policy"


class PermissionMissing(PublishingError):
    """The credentials are absent, wrong, or may not write."""

    kind = "permission_missing"


class RemoteNotFound(PublishingError):
    """There is no repository at that address, or none that we may see."""

    kind = "remote_not_found"


class LostRace(PublishingError):
    """Others pushed first, every time until our patience ended."""

    kind = "lost_race"


class NetworkFailed(PublishingError):
    """The server could not be reached, or the connection broke, several times."""

    kind = "network_failed"


class DiskFull(PublishingError):
    """There was no room to write, here or on the server."""

    kind = "disk_full"


class GitFailed(PublishingError):
    """Git failed in a way that we have no better word for."""

    kind = "git_failed"
