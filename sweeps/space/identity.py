"""The identity of points and runs.

Identities: what makes two runs the same run, and two points the same point.

Run ids in memory: as bytes, half the size of their text.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from destage import engine
from destage.errors import StoreError

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical_text(document: Mapping[str, Any] | list[Any]) -> str:
    """Return a document as JSON text; equal documents have equal texts."""
    return _ENCODER.encode(document)


def list_members(path: str, values: Sequence[object]) -> list[str]:
    """Return a member of a document for each of some values, as in its canonical text."""
    name = canonical_text([path])[1:-1]
    # The text of a number is its representation, which takes a tenth of the encoder's time.
    return [
        f"{name}:{value!r}"
        if type(value) is int or (type(value) is float and math.isfinite(value))
        else f"{name}:{canonical_text([value])[1:-1]}"
        for value in values
    ]


def run_id(config: str) -> str:
    """Return the identity of a run: a digest of everything that its result columns are a function of.

    That is the canonical configuration with its root seed and replicate, the content of its traces (not
    their location) and the version of the engine's results.

    Args:
        config: The canonical text of a configuration, traces by their digests without file names.
    """
    subject = f'{{"config":{config},"results_version":{engine.RESULTS_VERSION}}}'
    return hashlib.blake2b(subject.encode(), digest_size=16).hexdigest()


def point_id(assignments: Mapping[str, object]) -> str:
    """Return the identity of a point: a digest of its assignments, values by dotted path."""
    return hashlib.blake2b(canonical_text(assignments).encode(), digest_size=8).hexdigest()


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
