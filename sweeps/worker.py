"""A worker: executes a batch, adds provenance, commits one fragment and returns a receipt."""

import errno
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa

from destage import engine
from destage.errors import Issue, MachineError
from destage.objects import Location
from destage.store.fragments import write_fragment
from destage.store.rows import rows_schema
from destage.sweeps.batches import Batch

_FAILURES = {
    errno.ENOSPC: "system.disk-full",
    errno.EDQUOT: "system.disk-full",
    errno.EROFS: "system.permission-denied",
    errno.EACCES: "system.permission-denied",
    errno.EPERM: "system.permission-denied",
}


@dataclass(frozen=True, slots=True)
class Receipt:
    """A committed batch, as the driver sees it.

    Attributes:
        seconds: Engine time [s].
        facts: Per run the id, status, error kind, error and the columns that planning needs.
    """

    seconds: float
    facts: pa.Table


@dataclass(frozen=True, slots=True)
class Failure:
    """A batch that a worker could not execute, for reasons other than its configurations.

    Attributes:
        kind: `infrastructure`, `oom`, or `stopped` if the session ended its runs.
    """

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class FinishedBatch:
    """A batch that an executor has returned.

    Attributes:
        result: Its receipt, its failure, or why the worker must not execute runs of this sweep.
    """

    batch: Batch
    result: Receipt | Failure | Issue


class BatchStoppedError(Exception):
    """A batch was stopped before its first run ended."""


def explain_machine_failure(error: BaseException) -> Issue | None:
    """Return why no worker can commit rows, if the error says so; trying again would not help."""
    if isinstance(error, MachineError) and error.data["errno"] in _FAILURES:
        return Issue(_FAILURES[error.data["errno"]], error.place, error.message)
    if not isinstance(error, OSError) or error.errno not in _FAILURES:
        return None
    return Issue(_FAILURES[error.errno], str(error.filename or ""), error.strerror or str(error))


def execute_batch(
    batch: Batch,
    fragments: Location,
    facts: Sequence[str],
    *,
    timeout_s: float | None = None,
    stop: engine.StopSignal | None = None,
) -> Receipt:
    """Run a batch and commit its rows; if it is stopped, those of the runs that have ended.

    Args:
        timeout_s: The time limit of each run [s].
        stop: Stops the batch from another thread; on a process's main thread, SIGINT does.

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
    write_fragment(fragments, rows)
    return Receipt(sum(done.seconds), rows.select(["run_id", "status", "error_kind", "error", *facts]))


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
