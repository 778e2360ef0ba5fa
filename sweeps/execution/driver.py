"""The driver of a sweep's executor: hands out the runs of each round, and settles what comes back."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage.errors import Issue
from destage.objects import Location
from destage.sweeps.execution.outcomes import SessionState
from destage.sweeps.execution.session_end import Failures, SessionEnd
from destage.sweeps.rounds.finished_runs import FinishedRuns
from destage.sweeps.space.identity import pack_ids
from destage.sweeps.workers.batches import LONGEST_S, Batch, CostModel, Failure, FinishedBatch, Queue, Receipt
from destage.sweeps.workers.executors import Executor
from destage.sweeps.workers.worker import commit_failure

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
