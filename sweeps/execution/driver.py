"""The driver of a sweep's executor: hands out the runs of each round, and settles what comes back.

A signal, a lost lease, a used-up budget or too many failures end a session before its work is done. SIGINT
and SIGTERM: the first drains the session (batches in flight are committed), the second aborts. Runs and
workers that fail are tried again, then abandoned.
"""

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage.errors import Issue
from destage.objects import Location
from destage.store.locks.lease import Lease
from destage.sweeps.execution.outcomes import SessionState
from destage.sweeps.rounds.finished_runs import FinishedRuns
from destage.sweeps.space.identity import pack_ids
from destage.sweeps.workers.batches import LONGEST_S, Batch, CostModel, Failure, FinishedBatch, Queue, Receipt
from destage.sweeps.workers.executors import Executor, commit_failure

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


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """What may end a session.

    Attributes:
        place: The sweep in messages.
        deadline: The end of the budget [s on the monotonic clock], if there is one.
    """

    place: str
    lease: Lease
    interrupts: Interrupts
    deadline: float | None = None

    def find(self, messages: list[Issue]) -> SessionState | None:
        """Return why the session has to end now, if it has to, with a message for what nobody asked for."""
        if self.lease.is_lost:
            message = "the lease could not be renewed; another process may be writing this sweep"
            messages.append(Issue("sweep.lease-lost", self.place, message))
            return "infrastructure"
        if self.interrupts.is_draining:
            return "interrupted"
        return "budget" if self.is_past() else None

    def is_past(self, allowance_s: float = 0.0) -> bool:
        """Return whether the budget is used up for so long [s]."""
        return self.deadline is not None and time.monotonic() >= self.deadline + allowance_s


TRIES = 4
"""Attempts per run before the session abandons it; a batch is split until it is one run."""
BREAKER = 20
"""Equal failures before the first success that end the session."""
_RETRY_BUDGET = 50
_RETRIES_PER_SLOT = 4
"""Retries before the session ends, the larger of both counts: a lost node loses a batch per slot."""
_BATCHES_PER_RETRY = 5
"""Executed batches for a further retry: machines that are taken away now and then end no long sweep."""


class Failures:
    """The failures of one session.

    Attributes:
        place: The sweep in messages.
        messages: Where the first failure of each kind adds a warning.
        failed: Runs that failed by themselves.
        executed: Batches of which runs were executed and committed.
        retries: Batches returned for infrastructure reasons.
    """

    def __init__(self, place: str, messages: list[Issue]) -> None:
        self.place = place
        self.messages = messages
        self.failed = 0
        self.executed = 0
        self.retries = 0
        self._texts = Counter[str]()
        self._abandoned: dict[str, Issue] = {}

    @property
    def has_abandoned(self) -> bool:
        """Whether a run was given up."""
        return bool(self._abandoned)

    def add_run(self, row: Mapping[str, object]) -> None:
        """Count a run that failed by itself."""
        self.failed += 1
        text = f"{row['error_kind']}: {row['error']}"
        self._texts[text] += 1
        if self._texts[text] == 1:
            self.messages.append(Issue("sweep.run-failed", f"run {row['run_id']}", text))

    def find_repeated(self, executed: int) -> Issue | None:
        """Return the failure that has repeated often enough, if none of the executed runs has succeeded."""
        if self.failed < executed or not self._texts:
            return None
        ((text, count),) = self._texts.most_common(1)
        message = f"stopped after {count} equal failures and no success: {text}"
        return Issue("sweep.all-runs-failed", self.place, message) if count >= BREAKER else None

    def is_exhausted(self, slots: int) -> bool:
        """Return whether the batches returned are too many for the slots and for those executed."""
        few = max(_RETRY_BUDGET, _RETRIES_PER_SLOT * slots)
        return self.retries > few + self.executed // _BATCHES_PER_RETRY

    def return_batch(self, batch: Batch, failure: Failure, slots: int) -> Sequence[Batch]:
        """Count a batch that its worker has lost, and return what to try again; none if it is given up."""
        self.retries += 1
        if not self.is_exhausted(slots) and (len(batch.run_ids) > 1 or batch.attempt + 1 < TRIES):
            # One run of a batch may kill the worker each time: split the batch to save the others.
            is_split = failure.kind == "oom" or batch.attempt > 0
            return batch.split() if is_split else (batch.retry(),)
        self._abandon(batch, failure)
        return ()

    def _abandon(self, batch: Batch, failure: Failure) -> None:
        """Add a warning, or the runs to the earlier warning of the same failure."""
        earlier = self._abandoned.get(failure.message)
        run_ids = batch.run_ids if earlier is None else (*earlier.data["run_ids"], *batch.run_ids)
        runs = "1 run" if len(run_ids) == 1 else f"{len(run_ids)} runs"
        message = f"{runs} abandoned after {batch.attempt + 1} attempts: {failure.message}"
        data = {"run_ids": run_ids, "attempts": batch.attempt + 1, "kind": failure.kind}
        issue = Issue("sweep.runs-abandoned", self.place, message, data=data)
        self._abandoned[failure.message] = issue
        if earlier is None:
            self.messages.append(issue)
        else:
            self.messages[self.messages.index(earlier)] = issue


EAGER = 100
"""Batches of a session that are committed one by one, so that a small sweep shows its rows at once."""
_BATCHES_PER_PART = 5
"""Batches of a part, at least, so that it ends close to the work that may be lost."""
_TICK_S = 0.2
_STOP_S = 1.0
"""Time that stopped batches have to commit the runs that have ended [s]."""


@dataclass
class Driver:
    """Executes the runs of all rounds of a session.

    Attributes:
        fragments: Where rows are committed.
        start: Starts the executor when the first run needs it.
        report: Called whenever a number changes.
        finished: The runs that need no further execution.
        committed: Called with the name of a fragment and facts of runs in it.
        hold_s: The most work that a lost worker may cost [s]: it commits its rows that often.
        stopped: Why the session ends early, if it does: `interrupted`, `budget`, `infrastructure` or
            `failed_runs`.
    """

    fragments: Location
    ends: SessionEnd
    start: Callable[[], Executor]
    report: Callable[[], None]
    finished: FinishedRuns
    committed: Callable[[str, pa.Table], None]
    hold_s: float
    executed: int = 0
    messages: list[Issue] = field(default_factory=list)
    stopped: SessionState | None = None
    costs: CostModel = field(default_factory=CostModel)
    failures: Failures = field(init=False)
    _taken: int = 0
    _executor: Executor | None = None
    _has_stopped_batches: bool = False

    def __post_init__(self) -> None:
        self.failures = Failures(self.ends.place, self.messages)

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
            self.ends.interrupts.check()
            if queue:  # batches in flight may be the last
                self.stopped = self.stopped or self.ends.find(self.messages)
            if in_flight and self.ends.is_past() and not self._has_stopped_batches:
                self._has_stopped_batches = True
                self.stopped = self.stopped or "budget"
                executor.stop()
            if self._has_stopped_batches and self.ends.is_past(_STOP_S):
                break
            while queue and self.stopped is None and executor.waiting < executor.ahead * executor.slots:
                executor.hold_s = 0.0 if self._taken < EAGER else self.hold_s
                executor.submit(queue.take(executor.slots))
                in_flight += 1
                self._taken += 1
            executor.has_more = bool(queue) and self.stopped is None
            executor.left_s = queue.left_s if executor.has_more else 0.0
            for done in executor.collect(_TICK_S):
                in_flight -= 1
                self._settle(done, queue)
            self.report()
        if self.failures.has_abandoned:
            self.stopped = self.stopped or "infrastructure"

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
        self.failures.executed += 1
        self.finished.add(facts)
        self.committed(receipt.fragment, facts)
        for row in facts.filter(pc.equal(facts["status"], "failed")).to_pylist():
            self.failures.add_run(row)
        self.costs.observe(receipt.seconds, pc.sum(facts["events"]).as_py() or 0.0, facts.num_rows)
        if self.stopped is None and (repeated := self.failures.find_repeated(self.executed)) is not None:
            self.stopped = "failed_runs"
            self.messages.append(repeated)

    def _retry(self, batch: Batch, failure: Failure, queue: Queue) -> None:
        slots = self.slots or 1
        again = self.failures.return_batch(batch, failure, slots)
        for part in again:
            queue.retry(part)
        if not again:
            commit_failure(batch, failure, self.fragments)
        if self.failures.is_exhausted(slots):
            self.stopped = self.stopped or "infrastructure"
