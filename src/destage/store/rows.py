"""Reading result rows: all fragments together, one row per run."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from destage import engine
from destage.errors import StoreError
from destage.objects import Location
from destage.store.fragments import TRANSIENT_KINDS, NotAFragmentError, check_fragment, open_fragment
from destage.store.layout import SweepLayout
from destage.store.location import list_sizes
from destage.store.parallel import map_places

PROVENANCE = (
    pa.field("prov_engine_s", pa.float64()),
    pa.field("prov_host", pa.string()),
    pa.field("prov_attempt", pa.int64()),
    pa.field("prov_time", pa.timestamp("us", tz="UTC")),
)
"""Columns about the execution of a run; never compared."""
_JOINED = 256
"""Fragments joined to one table in memory."""
_LISTINGS = 5
"""Maximum listings of fragments; one is repeated if a fragment disappears while they are read."""

_Read = TypeVar("_Read")


def rows_schema() -> pa.Schema:
    """Return the schema of rows: run id, the engine's result columns, provenance columns.

    A fragment written before a column was added lacks it; its rows are read with null there.
    """
    return pa.schema([pa.field("run_id", pa.string()), *engine.results_schema(), *PROVENANCE])


def read_rows(
    layout: SweepLayout, columns: Sequence[str] | None = None, *, past_damage: bool = False
) -> pa.Table:
    """Return the stored rows, one per run, by run id.

    Where fragments share a run, a row with a result is kept over a failed one, then the row of the fragment
    whose name comes first.

    Args:
        columns: The columns, to which `run_id`, `status` and `error_kind` are added (default: all).
        past_damage: Whether to leave out the rows of damaged fragments.

    Raises:
        StoreError: A fragment that was complete is damaged.
    """
    wanted = rows_schema()
    if columns is not None:
        names = {"run_id", "status", "error_kind", *columns}
        wanted = pa.schema([field for field in wanted if field.name in names])
    names_read = None if columns is None else wanted.names
    for _ in range(_LISTINGS):
        tables = _read_complete(layout, names_read, past_damage=past_damage)
        if tables is not None:
            break
    else:
        message = "fragments change while they are read; wait for `destage compact` to end"
        raise StoreError("store.changed-while-read", message, str(layout.root))
    rows = pa.concat_tables([wanted.empty_table(), *tables], promote_options="permissive")
    return select_best_rows(rows) if tables else wanted.empty_table()


def find_missing_columns(layout: SweepLayout) -> dict[str, set[str]]:
    """Return by run the columns that did not exist when the run was executed."""
    lacking: dict[str, set[str]] = {}

    def read(file: pq.ParquetFile) -> tuple[set[str], list[str]]:
        missing = set(rows_schema().names).difference(file.schema_arrow.names)
        return missing, read_table(file, ["run_id"])["run_id"].to_pylist() if missing else []

    for _, (missing, run_ids) in map_complete(layout, read):
        for run_id in run_ids:
            lacking.setdefault(run_id, set()).update(missing)
    return lacking


def find_present_runs(rows: pa.Table) -> set[str]:
    """Return the runs that have a result and need no further execution."""
    return set(rows["run_id"].filter(pc.invert(is_transient(rows))).to_pylist())


def is_transient(rows: pa.Table) -> pa.ChunkedArray:
    """Return for each row whether its run could not be executed.

    Args:
        rows: Rows with at least the column `error_kind`.
    """
    return pc.fill_null(pc.is_in(rows["error_kind"], pa.array(TRANSIENT_KINDS)), fill_value=False)


def list_complete_fragments(layout: SweepLayout) -> list[Location]:
    """Return the complete fragments, by name; foreign files are left out.

    Raises:
        StoreError: A fragment that was complete is damaged.
        FileNotFoundError: One disappeared after it was listed.
    """
    return [path for path, _ in _map_found(layout, check_fragment)]


def map_complete(
    layout: SweepLayout, read: Callable[[pq.ParquetFile], _Read], *, past_damage: bool = False
) -> Iterator[tuple[Location, _Read]]:
    """Yield each complete fragment, by name, with what a function reads of it; errors as above.

    A foreign file is passed over: the next writer reports it.
    """

    def open_and_read(path: Location) -> _Read:
        with open_fragment(path) as file:
            return read(file)

    return _map_found(layout, open_and_read, past_damage=past_damage)


def _map_found(
    layout: SweepLayout, act: Callable[[Location], _Read], *, past_damage: bool = False
) -> Iterator[tuple[Location, _Read]]:
    """Yield each complete fragment with the result of a function that raises `NotAFragmentError`."""
    found = [
        path
        for path, size in list_sizes(layout.fragments)
        # Azure's client creates each object empty.
        if not path.name.startswith(".") and (size or isinstance(path, Path))
    ]

    def attempt(path: Location) -> _Read | NotAFragmentError:
        try:
            return act(path)
        except NotAFragmentError as error:
            if error.code == "store.damaged-fragment" and not past_damage:
                # Fragments appear under their names when they are complete.
                message = "damaged since it was complete; `destage resume` runs its runs again"
                raise StoreError(error.code, message, str(path)) from error
            return error

    for path, result in zip(found, map_places(attempt, found), strict=True):
        if not isinstance(result, NotAFragmentError):
            yield path, result


def read_table(file: pq.ParquetFile, columns: list[str] | None = None) -> pa.Table:
    """Return the rows of an open fragment (default: all columns)."""
    there = None if columns is None else [name for name in columns if name in file.schema_arrow.names]
    return file.read(columns=there, use_threads=False).replace_schema_metadata(None)


def _read_complete(
    layout: SweepLayout, columns: list[str] | None, *, past_damage: bool
) -> list[pa.Table] | None:
    """Return the rows of all complete fragments; None if one disappeared after it was listed.

    A compaction writes a larger fragment before it deletes smaller ones, so that a new listing has all rows.
    """
    try:
        complete = map_complete(layout, lambda file: read_table(file, columns), past_damage=past_damage)
        return list(_join(table for _, table in complete))
    except FileNotFoundError:
        return None


def _join(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield the same rows in fewer tables; small tables of a hundred columns waste memory."""
    waiting: list[pa.Table] = []
    for table in tables:
        waiting.append(table)
        if len(waiting) == _JOINED:
            yield pa.concat_tables(waiting, promote_options="permissive").combine_chunks()
            waiting = []
    yield from waiting


def select_best_rows(rows: pa.Table) -> pa.Table:
    """Return the best row of each run, by run id.

    Args:
        rows: Rows in the order of the names of their fragments.
    """
    failed = pc.cast(pc.equal(rows["status"], "failed"), pa.int8())
    rank = pc.add(failed, pc.cast(is_transient(rows), pa.int8()))
    order = pc.sort_indices(
        pa.table({"run_id": rows["run_id"], "rank": rank, "position": np.arange(rows.num_rows)}),
        sort_keys=[("run_id", "ascending"), ("rank", "ascending"), ("position", "ascending")],
    )
    ids = rows["run_id"].take(order).to_numpy()
    first = np.ones(len(ids), dtype=bool)
    first[1:] = ids[1:] != ids[:-1]
    return rows.take(order.filter(pa.array(first)))
