"""What a Paperclip server answers, as far as this target reads it. Everything else is ignored."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, TypeAdapter

from runner_e2e.contracts.base import Document

NOT_TERMINAL = frozenset({"queued", "running", "scheduled_retry"})


class Created(Document):
    """Anything that was created."""

    id: str


class IssueView(Document):
    """``GET /issues/:id``."""

    id: str
    identifier: str | None = None
    status: str


class LeaseView(Document):
    """The environment of a run, while it has one."""

    id: str
    status: str


class EnvironmentView(Document):
    """Where a run was."""

    id: str
    driver: str


class RunRow(Document):
    """One row of ``GET /issues/:id/runs``."""

    run_id: str
    status: str
    error_code: str | None = None
    adapter_type: str | None = None
    continuation_attempt: int | None = None
    retry_of_run_id: str | None = None
    created_at: str
    started_at: str | None = None
    finished_at: str | None = None
    log_bytes: int | None = None
    environment: EnvironmentView | None = None
    environment_lease: LeaseView | None = None

    @property
    def terminal(self) -> bool:
        """Whether the run is over."""
        return self.status not in NOT_TERMINAL

    @property
    def settled(self) -> bool:
        """Whether the server has done everything that it does after a run.

        It releases the lease last, after it has queued every follow-up that it finds necessary: a
        run that is over and holds no lease is followed by nothing that is not in the list already.
        """
        return self.terminal and (
            self.environment_lease is None or self.environment_lease.status != "active"
        )


class RunContext(Document):
    """Why a run was started."""

    wake_reason: str | None = None
    source: str | None = None
    interaction_id: str | None = None


class RunView(Document):
    """``GET /heartbeat-runs/:id``."""

    id: str
    exit_code: int | None = None
    session_id_before: str | None = None
    session_id_after: str | None = None
    usage_json: dict[str, Any] | None = None
    context_snapshot: RunContext | None = None


class LogView(Document):
    """``GET /heartbeat-runs/:id/log``: lines of NDJSON, and where the next ones begin."""

    content: str
    next_offset: int | None = None


class LogRecord(Document):
    """One record of a run's log. A line of the agent may be split over several."""

    stream: str
    chunk: str


class CommentView(Document):
    """One comment of the issue's thread."""

    id: str
    author_type: str | None = None
    created_by_run_id: str | None = None
    body: str


class QuestionOption(Document):
    """One choice of a question."""

    id: str
    label: str


class QuestionView(Document):
    """One question of an ``ask_user_questions`` interaction."""

    id: str
    prompt: str
    selection_mode: str | None = None
    required: bool | None = None
    options: tuple[QuestionOption, ...] = ()


class ConfirmationTarget(Document):
    """What a confirmation is about."""

    type: str | None = None
    key: str | None = None
    revision_id: str | None = None


class ToolActionView(Document):
    """The governed call that a confirmation is about."""

    action_request_id: str
    tool_display_name: str
    arguments_summary_json: str | None = None
    """The arguments as JSON text."""


class InteractionPayload(Document):
    """The parts of every kind's payload that are read."""

    target: ConfirmationTarget | None = None
    tool_action: ToolActionView | None = None
    questions: tuple[QuestionView, ...] = ()


class AnswerView(Document):
    """What was chosen for one question."""

    question_id: str
    option_ids: tuple[str, ...] = ()


class InteractionResult(Document):
    """How an interaction was resolved."""

    answers: tuple[AnswerView, ...] = ()


class InteractionView(Document):
    """One row of ``GET /issues/:id/interactions``."""

    id: str
    kind: str
    status: str
    created_at: str
    source_run_id: str | None = None
    payload: InteractionPayload
    result: InteractionResult | None = None


class RevisionView(Document):
    """One row of ``GET /issues/:id/documents/plan/revisions``."""

    id: str
    revision_number: int
    body: str
    created_by_run_id: str | None = None


class CostView(Document):
    """``GET /issues/:id/cost-summary``: what the company's ledger says of an issue."""

    cost_cents: float
    input_tokens: float
    cached_input_tokens: float
    output_tokens: float


class EnvironmentRow(Document):
    """One row of ``GET /companies/:id/environments``."""

    id: str
    driver: str


class CatalogEntry(Document):
    """One tool of a connection."""

    id: str
    tool_name: str
    status: str


class CatalogView(Document):
    """``GET /tool-connections/:id/catalog``."""

    catalog: tuple[CatalogEntry, ...] = Field(default=())


class InvocationRecord(Document):
    """One line of the governed tool's own record."""

    tool: str
    arguments: dict[str, Any]


SecretReference = dict[Literal["type", "secretId", "version"], str]

CREATED: TypeAdapter[Created] = TypeAdapter(Created)
ISSUE: TypeAdapter[IssueView] = TypeAdapter(IssueView)
ISSUES: TypeAdapter[tuple[IssueView, ...]] = TypeAdapter(tuple[IssueView, ...])
RUNS: TypeAdapter[tuple[RunRow, ...]] = TypeAdapter(tuple[RunRow, ...])
RUN: TypeAdapter[RunView] = TypeAdapter(RunView)
LOG: TypeAdapter[LogView] = TypeAdapter(LogView)
LOG_RECORD: TypeAdapter[LogRecord] = TypeAdapter(LogRecord)
COMMENTS: TypeAdapter[tuple[CommentView, ...]] = TypeAdapter(tuple[CommentView, ...])
INTERACTIONS: TypeAdapter[tuple[InteractionView, ...]] = TypeAdapter(tuple[InteractionView, ...])
REVISIONS: TypeAdapter[tuple[RevisionView, ...]] = TypeAdapter(tuple[RevisionView, ...])
ENVIRONMENTS: TypeAdapter[tuple[EnvironmentRow, ...]] = TypeAdapter(tuple[EnvironmentRow, ...])
COSTS: TypeAdapter[CostView] = TypeAdapter(CostView)
INVOCATION: TypeAdapter[InvocationRecord] = TypeAdapter(InvocationRecord)
