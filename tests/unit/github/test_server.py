"""Which GitHub is asked, and who gets the token."""

from __future__ import annotations

import pytest

from runner_e2e.errors import UsageError
from runner_e2e.github.server import GithubServer, origin_of
from runner_e2e.github.source import RunLocator


@pytest.mark.parametrize(
    ("environ", "api_url"),
    [
        ({}, "https://api.github.com"),
        ({"GITHUB_SERVER_URL": "https://github.com"}, "https://api.github.com"),
        (
            {"GITHUB_SERVER_URL": "https://ghe.x/", "GITHUB_API_URL": "https://ghe.x/api/v3/"},
            "https://ghe.x/api/v3",
        ),
        ({"GITHUB_SERVER_URL": "https://ghe.x:8443"}, "https://ghe.x:8443/api/v3"),
        ({"GITHUB_SERVER_URL": "https://acme.ghe.com"}, "https://api.acme.ghe.com"),
        ({"GITHUB_API_URL": "  "}, "https://api.github.com"),
    ],
)
def test_the_api_of_every_product_is_found(environ: dict[str, str], api_url: str) -> None:
    assert GithubServer.from_environ(environ).api_url == api_url


def test_an_enterprise_server_is_never_mixed_with_github_com() -> None:
    server = GithubServer.from_environ({"GITHUB_SERVER_URL": "https://ghe.x"})
    assert "github.com" not in server.api_url
    assert server.origin == ("https", "ghe.x", 443)


@pytest.mark.parametrize(
    ("environ", "token"),
    [
        ({}, None),
        ({"GITHUB_TOKEN": "a", "GH_TOKEN": "b"}, "a"),
        ({"GITHUB_TOKEN": "", "GH_TOKEN": "b"}, "b"),
        ({"GITHUB_JWT_TOKEN": "c", "GITHUB_PAT": "d"}, None),
        ({"GITHUB_TOKEN": "a\n"}, "a"),
    ],
)
def test_the_token_comes_from_two_names_only(environ: dict[str, str], token: str | None) -> None:
    assert GithubServer.from_environ(environ).token == token


def test_a_token_is_not_printed() -> None:
    server = GithubServer.from_environ({"GITHUB_TOKEN": "ghs_planted"})
    assert "ghs_planted" not in f"{server!r} {server}"


@pytest.mark.parametrize(
    "environ",
    [
        {"GITHUB_API_URL": "ghe.x/api/v3"},
        {"GITHUB_API_URL": "file:///etc/passwd"},
        {"GITHUB_API_URL": "https://somebody:pass@ghe.x/api/v3"},
        {"GITHUB_API_URL": "https://ghe.x/api/v3?token=pass"},
        {"GITHUB_API_URL": "https://ghe.x/api/v3#pass"},
        {"GITHUB_API_URL": "https://[pass"},
        {"GITHUB_SERVER_URL": "https://"},
        {"GITHUB_API_URL": "http://ghe.x/api/v3", "GITHUB_TOKEN": "pass"},
        {"GITHUB_TOKEN": "two\npass"},
        {"GITHUB_TOKEN": "pässpass"},
    ],
)
def test_an_address_or_token_that_is_wrong_is_refused_and_not_quoted(
    environ: dict[str, str],
) -> None:
    with pytest.raises(UsageError) as refused:
        GithubServer.from_environ(environ)
    assert refused.value.hint
    assert "pass" not in refused.value.message.replace("passwd", "")


def test_a_server_without_tls_may_be_read_without_a_token_and_on_this_machine() -> None:
    assert GithubServer.from_environ({"GITHUB_SERVER_URL": "http://ghe.x"}).token is None
    for host in ("127.0.0.1:9", "[::1]:9", "localhost"):
        environ = {"GITHUB_API_URL": f"http://{host}", "GITHUB_TOKEN": "a"}
        assert GithubServer.from_environ(environ).token == "a"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://ghe.x/a", "https://GHE.x:443/b"),
        ("http://ghe.x", "http://ghe.x:80/"),
        ("https://bücher.x", "https://xn--bcher-kva.x/"),
    ],
)
def test_an_origin_has_one_form(one: str, other: str) -> None:
    assert origin_of(one) == origin_of(other)


@pytest.mark.parametrize(
    "text",
    [
        "github:",
        "github:acme/agents",
        "github:acme/agents/",
        "github:acme/agents/0",
        "github:acme/agents/12a",
        "github:acme/agents/12/attempts/2",
        "github:acme/../12",
        "github:acme/./12",
        "github:/agents/12",
        "github:acme/age nts/12",
        "github:acme/agents%2f../12",
        "github:acme/agents/12?x",
        "github:acme/agents/" + "9" * 40,
        "github:acme/agents/1٢",
    ],
)
def test_what_names_no_run_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="names no workflow run") as refused:
        RunLocator.parse(text)
    assert "OWNER/REPO/RUN_ID" in (refused.value.hint or "")


def test_a_run_is_named_by_owner_repository_and_number() -> None:
    locator = RunLocator.parse("github:acme_corp/agents.e2e/12")
    assert (str(locator.repository), locator.run_id) == ("acme_corp/agents.e2e", 12)
