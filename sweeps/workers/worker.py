"""A worker: executes batches one after another, adds provenance and commits the rows in parts.

The rows of a part are committed together, as one fragment.
"""

import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

from destage import engine
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
