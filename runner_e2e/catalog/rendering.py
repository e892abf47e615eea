"""What one execution is told and must answer: a case and an agent, their templates filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from runner_e2e.catalog.templates import TemplateFault, render_json
from runner_e2e.contracts.base import CatalogModel, lower_first
from runner_e2e.contracts.catalog import ProfileFixture
from runner_e2e.contracts.matcher import Matcher
from runner_e2e.contracts.scalars import JsonValue
from runner_e2e.contracts.task import FLOW_OPTIONS, PlanMarkers, QuestionAnswer, TaskFixture


@dataclass(frozen=True, slots=True, kw_only=True)
class Variables:
    """The values that templates can name.

    ``environment_id`` is the target's own name of the environment, ``environment_fixture_id`` is
    ``local`` or ``daytona``. ``daytona_image`` is the empty string in a template where it is None.
    """

    nonce: str
    execution_id: str
    profile_id: str
    environment_id: str
    environment_fixture_id: str
    workspace_path: str
    daytona_image: str | None = None

    def mapping(self) -> dict[str, str]:
        """The values by the name that a template uses."""
        return {
            "nonce": self.nonce,
            "execution_id": self.execution_id,
            "profile_id": self.profile_id,
            "environment_id": self.environment_id,
            "environment_fixture_id": self.environment_fixture_id,
            "workspace_path": self.workspace_path,
            "daytona_image": self.daytona_image or "",
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedTask:
    """A case for one attempt. ``options`` has the type that ``FLOW_OPTIONS`` names for the flow."""

    title: str
    marker: str
    prompt: str
    revision_request: str | None
    followups: tuple[str, ...]
    question_answer: QuestionAnswer | None
    plan_markers: PlanMarkers | None
    matchers: tuple[Matcher, ...]
    options: CatalogModel
    fixture: TaskFixture


def render_task(task: TaskFixture, variables: Variables) -> RenderedTask:
    """Fill the case's templates in. Raises :class:`TemplateFault`, naming the part."""
    return rendered_task(task, render_document(task_document(task), variables.mapping()))


def rendered_task(task: TaskFixture, rendered: Mapping[str, Any]) -> RenderedTask:
    """Give a rendered document its types back."""
    answer, markers = rendered.get("questionAnswer"), rendered.get("planMarkers")
    return RenderedTask(
        title=rendered["title"],
        marker=rendered["marker"],
        prompt=rendered["prompt"],
        revision_request=rendered.get("revisionRequest"),
        followups=tuple(rendered.get("followups") or ()),
        question_answer=answer and typed(QuestionAnswer, answer, "questionAnswer"),
        plan_markers=markers and typed(PlanMarkers, markers, "planMarkers"),
        matchers=tuple(
            typed(Matcher, matcher, f"matchers[{index}]")
            for index, matcher in enumerate(rendered["matchers"])
        ),
        options=typed(FLOW_OPTIONS[task.flow], rendered.get("flowOptions") or {}, "flowOptions"),
        fixture=task,
    )


def render_agent(profile: ProfileFixture, variables: Variables) -> dict[str, JsonValue]:
    """Fill the agent's payload in. ``{"$secretRef": NAME}`` is left for who knows the secret.

    Raises :class:`TemplateFault`.
    """
    payload: dict[str, JsonValue] = render_json(profile.agent, variables.mapping())
    return payload


def task_document(task: TaskFixture) -> dict[str, Any]:
    """The case as JSON, without what only people read and selectors use."""
    document: dict[str, Any] = task.model_dump(mode="json", exclude={"label", "groups"})
    if not task.restart_server_before_question_answer:
        document.pop("restartServerBeforeQuestionAnswer", None)
    return document


def render_document(document: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """Fill a case's document in: first the marker, which every other text may name."""
    marker = _render_part("marker", document["marker"], values)
    values = {**values, "marker": marker}
    return {
        key: marker if key == "marker" else _render_part(key, value, values)
        for key, value in document.items()
    }


def _render_part(key: str, value: JsonValue, values: Mapping[str, str]) -> Any:
    try:
        return render_json(value, values)
    except TemplateFault as fault:
        raise TemplateFault(f"{key} {fault.message}") from None


@lru_cache(maxsize=32)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def typed(kind: Any, value: JsonValue, part: str) -> Any:
    """Read a rendered part. A template can make of it what its type does not allow."""
    try:
        return _adapter(kind).validate_json(orjson.dumps(value), by_name=False)
    except ValidationError as error:
        raise TemplateFault(f"{part}: {lower_first(error.errors()[0]['msg'])}") from None
