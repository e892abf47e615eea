"""What every live test needs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.paperclip.live import reachable_directory


@pytest.fixture
def directory() -> Iterator[Path]:
    """A directory for one test that the server's user may pass through."""
    with reachable_directory() as path:
        yield path
