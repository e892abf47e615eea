"""The only evidence that goes on: public PNGs that the job itself vouched for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from runner_e2e.campaigns.boundary import leaks_in
from runner_e2e.campaigns.trees import MIB, Absent, Tree, Unreadable
from runner_e2e.contracts.base import parse
from runner_e2e.contracts.evidence import (
    EvidenceManifest,
    FileDigest,
    evidence_path,
    is_picture_path,
)
from runner_e2e.contracts.insights import Extra
from runner_e2e.contracts.result import Result
from runner_e2e.contracts.scalars import is_confined
from runner_e2e.errors import DocumentError
from runner_e2e.evidence.pictures import MAX_PNG_BYTES, png_problem

MAX_MANIFEST_BYTES = 4 * MIB
MAX_REASON = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicImage:
    """A picture to copy into the report. ``target`` is its path there."""

    tree: Tree
    path: str
    target: str
    sha256: str
    size: int

    def read(self) -> bytes:
        """Return the picture, checked again. Raises :class:`Unreadable`."""
        data = _checked(self.tree, self.path, self.sha256, MAX_PNG_BYTES)
        if problem := png_problem(data):
            raise Unreadable(f"{self.path}: {problem}")
        return data


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """The pictures of one cell that may be published, and those that are left out and why."""

    images: tuple[PublicImage, ...] = ()
    left_out: tuple[Extra, ...] = ()
    leaks: tuple[str, ...] = ()
    """What in those that are left out is shaped like a key."""


NO_PICTURES = Pictures()


def public_images(
    tree: Tree, directory: str, execution_id: str, result: Result, files: tuple[FileDigest, ...]
) -> Pictures:
    """Find the pictures of ``result`` that were declared public, listed and vouched for.

    ``directory`` is where the job record lies in ``tree`` and ``files`` are the record's. A picture
    that is not there is passed over, since evidence is uploaded apart from results; one that may
    not be published is left out and named. Raises :class:`Unreadable` for one that is there and is
    not what the record says.
    """
    declared = [shot.file for shot in result.screenshots or () if shot.publication is not None]
    if not declared:
        return NO_PICTURES
    vouched = {file.path: file for file in files}
    attempt = f"attempt-{result.attempt}"
    manifest = vouched.get(f"{attempt}/evidence-manifest.json")
    if manifest is None:
        return NO_PICTURES
    try:
        data = _checked(tree, directory + manifest.path, manifest.sha256, MAX_MANIFEST_BYTES)
    except Absent:
        return NO_PICTURES
    try:
        listed = frozenset(parse(EvidenceManifest, data, manifest.path).files)
    except DocumentError as error:
        raise Unreadable(str(error)) from None
    found: dict[str, PublicImage] = {}
    for name in dict.fromkeys(declared):
        file = vouched.get(f"{attempt}/{name}")
        if file is None or name not in listed or not is_confined(name):
            continue
        target = evidence_path(execution_id, result.attempt, name)
        image = PublicImage(
            tree=tree,
            path=directory + file.path,
            target=target,
            sha256=file.sha256,
            size=file.bytes,
        )
        found.setdefault(target, image)
    return _publishable(execution_id, found.values())


def _publishable(execution_id: str, found: Iterable[PublicImage]) -> Pictures:
    """Part what may be published from what may not: one bad picture must not stop the rest."""
    images, left_out = [], []
    leaks: list[str] = []
    for image in found:
        try:
            problem, held = inspect(image)
        except Absent:
            continue
        leaks += held
        if problem is None:
            images.append(image)
        else:
            left_out.append(leave_out(execution_id, image, problem))
    return Pictures(images=tuple(images), left_out=tuple(left_out), leaks=tuple(leaks))


def leave_out(execution_id: str, image: PublicImage, problem: str) -> Extra:
    """Name a picture that does not go into the report."""
    reason = f"the picture is left out: {problem}"[:MAX_REASON]
    return Extra(execution_id=execution_id, file=image.tree.name + image.path, reason=reason)


def inspect(image: PublicImage) -> tuple[str | None, tuple[str, ...]]:
    """Why a picture may not be published, or ``None``, and what in it is shaped like a key.

    Raises :class:`Unreadable` where it is not there or is not what its digest says.
    """
    if not is_picture_path(image.target):
        return "its name is not plain, or not that of a PNG", ()
    if image.size > MAX_PNG_BYTES:
        limit = f"{MAX_PNG_BYTES:,}"
        return f"{image.size:,} bytes are more than the {limit} that a picture may have", ()
    data = _checked(image.tree, image.path, image.sha256, MAX_PNG_BYTES)
    leaks = leaks_in(data)
    return (f"it holds something {leaks[0]}" if leaks else png_problem(data)), leaks


def _checked(tree: Tree, path: str, sha256: str, limit: int) -> bytes:
    data = tree.read(path, limit)
    if hashlib.sha256(data).hexdigest() != sha256:
        raise Unreadable(f"{path} is not the file that the job recorded")
    return data
