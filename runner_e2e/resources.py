"""Where templates and workflows lie: inside the wheel, or beside the package in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource_directory(name: str) -> Path:
    """The directory ``templates`` or ``workflows``.

    A wheel carries them under ``_resources``; an editable install has no such copy, since force-
    included files exist only in built wheels, so there the repository's own folder is used.
    """
    for candidate in (_PACKAGE / "_resources" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"this installation of runner-e2e has no {name} directory")
