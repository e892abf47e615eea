from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from runner_e2e.environments.logs import CappedLog
from runner_e2e.evidence import Ledger, Redactor

LIMIT = 50


def saved(pieces: list[bytes], directory: Path) -> bytes:
    with CappedLog(ledger=Ledger(Redactor()), name="log", limit=LIMIT) as log:
        for piece in pieces:
            log.write(piece)
        log.save(directory / "log")
    return (directory / "log").read_bytes()


@settings(deadline=None)
@given(pieces=st.lists(st.binary(max_size=40), max_size=12))
def test_a_log_is_whole_or_says_how_much_it_left_out(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    with tempfile.TemporaryDirectory() as directory:
        kept = saved(pieces, Path(directory))
    if len(whole) <= LIMIT:
        assert kept == whole
    else:
        notice = f"\n[runner-e2e left {len(whole) - LIMIT} bytes of {len(whole)} out here]\n"
        assert kept == whole[:40] + notice.encode() + whole[-10:]
