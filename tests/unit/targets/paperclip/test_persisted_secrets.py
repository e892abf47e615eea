from __future__ import annotations

import base64
from pathlib import Path

import pytest

from runner_e2e.targets.paperclip.place import persisted_secrets

VALUE = "planted-value-4711-of-a-credential"
SECRETS = {"OPENAI_API_KEY": VALUE}
EDGE = 1024 * 1024


@pytest.mark.parametrize(
    "content",
    [
        VALUE.encode(),
        b"x" * (EDGE - 9) + VALUE.encode() + b"x" * EDGE,
        base64.b64encode(b"ab" + VALUE.encode()),
        VALUE.encode("utf-16-le"),
    ],
)
def test_a_value_is_found_in_any_form_and_across_every_edge(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "db" / "base" / "1"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    ((name, finding),) = persisted_secrets(tmp_path, SECRETS)
    assert name == "db/base/1"
    assert finding.name == "OPENAI_API_KEY"


def test_keys_of_others_are_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / "vendored.js").write_text("sk-ant-api03-" + "Ab1" * 31)
    assert persisted_secrets(tmp_path, SECRETS) == []


INSTANCE = "paperclip-home/instances/default"
ID = "0b7c3a7e-1111-4222-8333-123456789abc"


@pytest.mark.parametrize(
    ("name", "mode", "tolerated"),
    [
        (f"{INSTANCE}/codex-home/auth.json", 0o600, True),
        (f"{INSTANCE}/companies/{ID}/codex-home/auth.json", 0o600, True),
        (f"{INSTANCE}/companies/{ID}/agents/{ID}/codex-home/auth.json", 0o600, True),
        (f"{INSTANCE}/codex-home/auth.json", 0o640, False),
        (f"{INSTANCE}/companies/{ID}/other/codex-home/auth.json", 0o600, False),
        (f"{INSTANCE}/codex-home/auth.json.bak", 0o600, False),
        ("workspace/codex-home/auth.json", 0o600, False),
    ],
)
def test_only_the_login_that_the_server_writes_for_codex_may_hold_its_key(
    tmp_path: Path, name: str, mode: int, tolerated: bool
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(VALUE)
    path.chmod(mode)
    assert (persisted_secrets(tmp_path, SECRETS) == []) is tolerated


def test_links_out_of_the_root_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text(VALUE)
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(outside)
    assert persisted_secrets(root, SECRETS) == []
