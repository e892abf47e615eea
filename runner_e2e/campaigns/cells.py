"""One folder with a job record, a result or both: what it says of its cell."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from runner_e2e.campaigns.boundary import LEAK, is_suspect, leaked, take_in
from runner_e2e.campaigns.evidence import MAX_REASON, NO_PICTURES, Pictures, public_images
from runner_e2e.campaigns.expectation import Expectation
from runner_e2e.campaigns.observations import FOREIGN, UNKNOWN, Observation
from runner_e2e.campaigns.trees import MIB, Found, Tree, Unreadable
from runner_e2e.contracts.base import Document, parse
from runner_e2e.contracts.evidence import FileDigest
from runner_e2e.contracts.insights import Confirmation, Extra, UnreadableFile
from runner_e2e.contracts.job_record import AttemptRecord, JobRecord
from runner_e2e.contracts.result import Result
from runner_e2e.contracts.upgrade import canonical_execution_id, upgrade_result
from runner_e2e.contracts.vocabulary import CellState
from runner_e2e.errors import DocumentError
from runner_e2e.failures import POLICY

MAX_DOCUMENT_BYTES = 16 * MIB
MAX_TOTAL_BYTES = 1024 * MIB
"""Of all documents together. Past it the rest is refused, cell by cell, instead of read."""

DEADLINE = "deadline"
"""The code of a result that ran out of its own time, as ``failures`` writes it."""

Seen = Observation | Extra | UnreadableFile
D = TypeVar("D", bound=Document)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece(Generic[D]):
    """A document as it was read. With a ``problem``, ``document`` only helps to place the blame."""

    path: str
    file: str
    data: bytes = b""
    document: D | None = None
    problem: str | None = None


AnyPiece = Piece[JobRecord] | Piece[Result]


@dataclass(slots=True)
class Budget:
    """How many bytes of documents may still be read."""

    left: int = MAX_TOTAL_BYTES

    def read(self, tree: Tree, path: str, limit: int = MAX_DOCUMENT_BYTES) -> bytes:
        """Read one file of ``tree``. Raises :class:`Unreadable`."""
        if self.left <= 0:
            raise Unreadable("the campaign's other documents used up what may be read in all")
        data = tree.read(path, min(limit, self.left))
        self.left -= len(data)
        return data


@dataclass(frozen=True, slots=True)
class CellReader:
    """Reads the cells of one tree."""

    tree: Tree
    expectation: Expectation
    budget: Budget
    set_aside: list[Extra] = field(default_factory=list)
    """Pictures of cells read so far that are not published."""

    def piece(self, kind: type[D], found: Found) -> Piece[D]:
        """Read one document of ``kind``; never raises for what is in it."""
        file = self.tree.name + found.path
        data = b""
        try:
            data = self.budget.read(self.tree, found.path)
            document = parse(kind, data, found.path)
        except Unreadable as error:
            problem = found.problem or str(error)
        except DocumentError as error:
            problem = found.problem or error.reason
        else:
            return Piece(
                path=found.path, file=file, data=data, document=document, problem=found.problem
            )
        return Piece(path=found.path, file=file, data=data, problem=problem[:MAX_REASON])

    def recorded(self, record: Piece[JobRecord], result: Piece[Result] | None) -> Seen:
        """Tell what a job record and the result beside it say together."""
        pieces = (record,) if result is None else (result, record)
        bad = next((piece for piece in pieces if piece.problem is not None), None)
        if bad is not None or record.document is None:
            return self.bad(bad or record, record, result)
        job = record.document
        file = pieces[0].file
        if job.execution_id not in self.expectation.executions:
            return _extra(job.execution_id, file)
        foreign = self._foreign_job(job)
        if reason := foreign or self._other_plan(job):
            state: CellState = "mismatched"
        elif result is None or result.document is None:
            state, reason = "empty", _why_empty(job)
        else:
            return self._vouched(job, result, result.document)
        return Observation(
            execution_id=job.execution_id,
            rank=FOREIGN if foreign else job.run_attempt,
            state=state,
            file=file,
            reason=reason,
            ended_at=job.finished_at,
        )

    def loose(self, piece: Piece[Result]) -> Seen:
        """Tell what a result without a job record says: all of it but its run attempt."""
        if piece.problem is not None or piece.document is None:
            return self.bad(piece)
        execution_id = canonical_execution_id(
            piece.document.execution_id, self.expectation.executions
        )
        if execution_id not in self.expectation.executions:
            return _extra(execution_id, piece.file)
        if problem := _inconsistent(piece.document, execution_id):
            return _corrupt(execution_id, UNKNOWN, piece.file, problem)
        if reason := self.expectation.foreign(piece.document.source):
            return _foreign(execution_id, piece.file, reason)
        return self._executed(piece, piece.document, execution_id=execution_id)

    def bad(self, blamed: AnyPiece, *beside: AnyPiece | None) -> Seen:
        """Charge a file that cannot be used to the cell it is of, as far as that can be told."""
        problem = blamed.problem or "it cannot be read"
        file = blamed.file
        execution_id, rank = None, UNKNOWN
        foreign = None
        for piece in (blamed, *beside):
            if piece is None:
                continue
            if isinstance(job := piece.document, JobRecord):
                foreign, rank = self._foreign_job(job), job.run_attempt
            if isinstance(piece.document, JobRecord | Result):
                execution_id = canonical_execution_id(
                    piece.document.execution_id, self.expectation.executions
                )
        if execution_id is None:
            guesses = (self.expectation.blame(p.file, p.data) for p in (blamed, *beside) if p)
            guess = next((g for g in guesses if g is not None), None)
            if guess is None:
                return UnreadableFile(file=file, reason=problem)
            execution_id, rank = guess
        elif rank == UNKNOWN and (hint := self.expectation.blame(file)):
            rank = hint[1] if hint[0] == execution_id else UNKNOWN
        if execution_id not in self.expectation.executions:
            return Extra(execution_id=execution_id, file=file, reason=problem)
        if foreign:
            return _foreign(execution_id, file, foreign)
        return _corrupt(execution_id, rank, file, problem)

    def _vouched(self, job: JobRecord, piece: Piece[Result], result: Result) -> Observation:
        """Tell what a result that lies beside ``job`` says, once it is what the job recorded."""
        execution_id = canonical_execution_id(result.execution_id, self.expectation.executions)
        attempt = next((a for a in job.attempts if a.attempt == result.attempt), None)
        problem = (
            _not_recorded(job, piece)
            or _inconsistent(result, job.execution_id)
            or (execution_id != job.execution_id and f"its job was {job.execution_id}")
            or _contradicts(attempt, result)
        )
        if problem:
            return _corrupt(job.execution_id, job.run_attempt, piece.file, problem)
        if foreign := self.expectation.foreign(result.source):
            return Observation(
                execution_id=execution_id,
                rank=job.run_attempt,
                state="mismatched",
                file=piece.file,
                reason=foreign,
            )
        directory = piece.path.removesuffix("result.json")
        try:
            pictures = public_images(self.tree, directory, execution_id, result, job.files)
        except Unreadable as error:
            return _corrupt(execution_id, job.run_attempt, piece.file, str(error))
        self.set_aside.extend(pictures.left_out)
        return self._executed(
            piece,
            result,
            execution_id=execution_id,
            rank=job.run_attempt,
            code=attempt.code if attempt else None,
            pictures=pictures,
            confirm=_confirmation(job.repeats),
            overran_usd=job.overran_usd,
        )

    def _executed(
        self,
        piece: Piece[Result],
        result: Result,
        *,
        execution_id: str,
        rank: int = UNKNOWN,
        code: str | None = None,
        pictures: Pictures = NO_PICTURES,
        confirm: Confirmation | None = None,
        overran_usd: float | None = None,
    ) -> Observation:
        """Tell the state of a result that is what it says."""
        said, planned = result.suite_definition_hash, self._definition(execution_id)
        if said is not None and said != planned:
            return Observation(
                execution_id=execution_id,
                rank=rank or FOREIGN,
                state="mismatched",
                file=piece.file,
                reason=f"it is of definition {said[:12]}, the plan of {planned[:12]}",
            )
        try:
            taken = take_in(
                upgrade_result(result, self.expectation.executions),
                piece.path,
                suspect=is_suspect(piece.data),
                size=len(piece.data),
            )
        except DocumentError as error:
            return _corrupt(execution_id, rank, piece.file, error.reason)
        result = taken.result
        if leaks := dict.fromkeys((*taken.leaks, *pictures.leaks)):
            result, code = leaked(result, leaks), LEAK
        return Observation(
            execution_id=execution_id,
            rank=rank,
            state=_state(result, code),
            file=piece.file,
            code=code,
            result=result,
            images=pictures.images,
            confirm=None if result.green else confirm,
            overran_usd=overran_usd,
        )

    def _definition(self, execution_id: str) -> str:
        return self.expectation.executions[execution_id].suite_definition_hash

    def _foreign_job(self, job: JobRecord) -> str | None:
        if reason := self.expectation.foreign(job.source):
            return reason
        if job.run_id != self.expectation.run_id:
            return (
                f"it is of run {job.run_id or 'none'}, the plan of "
                f"{self.expectation.run_id or 'none'}"
            )[:MAX_REASON]
        return None

    def _other_plan(self, job: JobRecord) -> str | None:
        if job.plan_digest is not None and job.plan_digest != self.expectation.plan_digest:
            return (
                f"it was run for plan {job.plan_digest[:12]}, "
                f"this is plan {self.expectation.plan_digest[:12]}"
            )
        planned = self._definition(job.execution_id)
        if job.suite_definition_hash != planned:
            return (
                f"it is of definition {job.suite_definition_hash[:12]}, the plan of {planned[:12]}"
            )
        return None


def _confirmation(repeats: Sequence[AttemptRecord]) -> Confirmation | None:
    """What the repeats of a failure came to. What infrastructure stopped is in neither count."""
    if not repeats:
        return None
    failed = sum(
        one.failure_class is not None and POLICY[one.failure_class].measured for one in repeats
    )
    bills = [one.billing for one in repeats if one.billing is not None]
    return Confirmation(
        repeats=len(repeats),
        passed=sum(one.status == "passed" for one in repeats),
        failed=failed,
        cost_at_least_usd=sum(bill.observed_and_estimated_cost_usd for bill in bills),
        unpriced=sum(bill.llm.run_count - bill.llm.runs_with_reported_cost for bill in bills),
    )


def _state(result: Result, code: str | None) -> CellState:
    if result.green:
        return "passed"
    return "timed_out" if code == DEADLINE else "failed"


def _extra(execution_id: str, file: str) -> Extra:
    return Extra(execution_id=execution_id, file=file, reason="it is not in the plan")


def _foreign(execution_id: str, file: str, reason: str) -> Observation:
    return Observation(
        execution_id=execution_id, rank=FOREIGN, state="mismatched", file=file, reason=reason
    )


def _corrupt(execution_id: str, rank: int, file: str, reason: str) -> Observation:
    return Observation(
        execution_id=execution_id,
        rank=rank,
        state="corrupt",
        file=file,
        reason=reason[:MAX_REASON],
    )


def _why_empty(job: JobRecord) -> str:
    if job.state == "finished":
        return "the job says that it finished, but left no result"
    return f"the job {job.state} at {job.finished_at or job.started_at} and left no result"


def _inconsistent(result: Result, execution_id: str) -> str | None:
    """Say how a result contradicts its own name, or nothing."""
    if result.attempt == 0:
        return "attempt 0 means that there is no result"
    suite, *parts = execution_id.split(".")
    said = [result.profile_id, result.environment_id, result.case_id]
    if said != parts or result.suite_id not in (None, suite):
        return f"it calls itself {result.execution_id} and is of {'.'.join(said)}"
    return None


def _not_recorded(job: JobRecord, piece: Piece[Result]) -> str | None:
    recorded = next((file for file in job.files if file.path == "result.json"), None)
    if recorded is None:
        return "the job record does not vouch for it"
    if hashlib.sha256(piece.data).hexdigest() != recorded.sha256:
        return "it is not the file that the job recorded"
    return None


def _contradicts(attempt: AttemptRecord | None, result: Result) -> str | None:
    if attempt is None:
        return f"the job record does not list attempt {result.attempt}"
    if attempt.status == result.status:
        return None
    return f"it says {result.status}, the job record says {attempt.status}"


def governed(directory: str, files: tuple[FileDigest, ...]) -> Iterator[str]:
    """Yield the results of single attempts that a record speaks for: its own result sums them up.

    ``directory`` is where the record lies, empty or with a ``/`` at its end.
    """
    for file in files:
        if file.path.endswith("/result.json"):
            yield directory + file.path
