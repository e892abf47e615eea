"""Older results, read without inventing what they did not say."""

from __future__ import annotations

import json

import pytest

from runner_e2e.contracts.base import dump, dump_tree, parse
from runner_e2e.contracts.result import RESULT_V1, Result, Source
from runner_e2e.contracts.upgrade import canonical_execution_id, upgrade_result
from tests.support.documents import make_result

KNOWN = {"core-compatibility.codex.local.hello", "smoke.scripted.local.hello", "codex.local.odd"}


def first_version(execution_id: str) -> Result:
    tree = dump_tree(make_result("smoke.scripted.local.hello"))
    for name in ("suiteId", "suiteDefinitionHash", "source"):
        tree.pop(name, None)
    tree |= {"schema": RESULT_V1, "executionId": execution_id}
    return parse(Result, json.dumps(tree).encode(), "result.json")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("smoke.scripted.local.hello", "smoke.scripted.local.hello"),
        ("codex.local.hello", "core-compatibility.codex.local.hello"),
        ("codex.local.odd", "codex.local.odd"),
        ("codex.local.unheard-of", "codex.local.unheard-of"),
        ("other.codex.local.hello", "other.codex.local.hello"),
    ],
)
def test_an_id_is_kept_if_known_else_given_the_first_suite_if_that_is_known(
    given: str, named: str
) -> None:
    assert canonical_execution_id(given, KNOWN) == named
    assert canonical_execution_id(named, KNOWN) == named


def test_a_first_version_result_gets_suite_and_empty_source() -> None:
    old = first_version("codex.local.hello")
    new = upgrade_result(old, KNOWN)
    assert new.execution_id == "core-compatibility.codex.local.hello"
    assert new.suite_id == "core-compatibility"
    assert new.source == Source(sha=None, ref=None, workflow_run_url=None)


def test_an_old_result_never_gets_a_definition_hash_or_another_schema() -> None:
    tree = dump_tree(upgrade_result(first_version("codex.local.hello"), KNOWN))
    assert "suiteDefinitionHash" not in tree
    assert tree["schema"] == RESULT_V1


def test_nothing_else_changes() -> None:
    old = first_version("codex.local.hello")
    before, after = dump_tree(old), dump_tree(upgrade_result(old, KNOWN))
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {"executionId", "suiteId", "source"}


def test_upgrading_twice_is_upgrading_once_and_leaves_a_sound_document() -> None:
    once = upgrade_result(first_version("codex.local.hello"), KNOWN)
    assert dump(upgrade_result(once, KNOWN)) == dump(once)
    assert dump(parse(Result, dump(once), "result.json")) == dump(once)


def test_a_result_of_today_comes_back_as_it_is() -> None:
    today = make_result("smoke.scripted.local.hello")
    assert upgrade_result(today, KNOWN) is today
