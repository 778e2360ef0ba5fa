"""Miss ratio curves: the share of a trace's block accesses that misses a cache, by cache size.

`docs/miss-ratio-curves.md` defines the three curves, and gives cost and error of each method.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from destage.engine import _engine, traces
from destage.engine.configuration import engine_tree, translated_errors
from destage.engine.traces.delimited import Delimited
from destage.errors import TraceError
from destage.objects import Location
from destage.spec import quantities
from destage.spec.near_names import suggest

SECTOR_BYTES = 512
SCHEMA = pa.schema(
    [
        pa.field("policy", pa.string(), nullable=False),
        pa.field("side", pa.string(), nullable=False),
        pa.field("size_bytes", pa.int64(), nullable=False, metadata={"unit": "bytes"}),
        pa.field("size_blocks", pa.int64(), nullable=False, metadata={"unit": "blocks"}),
        pa.field("accesses", pa.int64(), nullable=False, metadata={"unit": "blocks"}),
        pa.field("distinct_blocks", pa.int64(), nullable=False, metadata={"unit": "blocks"}),
        pa.field("hit_ratio", pa.float64(), nullable=False, metadata={"unit": "fraction"}),
        pa.field("miss_ratio", pa.float64(), nullable=False, metadata={"unit": "fraction"}),
        pa.field("miss_ratio_low", pa.float64(), metadata={"unit": "fraction"}),
        pa.field("miss_ratio_high", pa.float64(), metadata={"unit": "fraction"}),
    ]
)
"""The columns of a curve; the interval (95 %) is null for exact figures."""


def miss_ratio_curve(
    trace: _engine.Trace,
    *,
    block: int | str = 4096,
    policy: str | Sequence[str] = "lru",
    rate: float | None = None,
    sizes: Iterable[int | str] | None = None,
    seed: int = 0,
) -> pa.Table:
    """Return the miss ratio curves of reads, writes and both: one row per policy, side and size.

    LRU uses exact stack distances in one pass; other policies are simulated at each size. With a `rate`, only
    that share of the blocks is sampled: SHARDS for LRU, miniature simulation for the others. A side without
    accesses has no rows. Releases the GIL.

    Args:
        block: The cache's unit [bytes], a multiple of 512; a request touches each block that it covers.
        policy: One or several of `list_policies`.
        rate: The share of the blocks that is sampled, above 0 and at most 1 (default: all).
        sizes: Sizes of the cache [bytes]; by default steps up to the trace's footprint.
        seed: Chooses the blocks of the sample.
    """
    unit = block_bytes(block)
    asked = None if sizes is None else [int(quantities.parse(size, "bytes")) for size in sizes]
    for size in asked or ():
        if size < unit:
            raise TraceError(
                "trace.bad-cache-size", f"{size} bytes; must be at least one block of {unit} bytes", "sizes"
            )
    blocks = None if asked is None else [size // unit for size in asked]
    policies = check_policies([policy] if isinstance(policy, str) else policy)
    return pa.concat_tables([_compute(trace, name, unit, blocks, rate, seed) for name in policies])


def load_accesses(
    place: str | Location, block: int | str, *, columns: Delimited | None = None, **reading: Any
) -> _engine.Trace:
    """Load a trace for a curve, which needs neither times nor operations: one number per line is a block.

    Args:
        block: The block of the curve, which block numbers count.
        columns: As in `traces.load`; `reading` are its other options.
    """
    unit = block_bytes(block)
    if columns is not None:
        return traces.load(place, columns=replace(columns, curve_block=unit), **reading)
    try:
        return traces.load(place, **reading)
    except TraceError as error:
        if error.code != "trace.no-times":
            raise
    return traces.load(
        place, columns=Delimited("block", curve_block=unit), **{**reading, "format_name": None}
    )


def list_policies() -> list[str]:
    """Return the replacement policies."""
    return [choice["const"] for choice in engine_tree().root["$defs"]["Policy"]["oneOf"]]


def check_policies(policies: Sequence[str]) -> list[str]:
    """Return the policies, each once.

    Raises:
        TraceError: There is none, or one is unknown.
    """
    allowed = list_policies()
    unknown = next((name for name in policies if name not in allowed), None if policies else "")
    if unknown is not None:
        message = f"no policy is named {unknown!r}{suggest(unknown, allowed)}"
        raise TraceError(
            "trace.unknown-policy",
            f"{message}; allowed: {', '.join(allowed)}",
            "policy",
            {"policy": unknown, "allowed": allowed},
        )
    return list(dict.fromkeys(policies))


def _compute(
    trace: _engine.Trace, policy: str, unit: int, blocks: list[int] | None, rate: float | None, seed: int
) -> pa.Table:
    """Return the curves of one policy; sizes in blocks, a block's `unit` in bytes."""
    with translated_errors():
        curves = _engine.miss_ratio_curves(trace, policy, unit // SECTOR_BYTES, blocks, rate, seed)
    misses: list[float] = curves["miss_ratio"]
    halves: list[float | None] = curves["half_width"]
    ends = list(zip(misses, halves, strict=True))
    columns = {
        "policy": [policy] * len(misses),
        **{name: curves[name] for name in ("side", "size_blocks", "accesses", "distinct_blocks")},
        "size_bytes": [size * unit for size in curves["size_blocks"]],
        "hit_ratio": [1 - miss for miss in misses],
        "miss_ratio": misses,
        "miss_ratio_low": [None if half is None else max(miss - half, 0.0) for miss, half in ends],
        "miss_ratio_high": [None if half is None else min(miss + half, 1.0) for miss, half in ends],
    }
    return pa.table({name: columns[name] for name in SCHEMA.names}, schema=SCHEMA)


def block_bytes(block: int | str) -> int:
    """Return a block's size [bytes].

    Raises:
        TraceError: The size is not a whole number of sectors.
    """
    size = int(quantities.parse(block, "bytes"))
    if size < SECTOR_BYTES or size % SECTOR_BYTES:
        raise TraceError(
            "trace.bad-block-size", f"{size} bytes; must be a multiple of {SECTOR_BYTES}", "block"
        )
    return size
