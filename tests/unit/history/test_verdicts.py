"""Verdicts in the mutable files."""

from __future__ import annotations

from pathlib import Path

from runner_e2e.contracts.base import parse
from runner_e2e.contracts.history import CellSeries
from runner_e2e.history import History, cells_file
from runner_e2e.insights import cell_verdicts
from tests.support.documents import IDS
from tests.support.nights import make_night, publish_nights


def test_the_verdict_of_every_cell_is_written_beside_its_outcomes(tmp_path: Path) -> None:
    nights = [make_night(night, "GGG") for night in range(14)]
    history = publish_nights(tmp_path, [*nights, make_night(14, "GBr")])
    written = parse(CellSeries, (tmp_path / cells_file("smoke")).read_bytes(), "cells")
    assert written.verdicts is not None
    words = {name: verdict.verdict for name, verdict in written.verdicts.items()}
    assert words == dict(zip(IDS, ("passed", "broken", "flaky"), strict=True))
    assert written.verdicts == cell_verdicts(history.series["smoke"])


def test_verdicts_that_were_written_are_never_believed(tmp_path: Path) -> None:
    history = publish_nights(tmp_path, [make_night(night, "GGR") for night in range(3)])
    file = tmp_path / cells_file("smoke")
    file.write_bytes(file.read_bytes().replace(b'"known_broken"', b'"passed"'))
    read = History.read(lambda path: (tmp_path / path).read_bytes())
    assert read == history
    assert read.files() == history.files()
