"""A GitHub for each test, and the wish that nobody said what GitHub's description does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest

from runner_e2e.github.runtime import ActionsRuntime
from runner_e2e.github.server import GithubServer
from runner_e2e.github.source import RunLocator, RunSource
from tests.support.fake_github import FakeGithub, QuickWait, serving

Opener = Callable[..., RunSource]


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loopback is asked directly, whatever this machine has for the rest of the world."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
def github() -> Iterator[FakeGithub]:
    """A GitHub with one run, which is empty."""
    with serving(FakeGithub()) as fake:
        yield fake
    assert fake.problems == []


@pytest.fixture
def wait() -> QuickWait:
    """Waits that take no time."""
    return QuickWait()


@pytest.fixture
def told() -> list[str]:
    """What a person who waits was told."""
    return []


@pytest.fixture
def open_run(github: FakeGithub, wait: QuickWait, told: list[str]) -> Iterator[Opener]:
    """Open the run, from anywhere or from the step of a job."""
    opened: list[RunSource] = []

    def opener(environ: Mapping[str, str] | None = None, locator: str = "") -> RunSource:
        everything = github.environ | dict(environ or {})
        source = RunSource(
            RunLocator.parse(locator or github.locator),
            GithubServer.from_environ(everything),
            ActionsRuntime.from_environ(everything),
            tell=told.append,
            wait=wait,
        )
        opened.append(source)
        return source

    yield opener
    for source in opened:
        source.__exit__(None, None, None)
