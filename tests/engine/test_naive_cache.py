"""The caches of a run equal naive ones on the same request list; a law of hot stripes."""

from collections import OrderedDict
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from small_scenarios import Scenario, constant_server

from destage.engine import simulate, traces

LINE = 4096
READ, WRITE = 0, 1


def _requests(scenario: Scenario) -> list[tuple[int, range]]:
    """Yield the operation of each request and the lines that it touches."""
    table = traces.table(traces.record(scenario))
    columns = (table[name].to_pylist() for name in ("op", "lba_512", "n_512"))
    sectors = LINE // 512
    return [
        (op, range(lba // sectors, (lba + count - 1) // sectors + 1))
        for op, lba, count in zip(*columns, strict=True)
    ]


def _scenario(cache: Scenario, address: Scenario, sizes: list[int], *, read_fraction: float) -> Scenario:
    """Return a scenario of one request at a time, so that the cache processes the list in order."""
    return {
        "workload": {
            "streams": [
                {
                    "name": "load",
                    "arrival": {"kind": "closed", "think_time": {"kind": "constant", "value": "1s"}},
                    "operations": {
                        "read_fraction": read_fraction,
                        "alignment": 512,
                        "size": {
                            "kind": "choice",
                            "options": [{"value": size, "weight": 1.0} for size in sizes],
                        },
                    },
                    "address": address,
                }
            ]
        },
        "controller": {"cache": {"line": LINE, **cache}, "battery": {"state": "present"}},
        "array": {"raid": "0", "disks": 2, "disk": constant_server("1us"), "stripe_unit": "64KiB"},
        "run": {"warm_up": "none", "window": {"requests": 600}},
    }


ADDRESSES = st.sampled_from(
    [
        {"kind": "uniform", "footprint": 64 * LINE},
        {"kind": "zipf", "exponent": 1.0, "block": 32 * 1024, "footprint": 256 * LINE},
        {"kind": "sequential", "footprint": 40 * LINE},
    ]
)
SIZES = st.lists(st.sampled_from([512, 4096, 8192, 12_288, 32_768]), min_size=1, max_size=3, unique=True)


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(st.integers(9, 60), ADDRESSES, SIZES, st.sampled_from([1.0, 0.7]))
def test_read_hits_are_those_of_a_naive_lru(
    lines: int, address: Scenario, sizes: list[int], reads: float
) -> None:
    """A read hits if all its lines are present and makes them the most recent; a write removes its lines."""
    cache = {
        "capacity": lines * LINE,
        "usable": lines * LINE,
        "write_fraction": 0.0,
        "read": {"mode": "cached", "read_ahead": None},
    }
    scenario = _scenario(cache, address, sizes, read_fraction=reads)
    held: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for op, touched in _requests(scenario)[:600]:
        if op == WRITE:
            for line in touched:
                held.pop(line, None)
            continue
        # Present lines are touched in the order of address, then missing lines are inserted.
        missing = []
        for line in touched:
            if line in held:
                held.move_to_end(line)
            else:
                missing.append(line)
        hits += not missing
        for line in missing:
            if len(held) == lines:
                held.popitem(last=False)
            held[line] = None
    row = simulate(scenario)
    ours = row["reads"] - row["read_misses_random"] - row["read_misses_sequential"]
    assert ours == hits


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(ADDRESSES, SIZES)
def test_a_write_cache_that_never_fills_absorbs_every_overwrite(address: Scenario, sizes: list[int]) -> None:
    """With room for all sectors, a rewritten sector is absorbed, and nothing is destaged."""
    cache: dict[str, Any] = {
        "capacity": "64MiB",
        "usable": "64MiB",
        "write_fraction": 1.0,
        "write": {"high_water": 1.0, "low_water": 1.0},
    }
    scenario = _scenario(cache, address, sizes, read_fraction=0.4)
    table = traces.table(traces.record(scenario))
    dirty: set[int] = set()
    absorbed = 0
    for op, lba, count in list(
        zip(*(table[name].to_pylist() for name in ("op", "lba_512", "n_512")), strict=True)
    )[:600]:
        if op == WRITE:
            sectors = set(range(lba, lba + count))
            absorbed += len(sectors & dirty)
            dirty |= sectors
    row = simulate(scenario)
    assert row["absorbed_sectors"] == absorbed
    assert row["dirty_end_sectors"] == len(dirty)
    assert row["destages"] == 0


@pytest.mark.parametrize(("depth", "raid"), [(1, "5"), (8, "5"), (32, "5"), (8, "6")])
def test_parity_updates_of_one_stripe_are_serialised(depth: int, raid: str) -> None:
    """Write-through to a single hot stripe: updates are serialised and take 2 S each.

    So the response time grows with the depth; on disks, such a stripe determines the tail.
    """

    def run(footprint: str) -> Scenario:
        return simulate(
            {
                "workload": {
                    "streams": [
                        {
                            "name": "hot",
                            "arrival": {"kind": "fixed_outstanding", "depth": depth},
                            "operations": {
                                "read_fraction": 0.0,
                                "size": {"kind": "constant", "value": "4KiB"},
                            },
                            "address": {"kind": "uniform", "footprint": footprint},
                        }
                    ]
                },
                "array": {
                    "raid": raid,
                    "disks": 8,
                    "disk": constant_server("5ms"),
                    "stripe_unit": "64KiB",
                    "parity_update": "rmw",
                },
                "run": {"warm_up": {"requests": 100}, "window": {"requests": 2_000}},
            }
        )

    # One stripe: seven, or six, units of 64 KiB.
    hot = run("384KiB")
    assert hot["response_mean_us"] == pytest.approx(depth * 10_000, rel=0.01)
    assert hot["throughput_iops"] == pytest.approx(100, rel=0.01)
    # Spread over the array, the same writes run concurrently.
    assert run("1GB")["throughput_iops"] >= 100 * min(depth, 2) * 0.99
