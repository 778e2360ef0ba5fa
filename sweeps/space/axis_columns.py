"""The columns of axes: values of canonical configurations or as written, and the Arrow types they share."""

import json
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pyarrow as pa

from destage.sweeps.space.identity import canonical_text

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


def keep_written(
    column: pa.DictionaryArray, values: Sequence[object], codes: np.ndarray
) -> pa.DictionaryArray:
    """Return an axis with the written value where that of the configuration is another one.

    Args:
        column: The values of the configurations, as JSON texts.
        values: The written values.
        codes: By point, the position of its written value; negative where it has none.
    """
    indices = column.indices.fill_null(len(column.dictionary)).to_numpy()
    texts = [*column.dictionary.to_pylist(), None]
    resolved = [*read_values(column.dictionary), None]
    pairs, inverse = np.unique(np.stack([indices, codes]), axis=1, return_inverse=True)
    places, written = pairs.tolist()
    is_other = [
        code >= 0 and _is_rewritten(values[code], resolved[place], texts[place])
        for place, code in zip(places, written, strict=True)
    ]
    if not any(is_other):
        return column
    kept = [
        canonical_text(values[code]) if other else texts[place]
        for place, code, other in zip(places, written, is_other, strict=True)
    ]
    return pa.array(kept, pa.string()).dictionary_encode().take(pa.array(inverse.ravel()))


def _is_rewritten(written: object, resolved: object, text: str | None) -> bool:
    """Return whether a configuration has another value than the written one; a table is never compared."""
    if written is None or isinstance(written, Mapping | list):
        return False
    if text is None or resolved is None:
        return True
    if isinstance(written, bool) or isinstance(resolved, bool | str):
        is_text = text.startswith('"')
        return (
            type(written) is type(resolved)
            and (is_text or isinstance(resolved, bool))
            and written != resolved
        )
    return isinstance(written, int | float) and written != resolved
