"""The controller's limits, its write cache and its battery against arithmetic."""

import pytest
from validation.mutations import UNSEEN_WRITE_HITS
from validation.replicates import Row, assert_covers, assert_equal, each, mutants_of, replicate, requests
from validation.scenarios import (
    Scenario,
    closed,
    constant,
    exponential,
    outstanding,
    poisson,
    scenario,
    server,
    write_cache,
)

from destage.engine import simulate

MIB = 1 << 20


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


def test_the_latency_of_the_link_delays_each_command_and_bounds_no_rate() -> None:
    """One outstanding: service + transfer + latency; many: the bound of the link."""
    link = {"bandwidth": "100MB/s", "command_overhead": "10us", "latency": "200us"}
    rows = [
        simulate(
            scenario(
                outstanding(depth),
                server(constant("1us")),
                size="64KiB",
                controller={"link": link},
                warm_up=100,
                window=20_000,
            )
        )
        for depth in (1, 16)
    ]
    transfer_us = 10 + 65_536 / 100
    alone_us = rows[0]["response_mean_us"]
    assert_equal("link with 200 us of latency, one read", "us", 201 + transfer_us, alone_us, tolerance=1e-4)
    many = rows[1]["throughput_iops"]
    assert_equal("link with 200 us of latency, 16 reads", "1/s", 1e6 / transfer_us, many, tolerance=1e-4)


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
    """At most d commands in the controller: the others wait in the host, and the rate is that of depth d."""
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
        controller={**write_cache(64 * MIB), **costs},
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


def _build_fill_scenario(window: Scenario | int, arrival: Scenario) -> Scenario:
    """Return 348 MiB of write cache on RAID 5 of eight disks of 136/s, destaged from the first write."""
    return scenario(
        arrival,
        server(constant("7352941ns"), capacity="1TB"),
        read_fraction=0.0,
        controller=write_cache(CAPACITY, high_water=0.0, low_water=0.0, destage_depth=256),
        array={"raid": "5", "disks": 8},
        warm_up="none",
        window=window,
    )


def test_time_to_fill_the_write_cache() -> None:
    """Fluid: W / (rate - drain) = 51.6 s for 348 MiB, 4 KB at 2,000/s, drained at 272/s; then it stalls."""
    exact = CAPACITY / 4096 / (RATE - DRAIN)
    assert exact == pytest.approx(51.6, abs=0.05)

    def run(rate: float, count: int) -> list[float]:
        rows = replicate(_build_fill_scenario({"duration": "40s"}, poisson(rate)), count)
        return [CAPACITY * 40 / (row["dirty_end_sectors"] * 512) for row in rows]

    # The few I/Os in flight make the drain rate slightly lower than 8 x 136 / 4.
    assert_covers(
        "time to fill 348 MiB at 2,000/s against 272/s",
        "s",
        exact,
        run(RATE, 16),
        rounding=0.004,
        mutants={"3 % more writes": run(1.03 * RATE, 16)},
    )
    before, after = (
        simulate(_build_fill_scenario({"duration": f"{second}s"}, poisson(RATE))) for second in (50.5, 53)
    )
    assert before["write_stalls"] == 0
    assert before["write_response_max_us"] == 0
    assert after["write_stalls"] > 0


def test_a_burst_that_fits_never_stalls() -> None:
    """A burst of up to W (1 + drain / (rate - drain)) is accepted without a stall; a larger one is not.

    With 64 MiB, 2,000/s against 272/s: 16,384 lines x (1 + 272 / 1,728) = 18,963 writes.
    """

    def stalls(writes: int) -> int:
        scene = _build_fill_scenario(writes, poisson(RATE))
        cache = scene["controller"]["cache"]
        cache.update(capacity=64 * MIB, usable=64 * MIB)
        # Few in flight, so that the first destages complete soon.
        cache["write"]["destage_depth"] = 16
        return sum(row["write_stalls"] > 0 for row in replicate(scene))

    fits = 64 * MIB / 4096 * (1 + DRAIN / (RATE - DRAIN))
    smaller, larger = stalls(round(0.95 * fits)), stalls(round(1.05 * fits))
    for share, stalled, ours, other in [(0.95, 0, smaller, larger), (1.05, 16, larger, smaller)]:
        assert_equal(
            f"16 replicates of a burst of {share:.0%} of what fits 64 MiB: with a stall",
            "count",
            stalled,
            ours,
            mutants={"the burst of the other size": other},
        )


def test_a_full_write_cache_is_as_fast_as_its_drain() -> None:
    """Once full, throughput is the drain rate: 8 x 136 / 4 = 272/s on RAID 5, and 64 wait 64 / 272 s."""

    def run(service: str) -> Row:
        scene = _build_fill_scenario(60_000, outstanding(64))
        scene["controller"]["cache"].update(capacity=16 * MIB, usable=16 * MIB)
        scene["array"]["disk"]["service"] = constant(service)
        return simulate({**scene, "run": {"warm_up": {"requests": 40_000}, "window": {"requests": 60_000}}})

    row, slower = run("7352941ns"), run("7573529ns")
    assert_equal(
        "full write cache before RAID 5 of eight: rate",
        "1/s",
        DRAIN,
        row["write_iops"],
        tolerance=0.01,
        mutants={"disks 3 % slower": slower["write_iops"]},
    )
    assert_equal(
        "full write cache before RAID 5 of eight: response of 64 outstanding",
        "ms",
        64 / DRAIN * 1e3,
        row["write_response_mean_us"] / 1e3,
        tolerance=0.01,
        mutants={"disks 3 % slower": slower["write_response_mean_us"] / 1e3},
    )


@pytest.mark.parametrize(("charge", "begins"), [(0.0, 11_376), (0.5, 4_176), (0.78, 144), (0.79, 0)])
def test_a_charging_battery_allows_write_back_at_its_threshold(charge: float, begins: int) -> None:
    """(0.79 - charge) x 4 h: 11,376 s from empty. A write each 1.01 s before, each 1 s after."""

    def run(threshold: float) -> Row:
        pack = {"state": "charging", "charge": charge, "charge_time": "4h", "threshold": threshold}
        scene = scenario(
            closed(constant("1s")),
            server(constant("10ms")),
            read_fraction=0.0,
            controller={**write_cache(64 * MIB), "battery": pack},
            warm_up="none",
            window={"duration": f"{begins + 300}s"},
        )
        return simulate(scene)

    row = run(0.79)
    # Writes start at 1 s, 2.01 s, 3.02 s, ...: those before the threshold go to the disk.
    through = sum(1 + 1.01 * index < begins for index in range(int(begins / 1.01) + 1))
    title = f"battery at {charge:.0%}: write-back from {begins} s on, writes before"
    mutants = {"threshold of 80 %": run(0.8)["bypassed_sectors"] / 8}
    assert_equal(title, "count", through, row["bypassed_sectors"] / 8, mutants=mutants)
    assert row["accepted_sectors"] == pytest.approx(299 * 8, abs=16)


@pytest.mark.parametrize(("lines", "places"), [(2_048, 4_096), (2_048, 16_384)])
def test_overwrites_are_absorbed_in_proportion(lines: int, places: int) -> None:
    """Uniform writes over U lines: a write finds its line dirty with (dirty lines) / U."""
    load = scenario(
        poisson(500.0),
        server(constant("0.1ms")),
        read_fraction=0.0,
        address={"kind": "uniform", "footprint": places * 4096},
        controller=write_cache(lines * 4096),
        warm_up=20_000,
        window=requests(8_000_000),
    )

    def absorbed(row: Row) -> float:
        return float(row["write_hit_ratio"] / (row["dirty_mean_fraction"] * lines / places))

    title = f"writes absorbed, {lines} lines before {places} places: hits over dirty / U"
    mutants = mutants_of(load, UNSEEN_WRITE_HITS, absorbed)
    assert_covers(title, "ratio", 1.0, each(replicate(load), absorbed), rounding=0.005, mutants=mutants)


def test_reads_overtake_destages_that_wait() -> None:
    """Two priorities without preemption (Cobham): W = busy S / 2 / (1 - read rate S) for constant S.

    A read that arrives finds the server busy with the share `busy`, waits half a service for it on
    average, and then for the reads before it alone.
    """
    service = 0.005

    def run(*, yields: bool, count: int) -> list[float]:
        rows = replicate(
            scenario(
                poisson(100.0),
                server(constant("5ms")),
                read_fraction=0.4,
                controller=write_cache(16 * MIB, yield_to_reads=yields),
                warm_up=5_000,
                window=requests(count),
            )
        )
        found = []
        for row in rows:
            assert row["write_stalls"] == 0
            reads = row["read_iops"] * service
            waiting = row["disk_busy_mean_fraction"] * service / 2 / (1 - reads)
            found.append(row["read_response_mean_us"] * 1e-6 / (service + waiting))
        return found

    title = "reads before waiting destages, 40/s beside 60 writes/s: response over Cobham's"
    ours = run(yields=True, count=4_000_000)
    mutants = {"reads wait their turn": run(yields=False, count=1_000_000)}
    assert_covers(title, "ratio", 1.0, ours, mutants=mutants)
