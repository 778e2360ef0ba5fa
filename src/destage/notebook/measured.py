"""A measured set in Python: its lines, as typed rows and as a frame."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

import pyarrow as pa

from destage.measured import sets
from destage.measured.line import MeasuredLine
from destage.notebook.frames import make_frame
from destage.notebook.html import render_table
from destage.queries.named.column_meanings import MEASURED_UNITS
from destage.store import Location, default_store, locate

if TYPE_CHECKING:
    import polars as pl

_SHOWN = (
    *("line", "array_label", "workload", "tool", "outstanding", "request_bytes", "read_fraction"),
    *("random_fraction", "throughput_iops", "response_mean_us", "response_p95_us", "response_p99_us"),
)


class Measured(Sequence[MeasuredLine]):
    """A measured set: a sequence of its lines, whose attributes are the columns of `measured` in SQL.

    Attributes:
        name: The name that it was imported under.
    """

    def __init__(self, name: str, table: pa.Table) -> None:
        self.name = name
        self._table = table
        self._lines = sets.as_lines(table)

    @overload
    def __getitem__(self, index: int) -> MeasuredLine: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[MeasuredLine, ...]: ...

    def __getitem__(self, index: int | slice) -> MeasuredLine | tuple[MeasuredLine, ...]:
        return self._lines[index]

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[MeasuredLine]:
        return iter(self._lines)

    def arrow(self) -> pa.Table:
        """Return the lines as an Arrow table."""
        return self._table

    def frame(self) -> "pl.DataFrame":
        """Return the lines as a DataFrame."""
        return make_frame(self._table)

    def __repr__(self) -> str:
        return f"Measured({self.name!r}, {len(self)} lines)"

    def _repr_html_(self) -> str:
        return render_table(self._table.select(_SHOWN), MEASURED_UNITS)


def open_measured(name: str, store: str | Location | None = None) -> Measured:
    """Open a measured set of a store."""
    place = default_store() if store is None else locate(store)
    return Measured(name, sets.read_table(place, name))
