"""The command target's view of a task, as flows and matchers see it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from runner_e2e.contracts.scalars import JsonObject
from runner_e2e.flows.session import Issue, Observation
from runner_e2e.matchers import FileReader
from runner_e2e.targets.command.memory import Memory


def observation_of(memory: Memory, *, issue_id: str, title: str, files: FileReader) -> Observation:
    """See a memory as an observation. Tasks are not observed here; everything else is."""
    issue = Issue(id=issue_id, identifier=None, status=memory.status)
    return Observation(
        issue=issue,
        runs=memory.runs,
        messages=memory.messages,
        interactions=memory.interactions,
        plan_revisions=memory.revisions,
        tool_invocations=memory.invocations,
        artifacts=memory.artifacts,
        screenshots=memory.screenshots,
        json=_tree(memory, issue, title),
        files=files,
    )


def _tree(memory: Memory, issue: Issue, title: str) -> JsonObject:
    runs: list[Any] = [_camel(asdict(run)) for run in memory.runs]
    return {
        "issue": {"id": issue.id, "identifier": None, "status": issue.status, "title": title},
        "run": runs[-1] if runs else None,
        "runs": runs,
        "comments": [{"body": one.text, "runId": one.run_id} for one in memory.messages],
        "interactions": [
            {"kind": type(one).__name__, **_camel(asdict(one))} for one in memory.interactions
        ],
        "planRevisions": [_camel(asdict(one)) for one in memory.revisions],
        "toolInvocations": [_camel(asdict(one)) for one in memory.invocations],
        "artifacts": [_camel(asdict(one)) for one in memory.artifacts],
    }


def _camel(fields: dict[str, Any]) -> dict[str, Any]:
    """Field names as the wire writes them. Only ours: an agent's own keys lie deeper."""
    return {_camel_word(name): value for name, value in fields.items()}


def _camel_word(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
