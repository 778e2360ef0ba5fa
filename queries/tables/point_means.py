"""Means over the replicates of each point, where every point has the same number of consecutive plan rows.

They have the digits of the view `points` (`views`), for a quarter of its time and a bounded memory: the place
of each stored row in the plan is found once, and a few result columns at a time are read into the order of
the plan, where the values of a point are neighbours. The rest is arithmetic over whole columns.

A group of values is sorted, so that its sum does not depend on the order in which rows are stored or read.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from destage import allowance
from destage.engine.result_columns import is_share
from destage.queries.tables.facts import join_rows, read_order
from destage.queries.tables.views import FIRST_ROW, STATUSES
from destage.sql import Database, quote, quote_text
from destage.student import quantile

_Array = np.ndarray[Any, Any]
_Read = Callable[[str], Iterator[pa.RecordBatch]]
_PORTION_BYTES = 256 << 20
"""The values of the columns that are read at a time."""
_MOST_KEPT_BYTES = 256 << 20
"""The results of columns that are kept for later statements."""
_VALUE_BYTES = 9
"""A value, and whether it is there."""
_CODES = ("ok", *STATUSES)
_OTHER = len(_CODES)
"""The code of a status that is not counted."""
_MISSING = _OTHER + 1
"""The code of a planned run without a row."""
_THREADS = 2
_FEWEST = 2
"""Values from which on a mean has an interval."""


@dataclass(frozen=True, slots=True)
class _Places:
    """Where stored rows are in the plan.

    Attributes:
        first_rows: The first plan row of each point, in order.
        rows: The number of a stored row, in order, as often as the plan has its run.
        slots: The place of each of `rows` among the plan rows of the points.
        status: The code of the status of each slot.
        is_repeated: Whether several points share a run.
    """

    first_rows: _Array
    rows: _Array
    slots: _Array
    status: _Array
    is_repeated: bool


class PointMeans:
    """The means of one open sweep, whose rows do not change."""

    def __init__(self, database: Database, rows_per_point: int, order: Path | None) -> None:
        """Take the database with `plan` and `stored_rows`.

        Args:
            rows_per_point: As in `Facts`.
            order: As in `Relations`.
        """
        self._database = database
        self._rows_per_point = rows_per_point
        self._order = order
        self._places: _Places | None = None
        self._means: dict[str, dict[str, pa.Array]] = {}

    def tabulate(self, columns: Mapping[str, bool]) -> pa.Table:
        """Return a row per point: `FIRST_ROW`, the counts of `points`, and the means of result columns.

        Args:
            columns: Whether the ends of the interval are needed too, by result column.

        Raises:
            QueryError: The statements fail, or the time or memory of one statement is exceeded.
        """
        return self._database.compute(lambda read: self._tabulate(read, columns))

    def _tabulate(self, read: _Read, columns: Mapping[str, bool]) -> pa.Table:
        if self._places is None:
            self._places = _find_places(read, self._rows_per_point, self._order)
        places = self._places
        lacking = {
            name: has_interval
            for name, has_interval in columns.items()
            if f"{name}_low" not in self._means.get(name, {}) and (has_interval or name not in self._means)
        }
        width = max(_PORTION_BYTES // (_VALUE_BYTES * max(len(places.status), 1)), 1)
        results = 8 * (len(columns) + 2 * sum(columns.values()) + len(_CODES) + 2) * len(places.first_rows)
        read_bytes = _VALUE_BYTES * min(width, len(lacking)) * len(places.status)
        if results + read_bytes > self._database.memory_bytes:
            raise allowance.build_memory_error(self._database.memory_bytes)
        names = iter(lacking)
        while portion := list(islice(names, width)):
            self._means |= self._measure(read, places, {name: lacking[name] for name in portion})
        table = self._list_counts(places)
        for name in columns:
            # Those that were needed last are forgotten last.
            self._means[name] = self._means.pop(name)
            table |= self._means[name]
        self._forget()
        return pa.table(table)

    def _forget(self) -> None:
        size = sum(part.nbytes for parts in self._means.values() for part in parts.values())
        while size > _MOST_KEPT_BYTES:
            parts = self._means.pop(next(iter(self._means)))
            size -= sum(part.nbytes for part in parts.values())

    def _list_counts(self, places: _Places) -> dict[str, pa.Array]:
        status = places.status.reshape(-1, self._rows_per_point)
        names = ["n", *(f"n_{name}" for name in STATUSES)]
        codes = [*range(len(_CODES)), _MISSING]
        counts = {
            name: pa.array(np.count_nonzero(status == code, axis=1).astype(np.int64))
            for name, code in zip([*names, "n_missing"], codes, strict=True)
        }
        return {FIRST_ROW: pa.array(places.first_rows), **counts}

    def _measure(
        self, read: _Read, places: _Places, columns: Mapping[str, bool]
    ) -> dict[str, dict[str, pa.Array]]:
        """Return the columns of `tabulate` of some result columns, which are read together."""
        shape = (-1, self._rows_per_point)
        values = {name: np.empty(len(places.status)) for name in columns}
        is_ok = places.status == 0
        known = {name: is_ok.copy() for name in columns}
        listed = ", ".join(f"{quote(name)}::DOUBLE AS {quote(name)}" for name in columns)
        start = 0
        for batch in read(f"SELECT {listed} FROM stored_rows"):  # noqa: S608 - result columns, quoted
            end = start + batch.num_rows
            # Numbers of another type would have all rows converted.
            first, last = np.searchsorted(places.rows, np.array((start, end), places.rows.dtype))
            rows, slots = places.rows[first:last] - start, places.slots[first:last]
            is_whole = len(rows) == batch.num_rows and not places.is_repeated
            for name in columns:
                column = batch[name]
                numbers = column.to_numpy(zero_copy_only=False)
                values[name][slots] = numbers if is_whole else numbers[rows]
                if column.null_count:
                    nulls = column.is_null().to_numpy(zero_copy_only=False)[rows]
                    known[name][slots[nulls]] = False
            start = end

        def average(name: str) -> dict[str, pa.Array]:
            of_points = (part.pop(name).reshape(shape) for part in (values, known))
            return _average(name, *of_points, has_interval=columns[name])

        with ThreadPoolExecutor(_THREADS) as pool:
            return dict(zip(columns, pool.map(average, columns), strict=True))


def _find_places(read: _Read, rows_per_point: int, file: Path | None) -> _Places:
    (firsts,) = _fetch(read, 1, f"SELECT plan_row FROM plan WHERE plan_row % {rows_per_point} = 0")  # noqa: S608
    firsts.sort()
    order = read_order(file, len(firsts) * rows_per_point)
    if order is None:
        # A join has its rows in any order.
        rows, slots = _fetch(read, 2, join_rows("FROM plan", "FROM stored_rows"))
    else:
        rows, slots = np.arange(len(order), dtype=np.int32), order
    if len(firsts) and firsts[-1] != (len(firsts) - 1) * rows_per_point:
        # Points of the plan as written are left out.
        place = slots % rows_per_point
        slots = np.searchsorted(firsts, slots - place) * rows_per_point + place
    if (rows[1:] < rows[:-1]).any():
        by_row = np.argsort(rows, kind="stable")
        rows, slots = rows[by_row], slots[by_row]
    cases = " ".join(f"WHEN {quote_text(name)} THEN {code}" for code, name in enumerate(_CODES))
    coded = f"SELECT (CASE status {cases} ELSE {_OTHER} END)::UTINYINT AS code FROM stored_rows"  # noqa: S608
    status = np.full(len(firsts) * rows_per_point, _MISSING, np.uint8)
    status[slots] = _fetch(read, 1, coded)[0][rows]
    return _Places(firsts, rows, slots, status, is_repeated=bool((rows[1:] == rows[:-1]).any()))


def _fetch(read: _Read, columns: int, statement: str) -> list[_Array]:
    """Return the columns of a statement, without nulls."""
    batches = list(read(statement))
    if not batches:
        return [np.empty(0, np.int64)] * columns
    return [np.concatenate([batch[place].to_numpy() for batch in batches]) for place in range(columns)]


def _average(name: str, values: _Array, known: _Array, *, has_interval: bool) -> dict[str, pa.Array]:
    """Return the means of the known values of each row, added as DuckDB's `list_avg` adds a sorted list.

    The interval has the standard deviation of `list_stddev_samp` (Welford's recurrence).
    """
    values[~known] = np.nan
    # NaN is the largest, as in DuckDB: what is not known is behind what is.
    values.sort(axis=1)
    count = np.count_nonzero(known, axis=1)
    least = int(count.min(initial=len(values.T)))
    total, mean, squares = (np.zeros(len(values)) for _ in range(3))
    with np.errstate(all="ignore"):
        for place, value in enumerate(values.T):
            is_there = True if place < least else count > place
            np.add(total, value, out=total, where=is_there)
            if has_interval:
                before = value - mean
                np.add(mean, before / (place + 1), out=mean, where=is_there)
                np.add(squares, before * (value - mean), out=squares, where=is_there)
        parts = {name: _as_column(total / count, count == 0)}
        if has_interval:
            quantiles = np.array([np.nan, np.nan, *map(quantile, range(2, values.shape[1] + 1))])
            error = np.sqrt(squares / (count - 1)) / np.sqrt(count)
            half_width = quantiles[count] * error
            low, high = np.maximum(total / count - half_width, 0.0), total / count + half_width
            if is_share(name):
                high = np.minimum(high, 1.0)
            for end, value in (("low", low), ("high", high)):
                parts[f"{name}_{end}"] = _as_column(value, count < _FEWEST)
    return parts


def _as_column(numbers: _Array, is_null: _Array) -> pa.Array:
    # Without the option, Arrow takes NaN for null.
    return pa.array(numbers, mask=is_null, from_pandas=False)
