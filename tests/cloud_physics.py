"""A recorded trace that may be read but not committed: one virtual machine's, in VMware's vscsi format."""

import lzma
from typing import Any

import numpy as np
import numpy.typing as npt
from external_data import require_shared

Words = npt.NDArray[np.uint64]

_RECORD = np.dtype(
    [
        ("serial", "<u4"),
        ("bytes", "<u4"),
        ("segments", "<u4"),
        ("command", "<u2"),
        ("version", "<u2"),
        ("lbn", "<u8"),
        ("time", "<u8"),
    ]
)


def records() -> npt.NDArray[Any]:
    """Return the requests of the trace."""
    file = require_shared("traces/cloudPhysicsIO.vscsi.xz")
    return np.frombuffer(lzma.decompress(file.read_bytes()), dtype=_RECORD)


def blocks_of(first_sector: Words, sectors: Words, block: int = 8) -> Words:
    """Return all blocks of `block` sectors that the requests touch, in order."""
    first: Words = first_sector // np.uint64(block)
    counts = ((first_sector + sectors - 1) // block - first + 1).astype(np.int64)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    touched: Words = np.repeat(first, counts) + within.astype(np.uint64)
    return touched
