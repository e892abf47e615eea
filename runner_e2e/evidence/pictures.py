"""What counts as a picture: a PNG and nothing but a PNG."""

from __future__ import annotations

import zlib

MAX_PNG_BYTES = 12 * 1024 * 1024
"""What one picture may have, where it is taken, packed, copied and published."""

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_IHDR_BYTES = 13
_CHUNK_FRAME = 12


def png_problem(data: bytes) -> str | None:
    """Why ``data`` is not a PNG and nothing but a PNG; ``None`` when it is one.

    Every chunk is walked to the last byte, so that nothing rides along behind the picture. Asked
    where an agent's picture is taken, so that a bad one costs that agent and nobody else, and again
    wherever a file may have been changed since.
    """
    if not data.startswith(PNG_SIGNATURE):
        return "it is not a PNG"
    position = len(PNG_SIGNATURE)
    first = True
    while position + _CHUNK_FRAME <= len(data):
        length = int.from_bytes(data[position : position + 4])
        kind = data[position + 4 : position + 8]
        end = position + _CHUNK_FRAME + length
        if end > len(data):
            break
        checksum = int.from_bytes(data[end - 4 : end])
        if zlib.crc32(data[position + 4 : end - 4]) != checksum:
            return "it is a damaged PNG"
        if first and (kind != b"IHDR" or length != _IHDR_BYTES):
            return "it is not a PNG: it has no header"
        if first and 0 in (
            int.from_bytes(data[position + 8 : position + 12]),
            int.from_bytes(data[position + 12 : position + 16]),
        ):
            return "it is an empty PNG"
        first = False
        position = end
        if kind == b"IEND":
            return None if position == len(data) else "something is appended to the PNG"
    return "it is a PNG that was cut off"
