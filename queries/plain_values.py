"""The values of result columns in forms that every output format has: JSON values, and texts.

Booleans, numbers and texts stay; other values become texts as DuckDB writes them, such as `1 month 2 days`,
and lists, tables and maps become JSON.
"""

import json
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa

_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)


def list_json_values(column: pa.ChunkedArray) -> list[Any]:
    """Return a column's values as JSON has them; infinity and NaN, which it lacks, as texts."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if is_plain(kind) or pa.types.is_decimal(kind) or pa.types.is_nested(kind):
        try:
            return [_plain(value, kind) for value in column.to_pylist()]
        except (ValueError, OverflowError):
            pass  # a time within a list that Python does not have
    return _render(column)


def flatten(table: pa.Table) -> pa.Table:
    """Return a table of booleans, numbers and texts only, for formats without other types."""
    for index, field in enumerate(table.schema):
        if is_plain(field.type) or pa.types.is_decimal(field.type):
            continue
        values = list_json_values(table[index])
        texts = [_as_text(value) for value in values]
        table = table.set_column(index, field.name, pa.array(texts, pa.string()))
    return table


def flatten_unusual(table: pa.Table) -> pa.Table:
    """Return a table with values of types without a common text form as texts; other lists are kept."""
    for index, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_list(field.type) else field.type
        if not is_plain(kind):
            table = table.set_column(index, field.name, flatten(table.select([index]))[0])
    return table


def is_number(kind: pa.DataType) -> bool:
    """Return whether a type has numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _as_text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else _ENCODER.encode(value)


def is_plain(kind: pa.DataType) -> bool:
    """Return whether every format has the values of a type."""
    return bool(
        pa.types.is_null(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
    )


def _plain(value: Any, kind: pa.DataType) -> Any:
    """Return a value of an Arrow type as JSON has it."""
    if value is None or isinstance(value, bool | int | str):
        plain: Any = value
    elif isinstance(value, float):
        plain = value if math.isfinite(value) else _name_infinity(value)
    elif isinstance(value, Decimal):
        plain = _number(value)
    elif pa.types.is_struct(kind):
        plain = {field.name: _plain(value[field.name], field.type) for field in kind}
    elif pa.types.is_map(kind):
        plain = {str(key): _plain(item, kind.item_type) for key, item in value}
    elif isinstance(value, list):
        plain = [_plain(item, kind.value_type) for item in value]
    else:
        plain = _render(pa.chunked_array([pa.array([value], None if pa.types.is_union(kind) else kind)]))[0]
    return plain


def _name_infinity(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _number(value: Decimal) -> int | float | str:
    """Return a decimal as a number where that is exact, and as a text where not."""
    if value == value.to_integral_value():
        return int(value)
    return float(value) if Decimal(repr(float(value))) == value else str(value)


def _render(column: pa.ChunkedArray) -> list[str | None]:
    from destage.sql import render_texts  # noqa: PLC0415 - loads duckdb, for types that few results have

    return render_texts(column)
