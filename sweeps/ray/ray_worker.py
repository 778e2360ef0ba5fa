"""A worker on Ray: an actor with one processor, which executes batches and keeps a part open.

Its calls run on threads, so that `stop` reaches it during a run; the main thread handles SIGTERM, which a
machine that is taken away sends: the worker ends its batch, commits what it has, replies and exits.

A driver that is stopped, as on a laptop that sleeps, keeps its connection to Ray, which leaves it the
processors of its workers. So a worker that is not called for some time commits what it has and exits.
"""

import os
import signal
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
from destage.sweeps.workers.machine_failures import Marker, check_marker, explain_failure
from destage.sweeps.workers.worker import Worker

_REPLY_S = 1.0
"""Time between the end of the last call and the exit of a worker that was told to end [s]."""
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
        ends: Whether the worker exits, and takes no further batch.
    """

    receipts: list[tuple[int, int, float, str]] = field(default_factory=list)
    facts: pa.Table | None = None
    failures: list[tuple[int, Failure | Issue]] = field(default_factory=list)
    ends: bool = False

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
        self._is_stopped = self._ends = False
        self._checked_at = -_CHECK_S
        self._called_at = time.monotonic()
        self._calls, self._results = threading.Lock(), threading.Lock()
        signal.signal(signal.SIGTERM, lambda *_: self._terminate())
        threading.Thread(target=self._look, daemon=True).start()

    def greet(self) -> None:
        """Return when the worker runs."""

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
            if not batches or self._is_stopped:
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
        if self._ends:
            return [FinishedBatch(batch, Failure("lost", "the machine was taken away"))]
        if self._is_stopped:
            return [FinishedBatch(batch, Failure("stopped", "the session ended"))]
        return self._worker.execute(batch, hold_s)

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
        return Reply(receipts, facts, failures, self._ends)

    @ray.method(concurrency_group="control")
    def stop(self) -> None:
        """Stop the batch in execution, and execute no other."""
        self._is_stopped = True
        self._stop.set()

    def _terminate(self) -> None:
        """End on SIGTERM: a handler must return at once, and the reply leaves from another thread."""
        self._is_stopped = self._ends = True
        self._stop.set()
        threading.Thread(target=self._end, daemon=True).start()

    def _end(self) -> None:
        with self._calls:
            self._keep(self._worker.publish())
        time.sleep(_REPLY_S)
        os._exit(0)

    def _look(self) -> None:
        """Commit rows that wait beside a long run; exit if the driver has stopped."""
        while True:
            time.sleep(_LOOK_S)
            if self._hold_s:
                self._keep(self._worker.publish_old(self._hold_s))
            if time.monotonic() - self._called_at > _ABANDONED_S and self._calls.acquire(blocking=False):
                self._worker.publish()
                os._exit(0)
