"""Schemas of analysis tables, which carry what their rows and columns mean, for `destage query` to show."""

from collections.abc import Collection, Sequence

import pyarrow as pa

UNIT_OF = "unit of "
"""What the unit of a column begins with that has the unit of an axis, whose dotted path follows."""
_UNIT, _MEANING = b"unit", b"meaning"


def analysis_column(name: str, kind: pa.DataType, meaning: str, unit: str | None = None) -> pa.Field:
    """Return a column of an analysis table.

    Args:
        unit: Its unit, or `unit of PATH` for that of an axis.
    """
    metadata = {_MEANING: meaning.encode()} | ({} if unit is None else {_UNIT: unit.encode()})
    return pa.field(name, kind, metadata=metadata)


def analysis_schema(purpose: str, columns: Sequence[pa.Field], required: Collection[str] = ()) -> pa.Schema:
    """Return the schema of an analysis table.

    Args:
        purpose: What a row is, as in "one row per axis: its share of the variance".
        required: The columns that have a value in every row.
    """
    fields = [column.with_nullable(column.name not in required) for column in columns]
    return pa.schema(fields, metadata={_MEANING: purpose.encode()})


def find_purpose(schema: pa.Schema) -> str:
    """Return what a row of an analysis table is."""
    return _find(schema.metadata, _MEANING) or "table of an analysis"


def list_meanings(schema: pa.Schema) -> dict[str, tuple[str | None, str]]:
    """Return the unit and the meaning of each column that has a meaning."""
    found = {
        column.name: (_find(column.metadata, _UNIT), _find(column.metadata, _MEANING)) for column in schema
    }
    return {name: (unit, meaning) for name, (unit, meaning) in found.items() if meaning is not None}


def _find(metadata: dict[bytes, bytes] | None, key: bytes) -> str | None:
    value = (metadata or {}).get(key)
    return None if value is None else value.decode()
