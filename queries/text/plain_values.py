"""The values of result columns in forms that every output format has: JSON values, and texts.

Booleans, numbers and texts stay; other values become texts as DuckDB writes them, such as `1 month 2 days`,
and lists, tables and maps become JSON. In tables for people, products have their names in place of catalogue
identifiers, which SQL and files keep. Columns that a user's statement computes are marked: they have no
unit, and their name is their heading.
"""

import json
import math
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pyarrow as pa

from destage import allowance
from destage.engine.catalog import find_product

_COMPUTED = b"destage.computed"


def name_products(table: pa.Table) -> pa.Table:
    """Return rows with the product name of each controller and disk.

    Args:
        table: Rows whose axes have their dotted paths as names; those of catalogue entries end in `.use`.
    """
    for index, field in enumerate(table.schema):
        if field.name.endswith(".use"):
            values = table[index].to_pylist()
            names = [None if name is None else find_product(name) or name for name in values]
            table = table.set_column(index, field.name, pa.array(names, pa.string()))
    return table


def mark_computed(table: pa.Table, unchanged: AbstractSet[str]) -> pa.Table:
    """Return rows whose columns are marked as computed, except for some [names in lower case]."""
    fields = [
        field if field.name.lower() in unchanged else field.with_metadata({_COMPUTED: b""})
        for field in table.schema
    ]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields))


def list_computed(table: pa.Table) -> frozenset[str]:
    """Return the columns that are marked as computed."""
    return frozenset(field.name for field in table.schema if _COMPUTED in (field.metadata or {}))


def unmark(table: pa.Table) -> pa.Table:
    """Return rows without marks."""
    fields = [
        field.remove_metadata() if field.name in list_computed(table) else field for field in table.schema
    ]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields))


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)


def list_json_values(column: pa.ChunkedArray) -> list[Any]:
    """Return a column's values as JSON has them; infinity and NaN, which it lacks, as texts."""
    return [value for chunk in column.chunks for value in _list_values(chunk)]


def rows_as_json(table: pa.Table) -> list[dict[str, Any]]:
    """Return rows as JSON values; times, intervals, blobs, NaN and infinity as texts."""
    columns = [list_json_values(column) for column in table.columns]
    names = table.column_names
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def flatten(table: pa.Table) -> pa.Table:
    """Return a table of booleans, numbers and texts only, for formats without other types."""
    for index, field in enumerate(table.schema):
        if is_plain(field.type) or pa.types.is_decimal(field.type):
            continue
        chunks = [_flatten_part(part) for chunk in table[index].chunks for part in _split(chunk)]
        table = table.set_column(index, field.name, pa.chunked_array(chunks, pa.string()))
    return table


def _flatten_part(array: pa.Array) -> pa.Array:
    texts = pa.array(map(_as_text, _list_values(array)), pa.string())
    allowance.take(texts.nbytes)
    return texts


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


def _split(array: pa.Array) -> Iterator[pa.Array]:
    """Yield the parts of an array that are rendered at once."""
    for start in range(0, len(array), allowance.STEP):
        allowance.check()
        yield array.slice(start, allowance.STEP)


def _list_values(array: pa.Array) -> list[Any]:
    """Return the values of an Arrow array as JSON has them, all of one type at once."""
    return [value for part in _split(array) for value in _list_part(part)]


def _list_part(array: pa.Array) -> list[Any]:
    kind = array.type
    if pa.types.is_dictionary(kind):
        values = _list_part(array.dictionary_decode())
    elif pa.types.is_decimal(kind):
        values = [None if value is None else _number(value) for value in array.to_pylist()]
    elif pa.types.is_floating(kind):
        infinities = {math.inf: "Infinity", -math.inf: "-Infinity"}
        values = [
            value if value is None or math.isfinite(value) else infinities.get(value, "NaN")
            for value in array.to_pylist()
        ]
    elif is_plain(kind):
        values = array.to_pylist()
    elif pa.types.is_struct(kind):
        names = [field.name for field in kind]
        fields = [_list_values(array.field(index)) for index in range(len(names))]
        rows = zip(*fields, strict=True) if names else [()] * len(array)
        values = _with_nulls(array, (dict(zip(names, row, strict=True)) for row in rows))
    elif pa.types.is_union(kind):
        members = {code: _list_values(array.field(index)) for index, code in enumerate(kind.type_codes)}
        values = [members[code][row] for row, code in enumerate(array.type_codes.to_pylist())]
    elif isinstance(array, pa.ListArray | pa.LargeListArray | pa.FixedSizeListArray | pa.MapArray):
        values = _with_nulls(array, _list_items(array))
    else:
        from destage.sql import render_texts  # noqa: PLC0415 - loads duckdb, for types that few results have

        values = render_texts(pa.chunked_array([array]))
    return values


def _list_items(array: pa.Array) -> Iterator[list[Any] | dict[str, Any]]:
    """Yield the lists or maps of an array; of those that are null, any."""
    if isinstance(array, pa.FixedSizeListArray):
        size = array.type.list_size
        bounds = [(array.offset + row) * size for row in range(len(array) + 1)]
    else:
        bounds = array.offsets.to_pylist()
    first, count = bounds[0], bounds[-1] - bounds[0]
    if isinstance(array, pa.MapArray):
        keys = _list_keys(array.keys.slice(first, count))
        items = _list_values(array.items.slice(first, count))
        for begin, end in pairwise(bounds):
            place = slice(begin - first, end - first)
            yield dict(zip(keys[place], items[place], strict=True))
    else:
        items = _list_values(array.values.slice(first, count))
        for begin, end in pairwise(bounds):
            yield items[begin - first : end - first]


def _list_keys(keys: pa.Array) -> list[str]:
    if is_plain(keys.type) or pa.types.is_decimal(keys.type):
        return [str(key) for part in _split(keys) for key in part.to_pylist()]
    return [_as_text(key) or "" for key in _list_values(keys)]


def _with_nulls(array: pa.Array, values: Iterable[Any]) -> list[Any]:
    pairs = zip(values, array.is_valid().to_pylist(), strict=True)
    return [value if is_valid else None for value, is_valid in pairs]


def _number(value: Decimal) -> int | float | str:
    """Return a decimal as a number where that is exact, and as a text where not."""
    if value == value.to_integral_value():
        return int(value)
    return float(value) if Decimal(repr(float(value))) == value else str(value)
