"""Where documents are read from: directories and zip archives, both taken for hostile.

Nothing is extracted. A tree lists the documents it holds and reads one of them up to a limit;
links, pipes and whatever else is no regular file are named and not opened.
"""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from runner_e2e.contracts.scalars import is_confined

MIB = 1024 * 1024

DOCUMENTS = frozenset({"result.json", "job-record.json", "campaign.json", "insights.json"})

# A zip's table of contents is read in one piece before anything of it can be checked.
MAX_ZIP_DIRECTORY = 32 * MIB
MAX_ZIP_MEMBERS = 65_535


class Unreadable(Exception):
    """One file cannot be used. The text says why, without naming the file."""


class Absent(Unreadable):
    """There is no such file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A document in a tree, or what stands in a document's place and cannot be read.

    ``path`` is relative to the tree, ``/`` between its parts.
    """

    path: str
    problem: str | None = None


class Tree(Protocol):
    """Files that belong together. ``name`` goes in front of their paths in every message."""

    @property
    def name(self) -> str:
        """How the tree is called in messages; empty for the directory that was asked for."""

    def documents(self) -> Iterator[Found]:
        """List what is there of :data:`DOCUMENTS`. Raises :class:`Unreadable` for the whole."""

    def read(self, path: str, limit: int) -> bytes:
        """Return a file of at most ``limit`` bytes. Raises :class:`Unreadable`."""

    def close(self) -> None:
        """Let go of what is open; reading opens it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """An artifact that is known to exist and of which nothing can be read."""

    name: str
    state: Literal["corrupt", "expired"]
    reason: str


class Source(Protocol):
    """Where artifacts come from. They must stay readable until the report is written."""

    def artifacts(self) -> Iterable[Tree | Broken]:
        """Yield every artifact once, in an order that does not change from call to call."""


@dataclass(frozen=True, slots=True)
class DirectoryTree:
    """A directory and everything below it, links not followed."""

    root: str
    exclude: frozenset[str] = frozenset()
    zips: list[str] = field(default_factory=list)
    """The archives that :meth:`documents` came by, as paths relative to ``root``."""

    @property
    def name(self) -> str:
        """Paths of the directory that was asked for need nothing in front."""
        return ""

    def documents(self) -> Iterator[Found]:
        """Walk the directory, deepest last, in the order of names."""
        pending = [""]
        while pending:
            prefix = pending.pop()
            try:
                with os.scandir(f"{self.root}/{prefix}") as found:
                    entries = sorted(found, key=lambda entry: entry.name)
            except OSError as error:
                yield Found(path=prefix.rstrip("/"), problem=_why(error))
                continue
            for entry in entries:
                path = prefix + entry.name
                if entry.is_dir(follow_symlinks=False):
                    if path not in self.exclude:
                        pending.append(f"{path}/")
                elif entry.name in DOCUMENTS:
                    yield Found(path=path)
                elif entry.name.endswith(".zip"):
                    self.zips.append(path)

    def read(self, path: str, limit: int) -> bytes:
        """Read one regular file, which no link leads to."""
        try:
            end = path.find("/")
            while end >= 0:
                if stat.S_ISLNK(os.lstat(f"{self.root}/{path[:end]}").st_mode):
                    raise Unreadable("a link leads to it")
                end = path.find("/", end + 1)
            return read_file(f"{self.root}/{path}", limit)
        except FileNotFoundError:
            raise Absent("it is not there") from None
        except OSError as error:
            raise Unreadable(_why(error)) from None

    def close(self) -> None:
        """Nothing stays open."""


def read_file(path: str, limit: int) -> bytes:
    """Return a regular file's bytes. A pipe does not block, a link is not followed."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("it is not a regular file")
        if status.st_size > limit:
            raise Unreadable(_too_long(status.st_size, limit))
        data = os.read(descriptor, status.st_size + 1)
        while len(data) < status.st_size and (more := os.read(descriptor, limit)):
            data += more
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise Unreadable(_too_long(len(data), limit))
    return data


def _why(error: OSError) -> str:
    """Say what the system said, without the path of this machine."""
    return (error.strerror or type(error).__name__).lower()


def _too_long(size: int, limit: int) -> str:
    return f"{size:,} bytes are more than the {limit:,} that such a file may have"


class _Bounded(io.FileIO):
    """A file that refuses to be read in one enormous piece."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > MAX_ZIP_DIRECTORY:
            raise zipfile.BadZipFile("its table of contents is too long")
        return super().read(-1 if size is None else size) or b""


# What zipfile raises, besides OSError, at bytes that are no archive or no good one.
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
)


@dataclass(slots=True)
class ZipTree:
    """An archive on disk, read member by member in memory."""

    path: Path
    label: str
    _archive: zipfile.ZipFile | None = None
    _file: io.FileIO | None = None

    @property
    def name(self) -> str:
        """The archive's own name, with the mark that parts it from a member's."""
        return f"{self.label}!"

    def documents(self) -> Iterator[Found]:
        """List the documents; where one member's name is unsafe, none of them is believed."""
        members = self._open().infolist()
        if len(members) > MAX_ZIP_MEMBERS:
            raise Unreadable(f"the archive has {len(members):,} members")
        problem = name_problem(members)
        names = {m.filename for m in members if m.filename.rpartition("/")[2] in DOCUMENTS}
        for name in sorted(names):
            yield Found(path=name, problem=problem)
        if problem and not names:
            raise Unreadable(problem)

    def files(self) -> tuple[str, ...]:
        """List every file. Raises :class:`Unreadable` where one member's name is unsafe."""
        members = self._open().infolist()
        if len(members) > MAX_ZIP_MEMBERS:
            raise Unreadable(f"the archive has {len(members):,} members")
        problem = name_problem(members)
        if problem:
            raise Unreadable(problem)
        return tuple(member.filename for member in members if not member.is_dir())

    def read(self, path: str, limit: int) -> bytes:
        """Inflate one member, never beyond ``limit``."""
        archive = self._open()
        try:
            info = archive.getinfo(path)
        except KeyError:
            raise Absent("it is not there") from None
        if info.file_size > limit:
            raise Unreadable(_too_long(info.file_size, limit))
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            # bzip2 and lzma inflate a block of any size at once.
            raise Unreadable(f"compression method {info.compress_type} is not read")
        try:
            with archive.open(info) as member:
                data = member.read(limit + 1)
        except (*_ZIP_ERRORS, OSError) as error:
            raise Unreadable(f"the archive is damaged: {error}") from None
        if len(data) > limit:
            raise Unreadable(_too_long(len(data), limit))
        return data

    def close(self) -> None:
        """Close the archive."""
        if self._archive is not None:
            self._archive.close()
        if self._file is not None:
            self._file.close()
        self._archive = self._file = None

    def _open(self) -> zipfile.ZipFile:
        if self._archive is not None:
            return self._archive
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(self.path, flags)
        except OSError as error:
            raise Unreadable(_why(error)) from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise Unreadable("it is not a regular file")
        self._file = _Bounded(descriptor, "rb")
        try:
            self._archive = zipfile.ZipFile(self._file)
        except (*_ZIP_ERRORS, OSError) as error:
            self.close()
            raise Unreadable(f"it is not a zip archive: {error}") from None
        return self._archive


def name_problem(members: Collection[zipfile.ZipInfo]) -> str | None:
    """Say what is wrong with the names of an archive's members, or nothing.

    Nothing is ever extracted, so a bad name can do no harm here; an archive that has one was made
    to do harm elsewhere, and is not believed.
    """
    seen: set[str] = set()
    for member in members:
        # zipfile cuts a name at NUL; the name as stored is the one that was meant.
        name = member.orig_filename
        shown = repr(name[:120])
        if "\x00" in name or ":" in name.split("/")[0] or not is_confined(name.rstrip("/")):
            return f"the archive holds the unsafe name {shown}"
        if stat.S_ISLNK(member.external_attr >> 16):
            return f"the archive holds the symbolic link {shown}"
        if name.casefold() in seen:
            return f"the archive holds the name {shown} twice"
        seen.add(name.casefold())
    return None
