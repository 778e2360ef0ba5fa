"""A sweep's views as polars LazyFrames, for notebooks."""

from typing import TYPE_CHECKING

from destage.queries.session import Session, open_session
from destage.store import Location, find_sweep, locate

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl


class Frames:
    """A sweep's rows as LazyFrames [base units]; an axis is a column named by its dotted path.

    `session` is the open sweep, for SQL with Arrow tables as results.
    """

    def __init__(self, session: Session) -> None:
        self.session = session

    def runs(self) -> "pl.LazyFrame":
        """Return one row per finished run and point."""
        return self._view("runs")

    def points(self) -> "pl.LazyFrame":
        """Return one row per point (and probed value): means over replicates with their intervals."""
        return self._view("points")

    def answers(self) -> "pl.LazyFrame":
        """Return one row per point: the result of the study's seek."""
        return self._view("answers")

    def timeline(self) -> "pl.LazyFrame":
        """Return one row per transition of each run: time, event, subject and value."""
        return self._view("timeline")

    def query(self, name: str) -> "pl.LazyFrame":
        """Return the rows of a named query."""
        import polars as pl  # noqa: PLC0415 - only notebooks need it

        return pl.LazyFrame(pl.from_arrow(self.session.query(name)))

    def _view(self, name: str) -> "pl.LazyFrame":
        """Return a view, of which a collected frame reads only the columns and rows that it needs."""
        import polars as pl  # noqa: PLC0415 - only notebooks need it
        from polars.io.plugins import register_io_source  # noqa: PLC0415

        def read(
            columns: list[str] | None, predicate: "pl.Expr | None", most: int | None, _: int | None
        ) -> "Iterator[pl.DataFrame]":
            for batch in self.session.stream(name, columns):
                frame = pl.DataFrame(pl.from_arrow(batch))
                if most is not None:
                    frame = frame.head(most)
                    most -= frame.height
                yield frame if predicate is None else frame.filter(predicate)
                if most == 0:
                    return

        empty = pl.DataFrame(pl.from_arrow(self.session.sql(f"SELECT * FROM {name} LIMIT 0")))  # noqa: S608
        return register_io_source(read, schema=empty.schema)


def open_frames(sweep: str | Location, store: str | Location | None = None) -> Frames:
    """Open a sweep for a notebook."""
    return Frames(open_session(find_sweep(sweep, None if store is None else locate(store))))
