"""The axes of a sweep as a table, with their names as columns in SQL."""

from collections.abc import Mapping, Sequence
from functools import cache

import pyarrow as pa

from destage.engine import scenario_schema
from destage.queries.named.table_columns import FIXED
from destage.queries.tables.views import list_measured_columns
from destage.spec.axis_names import name_axes
from destage.sql import list_reserved_words
from destage.store.fragment_files.stored_rows import rows_schema

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
        names: The name in SQL of each path.
        config: A resolved configuration, for units and meanings.
    """
    rows = [
        {
            "place": place,
            "name": name,
            "path": path,
            "unit": scenario_schema.find_unit(path, config),
            "meaning": scenario_schema.find_meaning(path, config),
        }
        for place, (path, name) in enumerate(names.items())
    ]
    return pa.Table.from_pylist(rows, AXES_SCHEMA)
