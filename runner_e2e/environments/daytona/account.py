"""Whose Daytona it is, and what sandboxes are made from: all of it from the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from runner_e2e.catalog import is_immutable_image
from runner_e2e.failures import PermanentInfrastructure

KEY_VARIABLE = "DAYTONA_API_KEY"
URL_VARIABLE = "DAYTONA_API_URL"
"""From the environment only: whoever names the endpoint decides where the key is sent."""
IMAGE_VARIABLE = "RUNNER_E2E_DAYTONA_IMAGE"

DEFAULT_URL = "https://app.daytona.io/api"
_URL = re.compile(r"https?://[A-Za-z0-9._\-\[\]:]+(/[^\s?#]*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class DaytonaAccount:
    """An account. The key never appears in a repr."""

    api_key: str = field(repr=False)
    api_url: str = DEFAULT_URL

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> DaytonaAccount:
        """Read it. Raises permanent infrastructure ``missing_credential`` or ``bad_api_url``."""
        key = environ.get(KEY_VARIABLE, "").strip()
        if not key:
            raise PermanentInfrastructure(
                "missing_credential",
                f"{KEY_VARIABLE} must be set for the environment daytona",
                hint="set it in the environment of runner-e2e, as a secret of the workflow",
            )
        url = environ.get(URL_VARIABLE, "").strip() or DEFAULT_URL
        if not _URL.fullmatch(url):
            raise PermanentInfrastructure(
                "bad_api_url",
                f"{URL_VARIABLE} is no http or https address",
                hint=f"leave it out for {DEFAULT_URL}",
            )
        return cls(api_key=key, api_url=url.rstrip("/"))


def image_from_environ(environ: Mapping[str, str]) -> str:
    """The image of the sandboxes. Raises permanent infrastructure ``bad_image``."""
    image = environ.get(IMAGE_VARIABLE, "").strip()
    if not is_immutable_image(image):
        what = f"{image!r} is no immutable image digest" if image else "it is not set"
        raise PermanentInfrastructure(
            "bad_image",
            f"{IMAGE_VARIABLE} must name the image of daytona executions by its digest: {what}",
            hint="write it as registry/name@sha256:<64 hexadecimal digits>",
        )
    return image
