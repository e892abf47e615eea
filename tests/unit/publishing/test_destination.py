from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from runner_e2e.errors import UsageError
from runner_e2e.publishing import Destination
from runner_e2e.publishing.destination import Remote, resolve_remote
from runner_e2e.publishing.errors import RemoteNotFound
from runner_e2e.publishing.git import git_environment, scrub
from tests.e2e.publishing.support import clean_environment, git

TOKEN = "planted-token-0123456789"


def settings(environ: object) -> list[tuple[str, str]]:
    assert isinstance(environ, dict)
    count = int(environ["GIT_CONFIG_COUNT"])
    return [
        (environ[f"GIT_CONFIG_KEY_{n}"], environ[f"GIT_CONFIG_VALUE_{n}"]) for n in range(count)
    ]


def resolved(remote: str, checkout: Path, *, token: str | None = None) -> Remote:
    destination = Destination(branch="e2e", remote=remote, checkout=checkout, token=token)
    return resolve_remote(destination, clean_environment())


def header(pair: str) -> str:
    return f"Authorization: Basic {base64.b64encode(pair.encode()).decode()}"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    path = tmp_path / "checkout"
    path.mkdir()
    git(path, "init", "--quiet")
    git(path, "remote", "add", "origin", "https://github.com/acme/agents.git")
    return path


@pytest.mark.parametrize("prefix", ["..", "a/../b", "a//b", ".git", "a b", "a\nb", "-x", "a/.x"])
def test_a_prefix_that_is_no_directory_of_ours_is_refused(prefix: str) -> None:
    with pytest.raises(UsageError, match="--prefix"):
        Destination(branch="e2e", prefix=prefix)


@pytest.mark.parametrize(
    "branch",
    ["", "HEAD", "a..b", "a b", "-x", "/a", "a/", "a.lock", "a:b", "a~1", "a@{1}", ".a", "a/.b"],
)
def test_what_git_takes_for_no_branch_is_refused(branch: str) -> None:
    with pytest.raises(UsageError, match="--branch"):
        Destination(branch=branch)


@pytest.mark.parametrize(
    "url",
    [
        "acme.example",
        "ftp://acme.example",
        "https://user:pw@acme.example",
        "https://acme.example/?q",
        "https://acme.example/#x",
        "javascript:alert(1)",
        'https://acme.example/"onload="x',
        "https://",
    ],
)
def test_a_base_url_that_is_no_plain_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="--base-url") as caught:
        Destination(branch="e2e", base_url=url)

    assert "user:pw" not in caught.value.message


def test_slashes_around_a_prefix_and_behind_an_address_do_not_matter() -> None:
    destination = Destination(
        branch="refs/heads/e2e", prefix="/a/b/", base_url="https://acme.example/x//"
    )

    assert destination.ref == "refs/heads/e2e"
    assert destination.root == "a/b/"
    assert destination.public_url("pull-1", "c/") == "https://acme.example/x/a/b/lanes/pull-1/c/"


def test_the_token_is_in_the_environment_of_git_and_in_no_representation() -> None:
    destination = Destination(branch="e2e", token=TOKEN)

    assert TOKEN not in repr(destination)


def test_a_token_becomes_a_header_for_that_one_address(checkout: Path) -> None:
    remote = resolved("origin", checkout, token=TOKEN)

    key = "http.https://github.com/acme/agents.git.extraHeader"
    found = [pair for pair in settings(remote.environ) if pair[0] == key]
    assert found == [(key, ""), (key, header(f"x-access-token:{TOKEN}"))]
    assert TOKEN not in remote.url
    assert TOKEN not in repr(remote)


@pytest.mark.parametrize(
    ("given", "pair"),
    [("me:secret-word@", "me:secret-word"), ("secret-word@", "secret-word:")],
)
def test_credentials_in_an_address_are_moved_into_a_header(
    given: str, pair: str, checkout: Path
) -> None:
    remote = resolved(f"https://{given}github.com/acme/agents.git", checkout)

    assert remote.url == "https://github.com/acme/agents.git"
    assert (f"http.{remote.url}.extraHeader", header(pair)) in settings(remote.environ)
    assert "secret-word" in remote.secrets


def test_a_token_is_not_sent_over_ssh_or_to_a_path(checkout: Path) -> None:
    for name in ("git@github.com:acme/agents.git", "ssh://git@github.com/acme/agents", "."):
        remote = resolved(name, checkout, token=TOKEN)

        assert not any("extraHeader" in key for key, _ in settings(remote.environ))


def test_what_a_checkout_knows_of_reaching_a_server_is_handed_on_and_nothing_else(
    checkout: Path,
) -> None:
    git(checkout, "config", "http.https://github.com/.extraheader", "AUTHORIZATION: basic abcdef")
    git(checkout, "config", "url.https://mirror.example/.insteadOf", "https://github.com/")
    git(checkout, "config", "core.sshCommand", "ssh -i key")
    git(checkout, "config", "core.hooksPath", "/hooks/of/another")
    git(checkout, "config", "push.gpgSign", "true")

    remote = resolved("origin", checkout)

    given = settings(remote.environ)
    assert ("http.https://github.com/.extraheader", "AUTHORIZATION: basic abcdef") in given
    assert ("url.https://mirror.example/.insteadof", "https://github.com/") in given
    assert ("core.sshcommand", "ssh -i key") in given
    assert ("core.hooksPath", os.devnull) in given
    assert not any(value == "/hooks/of/another" for _, value in given)
    assert dict(given)["push.gpgSign"] == "false"
    assert "abcdef" in remote.secrets


def test_the_push_address_is_also_what_is_fetched_from(checkout: Path) -> None:
    git(checkout, "remote", "set-url", "--push", "origin", "https://push.example/a.git")

    assert resolved("origin", checkout).url == "https://push.example/a.git"


def test_a_remote_that_the_checkout_does_not_have_is_named(checkout: Path) -> None:
    with pytest.raises(RemoteNotFound, match="upstream"):
        resolved("upstream", checkout)


def test_the_environment_keeps_how_to_reach_a_server_and_drops_where_to_write() -> None:
    given = {
        "PATH": "/bin",
        "GIT_DIR": "/x",
        "GIT_INDEX_FILE": "/x",
        "GIT_TRACE_CURL": "1",
        "GIT_SSH_COMMAND": "ssh -i key",
        "GIT_ASKPASS": "ask",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.proxy",
        "GIT_CONFIG_VALUE_0": "http://proxy",
        "LANGUAGE": "de",
        "LC_ALL": "de_DE.UTF-8",
    }

    child = git_environment(given, [("a.b", "c")])

    assert child["GIT_SSH_COMMAND"] == "ssh -i key"
    assert child["GIT_ASKPASS"] == "ask"
    assert (child["LC_ALL"], child["LANG"], "LANGUAGE" in child) == ("C", "C", False)
    assert not {"GIT_DIR", "GIT_INDEX_FILE", "GIT_TRACE_CURL"} & child.keys()
    assert settings(child)[:2] == [("http.proxy", "http://proxy"), ("a.b", "c")]


def test_secrets_and_passwords_in_addresses_are_scrubbed_from_words() -> None:
    words = "fatal: https://me:pw@x/ and https://x-token:abc@y/ and planted"

    assert scrub(words, ["planted"]) == "fatal: https://***@x/ and https://***@y/ and ***"


def test_where_there_is_no_checkout_that_is_what_is_said(tmp_path: Path, checkout: Path) -> None:
    inside = checkout / "deep" / "er"
    inside.mkdir(parents=True)

    with pytest.raises(RemoteNotFound, match=f"{tmp_path} is no git checkout") as caught:
        resolved("origin", tmp_path)
    with pytest.raises(RemoteNotFound, match=f"the checkout {inside} has no remote named 'other'"):
        resolved("other", inside)

    assert "checkout" in (caught.value.hint or "")
