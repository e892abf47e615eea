from __future__ import annotations

import pytest

from runner_e2e.contracts.result import Source
from runner_e2e.site import text
from tests.support.documents import SHA, make_source


@pytest.mark.parametrize(
    ("value", "said"), [(0, "0"), (9_999, "9,999"), (12_345, "12.3 k"), (2_500_000, "2.5 M")]
)
def test_a_number_is_short(value: float, said: str) -> None:
    assert text.number(value) == said


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:text/html,x", "//evil", "https://a b", 'https://a"b', "ftp://a"],
)
def test_only_web_addresses_become_links(url: str) -> None:
    assert text.web_url(url) is None


def test_a_commit_is_linked_only_where_it_surely_is_one() -> None:
    repository = text.repository_url(make_source())
    assert repository == "https://github.com/acme/agents"
    assert text.commit_url(repository, SHA) == f"https://github.com/acme/agents/commit/{SHA}"
    assert text.commit_url(repository, "main") is None
    assert text.commit_url("javascript:x", SHA) is None
    assert text.repository_url(Source(sha=SHA, ref=None, workflow_run_url=None)) is None
    assert text.repository_url(make_source(workflow_run_url="https://ci.example/job/7")) is None


@pytest.mark.parametrize("path", ["../up.png", "/etc/passwd", "a//b", "a/./b", "a\\b", ""])
def test_evidence_never_leaves_the_report(path: str) -> None:
    assert text.evidence_href(path) is None


def test_evidence_is_quoted_and_never_a_scheme() -> None:
    assert text.evidence_href("javascript:alert(1)/a b?#.png") == (
        "./javascript%3Aalert%281%29/a%20b%3F%23.png"
    )


@pytest.mark.parametrize(
    ("milliseconds", "said"),
    [
        (0, "0.0s"),
        (850, "0.8s"),
        (59_940, "59.9s"),
        (59_960, "1m00"),
        (245_000, "4m05"),
        (3_599_600, "1h00"),
        (7_620_000, "2h07"),
    ],
)
def test_a_short_duration_never_shows_sixty(milliseconds: float, said: str) -> None:
    assert text.short_duration(milliseconds) == said
