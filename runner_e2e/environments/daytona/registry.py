"""Whether an image is where it is said to be, asked as anybody may ask its registry."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import httpx

from runner_e2e.environments.daytona.errors import broken

DOCKER_HUB = "registry-1.docker.io"
_MANIFESTS = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_CHALLENGE = re.compile(r'(\w+)="([^"]*)"')
_UNAUTHORIZED = (401, 403)
_NOT_FOUND = 404
_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageName:
    """``registry/repository@digest``, taken apart as Docker does."""

    registry: str
    repository: str
    digest: str

    @classmethod
    def parse(cls, image: str) -> ImageName:
        """Read an immutable name."""
        name, _, digest = image.partition("@")
        first, slash, rest = name.partition("/")
        if not slash or not ({".", ":"} & set(first) or first == "localhost"):
            repository = name if slash else f"library/{name}"
            return cls(registry=DOCKER_HUB, repository=repository, digest=digest)
        if first == "docker.io":
            first, rest = DOCKER_HUB, rest if "/" in rest else f"library/{rest}"
        # A digest stands for the content, so a tag beside it says nothing.
        return cls(registry=first, repository=rest.rpartition(":")[0] or rest, digest=digest)

    @property
    def url(self) -> str:
        """Where its manifest is. Registries of this machine speak plain HTTP."""
        host = self.registry.partition(":")[0]
        scheme = "http" if host in {"localhost", "127.0.0.1"} else "https"
        return f"{scheme}://{self.registry}/v2/{self.repository}/manifests/{self.digest}"


Found = Literal["found", "missing", "private"]


def look_up(image: str) -> Found:
    """Ask the registry for an image. Raises an execution error where it does not answer."""
    name = ImageName.parse(image)
    headers = {"Accept": ", ".join(_MANIFESTS)}
    try:
        with httpx.Client(timeout=_TIMEOUT_S, follow_redirects=True) as http:
            response = http.head(name.url, headers=headers)
            token = _token(http, response, name)
            if token is not None:
                headers["Authorization"] = f"Bearer {token}"
                response = http.head(name.url, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise broken(error, f"look for the image at {name.registry}") from error
    if response.is_success:
        return "found"
    if response.status_code in _UNAUTHORIZED:
        return "private"
    if response.status_code == _NOT_FOUND:
        return "missing"
    unclear = httpx.HTTPStatusError("", request=response.request, response=response)
    raise broken(unclear, f"look for the image at {name.registry}")


def _token(http: httpx.Client, response: httpx.Response, name: ImageName) -> str | None:
    """A token for anybody, where the registry hands one out."""
    challenge = response.headers.get("WWW-Authenticate", "")
    if response.status_code not in _UNAUTHORIZED or not challenge.lower().startswith("bearer"):
        return None
    fields = dict(_CHALLENGE.findall(challenge))
    realm = fields.get("realm", "")
    if not realm.startswith(("https://", f"http://{name.registry}/")):
        return None
    scope = f"repository:{name.repository}:pull"
    answer = http.get(realm, params={"service": fields.get("service", ""), "scope": scope})
    if not answer.is_success:
        return None
    body = answer.json()
    token = body.get("token") or body.get("access_token") if isinstance(body, dict) else None
    return token if isinstance(token, str) else None
