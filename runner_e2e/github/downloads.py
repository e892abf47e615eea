"""Artifacts on their way to a temporary file: bounded in number, in bytes and in time.

GitHub answers the request for an archive with the signed address of a blob on another host. The
token belongs to GitHub, so it goes no further.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import httpx

from runner_e2e import __version__
from runner_e2e.campaigns import Broken
from runner_e2e.github.errors import GithubError
from runner_e2e.github.patience import Fault, check
from runner_e2e.github.rest import TIMEOUT, Artifact, GithubApi, fault_text
from runner_e2e.github.server import origin_of

MIB = 1024 * 1024
MAX_ARTIFACT_BYTES = 128 * MIB
"""Of one archive, as it is stored: a result, its record and its public pictures."""

MAX_SECONDS = 600.0
"""Of one download; one that drips would hold up the end of the whole campaign."""

MAX_HOPS = 3
MAX_PARALLEL = 8
"""GitHub allows 100 requests at a time for everybody who uses the token."""


class Gone(Exception):
    """The artifact is listed and cannot be had. Trying again does not help."""

    def __init__(self, broken: Broken) -> None:
        super().__init__(broken.reason)
        self.broken = broken


class Downloads:
    """Fetches archives of one repository. May be used by several threads."""

    def __init__(self, api: GithubApi) -> None:
        self._api = api
        self._blobs = httpx.Client(
            verify=api.tls,
            headers={"User-Agent": f"runner-e2e/{__version__}", "Accept-Encoding": "identity"},
            timeout=TIMEOUT,
            limits=httpx.Limits(max_connections=MAX_PARALLEL),
        )

    def close(self) -> None:
        """Close the connections."""
        self._blobs.close()

    def fetch(self, artifact: Artifact, path: Path, *, label: str) -> Broken | None:
        """Write the archive to ``path``. What cannot be had is returned as :class:`Broken`.

        Raises :class:`GithubError` where no other artifact could be had either.
        """
        if artifact.expired:
            return Broken(name=label, state="expired", reason="the artifact has expired")
        try:
            if artifact.size_in_bytes > MAX_ARTIFACT_BYTES:
                raise _unusable(label, _too_long(artifact.size_in_bytes))
            self._api.patience.ask(lambda: self._once(artifact, path, label))
        except Gone as gone:
            path.unlink(missing_ok=True)
            return gone.broken
        except Fault as fault:
            path.unlink(missing_ok=True)
            return Broken(name=label, state="corrupt", reason=f"it cannot be downloaded: {fault}")
        except OSError as error:
            raise GithubError(
                f"{label} cannot be kept here: {(error.strerror or 'no reason').lower()}",
                hint="artifacts are kept in the temporary directory until the report is written",
            ) from None
        return None

    def _once(self, artifact: Artifact, path: Path, label: str) -> None:
        location = self._location(artifact, label)
        ends = self._api.patience.wait.now() + MAX_SECONDS
        sha256 = hashlib.sha256()
        length = 0
        with path.open("wb") as file:
            for chunk in self._chunks(location):
                length += len(chunk)
                if length > MAX_ARTIFACT_BYTES:
                    raise _unusable(label, _too_long(length))
                if self._api.patience.wait.now() > ends or self._api.patience.stopped:
                    raise Fault(f"it took longer than {MAX_SECONDS:.0f} s")
                sha256.update(chunk)
                file.write(chunk)
        if artifact.digest is not None and artifact.digest != f"sha256:{sha256.hexdigest()}":
            raise Fault("its bytes are not those that were uploaded")

    def _location(self, artifact: Artifact, label: str) -> str:
        """Ask GitHub where the archive is. It does not say so to be told the token once more."""
        repository = self._api.repository
        url = f"{self._api.server.api_url}/repos/{repository}/actions/artifacts/{artifact.id}/zip"
        for _ in range(MAX_HOPS):
            try:
                response = self._api.client.get(url, follow_redirects=False)
            except httpx.HTTPError as error:
                raise Fault(fault_text(error)) from None
            check(response)
            status = response.status_code
            if status == httpx.codes.GONE:
                raise Gone(Broken(name=label, state="expired", reason="the artifact has expired"))
            if status == httpx.codes.NOT_FOUND:
                raise _unusable(label, "GitHub lists it and does not find it (404)")
            if not response.is_redirect:
                if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
                    raise self._api.refusal(status, label)
                raise _unusable(label, f"GitHub answered {status} instead of saying where it is")
            url = str(httpx.URL(url).join(response.headers["location"]))
            if status == httpx.codes.FOUND:
                return self._safe(url, label)
            # 301, 307, 308: the repository was renamed; only GitHub itself is asked again.
        raise _unusable(label, "GitHub redirects in a circle")

    def _safe(self, url: str, label: str) -> str:
        try:
            scheme, host, _ = origin_of(url)
        except ValueError:
            raise _unusable(label, "GitHub says that it is where nothing can be") from None
        if scheme != "https" and self._api.server.origin[0] == "https":
            raise _unusable(label, f"it would come from {host} in the clear")
        return url

    def _chunks(self, location: str) -> Iterator[bytes]:
        """Read a blob. Its address is as good as a password, so no message quotes it."""
        try:
            with self._blobs.stream("GET", location) as response:
                if response.status_code != httpx.codes.OK:
                    # A signature that ran out looks like this too; a new one is asked for.
                    raise Fault(f"its storage answered {response.status_code}")
                yield from response.iter_raw(MIB)
        except httpx.HTTPError as error:
            raise Fault(fault_text(error)) from None


def _unusable(label: str, reason: str) -> Gone:
    return Gone(Broken(name=label, state="corrupt", reason=reason))


def _too_long(length: int) -> str:
    return f"{length:,} bytes are more than the {MAX_ARTIFACT_BYTES:,} that an artifact may have"
