"""Reading all that can be seen of a task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from runner_e2e.failures import ExecutionError
from runner_e2e.targets.paperclip.client import Answer, Client, refused_with
from runner_e2e.targets.paperclip.observation import Snapshot, Thread, runs_of
from runner_e2e.targets.paperclip.views import ISSUES, LOG, RunRow

_NOT_FOUND = 404


@dataclass(slots=True, kw_only=True)
class Reader:
    """Reads a task through ``client``. ``issues`` are the task's own, in order of time."""

    client: Client
    company: str
    issues: list[str] = field(default_factory=list)
    details: dict[str, Answer] = field(default_factory=dict)
    """The descriptions of runs that are settled: they do not change any more."""

    def rows(self) -> tuple[RunRow, ...]:
        """The runs of the task in order of time."""
        return runs_of([self._runs(issue) for issue in self.issues])

    def snapshot(self) -> Snapshot:
        """Everything, as it is now."""
        threads = tuple(self._thread(issue) for issue in self.issues)
        rows = runs_of([thread.runs for thread in threads])
        return Snapshot(
            threads=threads,
            details={row.run_id: self.detail(row) for row in rows},
            tasks=self._tasks_created(),
            producing=frozenset(row.run_id for row in rows if self._has_written(row)),
        )

    def detail(self, row: RunRow) -> Answer:
        """The description of a run."""
        if row.run_id in self.details:
            return self.details[row.run_id]
        answer = self.client.get(f"/heartbeat-runs/{row.run_id}")
        if row.settled:
            self.details[row.run_id] = answer
        return answer

    def _thread(self, issue: str) -> Thread:
        path = f"/issues/{issue}"
        return Thread(
            # Before the issue: what a run did to it cannot be missing then.
            runs=self._runs(issue),
            issue=self.client.get(path),
            comments=self.client.get(f"{path}/comments", order="asc"),
            interactions=self.client.get(f"{path}/interactions"),
            costs=self.client.get(f"{path}/cost-summary"),
            revisions=self._if_there(f"{path}/documents/plan/revisions"),
        )

    def _runs(self, issue: str) -> Answer:
        return self.client.get(f"/issues/{issue}/runs")

    def _if_there(self, path: str, **query: str | int) -> Answer | None:
        try:
            return self.client.get(path, **query)
        except ExecutionError as error:
            if refused_with(error) != _NOT_FOUND:
                raise
            return None

    def _has_written(self, row: RunRow) -> bool:
        """Whether a run has printed anything. Of a running one the list does not say."""
        if row.settled:
            return bool(row.log_bytes)
        log = self._if_there(f"/heartbeat-runs/{row.run_id}/log", limitBytes=1024)
        return log is not None and bool(log.read(LOG).content)

    def _tasks_created(self) -> int:
        issues: Sequence[str] = self.issues
        every = self.client.get(f"/companies/{self.company}/issues").read(ISSUES)
        return sum(one.id not in issues for one in every)
