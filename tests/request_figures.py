"""Figures of a sequence of requests, and the difference that two samples of one law may have.

The shares p of two samples of n requests differ by 4 standard errors, 4 sqrt(2 p (1 - p) / n), or less in all
but one of 16,000 comparisons. Requests that continue the one before say nothing about a random law; n is the
number of the others.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from destage.engine import traces
from destage.engine.miss_ratio_curves import miss_ratio_curve

Array = Any
"""A NumPy array."""
CACHES = ("1MiB", "4MiB", "16MiB", "64MiB", "256MiB")
_READ, _WRITE, _FLUSH = 0, 1, 2
_SECTOR = 512
_ERRORS = 4.0
_ROUNDING = 0.002
_KOLMOGOROV = 2.2
"""Quantile of the Kolmogorov distribution that one of 8,000 samples exceeds."""


@dataclass(frozen=True)
class Requests:
    """Requests in their order: 0 read, 1 write, 2 flush; first byte and size, 0 for a flush."""

    op: Array
    offset: Array
    size: Array

    def first(self, count: int) -> "Requests":
        """Return the first requests."""
        return Requests(self.op[:count], self.offset[:count], self.size[:count])

    def moved(self) -> "Requests":
        """Return reads and writes."""
        chosen = self.op != _FLUSH
        return Requests(self.op[chosen], self.offset[chosen], self.size[chosen])


@dataclass(frozen=True)
class Figures:
    """Figures of one sequence.

    Attributes:
        shares: Each of 1, by name.
        sizes: The cumulative shares of the sizes of reads and of writes.
        places: The addresses, sorted, from the lowest [bytes].
        random: The number of requests that do not continue the one before.
        requests: The number of requests.
    """

    shares: dict[str, float]
    sizes: dict[tuple[int, int], float]
    places: Array
    random: int
    requests: int


def measure(requests: Requests) -> Figures:
    """Return the figures of a sequence of requests."""
    moved = requests.moved()
    gaps = _gaps(moved)
    follows = gaps == 0
    unit = int(np.gcd.reduce(np.concatenate([moved.offset, moved.size])))
    shares = {
        "reads": float((moved.op == _READ).mean()),
        "flushes": float((requests.op == _FLUSH).mean()),
        "sequential": float(follows.mean()),
        "requests to accessed data": _again(moved, unit),
        "writes to written data": _again(_of(moved, _WRITE), unit),
        "distinct blocks": _distinct(moved, unit),
        **{f"misses at {size}": miss for size, miss in _misses(moved).items()},
    }
    places = np.sort(moved.offset - moved.offset.min())
    return Figures(shares, _cumulative(moved), places, int((~follows).sum()), len(moved.op))


def most_common_gap(requests: Requests) -> int:
    """Return the most common distance from the end of a request to the next of its kind [bytes]."""
    values, counts = np.unique(_gaps(requests.moved()), return_counts=True)
    return int(values[counts.argmax()])


def share_of_gap(requests: Requests, gap: int) -> float:
    """Return the share of the requests that start this far from the end of the previous one of their kind."""
    return float((_gaps(requests.moved()) == gap).mean())


def differences(ours: Figures, theirs: Figures, bias: float) -> dict[str, tuple[float, float, float]]:
    """Return our figure, the other and the tolerance of each, by name.

    Args:
        bias: A further difference of the shares that depend on where requests go.
    """
    found = {}
    effective = max(1, min(ours.random, theirs.random))
    for name, share in ours.shares.items():
        other = theirs.shares[name]
        count = ours.requests if name in {"reads", "flushes"} else effective
        extra = 0.0 if name in {"reads", "flushes", "sequential"} else bias
        found[name] = (share, other, _tolerance((share + other) / 2, count) + extra)
    for key in sorted(ours.sizes.keys() | theirs.sizes.keys()):
        share, other = _at(ours.sizes, key), _at(theirs.sizes, key)
        name = f"{('reads', 'writes')[key[0]]} up to {key[1]}"
        found[name] = (share, other, _tolerance((share + other) / 2, effective))
    return found


def distance(ours: Figures, theirs: Figures) -> tuple[float, float]:
    """Return the largest difference of the cumulative distributions of addresses, and its tolerance."""
    at = np.concatenate([ours.places, theirs.places])
    mine = np.searchsorted(ours.places, at, side="right") / len(ours.places)
    other = np.searchsorted(theirs.places, at, side="right") / len(theirs.places)
    count = min(ours.random, theirs.random)
    tolerance = _KOLMOGOROV * (2 / count) ** 0.5 if count > _ERRORS**4 else 0.01
    return float(np.abs(mine - other).max()), tolerance + _ROUNDING


def _tolerance(share: float, count: int) -> float:
    share = min(max(share, 0.0), 1.0)
    return _ERRORS * float(np.sqrt(2 * share * (1 - share) / count)) + _ROUNDING


def _of(requests: Requests, op: int) -> Requests:
    chosen = requests.op == op
    return Requests(requests.op[chosen], requests.offset[chosen], requests.size[chosen])


def _gaps(moved: Requests) -> Array:
    """Return the distance of each request from the end of the previous one of its kind; -1 for the first."""
    gaps = np.full(len(moved.op), -1, np.int64)
    for op in (_READ, _WRITE):
        index = np.flatnonzero(moved.op == op)
        gaps[index[1:]] = moved.offset[index[1:]] - (moved.offset + moved.size)[index[:-1]]
    return gaps


def _blocks(moved: Requests, unit: int) -> tuple[Array, Array]:
    """Return the blocks that the requests touch in order, and the request of each."""
    counts = moved.size // unit
    request = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(request)) - np.repeat(np.cumsum(counts) - counts, counts)
    return moved.offset[request] // unit + within, request


def _again(moved: Requests, unit: int) -> float:
    if not len(moved.op):
        return 0.0
    blocks, request = _blocks(moved, unit)
    is_again = np.ones(len(blocks), bool)
    is_again[np.unique(blocks, return_index=True)[1]] = False
    return len(np.unique(request[is_again])) / len(moved.op)


def _distinct(moved: Requests, unit: int) -> float:
    blocks, _ = _blocks(moved, unit)
    return len(np.unique(blocks)) / len(blocks)


def _misses(moved: Requests) -> dict[str, float]:
    count = len(moved.op)
    columns = {
        "t_ns": np.arange(count),
        **dict.fromkeys(("process", "flags"), np.zeros(count, np.uint8)),
        "op": moved.op.astype(np.uint8),
        "lba_512": (moved.offset // _SECTOR).astype(np.uint64),
        "n_512": (moved.size // _SECTOR).astype(np.uint32),
    }
    curve = miss_ratio_curve(traces.from_table(pa.table(columns)), sizes=CACHES).to_pylist()
    found = {row["size_bytes"]: row["miss_ratio"] for row in curve if row["side"] == "both"}
    return dict(zip(CACHES, [found[size] for size in sorted(found)], strict=True))


def _cumulative(moved: Requests) -> dict[tuple[int, int], float]:
    found = {}
    for op in (_READ, _WRITE):
        sizes, counts = np.unique(_of(moved, op).size, return_counts=True)
        sums = np.cumsum(counts) / max(1, counts.sum())
        found |= {(op, int(size)): float(share) for size, share in zip(sizes, sums, strict=True)}
    return found


def _at(cumulative: dict[tuple[int, int], float], key: tuple[int, int]) -> float:
    return max(
        (share for (op, size), share in cumulative.items() if op == key[0] and size <= key[1]), default=0.0
    )
