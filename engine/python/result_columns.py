"""The columns of a result row, as the engine defines them: name, type, unit, meaning."""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from destage.engine import _engine

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Column:
    """One column of a result row.

    Attributes:
        type: int, float or text, or one of them with `_list`.
        unit: Its unit; empty for a number or text without one.
    """

    name: str
    type: str
    unit: str
    meaning: str


@cache
def columns() -> tuple[Column, ...]:
    """The columns of a result row, in order."""
    return tuple(Column(*fields) for fields in _engine.columns())


@cache
def results_schema() -> "pa.Schema":
    """The Arrow schema of result rows; each field's metadata holds its unit and meaning."""
    import pyarrow as pa  # noqa: PLC0415 - one simulation needs only the names of columns

    scalars = {"int": pa.int64(), "float": pa.float64(), "text": pa.string()}
    types = scalars | {f"{name}_list": pa.list_(scalar) for name, scalar in scalars.items()}
    return pa.schema(
        [
            pa.field(
                column.name, types[column.type], metadata={"unit": column.unit, "meaning": column.meaning}
            )
            for column in columns()
        ]
    )
