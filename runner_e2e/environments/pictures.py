"""The pictures an agent declared, as they were when it did so, where it cannot reach them."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from runner_e2e.evidence import png_problem, write_atomically
from runner_e2e.matchers import FileReader, FileRefused

MAX_PICTURES_BYTES = 64 * 1024 * 1024
"""All pictures of an attempt together: what the evidence may have in all."""

LEFT_OUT_FILE = "logs/pictures.txt"


@dataclass(slots=True)
class Pictures:
    """Pictures by their name in the evidence, in one file without a name.

    One file, since neighbours in the same process share its descriptors.
    """

    _file: IO[bytes] | None = None
    _places: dict[str, tuple[int, int]] = field(default_factory=dict)
    _left_out: dict[str, None] = field(default_factory=dict)

    def keep(self, name: str, data: bytes) -> bool:
        """Keep a picture, in the place of an earlier one of its name. False where it is none.

        One that does not fit beside the others is left out, which :meth:`hand_over` says.
        """
        if png_problem(data) is not None:
            return False
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - hand_over closes it
        start = self._file.seek(0, 2)
        self._places.pop(name, None)
        if start + len(data) > MAX_PICTURES_BYTES:
            self._left_out[name] = None
            return True
        self._left_out.pop(name, None)
        self._file.write(data)
        self._places[name] = start, len(data)
        return True

    def keep_from(self, files: FileReader, path: str, name: str) -> bool:
        """Keep a file of the workspace; ``files`` reads at most a picture's size of it."""
        try:
            data = files.read_file(path)
        except FileRefused:
            return False
        return data is not None and self.keep(name, data)

    def hand_over(self, target: Path) -> None:
        """Write the pictures below ``target`` and forget them."""
        if self._file is not None:
            with self._file as file:
                for name, (start, size) in self._places.items():
                    file.seek(start)
                    write_atomically(target / name, file.read(size))
        if self._left_out:
            names = "".join(f"{name}\n" for name in self._left_out)
            said = f"left out, all pictures may have {MAX_PICTURES_BYTES} bytes:\n{names}"
            write_atomically(target / LEFT_OUT_FILE, said.encode())
