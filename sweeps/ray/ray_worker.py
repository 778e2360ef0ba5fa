"""A worker on Ray: an actor with one processor, which executes batches and keeps a part open.

Its calls run on threads, so that `stop` reaches it during a run: the worker ends its batch, commits what it
has and replies.

A driver that is stopped, as on a laptop that sleeps, keeps its connection to Ray, which leaves it the
processors of its workers. So a worker that is not called for some time commits what it has and exits.
"""

import os
import threading
import time
from dataclasses import dataclass, field

import pyarrow as pa
import ray

from destage.engine import StopSignal
from destage.errors import Issue
from destage.objects import locate
from destage.store.files.layout import SweepLayout
from destage.sweeps.workers.batches import Batch, Failure, FinishedBatch, Receipt
from destage.sweeps.workers.executors import Worker
from destage.sweeps.workers.machine_failures import Marker, check_marker, explain_failure

_CHECK_S = 5.0
"""Interval of the check that the driver still writes this sweep [s]."""
_LOOK_S = 1.0
"""Interval at which rows are looked at that wait beside a long run [s]."""
IDLE_S = 20.0
"""Time without a batch after which a worker leaves its processor to others [s]."""
_ABANDONED_S = 2 * IDLE_S
"""Time without a call after which the driver is taken for stopped: it would have ended an idle worker [s]."""

NumberedBatch = tuple[int, Batch]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a call returns; one table of facts takes a tenth of the time of many.

    Attributes:
        receipts: Number, rows, engine time [s] and fragment of each committed batch, in the order of `facts`.
        facts: The facts of all their runs.
        failures: The batches that were not committed.
    """

    receipts: list[tuple[int, int, float, str]] = field(default_factory=list)
    facts: pa.Table | None = None
    failures: list[tuple[int, Failure | Issue]] = field(default_factory=list)

    def results(self) -> list[tuple[int, Receipt | Failure | Issue]]:
        """Return the result of each batch by its number."""
        results: list[tuple[int, Receipt | Failure | Issue]] = [*self.failures]
        start = 0
        for number, rows, seconds, fragment in self.receipts:
            if self.facts is not None:
                results.append((number, Receipt(seconds, self.facts.slice(start, rows), fragment)))
            start += rows
        return results


@ray.remote(  # type: ignore[call-overload]
    num_cpus=1, max_restarts=0, max_task_retries=0, concurrency_groups={"control": 1}
)
class RayWorker:
    """A worker in a process of its own."""

    def __init__(self, marker: Marker, facts: tuple[str, ...], timeout_s: float | None) -> None:
        """Make a worker for the sweep of a marker."""
        self._marker = marker
        self._stop = StopSignal()
        fragments = SweepLayout(locate(marker.sweep)).fragments
        self._worker = Worker(fragments, facts, timeout_s=timeout_s, stop=self._stop)
        self._numbers: dict[int, int] = {}
        self._done: list[FinishedBatch] = []
        self._hold_s = 0.0
        self._stopped: Failure | None = None
        self._checked_at = -_CHECK_S
        self._called_at = time.monotonic()
        self._calls, self._results = threading.Lock(), threading.Lock()
        threading.Thread(target=self._look, daemon=True).start()

    def greet(self) -> str:
        """Return the id of its node, once the worker runs."""
        return str(ray.get_runtime_context().get_node_id())

    def execute(self, batches: tuple[NumberedBatch, ...], hold_s: float) -> Reply:
        """Execute batches; return those that are committed or have failed since the last reply.

        Args:
            batches: The batches with their numbers; none to commit what is held.
            hold_s: The most work of uncommitted rows [s].
        """
        with self._calls:
            self._hold_s = hold_s
            rejected = self._check() if batches else None
            for number, batch in batches:
                self._numbers[id(batch)] = number
                done = [FinishedBatch(batch, rejected)] if rejected else self._execute(batch, hold_s)
                self._keep(done)
            if not batches or self._stopped:
                self._keep(self._worker.publish())
            self._called_at = time.monotonic()
            return self._reply()

    def _check(self) -> Failure | Issue | None:
        """Return why this worker must not execute batches, if it must not."""
        if time.monotonic() - self._checked_at < _CHECK_S:
            return None
        try:
            check_marker(self._marker)
        except Exception as error:  # noqa: BLE001 - the driver reports it
            return explain_failure(error)
        self._checked_at = time.monotonic()
        return None

    def _execute(self, batch: Batch, hold_s: float) -> list[FinishedBatch]:
        if self._stopped:
            return [FinishedBatch(batch, self._stopped)]
        done = self._worker.execute(batch, hold_s)
        return [self._name_reason(finished) for finished in done]

    def _name_reason(self, done: FinishedBatch) -> FinishedBatch:
        """Return a batch of which no run has ended with the reason why this worker was stopped."""
        is_stopped = isinstance(done.result, Failure) and done.result.kind == "stopped"
        return FinishedBatch(done.batch, self._stopped) if is_stopped and self._stopped else done

    def _keep(self, done: list[FinishedBatch]) -> None:
        with self._results:
            self._done.extend(done)

    def _reply(self) -> Reply:
        with self._results:
            done, self._done = self._done, []
        receipts, tables, failures = [], [], []
        for finished in done:
            number = self._numbers.pop(id(finished.batch))
            if isinstance(finished.result, Receipt):
                receipts.append(
                    (
                        number,
                        finished.result.facts.num_rows,
                        finished.result.seconds,
                        finished.result.fragment,
                    )
                )
                tables.append(finished.result.facts)
            else:
                failures.append((number, finished.result))
        facts = pa.concat_tables(tables).combine_chunks() if tables else None
        return Reply(receipts, facts, failures)

    @ray.method(concurrency_group="control")
    def stop(self, reason: Failure) -> None:
        """Stop the batch in execution, and execute no other: those without a row have failed so."""
        self._stopped = reason
        self._stop.set()

    def _look(self) -> None:
        """Commit rows that wait beside a long run; exit if the driver has stopped."""
        while True:
            time.sleep(_LOOK_S)
            if self._hold_s:
                self._keep(self._worker.publish_old(self._hold_s))
            if time.monotonic() - self._called_at > _ABANDONED_S and self._calls.acquire(blocking=False):
                self._worker.publish()
                os._exit(0)
