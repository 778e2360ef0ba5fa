"""Disk I/Os, rates and latencies of RAID levels against their closed forms, without a cache."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from validation.mutations import LAST_READ, LAST_WRITE, UNCOUNTED, simulate_mutants
from validation.replicates import (
    Row,
    assert_covers,
    assert_equal,
    each,
    mutants_of,
    replicate,
    requests,
    response_ms,
)
from validation.scenarios import (
    SAVVIO_CYLINDERS,
    SAVVIO_SEEK,
    Scenario,
    closed,
    constant,
    drive,
    exponential,
    outstanding,
    savvio,
    scenario,
    seek_of,
    server,
)

from destage.engine import simulate

UNIT = 64 << 10


def _writes_of(raid: str, disks: int, strips: int, data: int, **array: object) -> Scenario:
    """Host writes of whole strips from the start of a stripe on."""
    return scenario(
        closed(constant("1us")),
        server(constant("1ms"), capacity="1GB"),
        size=strips * UNIT,
        read_fraction=0.0,
        operations={"alignment": data * UNIT},
        array={"raid": raid, "disks": disks, "stripe_unit": UNIT, **array},
        warm_up=10,
        window=1_000,
    )


def _reads_and_writes(row: Row) -> tuple[float, float]:
    """Disk reads and writes of one host write."""
    return row["disk_reads"] / row["writes"], row["disk_writes"] / row["writes"]


def _reads(row: Row) -> float:
    return _reads_and_writes(row)[0]


def _writes(row: Row) -> float:
    return _reads_and_writes(row)[1]


def _both(row: Row) -> float:
    return sum(_reads_and_writes(row))


def _mutants(load: Scenario, mutations: Mapping[str, str], value: Callable[[Row], float]) -> dict[str, float]:
    """A value of one run on the engine with each of `mutations`."""
    return {
        change: value(row)
        for change, mutation in mutations.items()
        for row in simulate_mutants([load], mutation)
    }


@pytest.mark.parametrize(
    ("raid", "disks", "reads", "writes"),
    [
        ("0", 8, 0, 1),
        ("1", 2, 0, 2),
        ("10", 8, 0, 2),
        ("5", 4, 2, 2),
        ("5", 8, 2, 2),
        ("6", 6, 3, 3),
        ("6", 8, 3, 3),
        ("50", 8, 2, 2),
        ("60", 12, 3, 3),
    ],
)
def test_small_write_penalty(raid: str, disks: int, reads: int, writes: int) -> None:
    """1 on RAID 0, 2 on mirrors, 4 on RAID 5 and 50, 6 on RAID 6 and 60, at any address of a small write."""
    load = scenario(
        closed(constant("1us")),
        server(constant("1ms"), capacity="1GB"),
        read_fraction=0.0,
        array={"raid": raid, "disks": disks, "stripe_unit": UNIT},
        warm_up=10,
        window=20_000,
    )
    row = simulate(load)
    title = f"RAID {raid} of {disks}: disk {{}} per random 4 KB write"
    for what, exact, value, mutations in [
        ("reads", reads, _reads, LAST_READ),
        ("writes", writes, _writes, LAST_WRITE),
    ]:
        mutants = _mutants(load, mutations, value) if exact > 1 else {}
        assert_equal(title.format(what), "I/Os", exact, value(row), mutants=mutants)


@pytest.mark.parametrize(
    ("raid", "disks", "costs"),
    [
        ("5", 5, [4, 5, 5, 5]),
        ("5", 9, [4, 6, 8, 9, 9, 9, 9, 9]),
        ("6", 10, [6, 8, 10, 10, 10, 10, 10, 10]),
    ],
)
def test_writes_of_k_strips_use_the_fewest_ios(raid: str, disks: int, costs: list[int]) -> None:
    """min(2 (k + p), n); none of them is a read if the whole stripe is written."""
    for strips, cost in enumerate(costs, start=1):
        load = _writes_of(raid, disks, strips, len(costs))
        reads, writes = _reads_and_writes(simulate(load))
        title = f"RAID {raid} of {disks}: I/Os of a write of {strips} strips"
        assert_equal(title, "I/Os", cost, reads + writes, mutants=_mutants(load, LAST_WRITE, _both))
    assert_equal(f"RAID {raid} of {disks}: reads of a full-stripe write", "I/Os", 0, reads)
    assert_equal(
        f"RAID {raid} of {disks}: write amplification of a full stripe",
        "ratio",
        disks / len(costs),
        writes / len(costs),
    )


def test_rmw_never_reconstructs() -> None:
    for strips in (1, 2, 3, 7):
        load = _writes_of("5", 9, strips, 8, parity_update="rmw")
        title = f"RAID 5 of 9 under rmw: I/Os of a write of {strips} strips"
        mutants = _mutants(load, LAST_WRITE, _both)
        assert_equal(title, "I/Os", 2 * (strips + 1), _both(simulate(load)), mutants=mutants)


def _build_saturated_array(
    raid: str, read_fraction: float, count: int, *, service: str = "7352941ns"
) -> Scenario:
    """Eight disks, of 136 I/Os a second each, under 2,048 outstanding random I/Os."""
    return scenario(
        outstanding(2_048),
        server(constant(service), capacity="1TB"),
        read_fraction=read_fraction,
        array={"raid": raid, "disks": 8, "stripe_unit": UNIT},
        warm_up=40_000,
        window=requests(count),
    )


@pytest.mark.parametrize(
    ("raid", "penalty", "mixed", "writes"),
    [("0", 1, 1088, 1088), ("10", 2, 818, 544), ("5", 4, 547, 272), ("6", 6, 411, 181)],
)
def test_rate_of_eight_disks(raid: str, penalty: int, mixed: int, writes: int) -> None:
    """It is n i / (r + (1 - r) p): 1088, 818, 547, 411 at 67 % reads and 1088, 544, 272, 181 of writes."""

    def rate(row: Row) -> float:
        return float(row["throughput_iops"])

    def law(row: Row) -> float:
        ios = (row["disk_reads"] + row["disk_writes"]) / row["window_s"]
        return float(ios * 7.352941e-3 / (row["disk_busy_mean_fraction"] * 8))

    for read_fraction, published in [(0.67, mixed), (0.0, writes)]:
        load = _build_saturated_array(raid, read_fraction, 4_000_000)
        rows = replicate(load)
        exact = 8 * 136 / (read_fraction + (1 - read_fraction) * penalty)
        assert exact == pytest.approx(published, abs=0.6)
        name = f"RAID {raid} of 8 disks, 136/s each, {read_fraction:.0%} reads"
        slower = replicate(_build_saturated_array(raid, read_fraction, 1_000_000, service="7573529ns"))
        mutants = {"disks 3 % slower": each(slower, rate)}
        # With one copy of each write, half of the disks of RAID 1+0 would do as much as all do with two.
        if penalty > 1 and (raid, read_fraction) != ("10", 0.0):
            mutants |= mutants_of(load, LAST_WRITE, rate)
        # At any depth a disk idles sometimes, and the window splits some writes.
        assert_covers(
            f"{name}: saturated rate", "1/s", exact, each(rows, rate), rounding=0.005, mutants=mutants
        )
        title = f"{name}: disk I/Os x S / busy, the utilisation law"
        mutants = mutants_of(load, UNCOUNTED, law)
        assert_covers(title, "ratio", 1.0, each(rows, law), rounding=1e-4, mutants=mutants)


def _latency(disk: Scenario, raid: str, disks: int, count: int) -> list[float]:
    """Response time [ms] of one random write at a time."""
    rows = replicate(
        scenario(
            closed(exponential("20ms")),
            {"speed_tolerance": 0.001, **disk},
            read_fraction=0.0,
            array={"raid": raid, "disks": disks},
            warm_up=100,
            window=requests(count),
        )
    )
    return each(rows, response_ms)


def test_write_of_a_mirrored_pair() -> None:
    """Both arms are on one cylinder: seek + 2/3 T + transfer = 4.0 + 4.0 + 0.3 ms at 10,000 rpm."""
    exact = 4.0 * (1 - 1 / SAVVIO_CYLINDERS) + 4.0 + 0.3
    disk = savvio() | {"speed_tolerance": 0.001}
    mutants = {"only one copy": _latency(disk, "0", 1, 300_000)}
    title = "RAID 1: random 4 KB write, seek + 2/3 T + transfer"
    ours = _latency(disk, "1", 2, 1_000_000)
    assert_covers(title, "ms", exact, ours, rounding=0.001, mutants=mutants)


def test_small_write_with_equal_seeks() -> None:
    """Read-modify-write: seek + 2/3 T + transfer to read, then a whole revolution until both can be written.

    With a seek of 4.0 ms over any distance both arms need the same time: 4.0 + 4.0 + 6.0 = 14.0 ms, and
    the transfer.
    """
    disk = drive(cylinders=SAVVIO_CYLINDERS, sectors_per_track=4_000, seek=seek_of("4ms"))
    transfer = 8 / 4_000 * 6
    title = "RAID 5 of 4: small write, 4.0 ms + 2/3 T + T + transfer"
    disk |= {"speed_tolerance": 0.001}
    mutants = {
        "no second write, nor the turn before it": _latency(disk, "1", 2, 300_000),
        "spindle 3 % slower": _latency(disk | {"rpm": f"{10_000 / 1.03}rpm"}, "5", 4, 300_000),
    }
    ours = _latency(disk, "5", 4, 1_000_000)
    assert_covers(title, "ms", 14.0 + transfer, ours, rounding=0.001, mutants=mutants)


def _savvio_curve() -> list[float]:
    """Seek time [ms] by distance, with the constants that the literature gives for the three figures."""
    steps = np.arange(SAVVIO_CYLINDERS - 1.0)
    return [0.0, *(0.2 + 0.0258185 * np.sqrt(steps) + 4.04802e-5 * steps).tolist()]


def _small_write_of(disks: int, count: int) -> float:
    """The mean small write of RAID 5 by a recursion over the places of all arms [ms]."""
    turn, transfer = 6.0, 0.3
    curve = _savvio_curve()
    generator = np.random.default_rng(7)
    places = generator.integers(0, SAVVIO_CYLINDERS, count)
    data = generator.integers(0, disks, count)
    parity = (data + generator.integers(1, disks, count)) % disks
    waits = generator.uniform(0, turn, (count, 2))
    arms, total = [0] * disks, 0.0
    for place, one, other, (first, second) in zip(
        places.tolist(), data.tolist(), parity.tolist(), waits.tolist(), strict=True
    ):
        ready = sorted((curve[abs(place - arms[one])] + first, curve[abs(place - arms[other])] + second))
        # The disk that was ready earlier reaches the sector again first; the later one waits a revolution.
        behind = ready[1] - ready[0]
        turns = -(-(behind + transfer) // turn)
        total += ready[1] + transfer + max(turn, turns * turn - behind)
        arms[one] = arms[other] = place
    return total / count


def test_small_write_with_arms_anywhere() -> None:
    """On n disks the arms of data and parity are at different cylinders; the longer seek and delay counts."""
    assert SAVVIO_SEEK["average"] == "4.0ms"
    exact = _small_write_of(4, 400_000)
    title = "RAID 5 of 4: small write, arms apart (a recursion; the rule of thumb says 14.0 + transfer)"
    disk = savvio() | {"speed_tolerance": 0.001}
    ours = _latency(disk, "5", 4, 1_000_000)
    mutants = {"no second write, nor the turn before it": _latency(disk, "1", 2, 300_000)}
    assert_covers(title, "ms", exact, ours, rounding=0.005, mutants=mutants)


def test_mirrored_reads_go_to_the_nearer_arm() -> None:
    """Of two idle mirrors the one whose arm is nearer reads: a recursion over both arms."""
    curve = _savvio_curve()
    generator = np.random.default_rng(11)
    arms, total, count = [0, 0], 0.0, 400_000
    for place in generator.integers(0, SAVVIO_CYLINDERS, count).tolist():
        distance, nearer = min((abs(place - arm), index) for index, arm in enumerate(arms))
        total += curve[distance]
        arms[nearer] = place
    exact = total / count + 3.3

    def run(count: int, disks: int) -> list[float]:
        base = scenario(
            closed(exponential("20ms")),
            savvio(),
            array={"raid": "1" if disks == 2 else "0", "disks": disks},
            warm_up=1_000,
            window=requests(count),
        )
        return each(replicate(base), response_ms)

    title = "RAID 1: random 4 KB read by the nearer arm (a recursion)"
    mutants = {"always the same arm": run(300_000, 1)}
    assert_covers(title, "ms", exact, run(2_000_000, 2), rounding=0.002, mutants=mutants)
