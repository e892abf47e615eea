"""A Daytona for each test, at whose end nothing may be alive and every document is judged."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.daytona_models import check_documents
from tests.support.fake_daytona import FakeDaytona, fake_daytona


@pytest.fixture
def daytona() -> Iterator[FakeDaytona]:
    with fake_daytona() as fake:
        yield fake
        assert [one.id for one in fake.living] == [], "a sandbox is still alive"
        check_documents(fake.documents)
