"""A task on a Paperclip server, as flows and matchers see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson

from runner_e2e.contracts.vocabulary import EnvironmentId, Generation
from runner_e2e.flows import (
    Interaction,
    InteractionId,
    Issue,
    Message,
    Observation,
    PlanConfirmation,
    PlanRevision,
    QuestionAsked,
    Run,
    ToolInvocation,
    ToolReview,
)
from runner_e2e.flows.session import RunStatus
from runner_e2e.matchers import FileReader
from runner_e2e.targets.paperclip.client import Answer
from runner_e2e.targets.paperclip.views import (
    COMMENTS,
    COSTS,
    INTERACTIONS,
    ISSUE,
    REVISIONS,
    RUN,
    RUNS,
    InteractionView,
    RunRow,
    RunView,
)

CONVERSATION = "issue_thread"
"""How an agent chat is held: this version has no chat with an agent but the issue's own thread."""

STOPPED = "agent_paused"
"""The server's code of a run that was cancelled because we stopped its agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """The server's answers about one issue. ``revisions`` is ``None`` where there is no plan."""

    issue: Answer
    runs: Answer
    comments: Answer
    interactions: Answer
    costs: Answer
    revisions: Answer | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The server's answers at one moment.

    A task is one issue. Only an "always" goes on in a second one, since inside the first the
    server repeats the result of the reviewed call instead of making another.
    """

    threads: Sequence[Thread]
    details: Mapping[str, Answer]
    tasks: int
    """Issues that are none of the task's own."""
    producing: frozenset[str]
    """The runs that have written something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the harness knows beside the server's answers."""

    submitted: Sequence[str]
    """When each turn was asked for."""
    adapter_type: str
    """What was asked for, where a run does not say what it used."""
    provider: str | None
    generation: int
    invocations: tuple[ToolInvocation, ...] | None
    files: FileReader


def observation_of(snapshot: Snapshot, known: Known) -> Observation:
    """Put the answers together. Every time is the server's, but those of submission."""
    issue = snapshot.threads[-1].issue.read(ISSUE)
    rows = runs_of([thread.runs for thread in snapshot.threads])
    runs = tuple(
        _run(
            row,
            snapshot.details[row.run_id].read(RUN),
            turn,
            known,
            producing=row.run_id in snapshot.producing,
        )
        for turn, row in enumerate(rows, start=1)
    )
    return Observation(
        issue=Issue(id=issue.id, identifier=issue.identifier, status=issue.status),
        runs=_with_ledger(runs, snapshot),
        messages=tuple(
            Message(run_id=one.created_by_run_id or "", text=one.body)
            for thread in snapshot.threads
            for one in thread.comments.read(COMMENTS)
            if one.author_type == "agent"
        ),
        interactions=_interactions(snapshot),
        plan_revisions=_revisions(snapshot),
        tool_invocations=known.invocations,
        tasks_created=snapshot.tasks,
        json=_tree(snapshot, rows),
        files=known.files,
    )


def runs_of(answers: Sequence[Answer]) -> tuple[RunRow, ...]:
    """The runs in order of time."""
    rows = [row for answer in answers for row in answer.read(RUNS)]
    return tuple(sorted(rows, key=lambda row: (row.created_at, row.run_id)))


def _run(row: RunRow, detail: RunView, turn: int, known: Known, *, producing: bool) -> Run:
    context = detail.context_snapshot
    asked = context.interaction_id if context else None
    usage = detail.usage_json
    adapter_type = row.adapter_type or known.adapter_type
    return Run(
        id=row.run_id,
        turn=turn,
        status=_status(row),
        submitted_at=known.submitted[min(turn, len(known.submitted)) - 1],
        started_at=row.started_at,
        finished_at=row.finished_at,
        code="stopped" if row.error_code == STOPPED else row.error_code,
        interaction_id=InteractionId(asked) if asked else None,
        environment=_environment(row),
        runtime_mode=runtime_mode(adapter_type),
        adapter_type=adapter_type,
        provider=_text(usage, "provider") or known.provider,
        model=_text(usage, "model"),
        session_id=detail.session_id_after,
        session_generation=known.generation,
        usage=usage,
        producing=producing,
    )


def _with_ledger(runs: tuple[Run, ...], snapshot: Snapshot) -> tuple[Run, ...]:
    """Give the last run what the ledger says of all, where no run reports anything itself.

    An agent may enter its costs by hand; the server then knows the sum of an issue and no more.
    """
    if not runs or any(run.usage is not None for run in runs):
        return runs
    found = [thread.costs.read(COSTS) for thread in snapshot.threads]
    cents = sum(one.cost_cents for one in found)
    tokens = {
        "inputTokens": sum(one.input_tokens for one in found),
        "cachedInputTokens": sum(one.cached_input_tokens for one in found),
        "outputTokens": sum(one.output_tokens for one in found),
    }
    if not cents and not any(tokens.values()):
        return runs
    usage: dict[str, Any] = {**tokens, "costUsd": cents / 100, "usageSource": "cost_ledger"}
    return (*runs[:-1], replace(runs[-1], usage=usage))


def _status(row: RunRow) -> RunStatus:
    match row.status:
        case "succeeded" | "failed" | "cancelled" | "timed_out":
            return row.status
        case _:
            return "failed" if row.terminal else "running"


def _environment(row: RunRow) -> EnvironmentId | None:
    if row.environment is None:
        return None
    return "daytona" if row.environment.driver == "sandbox" else "local"


def runtime_mode(adapter_type: str) -> Generation:
    """Native is what the server's own runner drives; every other adapter is legacy."""
    return "native" if adapter_type.startswith("runner_") else "legacy"


def _text(usage: Mapping[str, Any] | None, key: str) -> str | None:
    value = (usage or {}).get(key)
    return value if isinstance(value, str) and value else None


def _interactions(snapshot: Snapshot) -> tuple[Interaction, ...]:
    views = [one for thread in snapshot.threads for one in thread.interactions.read(INTERACTIONS)]
    ordered = sorted(views, key=lambda one: (one.created_at, one.id))
    return tuple(_interaction(view) for view in ordered)


def _interaction(view: InteractionView) -> Interaction:
    identity, run = InteractionId(view.id), view.source_run_id or ""
    action = view.payload.tool_action
    if action is not None:
        return ToolReview(
            id=identity,
            run_id=run,
            status=_decided(view.status),
            tool=action.tool_display_name,
            arguments=_object(action.arguments_summary_json),
        )
    if view.kind == "request_confirmation":
        target = view.payload.target
        about_plan = target and target.type == "issue_document" and target.key == "plan"
        return PlanConfirmation(
            id=identity,
            run_id=run,
            status=_confirmed(view.status),
            revision_id=target.revision_id if target and about_plan else None,
        )
    return _question(view, identity, run)


def _question(view: InteractionView, identity: InteractionId, run: str) -> QuestionAsked:
    """A question; whatever else waits for a person counts as one that no case asks for."""
    questions = view.payload.questions
    plain = (
        len(questions) == 1
        and questions[0].selection_mode == "single"
        and questions[0].required is True
    )
    first = questions[0] if questions else None
    options = first.options if first else ()
    chosen = [
        option.label
        for answer in (view.result.answers if view.result else ())
        for option in options
        if first and answer.question_id == first.id and option.id in answer.option_ids
    ]
    return QuestionAsked(
        id=identity,
        run_id=run,
        status=_answered(view.status),
        question_id=first.id if first and plain else f"{view.kind} of another form",
        prompt=first.prompt if first else "",
        options=tuple(option.label for option in options),
        answers=tuple(chosen),
    )


def _decided(status: str) -> Literal["pending", "approved", "declined", "unasked"]:
    match status:
        case "pending":
            return "pending"
        case "accepted":
            return "approved"
        case _:
            return "declined"


def _confirmed(status: str) -> Literal["pending", "accepted", "rejected", "superseded"]:
    match status:
        case "pending" | "accepted" | "rejected":
            return status
        case _:
            return "superseded"


def _answered(status: str) -> Literal["pending", "answered", "superseded"]:
    match status:
        case "pending" | "answered":
            return status
        case _:
            return "superseded"


def _object(text: str | None) -> dict[str, Any]:
    """The arguments of a call; none where the server had to shorten them to something else."""
    try:
        value = orjson.loads(text or "")
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _revisions(snapshot: Snapshot) -> tuple[PlanRevision, ...]:
    revisions = snapshot.threads[-1].revisions
    views = revisions.read(REVISIONS) if revisions else ()
    return tuple(
        PlanRevision(
            id=one.id, number=one.revision_number, body=one.body, run_id=one.created_by_run_id or ""
        )
        for one in sorted(views, key=lambda one: one.revision_number)
    )


def _tree(snapshot: Snapshot, rows: Sequence[RunRow]) -> dict[str, Any]:
    """The server's own JSON, which the JSON matchers look at."""
    last = snapshot.threads[-1]
    return {
        "issue": last.issue.json,
        "run": snapshot.details[rows[-1].run_id].json if rows else None,
        "runs": _joined([thread.runs for thread in snapshot.threads]),
        "comments": _joined([thread.comments for thread in snapshot.threads]),
        "interactions": _joined([thread.interactions for thread in snapshot.threads]),
        "planRevisions": last.revisions.json if last.revisions else [],
        "costs": [thread.costs.json for thread in snapshot.threads],
        "conversation": CONVERSATION,
    }


def _joined(lists: Sequence[Answer]) -> list[Any]:
    return [item for answer in lists for item in answer.json]
