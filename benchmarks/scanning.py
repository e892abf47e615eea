"""How fast the secret scan reads a tree, how much memory it takes, and what plain code would do.

Run with ``python benchmarks/scanning.py [MEGABYTES]`` (500 by default). The tree is three quarters
text of the kinds that agents leave, one quarter base64 and random bytes; 20 secrets are hidden in
it, each in another form, and all must be found. Prints JSON; exits 1 under 100 MB/s.
"""

from __future__ import annotations

import base64
import json
import multiprocessing
import os
import random
import re
import resource
import string
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path

from runner_e2e.evidence import Redactor
from runner_e2e.evidence.forms import exact_forms
from runner_e2e.evidence.shapes import SHAPES

MEGABYTE = 1_000_000
FILE_BYTES = 4 * MEGABYTE
PIECE = 1 << 18
GOAL = 100
SEED = 5
ALPHABET = string.ascii_letters + string.digits

FORMS: tuple[Callable[[str], bytes], ...] = (
    str.encode,
    lambda value: base64.b64encode(value.encode()),
    lambda value: base64.b64encode(b"a" + value.encode()),
    lambda value: base64.b64encode(b"ab" + value.encode()),
    lambda value: urllib.parse.quote(value, safe="").encode(),
    lambda value: json.dumps(value).encode(),
    lambda value: value.encode("utf-16-le"),
    lambda value: value.encode().hex().encode(),
)


def secrets(chance: random.Random) -> dict[str, str]:
    """Make 20 secrets of the lengths and alphabets that are in use."""
    lengths = (20, 32, 40, 51, 64, 108)
    return {
        f"SECRET_{number}": "".join(
            chance.choices(ALPHABET + ("+/=_-&" if number % 3 == 0 else ""), k=lengths[number % 6])
        )
        for number in range(20)
    }


def text(chance: random.Random, size: int) -> bytes:
    """Make logs, JSON lines and source code, with near misses of many shapes."""
    words = [
        "".join(chance.choices(string.ascii_lowercase, k=chance.randint(2, 9))) for _ in "x" * 999
    ]
    lines: list[str] = []
    total = 0
    while total < size:
        said = " ".join(chance.choices(words, k=12))
        lines.append(
            (
                f"2026-11-30T20:05:42.123Z INFO {said} id={chance.getrandbits(60):x}",
                json.dumps(
                    {"type": "message", "text": said, "key": f"k-{chance.getrandbits(90):x}"}
                ),
                f"    def {words[0]}(key: str) -> None:  # task-12 risk-based sk- eyJ AKIA {said}",
            )[chance.randrange(3)]
        )
        total += len(lines[-1]) + 1
    return "\n".join(lines).encode()[:size]


def make_tree(root: Path, megabytes: int) -> None:
    """Write the tree with the secrets in it."""
    chance = random.Random(SEED)  # noqa: S311 - the same tree every time
    values = list(secrets(chance).values())
    texts = [text(chance, FILE_BYTES) for _ in range(3)]
    noise = (base64.b64encode(os.urandom(FILE_BYTES * 3 // 4)), os.urandom(FILE_BYTES))
    count = max(1, megabytes * MEGABYTE // FILE_BYTES)
    for number in range(count):
        # Of eight files six are text, one is base64 and one is binary.
        source = (*texts, *texts, *noise)[number % 8]
        data = bytearray(source)
        for index in range(number, len(values), count):
            secret = FORMS[index % len(FORMS)](values[index])
            data[FILE_BYTES // 2 : FILE_BYTES // 2] = b" " + secret + b" "
        (root / f"{number:04}.log").write_bytes(data)


def pieces(path: Path) -> Iterator[bytes]:
    """Read a file as the scan does."""
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def plain(hidden: dict[str, str], files: list[Path]) -> float:
    """Search with ``bytes.find`` and ``re`` alone, over a few files; MB a second."""
    forms = list(exact_forms(hidden))
    shapes = [re.compile(shape.find) for shape in SHAPES]
    begun = time.process_time()
    size = 0
    for path in files:
        data = path.read_bytes()
        size += len(data)
        for form in forms:
            data.find(form)
        for shape in shapes:
            for _ in shape.finditer(data):
                pass
    return size / MEGABYTE / (time.process_time() - begun)


def main() -> int:
    """Measure and print."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        # In a process of its own, so that the memory of the scan is seen alone.
        maker = multiprocessing.get_context("spawn").Process(
            target=make_tree, args=(root, megabytes)
        )
        maker.start()
        maker.join()
        hidden = secrets(random.Random(SEED))  # noqa: S311 - as the tree was made
        files = sorted(root.iterdir())
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begun = time.process_time()
        redactor = Redactor(hidden)
        found = {finding.name for path in files for finding in redactor.scan(pieces(path))}
        seconds = time.process_time() - begun
        size = sum(path.stat().st_size for path in files)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        report = {
            "megabytes": round(size / MEGABYTE),
            "forms": len(redactor.scanner.forms),
            "shapes": len(SHAPES),
            "mb_per_second": round(size / MEGABYTE / seconds),
            "plain_mb_per_second": round(plain(hidden, files[3:6]), 1),
            "secrets_found": len(found & hidden.keys()),
            "secrets_hidden": len(hidden),
            "rss_mb": round(after / 1024),
            "grew_by_mb": round((after - before) / 1024, 1),
        }
    print(json.dumps(report))
    good = report["secrets_found"] == len(hidden) and seconds * GOAL <= size / MEGABYTE
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
