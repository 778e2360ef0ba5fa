"""The columns of axes: values as read back from canonical configurations, and the Arrow types they share."""

import json
from collections.abc import Collection, Mapping

import pyarrow as pa

from destage.sweeps.identity import canonical_text

_LONGEST_INT = 2**63 - 1


def kind_of(value: object) -> type:
    """Return the type of a value as a column holds it: longer integers, which the engine rejects, as text."""
    return str if isinstance(value, int) and abs(value) > _LONGEST_INT else type(value)


def find_type(kinds: Collection[type]) -> pa.DataType:
    """Return the Arrow type of a column that holds values of these types."""
    known = set(kinds) - {type(None)}
    if known == {bool}:
        return pa.bool_()
    if known == {int}:
        return pa.int64()
    if known and known <= {int, float}:
        return pa.float64()
    return pa.string()


def fit(value: object, kind: pa.DataType) -> object:
    """Return an axis's value in the type of its column."""
    if value is None or isinstance(value, str) or not pa.types.is_string(kind):
        return value
    return canonical_text(value) if isinstance(value, Mapping | list) else str(value)


def read_values(texts: pa.Array) -> list[object]:
    """Return the values of JSON texts as a column holds them: tables and lists as text."""
    written = texts.to_pylist()
    # One text of all of them is read several times as fast as each by itself.
    values = json.loads(f"[{','.join(written)}]")
    return [
        text if isinstance(value, dict | list) else value for text, value in zip(written, values, strict=True)
    ]
