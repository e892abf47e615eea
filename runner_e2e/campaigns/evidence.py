"""The only evidence that goes on: public PNGs that the job itself vouched for."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from runner_e2e.campaigns.trees import MIB, Absent, Tree, Unreadable
from runner_e2e.contracts.base import parse
from runner_e2e.contracts.evidence import (
    EvidenceManifest,
    FileDigest,
    evidence_path,
    is_picture_path,
)
from runner_e2e.contracts.result import Result
from runner_e2e.contracts.scalars import is_confined
from runner_e2e.errors import DocumentError

MAX_IMAGE_BYTES = 12 * MIB
MAX_MANIFEST_BYTES = 4 * MIB
PNG_HEAD = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"


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
        return _checked(self.tree, self.path, self.sha256)


def public_images(
    tree: Tree, directory: str, execution_id: str, result: Result, files: tuple[FileDigest, ...]
) -> tuple[PublicImage, ...]:
    """Find the pictures of ``result`` that were declared public, listed and vouched for.

    ``directory`` is where the job record lies in ``tree`` and ``files`` are the record's. A picture
    that is not there is passed over, since evidence is uploaded apart from results. Raises
    :class:`Unreadable` for one that is there and is not what the record says.
    """
    declared = [shot.file for shot in result.screenshots or () if shot.publication is not None]
    if not declared:
        return ()
    vouched = {file.path: file for file in files}
    attempt = f"attempt-{result.attempt}"
    manifest = vouched.get(f"{attempt}/evidence-manifest.json")
    if manifest is None:
        return ()
    try:
        data = _checked(tree, directory + manifest.path, manifest.sha256, MAX_MANIFEST_BYTES)
    except Absent:
        return ()
    try:
        listed = frozenset(parse(EvidenceManifest, data, manifest.path).files)
    except DocumentError as error:
        raise Unreadable(str(error)) from None
    images: dict[str, PublicImage] = {}
    for name in dict.fromkeys(declared):
        file = vouched.get(f"{attempt}/{name}")
        target = evidence_path(execution_id, result.attempt, name)
        if (
            file is None
            or name not in listed
            or not is_confined(name)
            or not is_picture_path(target)
        ):
            continue
        image = PublicImage(
            tree=tree,
            path=directory + file.path,
            target=target,
            sha256=file.sha256,
            size=file.bytes,
        )
        try:
            image.read()
        except Absent:
            continue
        images.setdefault(target, image)
    return tuple(images.values())


def _checked(tree: Tree, path: str, sha256: str, limit: int = MAX_IMAGE_BYTES) -> bytes:
    data = tree.read(path, limit)
    if hashlib.sha256(data).hexdigest() != sha256:
        raise Unreadable(f"{path} is not the file that the job recorded")
    if limit == MAX_IMAGE_BYTES and not data.startswith(PNG_HEAD):
        raise Unreadable(f"{path} is not a PNG")
    return data
