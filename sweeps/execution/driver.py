"""The driver of a sweep's executor, and how an interrupt stops it."""

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage.errors import Issue
from destage.store.files.layout import SweepLayout
from destage.store.locks.lease import Lease
from destage.sweeps.execution.outcomes import SessionState
from destage.sweeps.rounds.finished_runs import FinishedRuns
from destage.sweeps.space.identity import pack_ids
from destage.sweeps.workers.batches import LONGEST_S, Batch, CostModel, Failure, FinishedBatch, Queue, Receipt
from destage.sweeps.workers.executors import Executor
from destage.sweeps.workers.worker import commit_failure

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Handles SIGINT and SIGTERM for the length of a `with` block; on the main thread only."""

    def __init__(self) -> None:
        self.is_draining = False
        self._is_aborting = False
        self._previous: dict[signal.Signals, object] = {}
        self._is_main_thread = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Self:
        self._previous = {number: signal.getsignal(number) for number in _SIGNALS}
        self.install()
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_main_thread:
            for number, handler in self._previous.items():
                signal.signal(number, handler or signal.SIG_DFL)  # type: ignore[arg-type]

    def install(self) -> None:
        """Install the handler, again after a library (Ray) has replaced it."""
        if self._is_main_thread:
            for number in _SIGNALS:
                signal.signal(number, self._handle)

    def check(self) -> None:
        """Raise KeyboardInterrupt if a second signal has arrived, again if a library has caught it."""
        if self._is_aborting:
            raise KeyboardInterrupt

    def _handle(self, _signal: int, _frame: FrameType | None) -> None:
        if self.is_draining:
            self._is_aborting = True
            raise KeyboardInterrupt
        self.is_draining = True


EAGER = 100
"""Batches of a session that are committed one by one, so that a small sweep shows its rows at once."""
TRIES = 4
"""Attempts per run before the session abandons it; a batch is split until it is one run."""
RETRY_BUDGET = 50
RETRIES_PER_SLOT = 4
"""Retries before the session ends, the larger of both counts: a lost node loses a batch per slot."""
BREAKER = 20
"""Equal failures before the first success that end the session."""
_BATCHES_PER_PART = 5
"""Batches of a part, at least, so that it ends close to the work that may be lost."""
_TICK_S = 0.2
_STOP_S = 1.0
"""Time that stopped batches have to commit the runs that have ended [s]."""


@dataclass
class Driver:
    """Executes the runs of all rounds of a session.

    Attributes:
        start: Starts the executor when the first run needs it.
        deadline: The end of the budget [s on the monotonic clock], if there is one.
        report: Called whenever a number changes.
        finished: The runs that need no further execution.
        committed: Called with the name of a fragment and facts of runs in it.
        hold_s: The most work that a lost worker may cost [s]: it commits its rows that often.
        retries: Batches returned for infrastructure reasons.
        messages: Warnings.
        stopped: Why the session ends early, if it does: `interrupted`, `budget`, `infrastructure` or
            `failed_runs`.
    """

    layout: SweepLayout
    lease: Lease
    start: Callable[[], Executor]
    interrupts: Interrupts
    deadline: float | None
    report: Callable[[], None]
    finished: FinishedRuns
    committed: Callable[[str, pa.Table], None]
    hold_s: float
    executed: int = 0
    failed: int = 0
    retries: int = 0
    messages: list[Issue] = field(default_factory=list)
    stopped: SessionState | None = None
    costs: CostModel = field(default_factory=CostModel)
    _taken: int = 0
    _errors: Counter[str] = field(default_factory=Counter)
    _executor: Executor | None = None
    _has_abandoned: bool = False
    _has_stopped_batches: bool = False
    _abandoned: dict[str, Issue] = field(default_factory=dict)

    def drive(self, plan: pa.Table) -> None:
        """Execute the runs of a plan that are missing, until all are committed or the session stops.

        Batches in flight are committed, unless the budget is used up: then they are stopped. A batch counts
        once its rows are committed.
        """
        missing = self._find_missing(plan)
        if not len(missing):
            return
        if self._executor is None:
            self._executor = self.start()
        executor = self._executor
        queue = Queue(plan, self.costs, missing, longest_s=min(LONGEST_S, self.hold_s / _BATCHES_PER_PART))
        in_flight = 0
        while (queue and self.stopped is None) or in_flight:
            self.interrupts.check()
            if queue:  # batches in flight may be the last
                self._check_stop()
            if in_flight and self._is_past(0.0) and not self._has_stopped_batches:
                self._has_stopped_batches = True
                self.stopped = self.stopped or "budget"
                executor.stop()
            if self._has_stopped_batches and self._is_past(_STOP_S):
                break
            while queue and self.stopped is None and executor.waiting < executor.ahead * executor.slots:
                executor.hold_s = 0.0 if self._taken < EAGER else self.hold_s
                executor.submit(queue.take(executor.slots))
                in_flight += 1
                self._taken += 1
            executor.has_more = bool(queue) and self.stopped is None
            for done in executor.collect(_TICK_S):
                in_flight -= 1
                self._settle(done, queue)
            self.report()
        if self._has_abandoned and self.stopped is None:
            self.stopped = "infrastructure"

    @property
    def slots(self) -> int | None:
        """Batches that the executor runs at a time; None before it has started."""
        return None if self._executor is None else self._executor.slots

    @property
    def executor_name(self) -> str:
        """The executor's name; `none` if every run was in the store."""
        return "none" if self._executor is None else self._executor.name

    def close(self) -> None:
        """Close the executor."""
        if self._executor is not None:
            self._executor.close()

    def _find_missing(self, plan: pa.Table) -> np.ndarray:
        """Return the first row of each run that is not finished; rows of several points may share a run."""
        ids = pack_ids(plan["run_id"])
        _, first = np.unique(ids.dictionary_encode().indices.to_numpy(), return_index=True)
        return first[self.finished.find(ids.take(pa.array(first))) < 0]

    def _check_stop(self) -> None:
        if self.stopped is not None:
            return
        if self.lease.is_lost:
            message = "the lease could not be renewed; another process may be writing this sweep"
            self.messages.append(Issue("sweep.lease-lost", str(self.layout.root), message))
            self.stopped = "infrastructure"
        elif self.interrupts.is_draining:
            self.stopped = "interrupted"
        elif self._is_past(0.0):
            self.stopped = "budget"

    def _is_past(self, allowance_s: float) -> bool:
        """Return whether the budget is used up for so long [s]."""
        return self.deadline is not None and time.monotonic() >= self.deadline + allowance_s

    def _settle(self, done: FinishedBatch, queue: Queue) -> None:
        if isinstance(done.result, Receipt):
            self._accept(done.result)
            rest = done.batch.rest(done.result.facts.num_rows)
            if rest.run_ids:  # a worker that was stopped, possibly not by this session
                queue.retry(rest)
        elif isinstance(done.result, Issue):
            # A worker that rejects every batch would drain the queue.
            queue.retry(done.batch)
            if self.stopped is None:
                self.stopped = "infrastructure"
                self.messages.append(done.result)
        elif done.result.kind == "lost":
            queue.retry(done.batch)
        elif done.result.kind != "stopped" or self.stopped is None:
            self._retry(done.batch, done.result, queue)

    def _accept(self, receipt: Receipt) -> None:
        facts = receipt.facts
        self.executed += facts.num_rows
        self.finished.add(facts)
        self.committed(receipt.fragment, facts)
        failed = facts.filter(pc.equal(facts["status"], "failed")).to_pylist()
        self.failed += len(failed)
        for row in failed:
            self._record_failure(row)
        self.costs.observe(receipt.seconds, pc.sum(facts["events"]).as_py() or 0.0, facts.num_rows)
        self._trip_breaker()

    def _record_failure(self, row: Mapping[str, object]) -> None:
        text = f"{row['error_kind']}: {row['error']}"
        self._errors[text] += 1
        if self._errors[text] == 1:
            self.messages.append(Issue("sweep.run-failed", f"run {row['run_id']}", text))

    def _trip_breaker(self) -> None:
        """Stop the session if no run has succeeded and one failure has repeated often enough."""
        if self.failed < self.executed or self.stopped is not None or not self._errors:
            return
        ((text, count),) = self._errors.most_common(1)
        if count >= BREAKER:
            self.stopped = "failed_runs"
            message = f"stopped after {count} equal failures and no success: {text}"
            self.messages.append(Issue("sweep.all-runs-failed", str(self.layout.root), message))

    def _retry(self, batch: Batch, failure: Failure, queue: Queue) -> None:
        self.retries += 1
        slots = 1 if self._executor is None else self._executor.slots
        is_exhausted = self.retries > max(RETRY_BUDGET, RETRIES_PER_SLOT * slots)
        if not is_exhausted and (len(batch.run_ids) > 1 or batch.attempt + 1 < TRIES):
            # One run of a batch may kill the worker each time: split the batch to save the others.
            is_split = failure.kind == "oom" or batch.attempt > 0
            for part in batch.split() if is_split else (batch.retry(),):
                queue.retry(part)
            return
        commit_failure(batch, failure, self.layout.fragments)
        self._report_abandoned(batch, failure)
        self._has_abandoned = True
        if is_exhausted and self.stopped is None:
            self.stopped = "infrastructure"

    def _report_abandoned(self, batch: Batch, failure: Failure) -> None:
        """Add a warning, or the runs to the earlier warning of the same failure."""
        earlier = self._abandoned.get(failure.message)
        run_ids = batch.run_ids if earlier is None else (*earlier.data["run_ids"], *batch.run_ids)
        runs = "1 run" if len(run_ids) == 1 else f"{len(run_ids)} runs"
        message = f"{runs} abandoned after {batch.attempt + 1} attempts: {failure.message}"
        data = {"run_ids": run_ids, "attempts": batch.attempt + 1, "kind": failure.kind}
        issue = Issue("sweep.runs-abandoned", str(self.layout.root), message, data=data)
        self._abandoned[failure.message] = issue
        if earlier is None:
            self.messages.append(issue)
        else:
            self.messages[self.messages.index(earlier)] = issue
