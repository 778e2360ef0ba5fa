"""Warm-up and window: an automatic window gives the result of a long run, and a trend is detected."""

import math
from typing import Any

import pytest
from scipy import stats
from small_scenarios import DISK, Scenario, constant_server, stream, users, write_back

from destage.engine import simulate, simulate_batch

REPLICATES = 8
BIAS = 0.005
"""An automatic window, which ends with a cycle of the write cache, is 0.4 % high here (0.36 and 0.40 %,
+- 0.08, over 64 runs of two engines): less than half of the 1 % that the interval of a run states."""


def _behind_a_write_cache(count: int, window: Any, **run: Any) -> list[Scenario]:
    return [
        users(count, raid="10", disks=4, warm_up="auto", window=window, replicate=index, **run)
        for index in range(REPLICATES)
    ]


def _interval(values: list[float]) -> tuple[float, float]:
    mean = math.fsum(values) / len(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    error = math.sqrt(squares / (len(values) - 1) / len(values))
    return mean, float(stats.t.ppf(0.995, len(values) - 1)) * error


@pytest.mark.parametrize("count", [20, 60])
def test_ten_times_the_window_gives_the_same_answer(count: int) -> None:
    short = simulate_batch(_behind_a_write_cache(count, "auto")).to_pylist()
    length = max(row["requests"] for row in short)
    long = simulate_batch(
        _behind_a_write_cache(count, {"requests": 10 * length}, max_requests=100_000_000)
    ).to_pylist()
    assert {row["status"] for row in short + long} == {"ok"}
    for column in ("response_mean_us", "response_p95_us", "disk_busy_mean_fraction"):
        (mean, width), (far, far_width) = (_interval([row[column] for row in rows]) for rows in (short, long))
        close = math.hypot(width, far_width) + BIAS * far
        assert abs(mean - far) <= close, (column, mean, width, far, far_width)
        assert width < 0.1 * mean, column


def test_a_queue_that_grows_is_not_stationary() -> None:
    scenario = {
        "workload": {"streams": [stream("load", {"kind": "poisson", "rate": 210.0})]},
        "array": {"raid": "0", "disks": 1, "disk": constant_server("5ms")},
        "run": {"max_requests": 100_000},
    }
    assert simulate(scenario)["status"] in {"not_stationary", "overloaded"}


def test_a_cache_that_never_fills_up_is_not_stationary() -> None:
    """Writes arrive slightly faster than the disks accept them; at the limit the cache is far from full."""
    load = stream("load", {"kind": "poisson", "rate": 210.0}, read_fraction=0.0)
    scenario = {
        "workload": {"streams": [load | {"address": {"kind": "uniform"}}]},
        "controller": write_back("1GiB", 1.0),
        "array": {"raid": "0", "disks": 1, "disk": constant_server("5ms", capacity="500GB")},
        "run": {"max_requests": 100_000},
    }
    row = simulate(scenario)
    assert row["status"] == "not_stationary"
    assert row["requests"] + row["warm_up_requests"] < 120_000


def test_a_warm_write_cache_starts_between_its_marks() -> None:
    row = simulate(users(20, warm_up="auto", window="auto"))
    capacity = 12 << 20
    assert 0.55 * capacity < row["dirty_start_sectors"] * 512 < 0.85 * capacity
    assert row["warm_up_requests"] >= 4_000


def test_a_cold_start_overstates_a_large_cache() -> None:
    """Without a warm-up, an empty cache does not reach its high mark in 120 s at 75 writes/s."""
    base: Scenario = {
        "workload": {
            "streams": [
                stream("load", {"kind": "poisson", "rate": 75.0}, read_fraction=0.0)
                | {"address": {"kind": "uniform"}}
            ]
        },
        "controller": write_back("256MiB", 1.0),
        "array": {"raid": "5", "disks": 3, "disk": DISK},
    }
    cold = simulate({**base, "run": {"warm_up": "none", "window": {"duration": "120s"}}})
    assert cold["destages"] == 0
    warm = simulate({**base, "run": {"warm_up": "auto", "window": {"duration": "120s"}}})
    assert warm["destages"] > 1_000
