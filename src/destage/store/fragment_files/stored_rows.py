"""Reading result rows: all fragments together, one row per run."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from destage import engine
from destage.errors import StoreError
from destage.objects import Location
from destage.store.files.layout import SweepLayout, map_places
from destage.store.fragment_files.fragments import (
    TRANSIENT_KINDS,
    NotAFragmentError,
    check_fragment,
    open_fragment,
)
from destage.store.fragment_files.index import (
    KEYS,
    IndexedRows,
    list_fragments,
    read_segments,
    take_indexed,
)

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


def rows_schema(columns: Sequence[str] | None = None) -> pa.Schema:
    """Return the schema of rows: run id, the engine's result columns, provenance columns.

    A fragment written before a column was added lacks it; its rows are read with null there.

    Args:
        columns: Some of the columns, to which those of `KEYS` are added (default: all).
    """
    every = [pa.field("run_id", pa.string()), *engine.results_schema(), *PROVENANCE]
    return pa.schema(
        every if columns is None else [column for column in every if column.name in {*KEYS, *columns}]
    )


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
    wanted = rows_schema(columns)
    gathered = _gather(layout, None if columns is None else wanted.names, past_damage=past_damage)
    return gathered.select_best(wanted)


def count_stored_rows(layout: SweepLayout) -> int:
    """Return the number of rows in fragments that can be read.

    A run has several where it failed first, or where a worker was lost between its commit and its answer,
    so that the run was executed again.
    """
    return _gather(layout, list(rows_schema([]).names), past_damage=True).count


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


def list_complete_fragments(layout: SweepLayout, places: Sequence[Location] | None = None) -> list[Location]:
    """Return the complete fragments, by name; foreign files are left out.

    Args:
        places: Where they are looked for (default: all files among the fragments).

    Raises:
        StoreError: A fragment that was complete is damaged.
        FileNotFoundError: One disappeared after it was listed.
    """
    return [path for path, _ in _map_found(layout, check_fragment, places=places)]


def map_complete(
    layout: SweepLayout,
    read: Callable[[pq.ParquetFile], _Read],
    *,
    past_damage: bool = False,
    found: Sequence[Location] | None = None,
) -> Iterator[tuple[Location, _Read]]:
    """Yield each complete fragment, by name, with what a function reads of it; errors as above.

    A foreign file is passed over: the next writer reports it.

    Args:
        past_damage: Whether to pass over damaged fragments as well.
        found: The fragments (default: all of the sweep).
    """

    def open_and_read(path: Location) -> _Read:
        with open_fragment(path) as file:
            return read(file)

    return _map_found(layout, open_and_read, past_damage=past_damage, places=found)


def _map_found(
    layout: SweepLayout,
    act: Callable[[Location], _Read],
    *,
    past_damage: bool = False,
    places: Sequence[Location] | None = None,
) -> Iterator[tuple[Location, _Read]]:
    """Yield each complete fragment with the result of a function that raises `NotAFragmentError`."""
    places = [stamp.path for stamp in list_fragments(layout).values()] if places is None else places

    def attempt(path: Location) -> _Read | NotAFragmentError:
        try:
            return act(path)
        except NotAFragmentError as error:
            if error.code == "store.damaged-fragment" and not past_damage:
                # Fragments appear under their names when they are complete.
                message = "damaged since it was complete; `destage run SWEEP` runs its runs again"
                raise StoreError(error.code, message, str(path)) from error
            return error if error.place else NotAFragmentError(error.code, error.message, path.name)

    for path, result in zip(places, map_places(attempt, places), strict=True):
        if not isinstance(result, NotAFragmentError):
            yield path, result


def read_table(file: pq.ParquetFile, columns: list[str] | None = None) -> pa.Table:
    """Return the rows of an open fragment (default: all columns).

    Raises:
        NotAFragmentError: A column has another type or is missing, or a row has no run.
    """
    # Arrow makes such a list anew each time that it is asked for.
    stored = set(file.schema_arrow.names)
    there = None if columns is None else [name for name in columns if name in stored]
    rows = file.read(columns=there, use_threads=False).replace_schema_metadata(None)
    names = set(rows.column_names)
    try:
        pa.unify_schemas(
            [pa.schema([field for field in _expected() if field.name in names]), rows.schema],
            promote_options="permissive",
        )
    except pa.ArrowException as error:
        raise NotAFragmentError("store.foreign-file", "a column of another type", "") from error
    needed = [name for name in KEYS if columns is None or name in columns]
    if missing := set(needed).difference(names):
        raise NotAFragmentError("store.foreign-file", f"no column {min(missing)}", "")
    if any(rows[name].null_count for name in needed if name != "error_kind"):
        raise NotAFragmentError("store.foreign-file", "a row without a run or a status", "")
    return rows


@cache
def _expected() -> pa.Schema:
    return pa.schema([field.remove_metadata() for field in rows_schema()])


@dataclass
class GatheredRows:
    """Rows of fragments in few tables; small ones of a hundred columns waste memory."""

    names: list[str] = field(default_factory=list)
    _numbers: list[np.ndarray] = field(default_factory=list)
    _joined: list[pa.Table] = field(default_factory=list)
    _waiting: list[pa.Table] = field(default_factory=list)

    def add(self, part: IndexedRows) -> None:
        """Add the rows of fragments."""
        self._numbers.append(part.numbers + len(self.names))
        self.names += part.fragments
        self._waiting.append(part.rows)
        if len(self._waiting) == _JOINED:
            self._join()

    def _join(self) -> None:
        if self._waiting:
            rows = pa.concat_tables(self._waiting, promote_options="permissive")
            self._joined.append(rows.combine_chunks())
            self._waiting.clear()

    @property
    def count(self) -> int:
        """The number of rows, of which several may be of one run."""
        return sum(len(numbers) for numbers in self._numbers)

    def select_best(self, schema: pa.Schema) -> pa.Table:
        """Return the best row of each run with the columns of a schema, by run id."""
        self._join()
        order = np.argsort(np.argsort(self.names)) if self.names else np.zeros(0, np.int64)
        places = order[np.concatenate([np.zeros(0, np.int64), *self._numbers])]
        rows = pa.concat_tables([schema.empty_table(), *self._joined], promote_options="permissive")
        return select_best_rows(rows, places) if rows.num_rows else schema.empty_table()


def _gather(layout: SweepLayout, columns: list[str] | None, *, past_damage: bool) -> GatheredRows:
    """Return the rows of all complete fragments: from the index where it has the columns, else by reading.

    Where fragments are merged meanwhile, a larger one is written before smaller ones are deleted, so that a
    new list has all rows; what has been read already is not read again.
    """
    gathered, covered = GatheredRows(), set[str]()
    segments = [] if columns is None else read_segments(layout, columns)
    for _ in range(_LISTINGS):
        try:
            stamps = {name: stamp for name, stamp in list_fragments(layout).items() if name not in covered}
            for part in take_indexed(segments, stamps):
                gathered.add(replace(part, rows=part.rows.select(columns)))
                covered.update(part.fragments)
            left = [stamp.path for name, stamp in stamps.items() if name not in covered]
            for path, rows in map_complete(
                layout, lambda file: read_table(file, columns), past_damage=past_damage, found=left
            ):
                gathered.add(IndexedRows(rows, (path.name,), (rows.num_rows,)))
                covered.add(path.name)
        except FileNotFoundError:
            continue
        return gathered
    message = "fragments change while they are read; wait for `destage admin compact` to end"
    raise StoreError("store.changed-while-read", message, str(layout.root))


def select_best_rows(rows: pa.Table, places: np.ndarray | None = None) -> pa.Table:
    """Return the best row of each run, by run id.

    Args:
        places: By row the place of its fragment by name (default: the rows are in that order).
    """
    if (distinct := _sort_distinct(rows["run_id"])) is not None:
        return rows.take(distinct)
    failed = pc.cast(pc.equal(rows["status"], "failed"), pa.int8())
    rank = pc.add(failed, pc.cast(is_transient(rows), pa.int8()))
    position = np.arange(rows.num_rows) if places is None else places
    order = pc.sort_indices(
        pa.table({"run_id": rows["run_id"], "rank": rank, "position": position}),
        sort_keys=[("run_id", "ascending"), ("rank", "ascending"), ("position", "ascending")],
    )
    ids = rows["run_id"].take(order).to_numpy()
    first = np.ones(len(ids), dtype=bool)
    first[1:] = ids[1:] != ids[:-1]
    return rows.take(order.filter(pa.array(first)))


_MOST_TEXT = 2**31 - 1
"""The most text in one array [bytes]."""
_PREFIX = 16
"""Hexadecimal digits of a run id that a number of 64 bits has."""
_NO_DIGIT = 16
_DIGITS = np.full(256, _NO_DIGIT, np.uint8)
"""The value of each character as a hexadecimal digit."""
_DIGITS[list(b"0123456789abcdef")] = range(16)


def _sort_distinct(run_ids: pa.ChunkedArray) -> np.ndarray | None:
    """Return the order of run ids of which no two begin alike; None if they may be of one run.

    Numbers are sorted in a tenth of the time of texts.
    """
    if not len(run_ids) or run_ids.null_count or run_ids.type != pa.string() or run_ids.nbytes > _MOST_TEXT:
        return None
    texts = run_ids.combine_chunks()
    ends = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset :][: len(texts) + 1]
    length = ends[1] - ends[0]
    if length < _PREFIX or (np.diff(ends) != length).any():
        return None
    characters = np.frombuffer(texts.buffers()[2], np.uint8)[ends[0] : ends[-1]].reshape(len(texts), length)
    numbers = np.zeros(len(texts), np.uint64)
    for column in np.ascontiguousarray(characters[:, :_PREFIX].T):
        digits = _DIGITS[column]
        if digits.max() == _NO_DIGIT:
            return None
        numbers <<= np.uint64(4)
        numbers |= digits
    # Digits are in the order of their characters.
    order = np.argsort(numbers)
    is_repeated = numbers[order[1:]] == numbers[order[:-1]]
    return None if is_repeated.any() else order
