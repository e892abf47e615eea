"""Reads what is inside archives, to search it: bounded in depth, members and bytes."""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from typing import IO, BinaryIO, Protocol

CHUNK = 1 << 18
MAX_DEPTH = 4
MAX_MEMBERS = 10_000
MAX_INFLATED = 256 * 1024 * 1024
MAX_DIRECTORY = 2 * 1024 * 1024
"""Bytes of a zip's own directory, which is read whole."""

SPOOL = 4 * 1024 * 1024
MAGIC_BYTES = 265

GZIP, BZIP2, XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0"
UNREADABLE = (b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\x28\xb5\x2f\xfd", b"MSCF\0\0\0\0")
"""7z, RAR, Zstandard and cabinet files: Python cannot look inside, so nobody did."""

BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    struct.error,
    UnicodeError,
    ValueError,
)
"""What the readers of the standard library raise over a file that is broken or encrypted."""


class Uninspectable(Exception):
    """An archive cannot be looked into, whole: broken, encrypted, too deep or too big."""


class ArchiveReader:
    """Yields the content of a file and of all archives within it, piece by piece.

    One reader has one allowance of members and bytes, over all that it opens.
    """

    def __init__(self, *, max_inflated: int = MAX_INFLATED, max_members: int = MAX_MEMBERS) -> None:
        self._bytes_left = max_inflated
        self._members_left = max_members

    def streams(self, file: BinaryIO, depth: int = 0) -> Iterator[Iterator[bytes]]:
        """Yield one iterator of chunks for ``file`` and one for each thing inside.

        Each must be read to its end before the next is asked for. ``file`` must be seekable.
        Raises :class:`Uninspectable`.
        """
        head = file.read(MAGIC_BYTES)
        file.seek(0)
        if depth == 0:
            yield _chunks(file)
            file.seek(0)
        try:
            yield from self._inside(file, head, depth)
        except BROKEN as error:
            raise Uninspectable(f"{type(error).__name__}") from None

    def _inside(self, file: BinaryIO, head: bytes, depth: int) -> Iterator[Iterator[bytes]]:
        compressed = head.startswith((GZIP, BZIP2, XZ))
        is_zip = head.startswith((b"PK\x03\x04", b"PK\x05\x06"))
        is_tar = head[257:262] == b"ustar"
        if head.startswith(UNREADABLE):
            raise Uninspectable("of a kind that cannot be read")
        if not (compressed or is_zip or is_tar):
            return
        if depth >= MAX_DEPTH:
            raise Uninspectable(f"nested deeper than {MAX_DEPTH}")
        if compressed:
            with closing(_decompressed(file, head)) as inner:
                yield from self._member(inner, depth)
        elif is_zip:
            yield from self._zip(file, depth)
        else:
            yield from self._tar(file, depth)

    def _zip(self, file: BinaryIO, depth: int) -> Iterator[Iterator[bytes]]:
        _check_directory(file)
        with zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                self._count_member()
                yield iter((member.filename.encode("utf-8", "surrogateescape"), member.comment))
                if not member.is_dir():
                    with archive.open(member) as inner:
                        yield from self._member(inner, depth)

    def _tar(self, file: BinaryIO, depth: int) -> Iterator[Iterator[bytes]]:
        with tarfile.open(fileobj=file, mode="r|") as archive:
            for member in archive:
                self._count_member()
                names = f"{member.name}\n{member.linkname}"
                yield iter((names.encode("utf-8", "surrogateescape"),))
                inner = archive.extractfile(member) if member.isreg() else None
                if inner is not None:
                    yield from self._member(inner, depth)

    def _member(self, inner: _Readable, depth: int) -> Iterator[Iterator[bytes]]:
        """Spool one member, so that it can be searched and, if it is an archive, opened."""
        with tempfile.SpooledTemporaryFile(max_size=SPOOL) as spool:
            while chunk := inner.read(CHUNK):
                self._bytes_left -= len(chunk)
                if self._bytes_left < 0:
                    raise Uninspectable("larger inside than is looked at")
                spool.write(chunk)
            spool.seek(0)
            yield _chunks(spool)
            spool.seek(0)
            yield from self.streams(spool, depth + 1)  # type: ignore[arg-type]  # a file but in name

    def _count_member(self) -> None:
        self._members_left -= 1
        if self._members_left < 0:
            raise Uninspectable("of more members than are looked at")


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...
    def close(self) -> None: ...


def _decompressed(file: BinaryIO, head: bytes) -> _Readable:
    if head.startswith(GZIP):
        return gzip.GzipFile(fileobj=file, mode="rb")
    return bz2.BZ2File(file) if head.startswith(BZIP2) else lzma.LZMAFile(file)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):
        yield chunk


def _check_directory(file: BinaryIO) -> None:
    """Refuse a zip whose directory would fill the memory; ``zipfile`` reads it whole."""
    size = file.seek(0, 2)
    file.seek(max(0, size - 65_557))
    tail = file.read()
    file.seek(0)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) < at + 16:
        raise Uninspectable("without a directory")
    (directory,) = struct.unpack_from("<L", tail, at + 12)
    if directory > MAX_DIRECTORY:
        raise Uninspectable("of more members than are looked at")
