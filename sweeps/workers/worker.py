"""A worker: executes batches one after another, adds provenance and commits the rows in parts."""

import socket
import threading
from collections.abc import Sequence
from datetime import UTC, datetime

import pyarrow as pa

from destage import engine
from destage.objects import Location
from destage.store.files.failpoints import pass_point
from destage.store.fragment_files.fragments import write_fragment
from destage.store.fragment_files.stored_rows import rows_schema
from destage.sweeps.workers.batches import Batch
from destage.sweeps.workers.machine_failures import BatchStoppedError, explain_failure
from destage.sweeps.workers.open_part import OpenPart
from destage.sweeps.workers.receipts import Failure, FinishedBatch


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
    done = engine.execute_canonical(batch.configs, stop=stop, timeout_s=timeout_s)
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
    known = {
        "status": "failed",
        "error_kind": failure.kind,
        "error": failure.message,
        "prov_host": socket.gethostname(),
        "prov_attempt": batch.attempt,
        "prov_time": datetime.now(UTC),
    }
    rows = [{"run_id": run_id, **known} for run_id in batch.run_ids]
    write_fragment(fragments, pa.Table.from_pylist(rows, schema=rows_schema()))
