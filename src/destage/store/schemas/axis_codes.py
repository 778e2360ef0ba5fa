"""The values of an axis as numbers: their places in the order of the axis."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa


@dataclass(frozen=True, slots=True)
class AxisCodes:
    """An axis of some points.

    Attributes:
        codes: By point, the place of its value; -1 without one (see `encode_bound`).
        values: The distinct values; numbers in their order, others in that of the points.
        is_ordered: Whether the values are numbers.
    """

    codes: np.ndarray
    values: tuple[object, ...]
    is_ordered: bool

    @property
    def count(self) -> int:
        """The number of distinct values."""
        return len(self.values)


def encode_axis(column: pa.ChunkedArray) -> AxisCodes:
    """Return an axis; a point without a value (null) has a value of its own, and the axis no order."""
    return _encode(column, column.combine_chunks().dictionary_encode(null_encoding="encode"))


def encode_bound(column: pa.ChunkedArray) -> AxisCodes:
    """Return an axis; a point without a value (null), where the axis has no effect, has the code -1."""
    return _encode(column, column.combine_chunks().dictionary_encode())


def _encode(column: pa.ChunkedArray, coded: pa.DictionaryArray) -> AxisCodes:
    values = coded.dictionary.to_pylist()
    codes = coded.indices.fill_null(-1).to_numpy()
    kind = column.type
    is_ordered = (pa.types.is_integer(kind) or pa.types.is_floating(kind)) and None not in values
    if is_ordered:
        order = np.argsort(np.array(values))
        codes = np.where(codes < 0, codes, np.argsort(order)[codes])
        values = [values[index] for index in order]
    return AxisCodes(codes, tuple(values), is_ordered)
