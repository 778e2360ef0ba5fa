"""The controller's limits, its write cache and its battery against arithmetic."""

import pytest
from validation.replicates import assert_covers, assert_equal, replicate, requests
from validation.scenarios import (
    Scenario,
    closed,
    constant,
    exponential,
    outstanding,
    poisson,
    scenario,
    server,
)

from destage.engine import simulate

MIB = 1 << 20


def _write_cache(capacity: int, **write: object) -> Scenario:
    """A protected write cache without read cache and without other costs."""
    return {
        "cache": {
            "capacity": capacity,
            "usable": capacity,
            "write_fraction": 1.0,
            "line": "4KiB",
            "write": {"policy": "write_back", **write},
        },
        "battery": {"state": "present"},
    }


def test_link_bound() -> None:
    """One transfer at a time: bandwidth over bytes and overhead."""
    row = simulate(
        scenario(
            outstanding(16),
            server(constant("1us")),
            size="64KiB",
            controller={"link": {"bandwidth": "100MB/s", "command_overhead": "10us"}},
            warm_up=100,
            window=20_000,
        )
    )
    exact = 1 / (10e-6 + 65_536 / 100e6)
    assert_equal(
        "link of 100 MB/s, 10 us per command, 64 KiB reads",
        "1/s",
        exact,
        row["throughput_iops"],
        tolerance=1e-4,
    )
    assert_equal("link of 100 MB/s, saturated: busy", "share", 1.0, row["link_busy_fraction"], tolerance=1e-4)


def test_firmware_bound() -> None:
    """One command at a time: 1 / 50 us."""
    row = simulate(
        scenario(
            outstanding(16),
            server(constant("1us")),
            controller={"firmware": {"command_time": "50us"}},
            warm_up=100,
            window=20_000,
        )
    )
    assert_equal("firmware of 50 us per command", "1/s", 20_000, row["throughput_iops"], tolerance=1e-4)
    assert_equal(
        "firmware of 50 us per command, saturated: busy",
        "share",
        1.0,
        row["firmware_busy_fraction"],
        tolerance=1e-4,
    )


def test_outstanding_limit() -> None:
    """At most d commands in the controller: the others wait at the host, and the rate is that of depth d."""
    row = simulate(
        scenario(
            outstanding(64),
            server(constant("5ms"), servers=16),
            controller={"outstanding_limit": 4},
            warm_up=100,
            window=20_000,
        )
    )
    assert_equal(
        "4 of 64 commands accepted, 5 ms each", "1/s", 4 / 0.005, row["throughput_iops"], tolerance=1e-3
    )
    assert_equal(
        "4 of 64 commands accepted: response time, with the wait at the host",
        "ms",
        64 / 800 * 1e3,
        row["response_mean_us"] / 1e3,
        tolerance=1e-3,
    )


def test_posted_write_latency() -> None:
    """A write into free or dirty lines takes firmware + link + transfer: 30 + 20 + 40.96 us."""
    costs = {
        "link": {"bandwidth": "100MB/s", "command_overhead": "20us"},
        "firmware": {"command_time": "30us"},
    }
    base = scenario(
        closed(exponential("10ms")),
        server(constant("5ms")),
        read_fraction=0.0,
        operations={"fua_fraction": 0.5, "flush_every": 8},
        address={"kind": "uniform", "footprint": "32MiB"},
        controller={**_write_cache(64 * MIB), **costs},
        warm_up="none",
        window=20_000,
    )
    row = simulate(base)
    assert_equal("posted write: mean", "us", 90.96, row["write_response_mean_us"], tolerance=1e-9)
    assert_equal("posted write: greatest", "us", 90.96, row["write_response_max_us"], tolerance=1e-9)
    absent = simulate({**base, "controller": {**base["controller"], "battery": {"state": "absent"}}})
    assert_equal(
        "the same without a battery: mean", "us", 5_090.96, absent["write_response_mean_us"], tolerance=1e-9
    )
    risky = simulate(
        {
            **base,
            "controller": {
                **base["controller"],
                "battery": {"state": "absent", "allow_without_battery": True},
            },
        }
    )
    assert_equal(
        "the same, allowed without a battery: mean",
        "us",
        90.96,
        risky["write_response_mean_us"],
        tolerance=1e-9,
    )
    assert risky["data_at_risk_byte_s"] > 0 == row["data_at_risk_byte_s"]


CAPACITY = 348 * MIB
RATE, DRAIN = 2_000.0, 272.0


def _filling(window: Scenario | int, arrival: Scenario) -> Scenario:
    """348 MiB of write cache before RAID 5 of eight disks of 136/s, destaged from the first write on."""
    return scenario(
        arrival,
        server(constant("7352941ns"), capacity="1TB"),
        read_fraction=0.0,
        controller=_write_cache(CAPACITY, high_water=0.0, low_water=0.0, destage_depth=256),
        array={"raid": "5", "disks": 8},
        warm_up="none",
        window=window,
    )


def test_time_to_fill_the_write_cache() -> None:
    """Fluid: W / (rate - drain) = 51.6 s for 348 MiB, 4 KB at 2,000/s, drained at 272/s; then it stalls."""
    exact = CAPACITY / 4096 / (RATE - DRAIN)
    assert exact == pytest.approx(51.6, abs=0.05)
    rows = replicate(_filling({"duration": "40s"}, poisson(RATE)))
    ours = [CAPACITY * 40 / (row["dirty_end_sectors"] * 512) for row in rows]
    # The few I/Os under way at the disks make the drain a little less than 8 x 136 / 4.
    assert_covers("time to fill 348 MiB at 2,000/s against 272/s", "s", exact, ours, rounding=0.004)
    before, after = (simulate(_filling({"duration": f"{second}s"}, poisson(RATE))) for second in (50.5, 53))
    assert before["write_stalls"] == 0
    assert before["write_response_max_us"] == 0
    assert after["write_stalls"] > 0


def test_a_full_write_cache_is_as_fast_as_its_drain() -> None:
    scene = _filling(60_000, outstanding(64))
    scene["controller"]["cache"].update(capacity=16 * MIB, usable=16 * MIB)
    row = simulate({**scene, "run": {"warm_up": {"requests": 40_000}, "window": {"requests": 60_000}}})
    assert_equal(
        "full write cache before RAID 5 of eight: rate", "1/s", DRAIN, row["write_iops"], tolerance=0.01
    )
    assert_equal(
        "full write cache before RAID 5 of eight: response of 64 outstanding",
        "ms",
        64 / DRAIN * 1e3,
        row["write_response_mean_us"] / 1e3,
        tolerance=0.01,
    )


@pytest.mark.parametrize(("charge", "begins"), [(0.0, 11_376), (0.5, 4_176), (0.78, 144), (0.79, 0)])
def test_a_charging_battery_allows_write_back_at_its_threshold(charge: float, begins: int) -> None:
    """(0.79 - charge) x 4 h: 11,376 s from empty. A write each 1.01 s before, each 1 s after."""
    scene = scenario(
        closed(constant("1s")),
        server(constant("10ms")),
        read_fraction=0.0,
        controller={
            **_write_cache(64 * MIB),
            "battery": {"state": "charging", "charge": charge, "charge_time": "4h"},
        },
        warm_up="none",
        window={"duration": f"{begins + 100}s"},
    )
    row = simulate(scene)
    # Writes start at 1 s, 2.01 s, 3.02 s, ...: those before the threshold go to the disk.
    through = sum(1 + 1.01 * index < begins for index in range(int(begins / 1.01) + 1))
    title = f"battery at {charge:.0%}: write-back from {begins} s on, writes before"
    assert_equal(title, "count", through * 8, row["bypassed_sectors"])
    assert row["accepted_sectors"] == pytest.approx(99 * 8, abs=16)


@pytest.mark.parametrize(("lines", "places"), [(2_048, 4_096), (2_048, 16_384)])
def test_overwrites_are_absorbed_in_proportion(lines: int, places: int) -> None:
    """Uniform writes over U lines: a write finds its line dirty with (dirty lines) / U."""
    rows = replicate(
        scenario(
            poisson(500.0),
            server(constant("0.1ms")),
            read_fraction=0.0,
            address={"kind": "uniform", "footprint": places * 4096},
            controller=_write_cache(lines * 4096),
            warm_up=20_000,
            window=requests(4_000_000),
        )
    )
    ours = [row["write_hit_ratio"] / (row["dirty_mean_fraction"] * lines / places) for row in rows]
    title = f"writes absorbed, {lines} lines before {places} places: hits over dirty / U"
    assert_covers(title, "ratio", 1.0, ours, rounding=0.005)


def test_reads_overtake_destages_that_wait() -> None:
    """Two priorities without preemption (Cobham): W = busy S / 2 / (1 - read rate S) for constant S.

    A read that arrives finds the server busy with the share `busy`, waits half a service for it on
    average, and then for the reads before it alone.
    """
    service = 0.005
    rows = replicate(
        scenario(
            poisson(100.0),
            server(constant("5ms")),
            read_fraction=0.4,
            controller=_write_cache(16 * MIB),
            warm_up=5_000,
            window=requests(4_000_000),
        )
    )
    ours = []
    for row in rows:
        assert row["write_stalls"] == 0
        reads = row["read_iops"] * service
        waiting = row["disk_busy_mean_fraction"] * service / 2 / (1 - reads)
        ours.append(row["read_response_mean_us"] * 1e-6 / (service + waiting))
    title = "reads before waiting destages, 40/s beside 60 writes/s: response over Cobham's"
    assert_covers(title, "ratio", 1.0, ours)


def test_a_sequential_stream_misses_until_it_is_recognised() -> None:
    """With a trigger of 2 and time to read ahead, the first two reads miss and all others hit."""
    cache = {
        "capacity": "16MiB",
        "usable": "16MiB",
        "write_fraction": 0.0,
        "read": {"mode": "prefetch_only", "read_ahead": {"trigger": 2, "size": "128KiB"}},
    }
    row = simulate(
        scenario(
            closed(constant("50ms")),
            server(constant("5ms")),
            size="8KiB",
            address={"kind": "sequential"},
            controller={"cache": cache},
            array={"stripe_unit": "64MiB"},
            warm_up="none",
            window=5_000,
        )
    )
    title = "endless sequential reads, trigger 2: {}"
    assert_equal(title.format("first misses"), "count", 1, row["read_misses_random"])
    assert_equal(title.format("misses in sequence"), "count", 1, row["read_misses_sequential"])
    assert_equal(title.format("hits"), "ratio", 4_998 / 5_000, row["read_ahead_hit_ratio"])
    # 16 reads to a read-ahead of 128 KiB.
    assert row["disk_reads"] == pytest.approx((5_000 - 2) / 16 + 2, rel=0.02)


# Zipf over 10,000 blocks: exponent, lines, hit ratio by Che's approximation.
CHE = [
    (0.0, 100, 0.01),
    (0.0, 1_000, 0.10),
    (0.0, 5_000, 0.50),
    (0.8, 100, 0.15662),
    (0.8, 1_000, 0.43666),
    (0.8, 5_000, 0.79163),
    (1.0, 100, 0.39053),
    (1.0, 1_000, 0.67560),
    (1.0, 5_000, 0.89863),
    (1.2, 100, 0.65634),
    (1.2, 1_000, 0.86143),
    (1.2, 5_000, 0.96390),
]


@pytest.mark.parametrize(("exponent", "lines", "exact"), CHE)
def test_hit_ratio_of_a_cached_read_side(exponent: float, lines: int, exact: float) -> None:
    """LRU under independent Zipf references is within 0.3 % of Che's approximation at these sizes."""
    cache = {
        "capacity": lines * 8192,
        "usable": lines * 8192,
        "write_fraction": 0.0,
        "line": "8KiB",
        "read": {"mode": "cached", "read_ahead": None},
    }
    rows = replicate(
        scenario(
            outstanding(1),
            server(constant("1us")),
            size="8KiB",
            address={"kind": "zipf", "exponent": exponent, "block": "8KiB", "footprint": 10_000 * 8192},
            controller={"cache": cache},
            warm_up=20_000,
            window=requests(6_000_000 if exact < 0.05 else 2_000_000),
        )
    )
    ours = [row["read_hit_ratio"] for row in rows]
    title = f"Zipf {exponent:g} over 10,000 blocks, LRU of {lines}: hit ratio"
    assert_covers(title, "ratio", exact, ours, bound=0.03 if exact < 0.05 else 0.01, rounding=0.003)
