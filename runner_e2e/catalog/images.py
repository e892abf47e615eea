"""The image that Daytona sandboxes are made from."""

from __future__ import annotations

import re

_IMMUTABLE = re.compile(r"[^\s@]+@sha256:[0-9a-fA-F]{64}")


def is_immutable_image(image: str) -> bool:
    """Whether an image is named by its digest. A tag can be moved between two attempts.

    Reference 1.8 rule 17.
    """
    return _IMMUTABLE.fullmatch(image) is not None
