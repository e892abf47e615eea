"""Only what `aggregate` wrote is published: every file, and every figure as its results add up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runner_e2e.errors import DocumentError, UsageError
from runner_e2e.publishing import build_bundle
from runner_e2e.publishing.errors import PrivateFile
from tests.e2e.publishing.support import make_png, make_report

Steps = tuple[str | int, ...]


def leaves(tree: Any, *steps: str | int) -> Iterator[Steps]:
    """The way to every value below ``tree``."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for step, value in items:
        if isinstance(value, dict | list) and value:
            yield from leaves(value, *steps, step)
        else:
            yield (*steps, step)


def changed(tree: Any, steps: Steps) -> bytes:
    """The document with another value of the same type there."""
    copy = json.loads(json.dumps(tree))
    inside = copy
    for step in steps[:-1]:
        inside = inside[step]
    value = inside[steps[-1]]
    if isinstance(value, bool):
        other: Any = not value
    elif isinstance(value, int | float):
        other = value + 1
    elif isinstance(value, str):
        other = value[:-2] + ("9Z" if value.endswith("Z") else "00")
    else:
        other = "another" if value is None else None
    inside[steps[-1]] = other
    return json.dumps(copy).encode()


def survivors(report: Path, name: str, paths: Iterator[Steps]) -> list[Steps]:
    """The changes of one document with which the report is still taken for whole."""
    file = report / name
    data = file.read_bytes()
    accepted = []
    for steps in list(paths):
        file.write_bytes(changed(json.loads(data), steps))
        try:
            build_bundle(report)
        except DocumentError:
            continue
        accepted.append(steps)
    file.write_bytes(data)
    build_bundle(report)
    return accepted


@pytest.mark.parametrize("status", ["passed", "failed"])
def test_no_figure_of_a_campaign_can_be_changed(status: Any, tmp_path: Path) -> None:
    report = make_report(tmp_path, 1, status=status)
    tree = json.loads((report / "campaign.json").read_bytes())
    figures = {key: value for key, value in tree.items() if key != "results"}

    assert survivors(report, "campaign.json", leaves(figures)) == []


@pytest.mark.parametrize("field", ["status", "attempt", "cleanup", "durationMs", "executionId"])
def test_no_result_can_be_changed_alone(field: str, tmp_path: Path) -> None:
    report = make_report(tmp_path, 1, status="failed")
    file = report / "campaign.json"
    tree = json.loads(file.read_bytes())
    others = {"status": "passed", "attempt": 2, "cleanup": "failed", "durationMs": 7}
    tree["results"][0][field] = others.get(field, tree["results"][1]["executionId"])
    file.write_bytes(json.dumps(tree).encode())

    with pytest.raises(DocumentError, match=r"campaign\.json|insights\.json"):
        build_bundle(report)


def test_a_red_result_that_was_painted_green_with_its_counts_is_refused(tmp_path: Path) -> None:
    report = make_report(tmp_path, 1, status="failed")
    file = report / "campaign.json"
    tree = json.loads(file.read_bytes())
    for result in tree["results"]:
        result["status"] = "passed"
        result.pop("failureClass", None)
    for part in (tree, *tree["suites"]):
        part["passed"], part["failed"] = part["selected"], 0
    file.write_bytes(json.dumps(tree).encode())

    with pytest.raises(DocumentError, match="is failed in it, and its result is not"):
        build_bundle(report)


def test_no_figure_of_the_insights_can_be_changed(tmp_path: Path) -> None:
    report = make_report(tmp_path, 1, status="failed")
    tree = json.loads((report / "insights.json").read_bytes())
    figures = {key: tree[key] for key in ("campaignId", "planDigest", "coverage", "counts", "cost")}
    cells = (
        ("cells", index, key)
        for index in range(len(tree["cells"]))
        for key in ("executionId", "flaky")
    )

    assert survivors(report, "insights.json", leaves(figures)) == []
    assert survivors(report, "insights.json", cells) == []


@pytest.mark.parametrize("state", ["passed", "missing"])
def test_a_cell_that_ended_otherwise_than_its_result_is_refused(state: str, tmp_path: Path) -> None:
    report = make_report(tmp_path, 1, status="failed")
    file = report / "insights.json"
    tree = json.loads(file.read_bytes())
    tree["cells"][0]["state"] = state
    file.write_bytes(json.dumps(tree).encode())

    with pytest.raises(DocumentError, match=f"is {state} in it, and its result is not"):
        build_bundle(report)


def test_nothing_of_a_plan_can_be_changed(tmp_path: Path) -> None:
    report = make_report(tmp_path, 1)
    tree = json.loads((report / "plan.json").read_bytes())
    paths = (steps for steps in leaves(tree) if steps[-1] != "createdAt")

    assert survivors(report, "plan.json", paths) == []


@pytest.mark.parametrize(
    "name",
    ["campaign.json", "insights.json", "plan.json", "summary.md", "junit.xml", "index.html"],
)
def test_half_a_report_is_refused(name: str, tmp_path: Path) -> None:
    report = make_report(tmp_path, 1)
    (report / name).unlink()

    with pytest.raises(UsageError, match="is not a whole report: it has no ") as caught:
        build_bundle(report)

    assert name in caught.value.message
    assert ("--no-site" in (caught.value.hint or "")) == (name == "index.html")


def test_a_picture_that_went_or_changed_is_refused(tmp_path: Path) -> None:
    for number, data in enumerate((None, make_png(2))):
        report = make_report(tmp_path / str(number), 1, pictures={"a.png": make_png()})
        (picture,) = report.rglob("a.png")
        picture.unlink() if data is None else picture.write_bytes(data)

        with pytest.raises((PrivateFile, DocumentError), match=r"a\.png"):
            build_bundle(report)


@pytest.mark.parametrize("field", ["durationMs", "attempt"])
def test_figures_whose_sum_no_document_can_hold_are_refused(field: str, tmp_path: Path) -> None:
    report = make_report(tmp_path, 1)
    file = report / "campaign.json"
    tree = json.loads(file.read_bytes())
    for result in tree["results"]:
        result[field] = 2**53 - 1
    file.write_bytes(json.dumps(tree).encode())

    with pytest.raises(DocumentError, match=r"campaign\.json"):
        build_bundle(report)
