"""The columns of a result row, as the engine defines them: name, type, unit, meaning."""

import json
from dataclasses import dataclass
from functools import cache

import pyarrow as pa

from destage.engine import _engine

_TYPES = {"int64": pa.int64(), "float64": pa.float64(), "utf8": pa.string(), "bool": pa.bool_()}


@dataclass(frozen=True)
class Column:
    """One column of a result row.

    Attributes:
        name: Its name, which carries its unit.
        type: Its type: int64, float64, utf8 or bool.
        unit: What it counts in; empty for a bare number or a word.
        meaning: What it says, in one sentence.
    """

    name: str
    type: str
    unit: str
    meaning: str


@cache
def columns() -> tuple[Column, ...]:
    """The columns of a result row, in order."""
    return tuple(
        Column(name=each["name"], type=each["type"], unit=each["unit"] or "", meaning=each["meaning"])
        for each in json.loads(_engine.columns())
    )


@cache
def results_schema() -> pa.Schema:
    """The Arrow schema of result rows; each field's metadata holds its unit and meaning."""
    return pa.schema(
        [
            pa.field(
                column.name, _TYPES[column.type], metadata={"unit": column.unit, "meaning": column.meaning}
            )
            for column in columns()
        ]
    )
