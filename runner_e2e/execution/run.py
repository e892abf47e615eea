"""One execution: attempt after attempt until the result is final."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from runner_e2e.contracts.base import dump
from runner_e2e.contracts.job_record import AttemptRecord
from runner_e2e.contracts.result import Result
from runner_e2e.environments import TemporaryRoot
from runner_e2e.evidence import write_atomically
from runner_e2e.execution.agent import Secrets
from runner_e2e.execution.attempt import Attempt, Attempting, not_begun, now
from runner_e2e.execution.packaging import Packed, Packer
from runner_e2e.execution.records import (
    REPEATS,
    RESULT_FILE,
    Recorder,
    clear,
    digests,
    root_resource,
)
from runner_e2e.execution.request import RunOutcome, RunRequest
from runner_e2e.execution.results import Judged, billing_of, result_of
from runner_e2e.failures import (
    POLICY,
    CleanupFailure,
    Failure,
    combine,
    combine_scan,
    failure_of,
)

INTERRUPTED = "interrupted"
REPEAT_FILE = "repeat.json"
GRAVE = ("secret_leak", "cleanup_failure")
"""What a repeat must not do either, the worst first."""
RESERVE_S = 180.0
"""What a job needs after its last attempt: packing, upload."""

Say = Callable[[str], None]


def run_execution(request: RunRequest, *, on_event: Say | None = None) -> RunOutcome:
    """Run one execution and write its result, its record and its evidence below ``request.out``.

    Whatever the agent, a provider or a signal does becomes a result with a class; only an ``out``
    that cannot be written raises (:class:`UsageError` or :class:`OSError`). ``on_event`` receives
    lines for a person, free of secrets. Several threads may run executions at once.
    """
    return _Job(request, on_event or _silent).run()


def _silent(_line: str) -> None:
    """Say nothing."""


@dataclass(slots=True)
class _Job:
    request: RunRequest
    say: Say
    judged: list[Judged] = field(default_factory=list)
    waited: float = 0.0
    begun: float = field(default_factory=time.monotonic)

    def run(self) -> RunOutcome:
        request = self.request
        clear(request.out)
        secrets = Secrets.of(request.execution, request.credentials, request.environ)
        recorder = Recorder(request=request, started_at=now())
        recorder.write("started")
        packer = self._packer(secrets)
        interrupted = False
        while True:
            number = len(self.judged) + 1
            directory = self._directory(number)
            self.judged.append(self._attempt(number, directory, secrets, packer, recorder))
            judged = self.judged[-1] = self._without_leak(packer, self.judged)
            wait = self._wait_before_retry(judged.failure)
            if wait is not None and self._left() <= 0:
                self.say("not tried again: what the execution may cost is spent")
                wait = None
            elif wait is None and self._wants_retry(judged.failure):
                self.judged[-1] = judged = self._without_time(judged)
            result, _ = packer.clean(result_of(request, self.judged))
            packer.write(directory, result, judged.manifest)
            recorder.attempts.append(self._record(judged))
            if wait is None:
                interrupted = judged.failure is not None and judged.failure.code == INTERRUPTED
                break
            recorder.write("started", files=digests(request.out))
            self.say(f"attempt {judged.attempt.number + 1} follows in {wait:.0f} s")
            self.waited += wait
            if request.cancel.wait(wait):
                interrupted = True
                break
        write_atomically(request.out / RESULT_FILE, dump(result))
        self._note_overrun(recorder)
        record = recorder.write(
            "interrupted" if interrupted else "finished",
            finished_at=now(),
            files=digests(request.out),
        )
        # A job that is cut off among its repeats has its result and its record already.
        repeats = [] if interrupted else self._repeat(secrets, packer, recorder)
        if repeats:
            result = self._graver(result, repeats, packer, recorder)
            record = recorder.write("finished", finished_at=now(), files=digests(request.out))
        return RunOutcome(result=result, record=record)

    def _left(self, repeats: Sequence[Judged] = ()) -> float:
        """What may still be spent, in dollars, as far as is known. Negative once it is overrun."""
        if self.request.max_cost_usd is None:
            return math.inf
        bills = [billing_of(self.request, [one]) for one in (*self.judged, *repeats)]
        spent = sum(bill.observed_and_estimated_cost_usd for bill in bills if bill)
        return self.request.max_cost_usd - spent

    def _graver(
        self, result: Result, repeats: Sequence[Judged], packer: Packer, recorder: Recorder
    ) -> Result:
        """The result, where no repeat did what no execution may: leak, or leave something behind.

        A repeat says nothing else about the execution, but it is a part of it.
        """
        failures = [one.failure for one in repeats if one.failure]
        grave = [one for kind in GRAVE for one in failures if one.failure_class == kind]
        judged = self.judged[-1]
        if not grave or judged.failure is None:
            return result
        message = f"{grave[0].message} (in a repeat)\n{judged.failure.message}"
        self.judged[-1] = replace(
            judged,
            failure=replace(grave[0], message=message),
            clean=judged.clean and all(one.clean for one in repeats),
        )
        result, _ = packer.clean(result_of(self.request, self.judged))
        packer.write(self._directory(len(self.judged)), result, judged.manifest)
        recorder.attempts[-1] = self._record(self.judged[-1])
        write_atomically(self.request.out / RESULT_FILE, dump(result))
        return result

    def _repeat(self, secrets: Secrets, packer: Packer, recorder: Recorder) -> list[Judged]:
        """Repeat a final failure of the candidate until one passes."""
        request, failure = self.request, self.judged[-1].failure
        repeats: list[Judged] = []
        if failure is None or not POLICY[failure.failure_class].measured:
            return repeats
        for count in range(1, request.repeats + 1):
            refusal = self._why_no_repeat(repeats)
            if refusal is not None:
                self.say(f"not repeated: {refusal}")
                break
            self.say(f"repeat {count} of a failure begins")
            directory = request.out / REPEATS / str(count)
            number = len(self.judged) + count
            repeats.append(self._attempt(number, directory, secrets, packer, recorder))
            repeats[-1] = self._without_leak(packer, repeats[-1:])
            # Under another name than a result's, so that nobody takes it for one.
            result, _ = packer.clean(result_of(request, repeats[-1:]))
            packer.write(directory, result, repeats[-1].manifest, name=REPEAT_FILE)
            recorder.repeats.append(self._record(repeats[-1]))
            if repeats[-1].failure is None:
                break
        self._note_overrun(recorder, repeats)
        return repeats

    def _note_overrun(self, recorder: Recorder, repeats: Sequence[Judged] = ()) -> None:
        cap = self.request.max_cost_usd
        if cap is not None and recorder.overran_usd is None and self._left(repeats) < 0:
            recorder.overran_usd = cap
            self.say(f"it cost more than the ${cap:.4f} allowed")

    def _why_no_repeat(self, repeats: Sequence[Judged]) -> str | None:
        """Say what speaks against another repeat: a signal, the clock or a budget."""
        request = self.request
        if request.cancel.cancelled:
            return "the job is cancelled"
        if not self._fits(0.0):
            return "no time was left"
        if self._left(repeats) <= 0:
            return "what the execution may cost is spent"
        if request.repeat_budget_usd is None:
            return None
        # A repeat is expected to cost what the failure did. What has no price fits no budget.
        bills = [billing_of(request, [one]) for one in (self.judged[-1], *repeats)]
        if not all(bill is not None and bill.complete for bill in bills):
            return "its cost is unknown, and the repeats have a budget"
        first, *spent = (bill.observed_and_estimated_cost_usd for bill in bills if bill)
        expected = first + sum(spent)
        if expected > request.repeat_budget_usd:
            return f"${expected:.4f} is more than the ${request.repeat_budget_usd:.4f} allowed"
        return None

    def _packer(self, secrets: Secrets) -> Packer:
        for name in secrets.redactor.too_short:
            self.say(f"the value of {name} is too short to be told from other text")
        return Packer(redactor=secrets.redactor)

    def _directory(self, attempt: int) -> Path:
        return self.request.out / f"attempt-{attempt}"

    def _without_leak(self, packer: Packer, attempts: Sequence[Judged]) -> Judged:
        """The last attempt. A secret in what would be its result is a leak like any other."""
        judged = attempts[-1]
        _, leak = packer.clean(result_of(self.request, attempts))
        if leak is None or (judged.failure and judged.failure.failure_class == "secret_leak"):
            return judged
        return replace(judged, failure=combine_scan(judged.failure, leak))

    def _attempt(
        self, number: int, target: Path, secrets: Secrets, packer: Packer, recorder: Recorder
    ) -> Judged:
        """Run one attempt in a fresh root, pack its evidence into ``target``, delete the root."""
        self.say(f"attempt {number} begins")
        problems: list[str] = []
        try:
            root = self._root(recorder)
        except OSError as error:
            attempt = not_begun(number, error)
            packed = self._pack(attempt, target, packer, recorder, problems)
        else:
            try:
                attempt = Attempting(
                    request=self.request,
                    secrets=secrets,
                    number=number,
                    root=root,
                    on_resource=recorder.resource,
                ).run()
                packed = self._pack(attempt, target, packer, recorder, problems)
            finally:
                if self.request.keep:
                    root.keep()
                    self.say(f"kept {root.path}")
                else:
                    problems += self._drop(root, recorder)
        failure = combine_scan(attempt.failure, packed.failure)
        if problems:
            failure = combine(failure, failure_of(CleanupFailure("root_left", "; ".join(problems))))
        self.say(self._summary(attempt, failure))
        return Judged(
            attempt=attempt,
            failure=failure,
            clean=attempt.clean and not problems,
            manifest=packed.manifest,
        )

    def _pack(
        self,
        attempt: Attempt,
        target: Path,
        packer: Packer,
        recorder: Recorder,
        problems: list[str],
    ) -> Packed:
        """Pack the evidence out of a directory that no agent ever knew of."""
        try:
            shelf = self._root(recorder)
        except OSError as error:
            return Packed.nothing(error)
        try:
            attempt.hand_over(shelf.path)
            return packer.pack(
                shelf.path,
                target,
                passed=attempt.failure is None,
                turns=attempt.turns,
                leaks=attempt.leaks,
                required=attempt.required,
            )
        except OSError as error:
            return Packed.nothing(error)
        finally:
            problems += self._drop(shelf, recorder)

    def _root(self, recorder: Recorder) -> TemporaryRoot:
        request = self.request
        root = TemporaryRoot.create(request.execution.id, request.temporary_directory)
        recorder.resource(root_resource(root))
        return root

    def _drop(self, root: TemporaryRoot, recorder: Recorder) -> list[str]:
        """Delete a root; what went wrong, if anything did."""
        problem = root.delete()
        if problem is not None:
            return [problem]
        recorder.resource(root_resource(root, deleted_at=now()))
        return []

    def _summary(self, attempt: Attempt, failure: Failure | None) -> str:
        seconds = attempt.duration_ms / 1000
        if failure is None:
            return f"attempt {attempt.number} passed in {seconds:.1f} s"
        return (
            f"attempt {attempt.number} failed in {seconds:.1f} s: "
            f"{failure.failure_class}, {failure.code}"
        )

    def _wants_retry(self, failure: Failure | None) -> bool:
        return (
            failure is not None
            and POLICY[failure.failure_class].retry
            and not self.request.cancel.cancelled
            and len(self.judged) <= self.request.max_retries
        )

    def _wait_before_retry(self, failure: Failure | None) -> float | None:
        """The seconds to wait for another attempt; ``None`` where none is due or none fits."""
        if failure is None or not self._wants_retry(failure):
            return None
        request = self.request
        wait = request.backoff.wait(
            spent=self.waited, retry=len(self.judged), retry_after=failure.retry_after
        )
        return wait if wait is not None and self._fits(wait) else None

    def _fits(self, wait: float) -> bool:
        """Whether a wait and a whole attempt still end before the job is cut off."""
        request = self.request
        if request.deadline_minutes is None:
            return True
        timeouts = request.execution.task.attempt_timeout_ms
        attempt = getattr(timeouts, request.execution.environment.id) / 1000
        left = request.deadline_minutes * 60 - RESERVE_S - (time.monotonic() - self.begun)
        return bool(wait + attempt <= left)

    def _without_time(self, judged: Judged) -> Judged:
        """Say of a result that stands although its class would be tried again."""
        failure = judged.failure
        if failure is None:
            return judged
        message = f"{failure.message}\nnot tried again: no time was left ({failure.code})"
        return replace(judged, failure=replace(failure, code="no_time_to_retry", message=message))

    def _record(self, judged: Judged) -> AttemptRecord:
        failure = judged.failure
        return AttemptRecord(
            attempt=judged.attempt.number,
            status="failed" if failure else "passed",
            failure_class=failure.failure_class if failure else None,
            code=failure.code if failure else None,
            started_at=judged.attempt.started_at,
            finished_at=judged.attempt.finished_at,
            billing=billing_of(self.request, [judged]),
        )
