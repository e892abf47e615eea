"""Free text of a catalog never acts in what a planning job prints."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from runner_e2e.catalog import Catalog
from runner_e2e.cli import main
from runner_e2e.planning import plan_summary_markdown, plan_table
from tests.support.catalogs import PROFILE, SUITE, catalog_tree, load_tree, write_catalog
from tests.support.plans import plan_of

EVIL = "m\n::error title=pwned::gone\r\n@octocat https://evil.example |\u202e\u00ad"


def tree() -> dict[str, object]:
    profile, suite = copy.deepcopy(PROFILE), copy.deepcopy(SUITE)
    profile["model"] = profile["provider"] = EVIL
    profile["expectedRuntimeMetadata"]["provider"] = EVIL
    suite["label"] = suite["description"] = f"::error title=first::x\n{EVIL}"
    return catalog_tree(profiles=[profile], suites=[suite])


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return load_tree(tmp_path, tree())


def acting(text: str) -> list[str]:
    """The lines that the runner would take for a command, and what nobody can see."""
    lines = [line for line in text.splitlines() if line.lstrip().startswith("::")]
    return lines + [char for char in text if char in "\r\u202e\u00ad"]


def test_no_line_of_the_table_is_a_command(catalog: Catalog) -> None:
    table = plan_table(plan_of(catalog))
    assert acting(table) == []
    assert "m ::error title=pwned::gone @octocat" in table


def test_the_summary_mentions_nobody_and_links_nowhere(catalog: Catalog) -> None:
    summary = plan_summary_markdown(plan_of(catalog))
    assert acting(summary) == []
    assert "@octocat" not in summary
    assert "https://" not in summary


def test_no_line_of_catalog_show_is_a_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_catalog(tmp_path, tree())
    assert main.run(["catalog", "show", "-c", str(path)]) == 0
    shown = capsys.readouterr().out
    assert acting(shown) == []
    assert "smoke: ::error title=first::x m ::error title=pwned::gone" in shown
