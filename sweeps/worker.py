"""What a worker does with a batch: run it, add where the rows came from, commit one fragment, say so."""

import json
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa

from destage import engine
from destage.errors import DestageError
from destage.objects import Location
from destage.store.fragments import Fragment, write_fragment
from destage.store.rows import rows_schema
from destage.sweeps.batches import Batch


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a driver learns of a batch that is committed.

    Attributes:
        fragment: The fragment that holds its rows.
        seconds: The engine's time for it [s].
        facts: Per run the id, status, error kind, error and the columns that planning asked for.
    """

    fragment: Fragment
    seconds: float
    facts: pa.Table


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a batch was not executed; says nothing about its configurations.

    Attributes:
        kind: `infrastructure`, `oom` or `foreign`: the worker must not execute anything.
        message: One line for people.
    """

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class FinishedBatch:
    """A batch that came back.

    Attributes:
        batch: The batch.
        result: What it led to.
    """

    batch: Batch
    result: Receipt | Failure


def execute(batch: Batch, fragments: Location, facts: Sequence[str]) -> Receipt:
    """Run a batch and commit its rows.

    Args:
        batch: The runs.
        fragments: The sweep's directory of fragments.
        facts: The result columns to hand back.

    Raises:
        TraceError: A trace cannot be read on this machine.
        StoreError: The rows cannot be written.
    """
    tables, seconds = [], []
    for config in batch.configs:
        began = time.perf_counter()
        tables.append(run_config(config))
        seconds.append(time.perf_counter() - began)
    rows = pa.concat_tables(tables).combine_chunks()
    count = rows.num_rows
    now = datetime.now(UTC)
    provenance = {
        "prov_engine_s": pa.array(seconds, pa.float64()),
        "prov_host": pa.array([socket.gethostname()] * count),
        "prov_attempt": pa.array([batch.attempt] * count, pa.int64()),
        "prov_time": pa.array([now] * count, pa.timestamp("us", tz="UTC")),
    }
    rows = rows.add_column(0, "run_id", pa.array(batch.run_ids))
    for name, values in provenance.items():
        rows = rows.append_column(name, values)
    fragment = write_fragment(fragments, rows)
    return Receipt(fragment, sum(seconds), rows.select(["run_id", "status", "error_kind", "error", *facts]))


def commit_transient(batch: Batch, failure: Failure, fragments: Location) -> Fragment:
    """Commit rows that say that a batch could not be executed, and why; a resume tries it again.

    Args:
        batch: The runs.
        failure: What happened last.
        fragments: The sweep's directory of fragments.
    """
    schema = rows_schema()
    known = {
        "status": "failed",
        "error_kind": failure.kind,
        "error": failure.message,
        "prov_host": socket.gethostname(),
        "prov_attempt": batch.attempt,
        "prov_time": datetime.now(UTC),
    }
    rows = [{"run_id": run_id, **known} for run_id in batch.run_ids]
    return write_fragment(fragments, pa.Table.from_pylist(rows, schema=schema))


def run_config(config: str) -> pa.Table:
    """Run one configuration; what the engine refuses becomes a row, so that it never stops a sweep.

    Args:
        config: A canonical configuration as JSON, its traces bound to their content.

    Returns:
        The result row.

    Raises:
        TraceError: A trace cannot be read here and now, or its file has other contents. That says something
            about the machine and nothing about the configuration, which names a trace by its content.
    """
    if '"trace"' in config:
        engine.traces.bind(json.loads(config), ".")
    try:
        return engine.simulate_batch([config])
    except DestageError as error:
        row = {"status": "failed", "error_kind": "configuration", "error": str(error)}
        return pa.Table.from_pylist([row], schema=engine.results_schema())
