from __future__ import annotations

import zlib
from pathlib import Path

from runner_e2e.environments.pictures import LEFT_OUT_FILE, MAX_PICTURES_BYTES, Pictures
from tests.e2e.publishing.support import make_png


def big() -> bytes:
    """A picture of more than 4 MiB. Its rows are junk, which only a viewer would notice."""
    rows = b"IDAT" + bytes(4 * 1024 * 1024)
    chunk = (len(rows) - 4).to_bytes(4) + rows + zlib.crc32(rows).to_bytes(4)
    head, end = make_png()[:33], make_png()[-12:]
    return head + chunk + end


BIG = big()
DESCRIPTORS = Path("/proc/self/fd")


def test_a_picture_is_kept_as_it_was_last(tmp_path: Path) -> None:
    pictures = Pictures()
    assert pictures.keep("a.png", make_png(1))
    assert pictures.keep("b.png", make_png(2))
    assert pictures.keep("a.png", make_png(3))
    assert not pictures.keep("c.png", make_png() + b"x")
    pictures.hand_over(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "a.png": make_png(3),
        "b.png": make_png(2),
    }


def test_any_number_of_pictures_costs_one_descriptor(tmp_path: Path) -> None:
    pictures = Pictures()
    pictures.keep("first.png", make_png())
    before = len(list(DESCRIPTORS.iterdir()))
    for number in range(50):
        assert pictures.keep(f"{number}.png", make_png())
    assert len(list(DESCRIPTORS.iterdir())) == before
    pictures.hand_over(tmp_path)


def test_what_is_over_the_bytes_of_all_pictures_is_left_out_and_said(tmp_path: Path) -> None:
    pictures = Pictures()
    wanted = MAX_PICTURES_BYTES // len(BIG) + 2
    for number in range(wanted):
        assert pictures.keep(f"{number}.png", BIG)
    pictures.hand_over(tmp_path)
    kept = sorted(tmp_path.glob("*.png"))
    assert sum(path.stat().st_size for path in kept) <= MAX_PICTURES_BYTES
    said = (tmp_path / LEFT_OUT_FILE).read_text().splitlines()[1:]
    assert said == [f"{wanted - 2}.png", f"{wanted - 1}.png"]
