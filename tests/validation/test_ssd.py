"""Solid-state disks: queues and write amplification by closed forms, the catalogue by data sheets."""

import math
from typing import Any

import pytest
from validation.replicates import (
    Row,
    assert_covers,
    assert_equal,
    each,
    replicate,
    requests,
)
from validation.scenarios import Scenario, outstanding, poisson, scenario

from destage.engine import catalog, simulate
from destage.spec import quantities

READ_US = 60.0


def _reader(dies: int, **fields: Any) -> Scenario:
    """Return an SSD in which only the dies take time."""
    return {
        "kind": "ssd",
        "capacity": "256MiB",
        "over_provisioning": 0.5,
        "channels": 1,
        "dies_per_channel": dies,
        "pages_per_block": 16,
        "read_time": f"{READ_US}us",
        "program_time": "600us",
        **fields,
    }


def _open_reads(dies: int, busy: float, count: int, **fields: Any) -> list[Row]:
    rate = busy * dies / READ_US * 1e6
    return replicate(scenario(poisson(rate), _reader(dies, **fields), warm_up=2_000, window=requests(count)))


@pytest.mark.parametrize(("dies", "busy"), [(1, 0.8), (8, 0.6), (32, 0.75)])
def test_random_reads_are_an_m_d_1_queue_at_every_die(dies: int, busy: float) -> None:
    """Poisson arrivals split by a random die stay Poisson: R = S (1 + u / (2 (1 - u)))."""
    rows = _open_reads(dies, busy, 16_000_000)
    slower = _open_reads(dies, busy, 4_000_000, read_time=f"{READ_US * 1.03:.1f}us")
    for title, unit, exact, column in [
        ("response time of random reads", "us", READ_US * (1 + busy / (2 * (1 - busy))), "response_mean_us"),
        ("share of dies busy", "fraction", busy, "disk_busy_mean_fraction"),
    ]:
        values, wrong = ([row[column] for row in some] for some in (rows, slower))
        mutants = {"read time 3 % longer": wrong}
        assert_covers(f"SSD, {dies} dies, {busy:.0%} busy: {title}", unit, exact, values, mutants=mutants)


@pytest.mark.parametrize("depth", [1, 4, 16, 64])
def test_closed_reads_keep_littles_law_and_balanced_bounds(depth: int) -> None:
    """N = X R; X at most min(N, c) / S, and no less than with exponential times, c / S x N / (N + c - 1)."""
    dies = 8
    row = simulate(scenario(outstanding(depth), _reader(dies), warm_up=1_000, window=100_000))
    per_us = row["throughput_iops"] / 1e6
    assert per_us * row["response_mean_us"] == pytest.approx(depth, rel=2e-3)
    most = min(depth, dies) / READ_US
    least = dies / READ_US * depth / (depth + dies - 1)
    assert least * 0.995 <= per_us <= most * (1 + 1e-9)
    if depth == 1:
        assert_equal("SSD, depth 1: response time", "us", READ_US, row["response_mean_us"], tolerance=1e-9)


def test_a_shared_channel_limits_the_rate() -> None:
    """Thirty-two dies of 60 us could read 530,000 pages a second; their channel moves 100 MB/s."""
    row = simulate(
        scenario(outstanding(256), _reader(32, channel_rate="100MB/s"), warm_up=1_000, window=50_000)
    )
    assert_equal(
        "SSD, channel of 100 MB/s: rate", "MB/s", 100, row["throughput_iops"] * 4096 / 1e6, tolerance=5e-3
    )


def greedy(units: int, share: float) -> float:
    """Write amplification of greedy collection in the limit of many blocks.

    Blocks above the least level m fall through the levels at equal flow, so the share at level j is k / j;
    with the valid share u of all units, k = (u b - m) / (b - m - m (H_b - H_m)), and level m holds the rest,
    p = 1 - k (H_b - H_m). A victim has m - m p / k valid units (Desnoyers, SYSTOR 2012).
    """
    for level in range(1, units):
        harmonic = math.fsum(1 / j for j in range(level + 1, units + 1))
        flow = (share * units - level) / (units - level - level * harmonic)
        rest = 1 - flow * harmonic
        if flow > 0 and 0 <= rest <= flow / level:
            return units / (units - level + level * rest / flow)
    raise AssertionError(share)


def large_blocks(spare: float) -> float:
    """The same where blocks are large (Xiang and Kurkoski, ICNC 2012).

    1 / (1 - exp(-c)), where (1 - exp(-c)) / c = 1 / (1 + s) and s is the spare share.
    """
    low, high = 1e-9, 50.0
    for _ in range(200):
        c = (low + high) / 2
        low, high = (c, high) if -math.expm1(-c) / c > 1 / (1 + spare) else (low, c)
    return 1 / -math.expm1(-low)


BLOCK_UNITS = 64


def _writer(over_provisioning: float, *, capacity: str = "256MiB", precondition: str = "random") -> Scenario:
    return _reader(
        1,
        capacity=capacity,
        over_provisioning=over_provisioning,
        page="4KiB",
        pages_per_block=BLOCK_UNITS,
        precondition=precondition,
    )


def _predict_amplification(units: int, blocks: int, erased: float) -> float:
    """Return `greedy` for a die of `blocks` blocks, `erased` of them erased, with `units` units.

    Two more are open and half full of valid units, and one is being collected, half of it copied.
    """
    found = 1.0
    for _ in range(20):
        left = BLOCK_UNITS * (1 - 1 / found) / 2
        share = (units - BLOCK_UNITS - left) / ((blocks - 3 - erased) * BLOCK_UNITS)
        found = greedy(BLOCK_UNITS, share)
    return found


@pytest.mark.parametrize("over_provisioning", [0.07, 0.15, 0.28])
def test_random_writes_amplify_as_greedy_analysis_predicts(
    over_provisioning: float,
) -> None:
    """The formula holds for many blocks, and for the blocks that are full (Desnoyers, SYSTOR 2012).

    Garbage collection begins when three blocks are erased, and hurries when one is left: the exact value is
    taken for two and a half, and is known as well as it is the same for one and for four.
    """
    units = 262_144

    def run(share: float) -> list[float]:
        rows = replicate(
            scenario(
                outstanding(64),
                _writer(share, capacity="1GiB"),
                read_fraction=0,
                warm_up=50_000,
                window=requests(1_600_000),
            )
        )
        return each(rows, lambda row: float(row["ssd_write_amplification"]))

    blocks = int(units * (1 + over_provisioning) / BLOCK_UNITS)
    exact = _predict_amplification(units, blocks, 2.5)
    known = (_predict_amplification(units, blocks, 4) - _predict_amplification(units, blocks, 1)) / exact / 2
    title = f"SSD, over-provisioning {over_provisioning:.0%}: write amplification of random writes"
    ours = run(over_provisioning)
    mutants = {"3 % more spare blocks": run(1.03 * over_provisioning)}
    assert_covers(f"{title} (known to {known:.1%})", "ratio", exact, ours, rounding=known, mutants=mutants)
    # Small blocks amplify slightly less than large ones.
    limit = large_blocks(blocks * BLOCK_UNITS / units - 1)
    assert 0.85 * limit < sum(ours) / len(ours) < limit * 1.03


@pytest.mark.parametrize("precondition", ["sequential", "empty"])
def test_sequential_writes_amplify_nothing(precondition: str) -> None:
    load = scenario(
        outstanding(8),
        _writer(0.1, precondition=precondition),
        size="64KiB",
        read_fraction=0,
        address={"kind": "sequential", "footprint": "256MiB"},
        window=20_000,
    )
    row = simulate(load)
    assert row["ssd_gc_copies"] == 0
    assert row["ssd_erases"] > 0
    assert_equal(
        f"SSD, {precondition}: write amplification of sequential writes",
        "ratio",
        1,
        row["ssd_write_amplification"],
        tolerance=2e-3,
    )


SSDS = [entry for entry in catalog.entries("disks") if entry.config["kind"] == "ssd"]


def _measure(name: str, depth: int, *, state: str = "random", window: int = 40_000, **load: Any) -> Row:
    disk = {"use": name, "precondition": state}
    return simulate(scenario(outstanding(depth), disk, warm_up=4_000, window=window, **load))


@pytest.mark.parametrize("entry", SSDS, ids=lambda entry: entry.name)
def test_the_catalogues_drive_meets_its_data_sheet(entry: catalog.Entry) -> None:
    """Each rated figure in the state that it is rated in; most were inputs of the derivation in ssds.toml."""
    name, sheet = entry.name, entry.sheet
    depth = int(sheet["depth"])
    run = {"address": {"kind": "sequential", "footprint": "16GiB"}, "size": "128KiB", "state": "sequential"}

    def check(what: str, unit: str, figure: str, ours: float, tolerance: float) -> None:
        if figure in sheet:
            assert_equal(f"{name}: {what}", unit, sheet[figure], ours, tolerance=tolerance)

    one_read = _measure(name, 1)
    check("random read, depth 1", "us", "read_us", one_read["response_mean_us"], 0.01)
    # Depth 1 without garbage collection, as the latency of the sheet is not a steady state.
    one_write = _measure(name, 1, state="empty", read_fraction=0)
    check("random write, depth 1", "us", "write_us", one_write["response_mean_us"], 0.01)
    reads = _measure(name, depth)
    check(f"random reads, depth {depth}", "1/s", "reads_per_s", reads["throughput_iops"], 0.03)
    for state, rated, tolerance in (("random", "sustained", 0.06), ("sequential", "fresh", 0.03)):
        if f"{rated}_writes_per_s" in sheet:
            writes = _measure(name, depth, state=state, read_fraction=0, window=400_000)
            what = f"{rated} random writes, depth {depth}"
            check(what, "1/s", f"{rated}_writes_per_s", writes["throughput_iops"], tolerance)
    ahead = _measure(name, depth, window=20_000, **run)
    check("sequential reads", "MB/s", "read_mb_per_s", ahead["throughput_bytes_per_s"] / 1e6, 0.03)
    stream = _measure(name, depth, read_fraction=0, window=20_000, **run)
    # Predicted of the D3-S4610, whose flash is as fast as its random writes imply.
    tolerance = 0.06 if name == "d3_s4610_480gb" else 0.03
    check("sequential writes", "MB/s", "write_mb_per_s", stream["throughput_bytes_per_s"] / 1e6, tolerance)


@pytest.mark.parametrize("entry", SSDS, ids=lambda entry: entry.name)
@pytest.mark.parametrize("read_fraction", [0, 1])
def test_throughput_does_not_fall_with_depth(entry: catalog.Entry, read_fraction: int) -> None:
    for state in ("random", "sequential", "empty"):
        # Garbage collection of random writes runs in long cycles.
        window = 400_000 if state == "random" and read_fraction == 0 else 40_000
        load: dict[str, Any] = {"state": state, "read_fraction": read_fraction, "window": window}
        rates = [_measure(entry.name, depth, **load)["throughput_iops"] for depth in (1, 4, 32)]
        assert rates[1] >= 0.98 * rates[0], state
        assert rates[2] >= 0.98 * rates[1], state


@pytest.mark.parametrize("name", ["samsung_860_pro_512gb", "crucial_mx200_500gb"])
def test_a_client_drive_without_its_cache_waits_for_the_flash(name: str) -> None:
    """At depth 1 each write takes at least a program, and with the cache, in a fresh drive, none."""

    def respond(write_cache: bool) -> float:
        disk = {"use": name, "precondition": "sequential", "write_cache": write_cache}
        row = simulate(scenario(outstanding(1), disk, read_fraction=0, window=4_000))
        return float(row["response_mean_us"])

    program_us = quantities.parse(catalog.entry("disks", name).config["program_time"], "ns") / 1e3
    assert respond(True) < 0.1 * program_us
    assert respond(False) > program_us


@pytest.mark.parametrize(("bandwidth", "overhead_us"), [("600MB/s", 2.8), ("300MB/s", 5.6)])
def test_one_wire_limits_the_commands_of_a_drive(bandwidth: str, overhead_us: float) -> None:
    back_end = {
        "kind": "sas",
        "lanes": 1,
        "bandwidth": bandwidth,
        "command_overhead": f"{overhead_us}us",
        "sata_overhead": "7.5us",
    }
    disk = {**_reader(32), "interface": {"half_duplex": True, "command_overhead": "2us"}}
    load = scenario(outstanding(32), disk, controller={"back_end": back_end}, window=40_000)
    wire_us = overhead_us + 4096 / quantities.parse(bandwidth, "bytes_per_s") * 1e6
    title = f"SSD, a wire of {bandwidth}: reads of 4 KiB"
    rate = simulate(load)["throughput_iops"]
    assert_equal(title, "1/s", 1e6 / max(wire_us, 9.5), rate, tolerance=2e-3)


def test_reads_of_8_kib_are_predicted() -> None:
    """Not an input: the sheet of the S4500 gives 48,000 random 8 KB reads per second."""
    row = _measure("s4500_1920gb", 32, size="8KiB")
    assert_equal(
        "s4500_1920gb: random 8 KiB reads (predicted)", "1/s", 48_000, row["throughput_iops"], tolerance=0.06
    )


def test_an_array_of_ssds_runs_behind_a_write_cache() -> None:
    load = scenario(
        outstanding(32),
        {"use": "s4500_1920gb"},
        size="8KiB",
        read_fraction=0.67,
        controller={"use": "smart_array_p400i_256"},
        array={"raid": "5", "disks": 4},
        warm_up="auto",
        window=40_000,
    )
    row = simulate(load)
    assert row["status"] == "ok"
    assert row["destages"] > 0
    assert row["ssd_write_amplification"] > 1
    assert simulate(load) == row
