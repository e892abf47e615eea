"""A campaign that has one of everything a page can show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runner_e2e.contracts.campaign import Campaign
from runner_e2e.contracts.history import CELLS_V1, CellCampaign, CellOutcome, CellSeries
from runner_e2e.contracts.insights import Duplicate, Extra, Insights
from runner_e2e.contracts.matcher import FileContains, IssueStatus, MessageExact
from runner_e2e.contracts.plan import (
    Plan,
    PlannedEnvironment,
    PlannedProfile,
    PlannedSuite,
    PlannedTask,
)
from runner_e2e.contracts.result import MatcherResult, Result, Screenshot, TurnTiming
from runner_e2e.contracts.vocabulary import CellState
from tests.support.artifacts import digest_of
from tests.support.documents import (
    START,
    definition_hash,
    later,
    make_campaign,
    make_insights,
    make_plan,
    make_planned_suite,
    make_result,
)
from tests.support.pictures import png

PROFILES = (("codex", "Codex native"), ("claude", "Claude Code"), ("glm", "OpenCode GLM"))
ENVIRONMENTS = (("local", "Isolated local"), ("daytona", "Daytona sandbox"))
TASKS = (("hello", "Single turn hello"), ("plan", "Plan, revision"), ("question", "Question"))

FAILED = "core.codex.local.hello"
TIMED_OUT = "core.codex.daytona.plan"
MISSING = "core.claude.local.plan"
CANCELLED = "core.claude.daytona.hello"
FLAKY = "core.glm.local.question"
UNCLEAN = "core.glm.daytona.question"
PASSED = "core.claude.local.hello"
UNPRICED = "core.glm.local.hello"
UNSELECTED = "extra.codex.local.hello"
EXCLUDED = "core.glm.daytona.plan"


def planned_suite(
    suite_id: str,
    label: str,
    *,
    profiles: Sequence[tuple[str, str]] = PROFILES,
    environments: Sequence[tuple[str, str]] = ENVIRONMENTS,
    tasks: Sequence[tuple[str, str]] = TASKS,
    excluded: Sequence[str] = (),
) -> PlannedSuite:
    """A suite of everything with everything, without ``excluded``."""
    ids = [
        f"{suite_id}.{profile}.{environment}.{task}"
        for profile, _ in profiles
        for environment, _ in environments
        for task, _ in tasks
    ]
    return make_planned_suite(
        suite_id,
        [each for each in ids if each not in excluded],
        label=label,
        description=f"What {label.lower()} asks of every agent.",
        profiles=tuple(
            PlannedProfile(
                id=id_,
                label=name,
                generation="native",
                provider="scripted",
                model=f"{id_}-1",
                expected_runtime_mode="native",
            )
            for id_, name in profiles
        ),
        environments=tuple(
            PlannedEnvironment(id="daytona" if id_ == "daytona" else "local", label=name)
            for id_, name in environments
        ),
        tasks=tuple(
            PlannedTask(id=id_, label=name, flow="single_turn", expected_run_count=1)
            for id_, name in tasks
        ),
    )


def matcher_results(*, passed: bool) -> tuple[MatcherResult, ...]:
    """Three matchers; the first of them holds or does not."""
    exact = MessageExact(kind="message_exact", expected="E2E_OK_5f3a9c")
    return (
        MatcherResult(matcher=exact, passed=passed, detail="the last message is 'I am done.'"),
        MatcherResult(
            matcher=IssueStatus(kind="issue_status", expected="done"), passed=True, detail="done"
        ),
        MatcherResult(
            matcher=FileContains(kind="file_contains", path="notes.txt", expected="Cobalt"),
            passed=True,
            detail="found at byte 14",
        ),
    )


def turn_timing(turn: int = 1) -> TurnTiming:
    """A turn that was observed in full."""
    return TurnTiming(
        turn=turn,
        submitted_at=START,
        run_started_at=later(0.1),
        run_finished_at=later(0.9),
        scheduler_latency_ms=6_000,
        run_duration_ms=48_000,
        response_latency_ms=54_000,
        run_id=f"run-{turn}",
        lease_acquisition_outcome="created",
    )


def _result(execution_id: str) -> Result:
    odd: dict[str, dict[str, Any]] = {
        FAILED: {
            "status": "failed",
            "error": "1 of 3 matchers did not hold",
            "matcher_results": matcher_results(passed=False),
        },
        TIMED_OUT: {"status": "failed", "error": "turn 2 did not end within 12 min"},
        MISSING: {
            "status": "failed",
            "attempt": 0,
            "failure_class": "permanent_infrastructure",
            "error": "no artifact of this execution was found",
            "billing": None,
            "runtime_usage": None,
            "run_ids": None,
            "cleanup": "not_started",
        },
        CANCELLED: {
            "status": "failed",
            "attempt": 0,
            "failure_class": "transient_infrastructure",
            "error": "the job was cancelled",
            "billing": None,
            "runtime_usage": None,
            "run_ids": None,
            "cleanup": "not_started",
        },
        FLAKY: {"attempt": 2},
        UNCLEAN: {"cleanup": "failed"},
        UNPRICED: {"cost": None},
        PASSED: {
            "turn_timings": (turn_timing(),),
            "matcher_results": matcher_results(passed=True),
            "issue_identifier": "RUN-7",
            "screenshots": (
                Screenshot(
                    id="final",
                    label="Final state",
                    file="public/final-state.png",
                    publication="public-runner-fixture",
                ),
                Screenshot(id="private", label="Not for the public", file="private.png"),
            ),
        },
    }
    return make_result(execution_id, **odd.get(execution_id, {}))


def showcase() -> tuple[Campaign, Insights, Plan]:
    """Two suites, the second one not selected; failures, the unresolved, flakes, an extra."""
    core = planned_suite("core", "Core compatibility", excluded=(EXCLUDED,))
    extra = planned_suite(
        "extra", "Extra", profiles=PROFILES[:1], environments=ENVIRONMENTS[:1], tasks=TASKS[:2]
    )
    selected = core.execution_ids
    plan = make_plan(selected, catalog=[*selected, *extra.execution_ids], suites=(core, extra))
    campaign = make_campaign([_result(each) for each in selected], plan=plan)
    states: dict[str, CellState] = {TIMED_OUT: "timed_out", CANCELLED: "cancelled"}
    insights = make_insights(campaign, plan=plan, states=states)
    return (
        campaign,
        insights.model_copy(
            update={
                "extras": (Extra(execution_id="old.a.local.b", file="x.json", reason="unknown"),),
                "duplicates": (Duplicate(execution_id=FAILED, chosen="b.json", others=("a",)),),
                "evidence": (digest_of(f"evidence/{PASSED}/attempt-1/final-state.png", png()),),
            }
        ),
        plan,
    )


def make_outcome(campaign_id: str, state: CellState = "passed", **changes: Any) -> CellOutcome:
    """What a cell came to in one campaign."""
    values: dict[str, Any] = {
        "campaign_id": campaign_id,
        "state": state,
        "failure_class": "candidate_failure" if state == "failed" else None,
        "attempt": 1,
        "flaky": False,
        "definition_hash": definition_hash("core"),
        "model": "scripted-1",
        "duration_ms": 60_000,
        "cost_usd": 0.02,
    }
    return CellOutcome(**values | changes)


def make_series(nights: Mapping[str, Sequence[CellState]], suite_id: str = "core") -> CellSeries:
    """The states of each cell by night, the newest first; every cell has as many nights."""
    count = max(len(states) for states in nights.values())
    campaigns = {
        f"gha-{1000 - night}-1": CellCampaign(
            generated_at=later(-1440 * night), sha=f"{night + 1:x}".ljust(40, "0"), run_attempt=1
        )
        for night in range(count)
    }
    return CellSeries(
        schema=CELLS_V1,
        suite_id=suite_id,
        campaigns=campaigns,
        cells={
            execution_id: tuple(
                make_outcome(campaign_id, state)
                for campaign_id, state in zip(campaigns, states, strict=False)
            )
            for execution_id, states in nights.items()
        },
    )
