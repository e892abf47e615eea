"""``github:OWNER/REPO/RUN_ID``: the results, the jobs and the plan of a workflow run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

import orjson

from runner_e2e.campaigns import Broken, JobHistory, Tree, Unreadable, ZipTree
from runner_e2e.contracts.base import dump_tree
from runner_e2e.contracts.plan import Plan, read_plan
from runner_e2e.errors import UsageError
from runner_e2e.evidence.files import write_atomically
from runner_e2e.github.downloads import MAX_PARALLEL, MIB, Downloads
from runner_e2e.github.errors import GithubError
from runner_e2e.github.patience import Patience, SystemWait, Wait, minutes
from runner_e2e.github.rest import (
    OWNER,
    REPOSITORY,
    Artifact,
    GithubApi,
    Repository,
    WorkflowRun,
)
from runner_e2e.github.runtime import ActionsRuntime
from runner_e2e.github.server import GithubServer

SCHEME = "github:"
RESULT_NAME = "runner-e2e-result-"
PLAN_NAME = re.compile(r"runner-e2e-plan-a([1-9][0-9]{0,8})")
REPORT_NAME = re.compile(r"runner-e2e-report-a([1-9][0-9]{0,8})")
MAX_REPORT_BYTES = 512 * MIB
MAX_PLAN_BYTES = 128 * MIB
MAX_TOTAL_BYTES = 8 * 1024 * MIB
"""Of all result archives of a run; past it the rest is refused, cell by cell."""

MAX_RUN_ATTEMPTS = 1_000
"""GitHub runs a workflow again 50 times at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLocator:
    """Which run is meant."""

    repository: Repository
    run_id: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``github:OWNER/REPO/RUN_ID``. Raises :class:`UsageError`."""
        owner, name, run_id, *rest = (*text.removeprefix(SCHEME).split("/"), "", "", "")
        number = re.fullmatch(r"[1-9][0-9]{0,15}", run_id)
        if not (OWNER.fullmatch(owner) and REPOSITORY.fullmatch(name) and number) or any(rest):
            raise UsageError(
                f"{text!r} names no workflow run",
                hint="write github:OWNER/REPO/RUN_ID; the id is the number in the run's address",
            )
        return cls(repository=Repository(owner=owner, name=name), run_id=int(run_id))


class RunSource:
    """A workflow run as a source of artifacts. Use it in ``with``: archives lie in a directory.

    ``tell`` gets what a person who waits wants to know, a line at a time.
    """

    def __init__(
        self,
        locator: RunLocator,
        server: GithubServer,
        runtime: ActionsRuntime,
        *,
        tell: Callable[[str], None],
        wait: Wait | None = None,
    ) -> None:
        self._locator = locator
        self._runtime = runtime
        self._tell = tell
        self._patience = Patience(wait or SystemWait(), tell)
        self._api = GithubApi(server, locator.repository, self._patience)
        self._downloads = Downloads(self._api)
        self._resources = ExitStack()
        self._fetched: dict[int, ZipTree | Broken] = {}

    def __enter__(self) -> Self:
        """Make the directory."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the directory and close the connections."""
        for fetched in self._fetched.values():
            if not isinstance(fetched, Broken):
                fetched.close()
        self._resources.close()
        self._downloads.close()
        self._api.close()
        if self._patience.spent >= 1:
            self._tell(f"waited {minutes(self._patience.spent)} for GitHub in all")

    @cached_property
    def run(self) -> WorkflowRun:
        """The run. Raises :class:`GithubError` for one that has not ended and is not ours."""
        run = self._api.run(self._locator.run_id)
        if run.status != "completed" and not self._is_ours:
            raise GithubError(
                f"run {run.id} of {self._locator.repository} has not ended: it is "
                f"{(run.status or 'unknown').replace('_', ' ')}",
                hint=f"wait for it: gh run watch {run.id} --repo {self._locator.repository}",
            )
        if run.run_attempt > MAX_RUN_ATTEMPTS:
            raise GithubError(f"run {run.id} claims to have had {run.run_attempt:,} attempts")
        return run

    @property
    def campaign_id(self) -> str:
        """The name of the campaign: the run and its newest attempt, ours where we are in it."""
        attempt = self._runtime.run_attempt if self._is_ours else self.run.run_attempt
        return f"gha-{self._locator.run_id}-{attempt}"

    def jobs(self) -> JobHistory:
        """Return what became of every job in every attempt."""
        run = self.run
        attempts = [self._api.attempt(run.id, number) for number in range(1, run.run_attempt)]
        rows = self._api.jobs(run.id)
        document = {
            "total_count": len(rows),
            "jobs": [dump_tree(row) for row in rows],
            "attempts": [
                {"run_attempt": attempt.run_attempt, "run_started_at": attempt.run_started_at}
                for attempt in (*attempts, run)
            ],
        }
        source = f"the jobs of run {run.id} in {self._locator.repository}"
        return JobHistory.parse(orjson.dumps(document), source)

    def plan(self) -> Plan:
        """Return the plan of the newest attempt that made one."""
        hint = "is it a run of a campaign's workflow? Name the plan with --plan"
        tree = self._newest(PLAN_NAME, "plan", hint=hint)
        try:
            return read_plan(tree.read("plan.json", MAX_PLAN_BYTES), f"{tree.name}plan.json")
        except Unreadable as error:
            raise GithubError(f"{tree.name}plan.json: {error}") from None
        finally:
            tree.close()

    def report(self, into: Path) -> None:
        """Write the files of the newest report below ``into``, an empty directory.

        Raises :class:`GithubError` when there is none or when it cannot be read whole.
        """
        hint = "aggregate its results: runner-e2e aggregate github:OWNER/REPO/RUN_ID"
        tree = self._newest(REPORT_NAME, "report", hint=hint)
        left = MAX_REPORT_BYTES
        try:
            for name in tree.files():
                data = tree.read(name, left)
                left -= len(data)
                write_atomically(into / name, data)
        except Unreadable as error:
            raise GithubError(f"{tree.name}: {error}") from None
        finally:
            tree.close()

    def artifacts(self) -> Iterator[Tree | Broken]:
        """Yield the result artifacts of all attempts, in the order of their names."""
        results = sorted(
            (artifact for artifact in self._listed if artifact.name.startswith(RESULT_NAME)),
            key=lambda artifact: (artifact.name, artifact.id),
        )
        self._tell(f"run {self._locator.run_id}: {len(results):,} result artifacts to read")
        labels = _labels(results)
        directory = self._directory
        left = MAX_TOTAL_BYTES
        with ThreadPoolExecutor(MAX_PARALLEL, "download") as pool:
            try:
                waiting = []
                for artifact, label in zip(results, labels, strict=True):
                    left -= 0 if artifact.expired else artifact.size_in_bytes
                    waiting.append(pool.submit(self._fetch, artifact, label, directory, left=left))
                for future in waiting:
                    yield future.result()
            except BaseException:
                self._patience.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _newest(self, pattern: re.Pattern[str], what: str, *, hint: str) -> ZipTree:
        """Fetch the artifact of the newest run attempt that has one of this name."""
        found = {
            int(match[1]): artifact
            for artifact in self._listed
            if (match := pattern.fullmatch(artifact.name))
        }
        if not found:
            raise GithubError(
                f"run {self._locator.run_id} of {self._locator.repository} has no {what}", hint=hint
            )
        artifact = found[max(found)]
        tree = self._fetch(artifact, artifact.name, self._directory, left=0)
        if isinstance(tree, Broken):
            raise GithubError(f"{tree.name}: {tree.reason}", hint=hint)
        return tree

    @property
    def _is_ours(self) -> bool:
        return self._runtime.run_id == str(self._locator.run_id)

    @cached_property
    def _listed(self) -> tuple[Artifact, ...]:
        return self._api.artifacts(self.run.id)

    @cached_property
    def _directory(self) -> Path:
        return Path(self._resources.enter_context(TemporaryDirectory(prefix="runner-e2e-")))

    def _fetch(
        self, artifact: Artifact, label: str, directory: Path, *, left: int
    ) -> ZipTree | Broken:
        if left < 0:
            reason = "the run's other artifacts used up what may be downloaded in all"
            return Broken(name=label, state="corrupt", reason=reason)
        if artifact.id not in self._fetched:
            path = directory / f"{artifact.id}.zip"
            try:
                broken = self._downloads.fetch(artifact, path, label=label)
            except BaseException:
                # What ends one download ends all: nobody should wait for a reset first.
                self._patience.stop()
                raise
            self._fetched[artifact.id] = broken or ZipTree(path, label)
        return self._fetched[artifact.id]


def _labels(artifacts: Sequence[Artifact]) -> list[str]:
    """Name each artifact for messages; by its number too where the name alone does not do."""
    names = Counter(artifact.name for artifact in artifacts)
    return [a.name if names[a.name] == 1 else f"{a.id}/{a.name}" for a in artifacts]
