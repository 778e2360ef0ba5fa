"""The studies of the two articles on write caches: the mechanisms that their results depend on."""

from typing import Any

import pytest

from destage import engine
from destage.sweeps import studies
from destage.sweeps.reading.expansion import expand

REVOLUTION_MS = 60_000 / 7200


def row(study: str, label: str, **assigned: object) -> dict[str, Any]:
    """Run the first replicate of a point with a label and axis values, by the last segment of the path."""
    for point in expand(studies.load(study)).points:
        values = {path.rpartition(".")[2]: value for path, value in point.axes.items()}
        if point.label == label and all(values[name] == value for name, value in assigned.items()):
            return engine.simulate(point.config)
    pytest.fail(f"{study} has no point {label!r} with {assigned}")


def test_a_cache_turns_disk_accesses_into_processor_time() -> None:
    slow = row("sql_bench_g5", "create, no cache", kind="scattered")
    fast = row("sql_bench_g5", "create, cache", kind="scattered")
    assert slow["writes"] == fast["writes"] == 30_000
    assert slow["interaction_response_mean_us"] == pytest.approx(3 * slow["response_mean_us"])
    assert fast["write_stalls"] == 0
    # The assumed 0.4 ms of a statement, and three writes into the cache.
    assert fast["completion_time_s"] == pytest.approx(10_000 * 0.4e-3, rel=0.3)
    assert slow["completion_time_s"] > 20 * fast["completion_time_s"]


def test_the_older_server_waits_for_cache_space_or_not_at_all() -> None:
    scattered = row("sql_bench_g4", "create, scattered writes", kind="contiguous")
    absorbed = row("sql_bench_g4", "create, absorbed writes")
    assert scattered["disk_busy_max_fraction"] > 0.95
    assert scattered["write_stalls"] > 0.4 * scattered["writes"]
    assert absorbed["write_stalls"] == 0
    assert absorbed["completion_time_s"] < 104 < scattered["completion_time_s"]


def test_an_uncached_sequential_write_takes_a_revolution() -> None:
    alone = row("crystaldiskmark", "depth 1, no cache", raid="1")
    outer_rate = 171e6
    passing_ms = 65_536 / outer_rate * 1000
    assert alone["response_mean_us"] / 1000 == pytest.approx(REVOLUTION_MS + passing_ms, rel=0.005)
    cached = row("crystaldiskmark", "depth 32, forced cache", raid="5")
    assert 0.98 * 117.7e6 < cached["throughput_bytes_per_s"] < 117.7e6


def test_a_forced_cache_without_battery_loses_data() -> None:
    forced, protected = (row("backups", f"mains lost, {how} cache") for how in ("forced", "protected"))
    assert forced["dirty_lost_bytes"] > 50e6
    assert protected["dirty_lost_bytes"] == 0
    assert protected["dirty_preserved_bytes"] == forced["dirty_lost_bytes"]
