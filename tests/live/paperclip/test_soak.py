"""Every case twenty times: a count that is exact by luck does not stay exact."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.paperclip.live import cell, example, run_live


@pytest.mark.soak
@pytest.mark.parametrize("turn", range(20))
@pytest.mark.parametrize("execution_id", [one.id for one in example().executions])
def test_every_case_passes_every_time(execution_id: str, turn: int, directory: Path) -> None:
    del turn
    execution = cell(execution_id)
    ran = run_live(execution, directory)
    assert ran.verdict == (None, None)
    assert len(ran.result.run_ids or ()) == execution.task.expected_run_count
