"""What can go wrong between us and GitHub.

UsageError
└── GithubError            2    it was asked and said no, or what it said cannot be used
    └── GithubUnavailable  2    it gave no answer within the time we wait for one
"""

from __future__ import annotations

from runner_e2e.errors import UsageError


class GithubError(UsageError):
    """GitHub does not give what was asked for. Never quotes a token or a signed address."""

    kind = "github"


class GithubUnavailable(GithubError):
    """GitHub is down, or asks us to wait longer than we do. The same command may work later."""
