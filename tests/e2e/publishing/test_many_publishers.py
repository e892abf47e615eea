from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.publishing import release
from tests.e2e.publishing.support import BRANCH, Bare, make_report

ROOT = Path(__file__).resolve().parents[3]


def released_together(remote: str, reports: list[Path], out: Path) -> dict[str, dict[str, str]]:
    out.mkdir(exist_ok=True)
    done = subprocess.run(
        [
            *(sys.executable, release.__file__),
            json.dumps({"branch": BRANCH, "remote": remote, "prefix": "e2e"}),
            *map(str, (out, *reports)),
        ],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {path.stem: json.loads(path.read_text()) for path in out.glob("*.json")}


@pytest.mark.parametrize("round_", [1, 2, 3])
def test_24_publishers_released_together_all_land_on_one_root(
    round_: int, tmp_path: Path, server: Bare
) -> None:
    runs = range(round_ * 100, round_ * 100 + 24)
    reports = [make_report(tmp_path, run) for run in runs]

    answers = released_together(server.url, reports, tmp_path / "out")

    assert {answer["status"] for answer in answers.values()} == {"published"}, answers
    assert sorted(server.ids("e2e/")) == sorted(f"gha-{run}-1" for run in runs)
    assert len(server.roots()) == 1
    assert server.git("rev-list", "--count", f"refs/heads/{BRANCH}") == "24"
    bundles = [path for path in server.files() if path.endswith("bundle-manifest.json")]
    assert len(bundles) == 24
