"""Run ids in memory: as bytes, half the size of their text."""

from itertools import pairwise

import numpy as np
import pyarrow as pa

from destage.errors import StoreError

_BYTES = 16
_DIGITS = np.zeros(256, np.uint8)
_DIGITS[np.frombuffer(b"0123456789abcdef", np.uint8)] = np.arange(16)


def pack_ids(run_ids: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return run ids, 32 hexadecimal digits each, as bytes.

    Raises:
        StoreError: One is null or has another length; all after it would be those of other runs.
    """
    packed = bytearray()
    for chunk in run_ids.chunks if isinstance(run_ids, pa.ChunkedArray) else [run_ids]:
        if len(chunk):
            _, offsets, data = chunk.buffers()
            ends = np.frombuffer(offsets, np.int32)[chunk.offset :][: len(chunk) + 1]
            if chunk.null_count or not (np.diff(ends) == 2 * _BYTES).all():
                message = f"a run id must have {2 * _BYTES} hexadecimal digits"
                raise StoreError("store.invalid-file", message, "run_id")
            digits = _DIGITS[np.frombuffer(data, np.uint8)[ends[0] : ends[len(chunk)]]]
            packed += (digits[::2] << 4 | digits[1::2]).tobytes()
    return as_ids(bytes(packed))


def as_ids(packed: bytes) -> pa.Array:
    """Return the bytes of run ids as an Arrow array, without a copy."""
    count = len(packed) // _BYTES
    return pa.Array.from_buffers(pa.binary(_BYTES), count, [None, pa.py_buffer(packed)])


def read_bytes(packed: pa.Array) -> np.ndarray:
    """Return the bytes of packed run ids that are not a slice, a row each, without a copy."""
    return np.frombuffer(packed.buffers()[1], np.uint8)[: len(packed) * _BYTES].reshape(-1, _BYTES)


def unpack_ids(packed: bytes) -> tuple[str, ...]:
    """Return the bytes of run ids as texts."""
    digits = packed.hex()
    return tuple(digits[start:end] for start, end in pairwise(range(0, len(digits) + 1, 2 * _BYTES)))
