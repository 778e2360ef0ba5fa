"""A recorded trace that may be read but not committed: one virtual machine's, in VMware's vscsi format."""

import lzma
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

SHARED = Path(__file__).parents[2] / "shared"

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


def shared(path: str) -> Path:
    """Return a file beside the repository; the test is skipped where it is not."""
    if not (SHARED / path).exists():
        pytest.skip(f"../shared/{path} is not there; it may not be committed")
    return SHARED / path


def records() -> npt.NDArray[Any]:
    """Return the requests of the trace."""
    file = shared("traces/cloudPhysicsIO.vscsi.xz")
    return np.frombuffer(lzma.decompress(file.read_bytes()), dtype=_RECORD)


def blocks_of(first_sector: Words, sectors: Words, block: int = 8) -> Words:
    """Return all blocks of `block` sectors that the requests touch, in order."""
    first: Words = first_sector // np.uint64(block)
    counts = ((first_sector + sectors - 1) // block - first + 1).astype(np.int64)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    touched: Words = np.repeat(first, counts) + within.astype(np.uint64)
    return touched
