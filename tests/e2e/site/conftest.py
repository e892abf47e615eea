from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.chromium import Browser

DRIVER = Path(__file__).with_name("browser.js")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    assert chromium, "these tests need chromium; scripts/setup.sh test installs it"
    with subprocess.Popen(
        ["node", str(DRIVER), chromium],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stdin
        assert process.stdout
        yield Browser(process.stdin, process.stdout)
        process.stdin.close()
        process.wait(timeout=30)
