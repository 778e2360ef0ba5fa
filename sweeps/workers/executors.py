"""Where batches run: one interface, two forms: the workers of this process, each a thread, and those of Ray.

A worker executes batches one after another, adds provenance and commits the rows in parts. The rows of a part
are committed together, as one fragment.
"""

import os
import socket
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from destage import engine
from destage.engine import StopSignal
from destage.errors import Issue
from destage.objects import Location
from destage.store.files.durable import pass_point
from destage.store.fragment_files.fragments import write_fragment
from destage.store.fragment_files.stored_rows import is_transient, rows_schema
from destage.sweeps.workers.batches import Batch, Failure, FinishedBatch, Receipt
from destage.sweeps.workers.machine_failures import BatchStoppedError, explain_failure

MOST_ROWS = 10_000
"""Rows from which a part is committed, a few megabytes in memory."""
_TRIES = 2
"""Attempts to write a fragment; executing its runs again would take longer."""


@dataclass(frozen=True, slots=True)
class _Executed:
    batch: Batch
    rows: pa.Table
    seconds: float


class OpenPart:
    """Rows of executed batches that are not committed yet; not for several threads at once."""

    def __init__(self, fragments: Location, facts: Sequence[str]) -> None:
        self._fragments = fragments
        self._facts = ["run_id", "status", "error_kind", "error", *facts]
        self._executed: list[_Executed] = []
        self._opened_at = 0.0

    def __len__(self) -> int:
        return len(self._executed)

    def add(self, batch: Batch, rows: pa.Table, seconds: float) -> list[FinishedBatch]:
        """Add the rows of a batch, of which its last runs may be missing, and its engine time [s].

        Rows of runs that could not be executed are a fragment of their own, which is committed at once.
        """
        executed = _Executed(batch, rows, seconds)
        if pc.any(is_transient(rows)).as_py():
            return self._commit([executed])
        if not self._executed:
            self._opened_at = time.monotonic()
        self._executed.append(executed)
        return []

    def is_due(self, hold_s: float) -> bool:
        """Return whether the part is committed before the next batch.

        Args:
            hold_s: The most work that may be lost with the worker [s], the next batch's included.
        """
        if not self._executed:
            return False
        work = sum(entry.seconds for entry in self._executed) + self._executed[-1].seconds
        return work >= hold_s or sum(entry.rows.num_rows for entry in self._executed) >= MOST_ROWS

    def is_old(self, hold_s: float) -> bool:
        """Return whether the oldest rows have waited for so long [s], as beside a run that takes hours."""
        return bool(self._executed) and time.monotonic() - self._opened_at >= hold_s

    def publish(self) -> list[FinishedBatch]:
        """Commit the rows as one fragment, and return its batches with their receipts.

        If the fragment cannot be written, its first batch has failed and the others are lost: each is
        executed again, and the failure counts once.
        """
        executed, self._executed = self._executed, []
        return self._commit(executed)

    def _commit(self, executed: list[_Executed]) -> list[FinishedBatch]:
        if not executed:
            return []
        rows = pa.concat_tables([entry.rows for entry in executed])
        try:
            name = self._write(rows)
        except Exception as error:  # noqa: BLE001 - the driver reports it
            failed = explain_failure(error)
            lost = failed if isinstance(failed, Issue) else Failure("lost", failed.message)
            results = [failed, *[lost] * (len(executed) - 1)]
            return [
                FinishedBatch(entry.batch, result) for entry, result in zip(executed, results, strict=True)
            ]
        return [
            FinishedBatch(entry.batch, Receipt(entry.seconds, entry.rows.select(self._facts), name))
            for entry in executed
        ]

    def _write(self, rows: pa.Table) -> str:
        for left in reversed(range(_TRIES)):
            try:
                return write_fragment(self._fragments, rows).name
            except Exception as error:
                if not left or isinstance(explain_failure(error), Issue):
                    raise
        raise AssertionError("the last attempt returns or raises")


class Worker:
    """One slot of an executor: executes a batch at a time, while another thread may commit its rows."""

    def __init__(
        self,
        fragments: Location,
        facts: Sequence[str],
        *,
        timeout_s: float | None = None,
        stop: engine.StopSignal | None = None,
    ) -> None:
        """Make a worker without rows.

        Args:
            timeout_s: The time limit of each run [s].
            stop: Stops the batch in execution from another thread.
        """
        self._timeout_s = timeout_s
        self._stop = stop
        self._part = OpenPart(fragments, facts)
        self._lock = threading.Lock()

    def execute(self, batch: Batch, hold_s: float) -> list[FinishedBatch]:
        """Execute a batch, and return the batches that are committed or have failed.

        Args:
            hold_s: The most work of uncommitted rows [s]; 0 commits each batch.
        """
        try:
            rows, seconds = run_batch(batch, timeout_s=self._timeout_s, stop=self._stop)
        except Exception as error:  # noqa: BLE001 - the driver reports it
            return [FinishedBatch(batch, explain_failure(error))]
        with self._lock:
            done = self._part.add(batch, rows, seconds)
            pass_point("rows_held")
            return done + (self._part.publish() if self._part.is_due(hold_s) else [])

    def publish(self) -> list[FinishedBatch]:
        """Commit the rows that are not committed yet."""
        with self._lock:
            return self._part.publish()

    def publish_old(self, hold_s: float) -> list[FinishedBatch]:
        """Commit them if the oldest have waited for so long [s]."""
        with self._lock:
            return self._part.publish() if self._part.is_old(hold_s) else []


def run_batch(
    batch: Batch, *, timeout_s: float | None = None, stop: engine.StopSignal | None = None
) -> tuple[pa.Table, float]:
    """Run a batch; return the rows of the runs that have ended, and their engine time [s].

    Raises:
        BatchStoppedError: It was stopped, and no run has ended.
        TraceError: A trace cannot be read on this machine, or has other contents.
    """
    done = engine.execute_canonical(batch.configs.join(), stop=stop, timeout_s=timeout_s)
    rows, count = done.rows, done.rows.num_rows
    if done.stopped and not count:
        raise BatchStoppedError
    now = datetime.now(UTC)
    provenance = {
        "prov_engine_s": pa.array(done.seconds, pa.float64()),
        "prov_host": pa.array([socket.gethostname()] * count),
        "prov_attempt": pa.array([batch.attempt] * count, pa.int64()),
        "prov_time": pa.array([now] * count, pa.timestamp("us", tz="UTC")),
    }
    rows = rows.add_column(0, "run_id", pa.array(batch.run_ids[:count]))
    for name, values in provenance.items():
        rows = rows.append_column(name, values)
    return rows, sum(done.seconds)


def commit_failure(batch: Batch, failure: Failure, fragments: Location) -> None:
    """Commit rows that record why a batch was not executed; a resume tries it again."""
    columns = {
        "status": "failed",
        "error_kind": failure.kind,
        "error": failure.message,
        "prov_host": socket.gethostname(),
        "prov_attempt": batch.attempt,
        "prov_time": datetime.now(UTC),
    }
    rows = [{"run_id": run_id, **columns} for run_id in batch.run_ids]
    write_fragment(fragments, pa.Table.from_pylist(rows, schema=rows_schema()))


AHEAD = 3
"""Batches that an executor takes per slot: one runs, the others wait at the worker."""


class Executor(Protocol):
    """Runs batches for the driver.

    Attributes:
        slots: How many batches it runs at a time.
        waiting: Batches that it was given and has not executed.
        ahead: How many of them it takes per slot.
        hold_s: The most work of uncommitted rows per slot [s]; 0 commits each batch.
        has_more: Whether further batches follow; if not, a worker without a batch commits its rows.
        left_s: Expected engine time of the batches that follow [s]; 0 if it is unknown.
    """

    name: str
    slots: int
    hold_s: float
    has_more: bool
    left_s: float

    @property
    def waiting(self) -> int: ...  # noqa: D102 - see the attributes
    @property
    def ahead(self) -> int: ...  # noqa: D102

    def submit(self, batch: Batch) -> None:
        """Submit a batch; returns immediately."""
        ...

    def collect(self, timeout_s: float) -> list[FinishedBatch]:
        """Return the batches committed or failed since the last call, waiting up to the timeout [s]."""
        ...

    def stop(self) -> None:
        """Stop the batches in flight: the runs that have ended are committed, the others are not."""
        ...

    def close(self) -> None:
        """Release all resources; batches in flight are abandoned."""
        ...


class InlineExecutor:
    """Runs batches on threads of this process; the engine releases the interpreter while it simulates."""

    name = "inline"

    def __init__(
        self,
        slots: int,
        fragments: Location,
        facts: tuple[str, ...],
        *,
        timeout_s: float | None = None,
    ) -> None:
        self.slots = slots
        self.ahead: int = AHEAD
        self.hold_s = 0.0
        self.has_more = False
        self.left_s = 0.0
        self._stop = StopSignal()
        self._workers = [Worker(fragments, facts, timeout_s=timeout_s, stop=self._stop) for _ in range(slots)]
        self._idle = deque(self._workers)
        self._pool = ThreadPoolExecutor(slots, thread_name_prefix="destage-run")
        self._waiting: set[Future[list[FinishedBatch]]] = set()
        self._is_stopped = False

    @property
    def waiting(self) -> int:
        """Batches that were submitted and are not executed."""
        return len(self._waiting)

    def submit(self, batch: Batch) -> None:
        """Submit a batch; returns immediately."""
        self._waiting.add(self._pool.submit(self._execute, batch))

    def _execute(self, batch: Batch) -> list[FinishedBatch]:
        if self._is_stopped:
            return [FinishedBatch(batch, Failure("stopped", "the session ended"))]
        worker = self._idle.pop()  # the one that ended last, so that few workers hold rows
        try:
            return worker.execute(batch, self.hold_s)
        finally:
            self._idle.append(worker)

    def collect(self, timeout_s: float) -> list[FinishedBatch]:
        """Return the batches committed or failed since the last call, waiting up to the timeout [s]."""
        ended, self._waiting = wait(self._waiting, timeout_s, return_when=FIRST_COMPLETED)
        done = [batch for future in ended for batch in future.result()]
        is_idle = not self.has_more and len(self._waiting) < self.slots
        for worker in tuple(self._idle) if is_idle else self._workers:
            done += worker.publish() if is_idle else worker.publish_old(self.hold_s)
        return done

    def stop(self) -> None:
        """Stop the batches in flight: the runs that have ended are committed, the others are not."""
        self.hold_s = 0.0
        self._is_stopped = True
        self._stop.set()

    def close(self) -> None:
        """Drop batches that have not started, stop those in flight and commit what has ended."""
        self.stop()
        self._pool.shutdown(wait=True, cancel_futures=True)
        for worker in self._workers:
            worker.publish()


def count_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
