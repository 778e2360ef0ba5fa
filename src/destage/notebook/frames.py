"""Rows as polars frames, which need the extra `notebook`."""

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from destage.extras import require
from destage.queries.text.formats import make_storable
from destage.queries.text.plain_values import flatten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

    from destage.queries import Session

_FIRST_DAY, _END_DAY = -719_162, 2_932_897
"""The days of Python since 1970: the first of year 1, and the one after year 9999."""
_PER_DAY = {"day": 1, "s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def make_frame(rows: pa.Table) -> "pl.DataFrame":
    """Return rows as a DataFrame; values of types that polars lacks are texts."""
    polars = require("polars")
    frame: pl.DataFrame = polars.DataFrame(polars.from_arrow(_make_readable(rows)))
    return frame


def _make_readable(rows: pa.Table) -> pa.Table:
    """Return rows with values that polars or Python cannot hold as texts, such as infinite dates."""
    rows = make_storable(rows)
    for index, field in enumerate(rows.schema):
        if any(map(_has_distant_time, rows[index].chunks)):
            rows = rows.set_column(index, field.name, flatten(rows.select([index]))[0])
    return rows


def _has_distant_time(values: pa.Array) -> bool:
    """Return whether any value, within nested ones too, is beyond the years or the day of Python."""
    kind = values.type
    if pa.types.is_temporal(kind):
        unit = "day" if pa.types.is_date(kind) else kind.unit
        ends = pc.min_max(values.cast(pa.int32() if unit == "day" else pa.int64())).as_py()
        if ends["min"] is None:
            return False
        first, end = (0, 1) if pa.types.is_time(kind) else (_FIRST_DAY, _END_DAY)
        return bool(ends["min"] < first * _PER_DAY[unit] or ends["max"] >= end * _PER_DAY[unit])
    if pa.types.is_struct(kind):
        return any(_has_distant_time(values.field(index)) for index in range(kind.num_fields))
    if pa.types.is_map(kind):
        return _has_distant_time(values.keys) or _has_distant_time(values.items)
    return pa.types.is_nested(kind) and _has_distant_time(values.values)


def open_view(find_session: "Callable[[], Session]", name: str) -> "pl.LazyFrame":
    """Return a view of a sweep as a LazyFrame that reads only the columns and rows that are collected."""
    pl: Any = require("polars")
    register_io_source = require("polars.io.plugins").register_io_source

    def read(
        columns: list[str] | None, predicate: "pl.Expr | None", most: int | None, _: int | None
    ) -> "Iterator[pl.DataFrame]":
        for batch in find_session().stream(name, columns):
            frame = pl.DataFrame(pl.from_arrow(batch))
            if most is not None:
                frame = frame.head(most)
                most -= frame.height
            yield frame if predicate is None else frame.filter(predicate)
            if most == 0:
                return

    empty = make_frame(find_session().sql(f"SELECT * FROM {name} LIMIT 0"))  # noqa: S608
    return register_io_source(read, schema=empty.schema)  # type: ignore[no-any-return]
