"""Reading result rows: all fragments together, one row per run."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from destage import engine
from destage.errors import StoreError
from destage.store.fragments import TRANSIENT_KINDS, inspect_fragment
from destage.store.layout import SweepLayout
from destage.store.manifests import read_manifest

PROVENANCE = (
    pa.field("prov_engine_s", pa.float64()),
    pa.field("prov_host", pa.string()),
    pa.field("prov_attempt", pa.int64()),
    pa.field("prov_time", pa.timestamp("us", tz="UTC")),
)
"""Columns that tell how a row came about; never compared."""


def rows_schema() -> pa.Schema:
    """Return the schema of a fragment's rows: run id, the engine's result columns, provenance columns."""
    return pa.schema([pa.field("run_id", pa.string()), *engine.results_schema(), *PROVENANCE])


def read_rows(layout: SweepLayout, columns: Sequence[str] | None = None) -> pa.Table:
    """Return the rows that are there, one per run, in the order of their run ids.

    Where fragments share a run, a row with a result is kept over a failed one, then the row of the lowest
    fragment key.

    Args:
        layout: The sweep's directory.
        columns: The columns wanted; `run_id`, `status` and `error_kind` always come along. By default all.

    Raises:
        StoreError: A fragment that was whole is damaged; the message names it.
    """
    wanted = rows_schema()
    if columns is not None:
        names = {"run_id", "status", "error_kind", *columns}
        wanted = pa.schema([field for field in wanted if field.name in names])
    tables = []
    for path in _whole_fragments(layout):
        try:
            with pq.ParquetFile(path) as file:
                table = file.read(columns=None if columns is None else wanted.names, use_threads=False)
        except FileNotFoundError:
            continue  # a writer put it aside since we listed it
        except (pa.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            raise StoreError(f"{path} is damaged: {reason}; move it away, and resume the sweep") from error
        tables.append(table.replace_schema_metadata(None))
    if not tables:
        return wanted.empty_table()
    rows = pa.concat_tables([wanted.empty_table(), *tables], promote_options="permissive")
    return _one_per_run(rows)


def present_runs(rows: pa.Table) -> set[str]:
    """Return the runs that need no further execution.

    Args:
        rows: Rows as `read_rows` returns them.
    """
    return set(rows["run_id"].filter(pc.invert(_is_transient(rows))).to_pylist())


def _is_transient(rows: pa.Table) -> pa.ChunkedArray:
    return pc.fill_null(pc.is_in(rows["error_kind"], pa.array(TRANSIENT_KINDS)), fill_value=False)


def _whole_fragments(layout: SweepLayout) -> list[Path]:
    if not layout.fragments.is_dir():
        return []
    named = read_manifest(layout.manifest)
    whole = []
    for path in sorted(layout.fragments.glob("*.parquet")):
        if path.name.startswith("."):
            continue
        try:
            known = named.get(path.stem)
            if known is None or path.stat().st_size != known.size:
                inspect_fragment(path)
        except (StoreError, FileNotFoundError):
            continue  # the next writer puts it aside, and says so
        whole.append(path)
    return whole


def _one_per_run(rows: pa.Table) -> pa.Table:
    """Keep the best row of each run; the rows come in the order of their fragment keys."""
    failed = pc.cast(pc.equal(rows["status"], "failed"), pa.int8())
    rank = pc.add(failed, pc.cast(_is_transient(rows), pa.int8()))
    order = pc.sort_indices(
        pa.table({"run_id": rows["run_id"], "rank": rank, "position": np.arange(rows.num_rows)}),
        sort_keys=[("run_id", "ascending"), ("rank", "ascending"), ("position", "ascending")],
    )
    ids = rows["run_id"].take(order).to_numpy()
    first = np.ones(len(ids), dtype=bool)
    first[1:] = ids[1:] != ids[:-1]
    return rows.take(order.filter(pa.array(first)))
