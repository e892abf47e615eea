"""Driving a task on a real Paperclip server, as its board user would."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runner_e2e.catalog import OFFERED, Capability, RenderedTask
from runner_e2e.contracts.task import ToolReviewOptions
from runner_e2e.contracts.timestamps import format_timestamp
from runner_e2e.failures import (
    CandidateFailure,
    ExecutionError,
    PermanentInfrastructure,
    TransientInfrastructure,
    deadline_passed,
)
from runner_e2e.flows import (
    Accept,
    Answer,
    CancelToken,
    CleanupReport,
    Deadline,
    Decide,
    DuplicateRun,
    InteractionId,
    Observation,
    Reject,
    Reply,
)
from runner_e2e.matchers import WorkspaceFiles
from runner_e2e.targets.command import interrupted
from runner_e2e.targets.paperclip.client import Client
from runner_e2e.targets.paperclip.fixtures import Fixtures, Order
from runner_e2e.targets.paperclip.observation import (
    STOPPED,
    Known,
    observation_of,
)
from runner_e2e.targets.paperclip.reading import Reader
from runner_e2e.targets.paperclip.records import FIXTURES_FILE, SERVER_LOG, TEARDOWN_FILE, Records
from runner_e2e.targets.paperclip.server import Server, lost
from runner_e2e.targets.paperclip.tools import GovernedTool
from runner_e2e.targets.paperclip.views import INTERACTIONS, InteractionView, RunRow

POLL_S = 0.05
REST_MS = 30_000
"""How long a run may take to settle before something is said to its issue."""
TEARDOWN_MS = 10_000
CANCEL_S = 1.5
_CODE = re.compile(r"[a-z][a-z0-9_]{0,63}")
_INFRASTRUCTURE_CODES: Mapping[str, type[ExecutionError]] = {
    "process_lost": TransientInfrastructure,
    "configuration_incomplete": PermanentInfrastructure,
}
"""Runs that failed for a reason which no agent can bring about."""


@dataclass(slots=True, kw_only=True)
class PaperclipSession:
    """A task on a server of its own, which is booted by :meth:`start`."""

    server: Server
    agent: Mapping[str, Any]
    secrets: Mapping[str, str] = field(repr=False)
    name: str
    provider: str
    cancel_token: CancelToken
    records: Records
    capabilities: frozenset[Capability] = OFFERED["paperclip"]
    _client: Client | None = None
    _fixtures: Fixtures | None = None
    _reader: Reader | None = None
    _tool: GovernedTool | None = None
    _task: RenderedTask | None = None
    _submitted: list[str] = field(default_factory=list)
    _trusting: bool = False
    _generation: int = 0
    _paused: bool = False

    def start(self, task: RenderedTask) -> None:
        """Boot the server, set up what the task needs, create the task: its first run begins."""
        self.server.start(Deadline.after(float("inf")))
        self._client = client = Client(self.server.base_url)
        with self._watching():
            self._fixtures = Fixtures(client=client)
            try:
                self._fixtures.set_up(
                    Order(
                        name=self.name,
                        agent=self.agent,
                        secrets=self.secrets,
                        workspace=self.server.home.workspace,
                    )
                )
            finally:
                self._keep_fixtures()
            if isinstance(task.options, ToolReviewOptions):
                self._connect_tool(task.options.tool)
            self._reader = Reader(client=client, company=self._fixtures.company)
            self._task = task
            self._create_issue(task.prompt)

    def wait_turn(self, turn: int, deadline: Deadline) -> Observation:
        """Wait until the runs are over and settled: then no follow-up of theirs is outstanding."""
        with self._watching():
            while True:
                rows = self._rows()
                for row in rows[:turn]:
                    self._raise_for(row)
                if len(rows) > turn:
                    raise DuplicateRun(expected=turn, observed=len(rows))
                if len(rows) == turn and all(row.settled for row in rows):
                    observation = self.observe()
                    # Settled before, so whatever the server found necessary is in this list.
                    if len(observation.runs) > turn:
                        raise DuplicateRun(expected=turn, observed=len(observation.runs))
                    return observation
                if deadline.passed:
                    raise deadline_passed(
                        f"turn {turn} was not over in time", turn_running=len(rows) == turn
                    )
                self._pause()

    def observe(self) -> Observation:
        """See how things stand now."""
        with self._watching():
            snapshot = self._require_reader().snapshot()
            return observation_of(snapshot, self._known())

    def reply(self, interaction: InteractionId, reply: Reply) -> None:
        """Answer what is pending, once the asking run is over: else the server joins the two."""
        with self._watching():
            self._rest()
            path = f"/issues/{self._require_issue()}/interactions/{interaction}"
            client = self._require_client()
            self._submit()
            match reply:
                case Accept():
                    client.post(f"{path}/accept")
                case Reject():
                    client.post(f"{path}/reject", {"reason": reply.reason})
                case Answer():
                    client.post(f"{path}/respond", self._answer(interaction, reply.option))
                case Decide():
                    self._decide(path, interaction, reply)
            self._await_run()

    def send(self, text: str) -> None:
        """Comment on the issue, which wakes the agent also where it had finished."""
        with self._watching():
            self._rest()
            if self._trusting:
                self._create_issue(text)
            else:
                self._comment(text)
            self._await_run()

    def new_session(self) -> None:
        """Let the server forget the agent's session."""
        with self._watching():
            self._rest()
            agent = self._require_fixtures().ids["agent"]
            self._require_client().post(f"/agents/{agent}/runtime-state/reset-session")
            self._generation += 1

    def restart(self, deadline: Deadline) -> None:
        """Stop the server and start it on the same data."""
        with self._watching():
            self._rest()
            self._require_client().close()
            self.server.restart(deadline)
            self._client = client = Client(self.server.base_url)
            self._require_fixtures().client = client
            self._require_reader().client = client

    def cancel(self) -> None:
        """Stop the running turn by pausing its agent: cancelling the run alone starts another."""
        client, fixtures = self._client, self._fixtures
        if client is None or fixtures is None or "agent" not in fixtures.ids:
            return
        with contextlib.suppress(ExecutionError):
            client.post(f"/agents/{fixtures.ids['agent']}/pause", timeout=CANCEL_S)
            self._paused = True

    def close(self) -> CleanupReport:
        """Keep the evidence, take everything down, stop the server and whatever it started."""
        if self._client is not None and self.server.alive() and not self.cancel_token.cancelled:
            try:
                self._finish(self._client)
            except ExecutionError as error:
                self.records.keep(TEARDOWN_FILE, {"reason": error.message})
        if self._client is not None:
            self._client.close()
        problems = self.server.close()
        self.records.keep_end(SERVER_LOG, self.server.log())
        self.server.forget()
        return CleanupReport(problems=problems)

    def hand_over(self, target: Path) -> None:
        """Write the evidence below ``target``, still unredacted."""
        self.records.write(target)

    def _finish(self, client: Client) -> None:
        """Cancel the issue where it is not at rest, keep what its runs left, delete everything."""
        reader = self._reader
        if reader is not None:
            deadline = Deadline.after(TEARDOWN_MS)
            if not all(row.settled for row in reader.rows()):
                for issue in reader.issues:
                    client.patch(f"/issues/{issue}", {"status": "cancelled"})
            while not all(row.settled for row in reader.rows()) and not deadline.passed:
                self.cancel_token.wait(POLL_S)
            rows = reader.rows()
            self.records.keep_runs(client, [(row.run_id, reader.detail(row)) for row in rows])
        issues = reader.issues if reader else []
        refused = self._fixtures.tear_down(issues) if self._fixtures else []
        self.records.keep(TEARDOWN_FILE, {"refused": refused})

    @contextlib.contextmanager
    def _watching(self) -> Any:
        """Say of a call that failed that the server is gone, where it is."""
        try:
            yield
        except TransientInfrastructure as error:
            raise lost(self.server, error) from error

    def _rows(self) -> tuple[RunRow, ...]:
        return self._require_reader().rows()

    def _create_issue(self, description: str) -> None:
        """Create the task, or go on with it in an issue of its own."""
        if self._task is None:
            raise RuntimeError("the task was not started")
        self._submit()
        self._require_reader().issues.append(
            self._require_fixtures().create_issue(
                self._task.title, description, self._task.fixture.work_mode
            )
        )

    def _comment(self, text: str) -> None:
        client, issue = self._require_client(), f"/issues/{self._require_issue()}"
        if self._paused:
            # Where it was stopped, it would be woken twice.
            client.patch(issue, {"status": "todo"})
            client.post(f"/agents/{self._require_fixtures().ids['agent']}/resume")
            self._paused = False
        self._submit()
        client.post(f"{issue}/comments", {"body": text})

    def _known(self) -> Known:
        return Known(
            submitted=self._submitted,
            adapter_type=str(self.agent.get("adapterType", "")),
            provider=self.provider,
            generation=self._generation,
            invocations=self._tool.invocations() if self._tool else None,
            files=WorkspaceFiles(self.server.home.workspace),
        )

    def _connect_tool(self, name: str) -> None:
        self._tool = GovernedTool(
            name=name,
            directory=self.server.home.tools,
            node=self.server.installation.node,
            account=self.server.account,
        )
        self._tool.connect(self._require_client(), self._require_fixtures().company)

    def _keep_fixtures(self) -> None:
        fixtures = self._require_fixtures()
        self.records.keep(
            FIXTURES_FILE,
            {
                "ids": fixtures.ids,
                "secretIds": fixtures.secret_ids,
                "agent": fixtures.agent,
                "ports": [self.server.port, self.server.home.database_port],
            },
        )

    def _raise_for(self, row: RunRow) -> None:
        if row.retry_of_run_id is not None or row.continuation_attempt:
            raise CandidateFailure("continued_run", "the server had to continue or repeat a run")
        if not row.terminal or row.status == "succeeded" or row.error_code == STOPPED:
            return
        # The code is the server's word, but it goes where only words of a certain form may.
        said = row.error_code if row.error_code and _CODE.fullmatch(row.error_code) else None
        kind = _INFRASTRUCTURE_CODES.get(said or "", CandidateFailure)
        raise kind(
            said or f"run_{row.status}", f"a run {row.status}: {said or 'no code was given'}"
        )

    def _rest(self) -> None:
        """Wait until nothing runs."""
        deadline = Deadline.after(REST_MS)
        while not all(row.settled for row in self._rows()):
            if deadline.passed:
                raise TransientInfrastructure("never_settled", "a run did not settle in time")
            self._pause()

    def _await_run(self) -> None:
        """Wait until the server has queued the run that was just asked for.

        One that never comes is for :meth:`wait_turn` to say, which knows the deadline.
        """
        deadline = Deadline.after(REST_MS)
        while len(self._rows()) < len(self._submitted) and not deadline.passed:
            self._pause()

    def _pause(self) -> None:
        if self.cancel_token.wait(POLL_S):
            raise interrupted()
        if not self.server.alive():
            raise TransientInfrastructure("server_lost", "the server is gone")

    def _submit(self) -> None:
        self._submitted.append(format_timestamp(datetime.now(UTC)))

    def _pending(self, interaction: InteractionId) -> InteractionView:
        path = f"/issues/{self._require_issue()}/interactions"
        for one in self._require_client().get(path).read(INTERACTIONS):
            if one.id == interaction:
                return one
        raise RuntimeError(f"{interaction} is no interaction of this issue")

    def _answer(self, interaction: InteractionId, label: str) -> dict[str, Any]:
        question = self._pending(interaction).payload.questions[0]
        options = [one.id for one in question.options if one.label == label]
        return {"answers": [{"questionId": question.id, "optionIds": options}]}

    def _decide(self, path: str, interaction: InteractionId, reply: Decide) -> None:
        client = self._require_client()
        if reply.decision == "decline":
            client.post(f"{path}/reject", {"reason": "Declined."})
            return
        client.post(f"{path}/accept")
        action = self._pending(interaction).payload.tool_action
        if reply.decision == "always" and action is not None and self._tool is not None:
            self._tool.trust(client, self._require_fixtures().company, action.action_request_id)
            self._trusting = True

    def _require_client(self) -> Client:
        if self._client is None:
            raise RuntimeError("the server was not started")
        return self._client

    def _require_fixtures(self) -> Fixtures:
        if self._fixtures is None:
            raise RuntimeError("nothing was set up")
        return self._fixtures

    def _require_reader(self) -> Reader:
        if self._reader is None:
            raise RuntimeError("the task was not created")
        return self._reader

    def _require_issue(self) -> str:
        return self._require_reader().issues[-1]
