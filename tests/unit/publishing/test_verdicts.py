"""The pages of a branch say what history makes of each cell."""

from __future__ import annotations

from pathlib import Path

from runner_e2e.publishing import render_site
from tests.support.nights import make_night, publish_nights


def test_the_pages_of_a_history_name_the_verdict_of_every_cell_that_is_not_simply_green(
    tmp_path: Path,
) -> None:
    nights = [make_night(night, "GGR") for night in range(3)]
    history = publish_nights(tmp_path, nights)
    pages = render_site(history.index, history.rows, history.series)
    for page in ("index.html", "cells/smoke.html"):
        assert b"<td>known broken</td>" in pages[page]
        assert b"<td>passed</td>" not in pages[page]
