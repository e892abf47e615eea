from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.chromium import Browser, chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started
