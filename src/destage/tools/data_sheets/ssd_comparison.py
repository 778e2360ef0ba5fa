"""A solid-state disk beside its data sheet: each rated figure in the state that it is rated in."""

from collections.abc import Iterator, Mapping
from typing import Any

from destage.engine import simulate
from destage.tools.data_sheets.disk_comparison import Cell
from destage.tools.disksim.measured_disk import load_single_disk

TOLERANCES: Mapping[str, float] = {
    "read_us": 0.01,
    "write_us": 0.01,
    "reads_per_s": 0.03,
    "sustained_writes_per_s": 0.06,
    "fresh_writes_per_s": 0.03,
    "read_mb_per_s": 0.03,
    "write_mb_per_s": 0.06,
}
"""Maximum deviation of each quantity from the data sheet."""

_RANDOM, _FRESH, _EMPTY = "random", "sequential", "empty"
"""States of a drive: written at random for long, written once in order, never written."""
_WARM_UP, _WINDOW, _WRITES = 4_000, 40_000, 400_000
"""Requests; garbage collection of random writes runs in long cycles."""


def compare_ssd(config: Mapping[str, Any], sheet: Mapping[str, float]) -> dict[str, Cell]:
    """Return each quantity of a solid-state disk beside its data sheet."""
    cells = (
        Cell(quantity, sheet.get(quantity), value, TOLERANCES[quantity])
        for quantity, value in _measure(config, int(sheet["depth"]), sheet)
    )
    return {cell.quantity: cell for cell in cells}


def simulate_writes(config: Mapping[str, Any], depth: int, *, fresh: bool = False) -> float:
    """Return the random writes of 4 KiB a second, in the steady state or of a fresh drive."""
    row = _run(config, depth, state=_FRESH if fresh else _RANDOM, reads=0, window=_WRITES)
    return float(row["throughput_iops"])


def _measure(
    config: Mapping[str, Any], depth: int, sheet: Mapping[str, float]
) -> Iterator[tuple[str, float]]:
    # Depth 1 without garbage collection, as the latency of the sheet is not a steady state.
    yield "read_us", _run(config, 1)["response_mean_us"]
    yield "write_us", _run(config, 1, state=_EMPTY, reads=0)["response_mean_us"]
    yield "reads_per_s", _run(config, depth)["throughput_iops"]
    for rated in ("sustained", "fresh"):
        if f"{rated}_writes_per_s" in sheet:
            yield f"{rated}_writes_per_s", simulate_writes(config, depth, fresh=rated == "fresh")
    for quantity, reads in (("read_mb_per_s", 1), ("write_mb_per_s", 0)):
        row = _run(config, depth, state=_FRESH, reads=reads, window=_WINDOW // 2, is_stream=True)
        yield quantity, row["throughput_bytes_per_s"] / 1e6


def _run(
    config: Mapping[str, Any],
    depth: int,
    *,
    state: str = _RANDOM,
    reads: int = 1,
    window: int = _WINDOW,
    is_stream: bool = False,
) -> dict[str, Any]:
    address = {"kind": "sequential", "footprint": "16GiB"} if is_stream else {"kind": "uniform"}
    disk, size = {**config, "precondition": state}, "128KiB" if is_stream else "4KiB"
    scenario = load_single_disk(disk, "load", depth, size, reads=reads, address=address)
    return simulate({**scenario, "run": {"warm_up": {"requests": _WARM_UP}, "window": {"requests": window}}})
