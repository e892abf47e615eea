"""The five calls of GitHub's REST API that we make, behind one adapter.

ghapi knows the operations and their parameters; the connection, the retries and the reading of the
answers are ours. Nothing else imports ghapi.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
from ghapi.core import GhApi
from pydantic import ConfigDict

from runner_e2e import __version__
from runner_e2e.contracts.base import Document, parse
from runner_e2e.contracts.scalars import Count, Ordinal
from runner_e2e.github.errors import GithubError, GithubUnavailable
from runner_e2e.github.patience import Fault, Patience, check
from runner_e2e.github.server import GithubServer, origin_of

PER_PAGE = 100
MAX_PAGES = 5_000
MAX_LISTINGS = 4
"""How often a list is read again that changed while it was read."""

TIMEOUT = httpx.Timeout(30, connect=15, pool=None)

OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
REPOSITORY = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")

R = TypeVar("R")
D = TypeVar("D", bound=Document)


class _GithubDocument(Document):
    """What GitHub wrote: its names are its own, so they are not camel-cased."""

    model_config = ConfigDict(alias_generator=None)


class WorkflowRun(_GithubDocument):
    """A workflow run, as its newest attempt or as an earlier one."""

    id: Ordinal
    run_attempt: Ordinal = 1
    run_started_at: str
    status: str | None = None


class Artifact(_GithubDocument):
    """An artifact. ``digest`` is ``sha256:...`` of the archive where GitHub knows it."""

    id: Ordinal
    name: str
    size_in_bytes: Count
    expired: bool
    digest: str | None = None


class JobStep(_GithubDocument):
    """One step of a job."""

    name: str
    conclusion: str | None = None


class JobRow(_GithubDocument):
    """A job of one run attempt, as far as :class:`runner_e2e.campaigns.JobHistory` reads it."""

    id: Ordinal
    name: str
    run_attempt: Ordinal
    status: str
    conclusion: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    steps: tuple[JobStep, ...] = ()


class _ArtifactPage(_GithubDocument):
    total_count: Count
    artifacts: tuple[Artifact, ...]


class _JobPage(_GithubDocument):
    total_count: Count
    jobs: tuple[JobRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository by its name."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"


class GithubApi:
    """Reads one repository. May be used by several threads. Close it after use."""

    def __init__(self, server: GithubServer, repository: Repository, patience: Patience) -> None:
        self.server = server
        self.repository = repository
        self.patience = patience
        self.tls = httpx.create_ssl_context()
        """Whom we trust. Reading the certificates takes a quarter of a second, so once."""
        self.client = httpx.Client(
            verify=self.tls,
            headers=_headers(server),
            timeout=TIMEOUT,
            # A repository that was renamed answers with its new address.
            follow_redirects=True,
            max_redirects=3,
            event_hooks={"request": [self._only_here]},
        )
        client: Callable[..., Any] = GhApi
        api = client(
            gh_host=server.api_url,
            sync=True,
            # ghapi would also take GITHUB_JWT_TOKEN, and warn where there is no token.
            authenticate=False,
            # Else ghapi prints requests when GHAPI_DEBUG is set, to stdout, which is our answer's.
            debug=_say_nothing,
        )
        api.transport.client = self.client
        self._actions: Any = api.actions

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    def run(self, run_id: int) -> WorkflowRun:
        """Return a workflow run as it is now."""
        return self._get(
            WorkflowRun, f"run {run_id}", self._actions.get_workflow_run, run_id=run_id
        )

    def attempt(self, run_id: int, run_attempt: int) -> WorkflowRun:
        """Return what one attempt of a run was."""
        return self._get(
            WorkflowRun,
            f"attempt {run_attempt} of run {run_id}",
            self._actions.get_workflow_run_attempt,
            run_id=run_id,
            attempt_number=run_attempt,
        )

    def artifacts(self, run_id: int) -> tuple[Artifact, ...]:
        """List every artifact of a run, of all attempts: GitHub does not part them."""

        def page(number: int) -> tuple[int, dict[object, Artifact]]:
            found = self._get(
                _ArtifactPage,
                f"page {number} of the artifacts of run {run_id}",
                self._actions.list_workflow_run_artifacts,
                run_id=run_id,
                per_page=PER_PAGE,
                page=number,
                # Oldest first: one that is added meanwhile moves no other to another page.
                direction="asc",
            )
            return found.total_count, {artifact.id: artifact for artifact in found.artifacts}

        return self._every(page, f"artifacts of run {run_id}")

    def jobs(self, run_id: int) -> tuple[JobRow, ...]:
        """List every job of every attempt of a run."""

        def page(number: int) -> tuple[int, dict[object, JobRow]]:
            found = self._get(
                _JobPage,
                f"page {number} of the jobs of run {run_id}",
                self._actions.list_jobs_for_workflow_run,
                run_id=run_id,
                filter="all",
                per_page=PER_PAGE,
                page=number,
            )
            return found.total_count, {(job.id, job.run_attempt): job for job in found.jobs}

        return self._every(page, f"jobs of run {run_id}")

    def refusal(self, status: int, what: str) -> GithubError:
        """Say what an answer means that does not give ``what``, and what to do."""
        where = f"{what} in {self.repository}: GitHub answered {status}"
        if status == httpx.codes.UNAUTHORIZED:
            return GithubError(where, hint="the token is wrong or has run out; set GITHUB_TOKEN")
        if status == httpx.codes.FORBIDDEN:
            return GithubError(
                where,
                hint="the token must be allowed to read Actions: `permissions: actions: read` in "
                "the workflow's job, or `Actions: read` of a fine-grained token",
            )
        if status in (httpx.codes.NOT_FOUND, httpx.codes.GONE):
            hint = f"look at the owner, the repository and the run id; {self.server.api_url} "
            hint += "says the same to a token that may not see a private repository"
            if self.server.token is None:
                hint += ", and there is no token: set GITHUB_TOKEN"
            return GithubError(where, hint=hint)
        return GithubError(where, hint=f"is {self.server.api_url} the API of a GitHub?")

    def _only_here(self, request: httpx.Request) -> None:
        """Refuse to ask anybody else, whatever a redirect says."""
        try:
            here = origin_of(str(request.url)) == self.server.origin
        except ValueError:
            here = False
        if not here:
            raise GithubError(
                f"{self.server.api_url} sends us to {request.url.host or 'no host'}, where we "
                "did not go",
                hint="look at GITHUB_API_URL",
            )

    def _get(self, kind: type[D], what: str, operation: Callable[..., Any], **fields: Any) -> D:
        def send() -> httpx.Response:
            try:
                response = operation(
                    owner=self.repository.owner, repo=self.repository.name, raw_=True, **fields
                )
            except httpx.HTTPStatusError as error:
                response = error.response
            except httpx.TooManyRedirects:
                raise GithubError(f"{what}: GitHub redirects in a circle") from None
            except httpx.HTTPError as error:
                raise Fault(fault_text(error)) from None
            if not isinstance(response, httpx.Response):
                raise TypeError(f"ghapi gave a {type(response).__name__}")
            check(response)
            return response

        try:
            answer = self.patience.ask(send)
        except Fault as fault:
            raise GithubUnavailable(
                f"{what} in {self.repository}: no answer from {self.server.api_url} ({fault})",
                hint="see whether GitHub is up (githubstatus.com) and the network lets us through",
            ) from None
        if answer.status_code != httpx.codes.OK:
            raise self.refusal(answer.status_code, what)
        return parse(kind, answer.content, f"{what} in {self.repository}")

    def _every(
        self, page: Callable[[int], tuple[int, dict[object, R]]], what: str
    ) -> tuple[R, ...]:
        """Read all pages; as many rows as GitHub says there are, or it is an error.

        A total that changes on the way says that rows moved between pages, perhaps unseen.
        """
        seen: dict[object, R] = {}
        totals: set[int] = set()
        for _ in range(MAX_LISTINGS):
            seen, totals = {}, set()
            for number in range(1, MAX_PAGES + 1):
                total, rows = page(number)
                seen |= rows
                totals.add(total)
                if not rows or len(seen) >= total:
                    break
            if totals == {len(seen)}:
                return tuple(seen.values())
        said = " or ".join(f"{total:,}" for total in sorted(totals))
        raise GithubError(
            f"GitHub says that there are {said} {what}, and lists {len(seen):,}",
            hint="nothing may be added to the run while it is read; try again",
        )


def fault_text(error: httpx.HTTPError) -> str:
    """Name a broken connection. Not by its message: that may quote an address that is signed."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__).lower()


def _headers(server: GithubServer) -> dict[str, str]:
    headers = {
        "Accept": "application/vnd.github+json",
        "User-Agent": f"runner-e2e/{__version__}",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    if server.token is not None:
        headers["Authorization"] = f"Bearer {server.token}"
    return headers


def _say_nothing(*_: object) -> None:
    """Take what ghapi wants to print."""
