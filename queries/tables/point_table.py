"""The points of a sweep as a table, in which places are found by value without an object per point.

Another table has its axes, with their names as columns in SQL.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage.engine import configuration
from destage.queries.named.column_meanings import FIXED
from destage.queries.tables.views import list_measured_columns
from destage.spec.axis_names import name_axes
from destage.sql import list_reserved_words
from destage.store.fragment_files.stored_rows import rows_schema
from destage.store.schemas.figure_places import find_points

AXES_SCHEMA = pa.schema(
    [
        pa.field("place", pa.int64()),
        pa.field("name", pa.string()),
        pa.field("path", pa.string()),
        pa.field("unit", pa.string()),
        pa.field("meaning", pa.string()),
    ]
)


@cache
def _list_taken() -> frozenset[str]:
    """Return the names that no axis can have: of other columns, and words of SQL."""
    ends = (f"{name}_{end}" for name in list_measured_columns() for end in ("low", "high"))
    return frozenset([*rows_schema().names, *ends, *FIXED, *list_reserved_words()])


def name_columns(axes: Sequence[str], probed: Sequence[str]) -> dict[str, str]:
    """Return the name in SQL of each axis and of the sought parameter, by dotted path."""
    return name_axes(list(dict.fromkeys([*axes, *probed])), _list_taken())


def tabulate_axes(names: Mapping[str, str], config: Mapping[str, object]) -> pa.Table:
    """Return a row per axis.

    Args:
        config: A resolved configuration, for units and meanings.
    """
    units = [configuration.find_unit(path, config) for path in names]
    meanings = [configuration.find_meaning(path, config) for path in names]
    columns = [list(range(len(names))), list(names.values()), list(names), units, meanings]
    return pa.table(columns, schema=AXES_SCHEMA)


class PointTable:
    """The points: `point_id`, `label` and the axis columns [base units]."""

    def __init__(self, table: pa.Table, grid: pa.Table, scenario: Mapping[str, object]) -> None:
        """Take the points, those as written, and a resolved configuration, for the units of the axes.

        A point is found by every value that is written for it, also by one without effect.
        """
        self._table = table
        self._grid = grid
        self._scenario = scenario
        self._columns: dict[str, pa.DictionaryArray] = {}
        self._masks: dict[tuple[str, str], np.ndarray[Any, Any]] = {}

    def find(self, *named: Mapping[str, object]) -> list[str]:
        """Return the ids of the points that a place selects, in order; see `find_points`."""
        mask = np.ones(self._grid.num_rows, dtype=bool)
        for path, written in ((path, written) for place in named for path, written in place.items()):
            mask &= self._find_equal(path, written)
        ids: list[str] = self._grid["point_id"].filter(pa.array(mask)).unique().to_pylist()
        return ids

    def list_labels(self) -> set[str]:
        """Return the labels of the points that have one."""
        return set(self._table["label"].unique().to_pylist()) - {None}

    def list_rows(self, point_ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return some of the points."""
        return _list_rows(self._table, point_ids)

    def list_written(self, point_ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return what is written for some of the points: a row for each combination of the axes."""
        return _list_rows(self._grid, point_ids)

    def _find_equal(self, path: str, written: object) -> "np.ndarray[Any, Any]":
        """Return which points have a value, which is compared with each distinct value once."""
        key = path, repr(written)
        if key not in self._masks:
            if path not in self._grid.column_names:
                return np.zeros(self._grid.num_rows, dtype=bool)
            if path not in self._columns:
                self._columns[path] = self._grid[path].combine_chunks().dictionary_encode()
            column = self._columns[path]
            values = enumerate(column.dictionary.to_pylist())
            distinct = [{"point_id": str(index), path: value} for index, value in values]
            equal = np.array(find_points(distinct, self._scenario, {path: written}), dtype=np.int64)
            places = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            self._masks[key] = np.isin(places, equal)
        return self._masks[key]


def _list_rows(table: pa.Table, point_ids: Sequence[str]) -> list[dict[str, Any]]:
    is_wanted = pc.is_in(table["point_id"], pa.array(point_ids, pa.string()))
    rows: list[dict[str, Any]] = table.filter(is_wanted).to_pylist()
    return rows
