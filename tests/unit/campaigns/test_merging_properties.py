"""For any history of run attempts: nothing is lost, counted twice or greener than it was."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner_e2e.campaigns import (
    Collection,
    JobHistory,
    aggregate,
    collect,
    exit_code,
)
from runner_e2e.errors import ExitCode
from tests.support.artifacts import (
    CAMPAIGN_ID,
    EVENTS,
    Event,
    aggregate_paths,
    artifact_name,
    make_jobs,
    report_bytes,
    states_of,
    write_event,
)
from tests.support.documents import IDS, make_plan

PLAN = make_plan(IDS, catalog=[*IDS, "other.scripted.local.hello"])
STATE_OF: dict[Event, str] = {
    "pass": "passed",
    "retried": "passed",
    "fail": "failed",
    "timeout": "timed_out",
    "leaky": "failed",
    "empty": "empty",
    "corrupt": "corrupt",
    "other_plan": "mismatched",
}
CONCLUSIONS = ("success", "failure", "cancelled", "skipped")


@dataclass(frozen=True, slots=True)
class Left:
    """What one run attempt left of one cell."""

    execution_id: str
    run_attempt: int
    event: Event
    copy: int
    """Two artifacts of one run attempt may be the same, or contradict each other."""


histories = st.lists(
    st.builds(
        Left,
        st.sampled_from(IDS),
        st.integers(1, 3),
        st.sampled_from(EVENTS),
        st.integers(0, 1),
    ),
    max_size=8,
    unique_by=lambda left: (left.execution_id, left.run_attempt, left.copy),
)
examples = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def lay(root: Path, history: Sequence[Left]) -> list[Path]:
    return [
        write_event(
            root / f"copy-{left.copy}", PLAN, left.execution_id, left.run_attempt, left.event
        )
        for left in history
    ]


def job_history(conclusions: Sequence[str]) -> JobHistory:
    rows = [
        {"name": cell, "run_attempt": attempt, "conclusion": conclusions[3 * index + attempt - 1]}
        for index, cell in enumerate(IDS)
        for attempt in (1, 2, 3)
    ]
    return JobHistory.parse(make_jobs(rows, attempts=3), "jobs.json")


def expected_state(history: Sequence[Left], execution_id: str) -> str:
    """What must come out, worked out in another way: the newest artifact of ours decides."""
    ours = [left for left in history if left.execution_id == execution_id]
    known = [left for left in ours if left.event != "foreign"]
    if not known:
        return "mismatched" if ours else "missing"
    newest = max(left.run_attempt for left in known)
    events = {left.event for left in known if left.run_attempt == newest}
    for event in ("corrupt", "other_plan"):
        if event in events:
            return STATE_OF[event]
    results = events - {"empty"}
    if not results:
        return "empty"
    # Of the harness's attempts the last one counts, and only "retried" has a second.
    last = results & {"retried"} or results
    return STATE_OF[last.pop()] if len(last) == 1 else "corrupt"


@examples
@given(histories)
def test_the_newest_run_attempt_decides_and_the_states_partition_what_was_selected(
    history: list[Left],
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        lay(Path(directory), history)
        merged = aggregate_paths(PLAN, Path(directory))
    campaign, counts = merged.campaign, merged.insights.counts
    assert states_of(merged) == {cell: expected_state(history, cell) for cell in IDS}
    assert sum(counts.states.values()) == counts.selected == campaign.selected == len(IDS)
    assert counts.executed + counts.unresolved == counts.selected
    assert campaign.executed == counts.executed
    assert campaign.passed + campaign.failed == campaign.selected
    assert campaign.passed == counts.states.get("passed", 0)
    green = all(state == "passed" for state in states_of(merged).values())
    assert (exit_code(campaign, merged.insights) == ExitCode.OK) == green


@examples
@given(histories, st.permutations(range(8)))
def test_collections_merge_in_any_order_and_grouping_and_twice(
    history: list[Left], order: Sequence[int]
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        paths = lay(Path(directory), history)
        parts = [collect([path], PLAN) for path in paths]
        flat = Collection().merge(*parts)
        left = Collection()
        for part in parts:
            left = left.merge(part)
        right = Collection()
        for part in (parts[index] for index in order if index < len(parts)):
            right = part.merge(right)
        twice = flat.merge(flat, *parts)
        told = [
            aggregate(PLAN, collection, campaign_id=CAMPAIGN_ID)
            for collection in (flat, left, right, twice)
        ]
    assert all(one.campaign == other.campaign for one, other in pairwise(told))
    assert all(one.insights == other.insights for one, other in pairwise(told))


@examples
@given(
    histories,
    st.integers(1, 3),
    st.permutations(range(3)),
    st.none() | st.lists(st.sampled_from(CONCLUSIONS), min_size=9, max_size=9),
)
def test_shards_merge_to_the_bytes_of_one_flat_merge(
    history: list[Left], shards: int, order: Sequence[int], conclusions: list[str] | None
) -> None:
    jobs = None if conclusions is None else job_history(conclusions)
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        groups = [root / f"group-{index}" for index in range(shards)]
        for index, left in enumerate(history):
            lay(groups[index % shards], [left])
        reports = []
        for index, group in enumerate(groups):
            group.mkdir(exist_ok=True)
            report_bytes(aggregate_paths(PLAN, group, jobs=jobs), PLAN, root / f"shard-{index}")
            reports.append(root / f"shard-{index}")
        flat = report_bytes(aggregate_paths(PLAN, *groups, jobs=jobs), PLAN, root / "flat")
        shuffled = [reports[index] for index in order if index < shards]
        merged = report_bytes(aggregate_paths(PLAN, *shuffled), PLAN, root / "merged")
    assert merged == flat


@examples
@given(histories, st.lists(st.sampled_from(CONCLUSIONS), min_size=9, max_size=9))
def test_a_second_run_over_its_own_output_changes_nothing(
    history: list[Left], conclusions: list[str]
) -> None:
    jobs = job_history(conclusions)
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        lay(root / "in", history)
        (root / "in").mkdir(exist_ok=True)
        for name, given_jobs in (("plain", None), ("jobs", jobs)):
            merged = aggregate_paths(PLAN, root / "in", jobs=given_jobs)
            first = report_bytes(merged, PLAN, root / name)
            for number, again in enumerate([None, given_jobs]):
                second = aggregate_paths(PLAN, root / name, jobs=again)
                assert report_bytes(second, PLAN, root / f"{name}-{number}") == first


@examples
@given(histories, st.sampled_from(IDS), st.sampled_from(EVENTS))
def test_adding_an_older_result_never_changes_the_outcome(
    history: list[Left], cell: str, event: Event
) -> None:
    later_ones = [
        Left(left.execution_id, left.run_attempt + 1, left.event, left.copy)
        for left in history
        if left.event != "foreign"
    ]
    if not any(left.execution_id == cell for left in later_ones):
        later_ones.append(Left(cell, 2, "fail", 0))
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        lay(root, later_ones)
        before = aggregate_paths(PLAN, root)
        lay(root, [Left(cell, 1, event, 0)])
        after = aggregate_paths(PLAN, root)
    assert after.campaign == before.campaign
    assert after.insights.cells == before.insights.cells
    named = {file for entry in after.insights.duplicates for file in entry.others}
    executed = event in {"pass", "retried", "fail", "timeout", "leaky"}
    assert (f"copy-0/{artifact_name(cell, 1)}/result.json" in named) == executed
