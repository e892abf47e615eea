"""What is said of something too large is what really makes it smaller."""

from __future__ import annotations

import pytest

from runner_e2e.contracts.evidence import FileDigest
from runner_e2e.history import History
from runner_e2e.publishing import budgets
from runner_e2e.publishing.budgets import check_budgets
from runner_e2e.publishing.bundle import make_manifest
from runner_e2e.publishing.errors import TooLarge


@pytest.mark.parametrize(
    ("part", "helps"),
    [
        ("junit.xml", "fewer executions in one campaign"),
        ("index.json", "--prefix"),
        ("the site", "history prune"),
    ],
)
def test_the_hint_fits_what_is_too_large(
    part: str, helps: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "FILE_BYTES", 100)
    monkeypatch.setattr(budgets, "SITE_BYTES", 100 if part == "the site" else 10_000)
    size = 101 if part == "junit.xml" else 1
    manifest = make_manifest("gha-1-1", [FileDigest(path="junit.xml", sha256="0" * 64, bytes=size)])
    lengths = {"index.json": 101 if part == "index.json" else 60, "history.json": 60}
    documents = {path: b"x" * length for path, length in lengths.items()}

    with pytest.raises(TooLarge, match=f"^{part} has 1") as caught:
        check_budgets(documents, manifest, History.empty(), [])

    assert helps in (caught.value.hint or "")
    assert ("prune" in (caught.value.hint or "")) == (part == "the site")
