from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner_e2e.failures import PermanentInfrastructure
from runner_e2e.targets.paperclip.account import Account
from runner_e2e.targets.paperclip.home import Home, free_ports


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.create(tmp_path, Account.current())


def _paths(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [path for item in value.values() for path in _paths(item)]
    return [value] if isinstance(value, str) and value.startswith("/") else []


def test_every_path_of_the_configuration_lies_in_the_root(home: Home) -> None:
    paths = _paths(home.config())
    assert len(paths) == 5
    assert all(Path(path).is_relative_to(home.root) for path in paths)


def test_what_only_the_server_may_read_is_the_servers_alone(home: Home) -> None:
    account = Account.current()
    for path in (home.config_file, home.instance / ".env"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert account.ids is None or path.stat().st_uid == account.ids[0]


def test_two_homes_share_no_secret_and_no_port(tmp_path: Path) -> None:
    roots = [tmp_path / "one", tmp_path / "two"]
    for root in roots:
        root.mkdir()
    one, two = (Home.create(root, Account.current()) for root in roots)
    assert not set(one.secrets.values()) & set(two.secrets.values())
    assert all(len(value) == 64 for value in one.secrets.values())
    assert "secrets" not in repr(one)
    assert len(set(free_ports(5))) == 5


def test_the_server_inherits_nothing_but_the_search_path(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted-value-4711")
    monkeypatch.setenv("DATABASE_URL", "postgres://elsewhere")
    given = home.environment("/usr/bin", {"RUNNER_E2E_EXECUTION": "token"})
    assert given["PATH"] == "/usr/bin"
    assert given["RUNNER_E2E_EXECUTION"] == "token"
    assert not {"OPENAI_API_KEY", "DATABASE_URL"} & given.keys()
    assert given["PAPERCLIP_HOME"] == str(home.data)


def test_a_home_that_was_used_as_it_was_made_passes(home: Home) -> None:
    (home.instance / "db").mkdir()
    home.check()


def _elsewhere(part: str, key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(config: dict[str, Any]) -> None:
        config[part][key] = value

    return change


CHANGES = [
    _elsewhere("database", "mode", "postgres"),
    _elsewhere("database", "embeddedPostgresDataDir", "/var/lib/elsewhere"),
    _elsewhere("database", "connectionString", "postgres://elsewhere"),
    _elsewhere("logging", "logDir", "/var/log"),
    _elsewhere("storage", "provider", "s3"),
    _elsewhere("secrets", "localEncrypted", {"keyFilePath": "/etc/key"}),
    lambda config: config.pop("secrets"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_server_that_did_not_keep_to_itself_is_found_out(
    home: Home, change: Callable[[dict[str, Any]], None]
) -> None:
    (home.instance / "db").mkdir()
    config = home.config()
    change(config)
    home.config_file.write_text(json.dumps(config))
    with pytest.raises(PermanentInfrastructure) as caught:
        home.check()
    assert caught.value.code == "not_isolated"


@pytest.mark.parametrize("content", ["", "[]", "{"])
def test_a_configuration_that_is_none_is_found_out(home: Home, content: str) -> None:
    home.config_file.write_text(content)
    with pytest.raises(PermanentInfrastructure) as caught:
        home.check()
    assert caught.value.code == "not_isolated"


def test_what_the_servers_user_cannot_enter_is_named_before_anything_starts(
    tmp_path: Path,
) -> None:
    closed = tmp_path / "closed"
    closed.write_text("")
    closed.chmod(0o000)
    tmp_path.chmod(0o700)
    with pytest.raises(PermanentInfrastructure) as caught:
        Account.current().require_access([closed])
    assert caught.value.code == "out_of_reach"
    assert str(closed) in caught.value.message
    assert "TMPDIR" in (caught.value.hint or "")
