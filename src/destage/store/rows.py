"""Reading result rows: all fragments together, one row per run."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage import engine
from destage.errors import StoreError
from destage.objects import Location
from destage.store.fragments import TRANSIENT_KINDS, NotAFragmentError, check_fragment, inspect_fragment
from destage.store.layout import SweepLayout
from destage.store.location import list_sizes
from destage.store.manifests import read_manifest
from destage.store.parallel import map_places
from destage.store.parquet import open_parquet

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


def rows_schema() -> pa.Schema:
    """Return the schema of rows: run id, the engine's result columns, provenance columns.

    A fragment written before a column was added lacks it; its rows are read with null there.
    """
    return pa.schema([pa.field("run_id", pa.string()), *engine.results_schema(), *PROVENANCE])


def read_rows(layout: SweepLayout, columns: Sequence[str] | None = None) -> pa.Table:
    """Return the stored rows, one per run, by run id.

    Where fragments share a run, a row with a result is kept over a failed one, then the row of the lowest
    fragment key.

    Args:
        columns: The columns, to which `run_id`, `status` and `error_kind` are added (default: all).

    Raises:
        StoreError: A fragment that was complete is damaged.
    """
    wanted = rows_schema()
    if columns is not None:
        names = {"run_id", "status", "error_kind", *columns}
        wanted = pa.schema([field for field in wanted if field.name in names])
    names_read = None if columns is None else wanted.names
    for _ in range(_LISTINGS):
        tables = _read_complete(layout, names_read)
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
    for path in [path for path, _ in list_sizes(layout.fragments) if path.suffix == ".parquet"]:
        try:
            with open_parquet(path) as file:
                missing = set(rows_schema().names).difference(file.schema_arrow.names)
                run_ids = file.read(columns=["run_id"])["run_id"].to_pylist() if missing else []
        except (pa.ArrowException, OSError, KeyError):
            continue  # `read_rows` skips it, too
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


def list_complete(layout: SweepLayout) -> list[Location]:
    """Return the complete fragments by name; torn and foreign files, which the next writer reports, are not.

    A fragment that the manifest lists with its size was checked when it was committed.
    """
    named = read_manifest(layout)
    sizes = _list_fragments(layout)

    def is_complete(path: Location) -> bool:
        known = named.get(path.stem)
        if known is not None and known.size == sizes[path]:
            return True
        try:
            inspect_fragment(path, sizes[path])
        except (NotAFragmentError, FileNotFoundError):
            return False
        return True

    return [path for path, fits in zip(sizes, map_places(is_complete, sizes), strict=True) if fits]


def _list_fragments(layout: SweepLayout) -> dict[Location, int]:
    return {
        path: size
        for path, size in list_sizes(layout.fragments)
        if path.suffix == ".parquet" and not path.name.startswith(".")
    }


def _read_complete(layout: SweepLayout, columns: list[str] | None) -> list[pa.Table] | None:
    """Return the rows of all complete fragments; None if one disappeared after it was listed.

    A compaction writes a larger fragment before it deletes smaller ones, so that a new listing has all rows.
    """
    named = read_manifest(layout)
    sizes = _list_fragments(layout)

    def read(path: Location) -> pa.Table | None:
        known = named.get(path.stem)
        is_named = known is not None and known.size == sizes[path]
        return read_fragment(path, is_named=is_named, columns=columns)

    try:
        return list(_join(table for table in map_places(read, sizes) if table is not None))
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


def read_fragment(path: Location, *, is_named: bool, columns: list[str] | None) -> pa.Table | None:
    """Return a fragment's rows; None if it is torn or foreign, which the next writer reports.

    Args:
        is_named: Whether a manifest lists it as complete.

    Raises:
        StoreError: It is listed as complete, and is damaged.
    """
    try:
        with open_parquet(path) as file:
            if not is_named:
                check_fragment(file, path, 0)
            table = file.read(columns=columns, use_threads=False)
    except NotAFragmentError:
        return None
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if not is_named:
            return None
        reason = str(error).splitlines()[0]
        message = f"damaged: {reason}; move the file away and resume the sweep"
        raise StoreError("store.damaged-fragment", message, str(path)) from error
    return table.replace_schema_metadata(None)


def select_best_rows(rows: pa.Table) -> pa.Table:
    """Return the best row of each run, by run id.

    Args:
        rows: Rows in the order of their fragment keys.
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
