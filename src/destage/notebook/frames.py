"""Rows as polars frames, which need the extra `notebook`."""

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from destage.extras import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

    from destage.queries import Session


def make_frame(rows: pa.Table) -> "pl.DataFrame":
    """Return rows as a DataFrame."""
    polars = require("polars")
    frame: pl.DataFrame = polars.DataFrame(polars.from_arrow(rows))
    return frame


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
