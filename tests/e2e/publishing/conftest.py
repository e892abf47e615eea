from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.publishing.support import Bare, clean_environment


@pytest.fixture(autouse=True)
def _clean_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own git settings must not reach a test, nor must a hook that runs it."""
    clean = clean_environment()
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
        monkeypatch.setenv(name, clean[name])
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    # What is wrongly taken for a lost race must fail a test, not hold it up.
    monkeypatch.setattr("runner_e2e.publishing.patience.RACE_SECONDS", 30.0)


@pytest.fixture
def server(tmp_path: Path) -> Bare:
    return Bare(tmp_path / "server.git")
