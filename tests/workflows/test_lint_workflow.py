"""``lint-workflow`` on what we ship, and on what becomes of it when somebody weakens it."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from runner_e2e.errors import UsageError
from runner_e2e.github.workflow_policy import REASONS, Finding, check_workflows
from tests.workflows.act import PINS
from tests.workflows.toolbox import BIN, CALLABLE, CALLERS, HERE, PLACEHOLDER, PROJECT, load

COMMIT = "5f0c1d2e3b4a59687786a5b4c3d2e1f001122334"


def filled_in(name: str) -> str:
    """A shipped workflow; in a caller, as a person who copies it fills it in."""
    text = (PROJECT / "workflows" / name).read_text(encoding="utf-8")
    return text.replace("OWNER/", "acme/").replace(PLACEHOLDER, COMMIT)


def findings_of(folder: Path, name: str, text: str) -> tuple[Finding, ...]:
    for other in CALLABLE:
        (folder / other).write_text(filled_in(other), encoding="utf-8")
    (folder / name).write_text(text, encoding="utf-8")
    return check_workflows([folder / name])


@pytest.mark.parametrize("name", [*CALLABLE, *CALLERS])
def test_what_we_ship_has_no_findings(tmp_path: Path, name: str) -> None:
    assert findings_of(tmp_path, name, filled_in(name)) == ()


def test_a_caller_that_was_copied_and_not_filled_in_is_told_so() -> None:
    found = check_workflows([PROJECT / "workflows" / "dispatch.yml"])
    assert {finding.rule for finding in found} == {"placeholder"}


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """A weakening that somebody might commit: ``old`` becomes ``new`` in ``file``."""

    what: str
    rule: str
    file: str
    old: str
    new: str
    every: bool = False


MUTATIONS = [Mutation(**row) for row in load(HERE / "mutations.yaml")]


@pytest.mark.parametrize("change", MUTATIONS, ids=lambda change: f"{change.file}: {change.what}")
def test_a_weakened_workflow_is_found_out(tmp_path: Path, change: Mutation) -> None:
    text = filled_in(change.file)
    assert change.old in text, "the mutation does not fit the workflow any more"
    weaker = text.replace(change.old, change.new, -1 if change.every else 1)
    found = findings_of(tmp_path, change.file, weaker)
    assert change.rule in {finding.rule for finding in found}
    # The finding points into the file, and only this weakening is reported.
    assert all(finding.line <= weaker.count("\n") + 1 for finding in found)
    assert len({finding.rule for finding in found}) <= 2, found


def test_every_rule_has_a_mutation_that_it_finds() -> None:
    assert {change.rule for change in MUTATIONS} == set(REASONS)
    assert len(MUTATIONS) >= 30


def test_a_finding_names_file_line_column_and_rule(tmp_path: Path) -> None:
    text = filled_in("publish.yml").replace(PINS["checkout"], "v7")
    (finding,) = findings_of(tmp_path, "publish.yml", text)
    line = text[: text.index("actions/checkout@v7")].count("\n") + 1
    assert str(finding).startswith(f"{tmp_path / 'publish.yml'}:{line}:15: pinned: ")


@pytest.mark.parametrize("text", ["", "jobs: [", "- a list", "on: push", "jobs: {}", "\x00"])
def test_what_is_no_workflow_is_a_usage_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "no-workflow.yml"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"no-workflow\.yml"):
        check_workflows([file])


@pytest.mark.parametrize(
    "text",
    [
        "jobs: {a: 1}",
        "jobs: {a: {steps: 3, needs: {}, permissions: 7}}",
        "on: [push]\njobs: {a: {uses: [], steps: [1, {run: {}, uses: 3, with: []}]}}",
        "on: {schedule: [1]}\npermissions: []\njobs: {a: {strategy: {matrix: 1}, if: {}}}",
    ],
)
def test_a_malformed_workflow_is_looked_through_without_a_bug(tmp_path: Path, text: str) -> None:
    file = tmp_path / "odd.yml"
    file.write_text(text)
    assert check_workflows([file])


def test_the_command_answers_with_findings_and_exit_code_1(tmp_path: Path) -> None:
    file = tmp_path / "odd.yml"
    file.write_text(
        "on: issue_comment\npermissions: {}\njobs: {a: {timeout-minutes: 1, steps: []}}\n"
    )
    done = subprocess.run(
        [BIN / "runner-e2e", "lint-workflow", file, "--json"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["rule"], finding["line"]) == ("trigger", 1)


def test_the_command_lists_its_rules_and_refuses_to_check_nothing() -> None:
    listed = subprocess.run(
        [BIN / "runner-e2e", "lint-workflow", "--rules"], check=True, capture_output=True, text=True
    )
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(REASONS)
    nothing = subprocess.run(
        [BIN / "runner-e2e", "lint-workflow"], check=False, capture_output=True
    )
    assert nothing.returncode == 2
