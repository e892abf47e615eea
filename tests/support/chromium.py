"""A real Chromium for tests of pages."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

DRIVER = Path(__file__).parents[1] / "e2e" / "site" / "browser.js"


class Browser:
    """A real Chromium, driven line by line. ``open`` begins as a fresh visitor."""

    def __init__(self, commands: IO[str], answers: IO[str]) -> None:
        self._commands = commands
        self._answers = answers

    def do(self, command: str, **arguments: Any) -> Any:
        self._commands.write(json.dumps({"command": command, **arguments}) + "\n")
        self._commands.flush()
        answer = json.loads(self._answers.readline())
        assert "error" not in answer, answer["error"]
        return answer["value"]

    def open(self, page: Path, fragment: str = "", **options: Any) -> None:
        self.do("open", url=page.as_uri() + fragment, **options)

    def evaluate(self, expression: str) -> Any:
        return self.do("evaluate", expression=expression)

    def wait(self, expression: str) -> None:
        self.do("wait", expression=expression)

    def text(self, selector: str) -> str:
        return str(self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText"))

    def count(self, selector: str) -> int:
        """How many elements are there and visible."""
        return int(
            self.evaluate(
                f"[...document.querySelectorAll({json.dumps(selector)})]"
                ".filter((e) => e.checkVisibility({visibilityProperty: true})).length"
            )
        )

    def click(self, selector: str) -> None:
        self.do("click", selector=selector)

    def press(self, key: str) -> None:
        self.do("press", key=key)

    def fragment(self) -> str:
        return str(self.do("url")).partition("#")[2]

    def requests(self) -> list[str]:
        return list(self.do("seen")["requests"])

    def problems(self) -> list[str]:
        seen = self.do("seen")
        return [*seen["problems"], *seen["dialogs"]]


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a Chromium, and end it and its driver afterwards."""
    program = shutil.which("chromium")
    assert program, "chromium was not found; scripts/setup.sh test installs it"
    with subprocess.Popen(
        ["node", str(DRIVER), program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            yield Browser(process.stdin, process.stdout)
        finally:
            process.stdin.close()
            process.wait(timeout=30)
