"""Driving a round: keeping workers busy with batches, committing, retrying what only the machine spoiled."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from destage.store.fragments import TRANSIENT_KINDS
from destage.store.layout import SweepLayout
from destage.store.lease import Lease
from destage.store.manifests import Manifest
from destage.sweeps.batches import Batch, CostModel, Queue
from destage.sweeps.executors import Executor
from destage.sweeps.interrupts import Interrupts
from destage.sweeps.outcomes import SessionState
from destage.sweeps.planner import Facts, PlannedRun
from destage.sweeps.worker import Failure, FinishedBatch, Receipt, commit_transient

WINDOW = 3
"""How many batches per slot are handed over at a time: one runs, the others wait beside it."""
TRIES = 4
"""How often a run is handed over before it is given up for now; a batch is cut in two until it is one run."""
RETRY_BUDGET = 50
RETRIES_PER_SLOT = 4
"""How many batches of one session may come back for infrastructure reasons before the session ends.

The larger of both counts: a lost node takes with it what ran on all its slots.
"""
BREAKER = 20
"""So many failures of the same kind and message, before anything succeeded, end the session."""
_TICK_S = 0.2


@dataclass
class Driver:
    """Keeps the workers busy and the counts, over all rounds of a session.

    Attributes:
        layout: The sweep's directory.
        manifest: Its manifest.
        lease: The right to write it.
        start: Starts the executor once a run needs one, for so many runs at first.
        columns: The result columns that facts carry.
        interrupts: Whether somebody wants it to end.
        deadline: When the budget ends [s on the monotonic clock], if there is one.
        report: Called whenever a number changes.
        rows: The facts of every run that is there.
        executed: Runs executed.
        failed: Runs whose row says failed.
        retries: Batches that came back for infrastructure reasons.
        messages: What people should know.
        stopped: Why the session ends early, if it does: `interrupted`, `budget`, `infrastructure` or
            `failed_runs`.
    """

    layout: SweepLayout
    manifest: Manifest
    lease: Lease
    start: Callable[[int], Executor]
    columns: Sequence[str]
    interrupts: Interrupts
    deadline: float | None
    report: Callable[[], None]
    rows: dict[str, Facts] = field(default_factory=dict)
    executed: int = 0
    failed: int = 0
    retries: int = 0
    messages: list[str] = field(default_factory=list)
    stopped: SessionState | None = None
    costs: CostModel = field(default_factory=CostModel)
    _errors: Counter[str] = field(default_factory=Counter)
    _executor: Executor | None = None
    _given_up: bool = False

    def drive(self, runs: Sequence[PlannedRun]) -> None:
        """Execute runs until all are there, or the session is stopped; what is under way is always committed.

        Args:
            runs: The runs; those that are there already, or named twice, are executed no more.
        """
        missing = {run.run_id: run for run in runs if run.run_id not in self.rows}
        if not missing:
            return
        if self._executor is None:
            self._executor = self.start(len(missing))
        executor = self._executor
        queue = Queue(list(missing.values()), self.costs)
        under_way = 0
        while (queue and self.stopped is None) or under_way:
            if queue:  # what is under way is committed in any case, and may be the last
                self._look_for_the_end()
            while queue and self.stopped is None and under_way < WINDOW * executor.slots:
                executor.submit(queue.take(executor.slots))
                under_way += 1
            for done in executor.collect(_TICK_S):
                under_way -= 1
                self._settle(done, queue)
            self.report()
        if self._given_up and self.stopped is None:
            self.stopped = "infrastructure"

    @property
    def slots(self) -> int | None:
        """How many batches the executor runs at a time; None before it has started."""
        return None if self._executor is None else self._executor.slots

    @property
    def executor_name(self) -> str:
        """What the executor is called; `none` when every run was there already."""
        return "none" if self._executor is None else self._executor.name

    def close(self) -> None:
        """Give back the executor."""
        if self._executor is not None:
            self._executor.close()

    def _look_for_the_end(self) -> None:
        if self.stopped is not None:
            return
        if self.lease.is_lost:
            self.messages.append("the lease could not be renewed, so that others may be writing this sweep")
            self.stopped = "infrastructure"
        elif self.interrupts.is_draining:
            self.stopped = "interrupted"
        elif self.deadline is not None and time.monotonic() >= self.deadline:
            self.stopped = "budget"

    def _settle(self, done: FinishedBatch, queue: Queue) -> None:
        if isinstance(done.result, Receipt):
            self._accept(done.batch, done.result)
        elif done.result.kind == "foreign":
            # Whoever answers at once that he cannot would be given all that is left.
            queue.retry(done.batch)
            if self.stopped is None:
                self.stopped = "infrastructure"
                self.messages.append(done.result.message)
        else:
            self._retry(done.batch, done.result, queue)

    def _accept(self, batch: Batch, receipt: Receipt) -> None:
        self.manifest.append(receipt.fragment)
        self.executed += len(batch.run_ids)
        events = 0.0
        for row in receipt.facts.to_pylist():
            facts = facts_of(row, self.columns)
            self.rows[row["run_id"]] = facts
            events += facts.values.get("events") or 0.0
            if facts.status == "failed":
                self.failed += 1
                self._note_failure(row)
        self.costs.observe(receipt.seconds, events, len(batch.run_ids))
        self._trip_breaker()

    def _note_failure(self, row: Mapping[str, object]) -> None:
        text = f"{row['error_kind']}: {row['error']}"
        self._errors[text] += 1
        if self._errors[text] == 1:
            self.messages.append(f"run {row['run_id']} failed: {text}")

    def _trip_breaker(self) -> None:
        """End the session when nothing succeeded yet and one failure has come often enough."""
        if self.failed < self.executed or self.stopped is not None or not self._errors:
            return
        ((text, count),) = self._errors.most_common(1)
        if count >= BREAKER:
            self.stopped = "failed_runs"
            self.messages.append(f"stopped: the first {count} runs all failed alike: {text}")

    def _retry(self, batch: Batch, failure: Failure, queue: Queue) -> None:
        self.retries += 1
        slots = 1 if self._executor is None else self._executor.slots
        is_exhausted = self.retries > max(RETRY_BUDGET, RETRIES_PER_SLOT * slots)
        if not is_exhausted and (len(batch.run_ids) > 1 or batch.attempt + 1 < TRIES):
            # One run may be what kills the worker each time: it must not take the others with it.
            is_cut = failure.kind == "oom" or batch.attempt > 0
            for part in batch.halves() if is_cut else (batch.again(),):
                queue.retry(part)
            return
        self.manifest.append(commit_transient(batch, failure, self.layout.fragments))
        self.messages.append(
            f"{len(batch.run_ids)} runs given up after {batch.attempt + 1} tries: {failure.message}"
        )
        self._given_up = True
        if is_exhausted and self.stopped is None:
            self.stopped = "infrastructure"


def facts_of(row: Mapping[str, object], columns: Sequence[str]) -> Facts:
    """Return what planning needs to know of a row.

    Args:
        row: The row, with `status` and the columns.
        columns: The result columns wanted.
    """
    values = {
        column: float(value) if isinstance(value := row[column], (int, float)) else None for column in columns
    }
    return Facts(str(row["status"]), values)


def is_present(row: Mapping[str, object]) -> bool:
    """Return whether a row makes executing its run needless.

    Args:
        row: The row, with `error_kind`.
    """
    return row["error_kind"] not in TRANSIENT_KINDS
