"""Archives are looked into, and what cannot be looked into is said to be so."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
from collections.abc import Callable

import pytest

from runner_e2e.evidence import ArchiveReader, Redactor, Uninspectable

SECRET = "correct-Horse/Battery+staple"
REDACTOR = Redactor({"KEY": SECRET})
CLEAN = b"nothing to see here\n" * 50


def found(data: bytes, reader: ArchiveReader | None = None) -> set[str]:
    streams = (reader or ArchiveReader()).streams(io.BytesIO(data))
    return {finding.name for stream in streams for finding in REDACTOR.scan(stream)}


def zipped(data: bytes, name: str = "a.txt", method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("clean.txt", CLEAN)
        archive.writestr(name, data)
    return buffer.getvalue()


def tarred(data: bytes, name: str = "a.txt") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "zip": zipped,
    "stored zip": lambda data: zipped(data, method=zipfile.ZIP_STORED),
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "tar": tarred,
    "tgz": lambda data: gzip.compress(tarred(data)),
    "tgz in zip": lambda data: zipped(gzip.compress(tarred(data)), "b.tgz"),
    "zip in zip in zip": lambda data: zipped(zipped(zipped(data))),
    "zip in tar": lambda data: tarred(zipped(data)),
    "two gzip members": lambda data: gzip.compress(CLEAN) + gzip.compress(data),
}


@pytest.mark.parametrize("packer", PACKERS)
def test_a_secret_is_found_inside(packer: str) -> None:
    assert found(PACKERS[packer](f"x {SECRET} y".encode())) == {"KEY"}
    assert found(PACKERS[packer](CLEAN)) == set()


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_a_secret_in_a_members_name_is_found(pack: Callable[[bytes, str], bytes]) -> None:
    assert found(gzip.compress(pack(CLEAN, f"dir/{SECRET}"))) == {"KEY"}


def test_a_secret_across_the_pieces_of_a_member_is_found() -> None:
    for offset in range(-30, 2, 3):
        data = b"x" * ((1 << 18) + offset) + SECRET.encode()
        assert found(zipped(data)) == {"KEY"}


def test_a_key_shape_inside_an_archive_is_found() -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLE"
    assert found(zipped(key.encode())) == {"an AWS key id"}


def test_a_file_that_is_no_archive_is_searched_as_it_is() -> None:
    assert found(SECRET.encode()) == {"KEY"}
    assert found(b"") == set()


def encrypted() -> bytes:
    data = bytearray(zipped(CLEAN, method=zipfile.ZIP_STORED))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        data[at + offset] |= 1
    return bytes(data)


@pytest.mark.parametrize(
    "data",
    [
        zipped(CLEAN)[:60],
        zipped(CLEAN)[:-22],
        b"PK\x03\x04" + b"x" * 400,
        b"PK\x05\x06" + b"\xff" * 18,
        gzip.compress(CLEAN)[:-9],
        gzip.compress(CLEAN)[:12] + b"\xff" * 30,
        bz2.compress(CLEAN)[:-9],
        lzma.compress(CLEAN)[:-9],
        gzip.compress(tarred(CLEAN)[:700]),
        encrypted(),
        zipped(b"7z\xbc\xaf\x27\x1c" + bytes(40)),
        zipped(b"\x28\xb5\x2f\xfd" + bytes(40)),
        b"Rar!\x1a\x07\x00" + bytes(40),
    ],
    ids=range(13),
)
def test_what_is_broken_encrypted_or_of_an_unknown_kind_is_uninspectable(data: bytes) -> None:
    with pytest.raises(Uninspectable):
        found(data)


def test_nesting_has_an_end() -> None:
    data = CLEAN
    for _ in range(6):
        data = gzip.compress(data)
    with pytest.raises(Uninspectable, match="nested deeper than 4"):
        found(data)


@pytest.mark.parametrize("pack", [zipped, gzip.compress, lambda data: gzip.compress(tarred(data))])
def test_a_bomb_is_stopped_by_what_it_really_holds(pack: Callable[[bytes], bytes]) -> None:
    bomb = pack(bytes(3_000_000))
    assert len(bomb) < 20_000
    with pytest.raises(Uninspectable, match="larger inside"):
        found(bomb, ArchiveReader(max_inflated=1_000_000))


def test_a_declared_size_that_lies_does_not_help_a_bomb() -> None:
    bomb = bytearray(zipped(bytes(3_000_000), "b"))
    at = bomb.rfind(b"PK\x01\x02")
    struct.pack_into("<L", bomb, at + 24, 10)
    with pytest.raises(Uninspectable):
        found(bytes(bomb), ArchiveReader(max_inflated=1_000_000))


def test_many_members_are_too_many() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(20):
            archive.writestr(f"{number}", b"")
    with pytest.raises(Uninspectable, match="more members"):
        found(buffer.getvalue(), ArchiveReader(max_members=10))


def test_a_huge_directory_is_refused_before_it_is_read() -> None:
    data = bytearray(zipped(CLEAN))
    struct.pack_into("<L", data, data.rfind(b"PK\x05\x06") + 12, 1 << 30)
    with pytest.raises(Uninspectable, match="more members"):
        found(bytes(data))


def test_one_allowance_covers_all_that_a_reader_opens() -> None:
    reader = ArchiveReader(max_inflated=4_500)
    for _ in range(4):
        found(gzip.compress(CLEAN), reader)
    with pytest.raises(Uninspectable, match="larger inside"):
        found(gzip.compress(CLEAN), reader)
