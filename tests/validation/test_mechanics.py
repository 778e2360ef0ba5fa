"""Seeks and transfers of a disk against geometry and arithmetic."""

import math
from typing import Any

import numpy as np
import pytest
from validation.form import REPORT_PATH
from validation.replicates import (
    assert_covers,
    assert_equal,
    each,
    replicate,
    requests,
    response_ms,
)
from validation.scenarios import (
    SAVVIO_CYLINDERS,
    Scenario,
    closed,
    drive,
    exponential,
    outstanding,
    poisson,
    savvio,
    scenario,
    seek_of,
)
from validation.single_sectors import TURN_MS, less, single_sectors

from destage.engine import catalog, normalise

HP_97560 = {
    "kind": "two_piece",
    "boundary": 383,
    "a": "3.24ms",
    "b": "0.400ms",
    "c": "8.00ms",
    "e": "0.008ms",
}
"""The measured curve of the HP 97560 (Ruemmler and Wilkes, IEEE Computer 27(3), 1994)."""


def _hp_97560_seek(distance: int) -> float:
    if distance == 0:
        return 0.0
    return 3.24 + 0.400 * math.sqrt(distance) if distance <= 383 else 8.00 + 0.008 * distance


def test_mean_seek_of_the_hp_97560() -> None:
    """Random pairs of 1,962 cylinders: 12.8318 ms, the pairs without a seek among them."""
    cylinders = 1962
    exact = (
        sum((1 if d == 0 else 2) * (cylinders - d) * _hp_97560_seek(d) for d in range(cylinders))
        / cylinders**2
    )
    assert exact == pytest.approx(12.8318, abs=5e-5)
    turn = 60_000 / 4002

    def run(seek: Scenario, count: int, **fields: Any) -> list[float]:
        disk = drive(
            cylinders=cylinders, surfaces=19, sectors_per_track=72, seek=seek, rpm="4002rpm", **fields
        )
        return less(single_sectors(disk, count=count, array={"stripe_unit": 512}), turn / 2 + turn / 72)

    ours = run(HP_97560, 2_000_000)
    mutants = {"0.39 ms more to settle": run(HP_97560, 500_000, command_time="0.39ms")}
    assert_covers("HP 97560: mean seek of random pairs", "ms", exact, ours, mutants=mutants)
    # A share of 1 / N of the pairs is no seek.
    moved = cylinders / (cylinders - 1)
    assert exact * moved == pytest.approx(12.8384, abs=5e-5)
    assert_covers(
        "HP 97560: mean seek of random pairs of different cylinders",
        "ms",
        exact * moved,
        [value * moved for value in ours],
        mutants={change: [value * moved for value in wrong] for change, wrong in mutants.items()},
    )
    # On a curve of 0.01 ms a cylinder, time is distance.
    line = {
        "kind": "table",
        "points": [{"distance": 1, "time": "10us"}, {"distance": 1961, "time": "19610us"}],
    }
    steeper = {
        "kind": "table",
        "points": [{"distance": 1, "time": "10300ns"}, {"distance": 1961, "time": "20198300ns"}],
    }
    distance = (cylinders**2 - 1) / (3 * cylinders)
    assert distance == pytest.approx(653.9998, abs=5e-5)
    assert_covers(
        "1,962 cylinders: mean distance of random pairs",
        "cylinders",
        distance,
        [value * 100 for value in run(line, 4_000_000)],
        mutants={"a curve 3 % steeper": [value * 100 for value in run(steeper, 1_000_000)]},
    )


@pytest.mark.parametrize(
    ("distance", "time"),
    [(1, 3.64), (100, 7.24), (383, 11.0682), (384, 11.072), (1000, 16.0), (1961, 23.688)],
)
def test_single_seeks_of_the_hp_97560(distance: int, time: float) -> None:
    """Two sectors half a disk of twice as many cylinders apart, read in turn: every seek is the same."""
    turn = 60_000 / 4002

    def run(count: int, **fields: Any) -> list[float]:
        disk = drive(
            cylinders=2 * distance,
            surfaces=19,
            sectors_per_track=72,
            seek=HP_97560,
            rpm="4002rpm",
            **fields,
        )
        rows = replicate(
            scenario(
                # So long a pause leaves the spindle at any angle.
                closed(exponential("20s")),
                disk,
                size=512,
                array={"stripe_unit": 512},
                address={
                    "kind": "sequential",
                    "footprint": 1024,
                    "placement": {"kind": "spread", "extent": 512},
                },
                warm_up=10,
                window=requests(count),
            )
        )
        return less(each(rows, response_ms), turn / 2 + turn / 72)

    mutants = {"3 % more": run(800_000, command_time=f"{round(time * 30_000)}ns")}
    title = f"HP 97560: seek over {distance} cylinders"
    assert_covers(title, "ms", time, run(1_600_000), rounding=2e-5, mutants=mutants)


def test_mean_seek_through_data_sheet_figures() -> None:
    """The curve through 0.2, 4.0 and 8.1 ms has the mean 4.0 ms over random pairs of distinct cylinders."""
    exact = 4.0 * (1 - 1 / SAVVIO_CYLINDERS)

    def run(count: int, **fields: Any) -> list[float]:
        rows = replicate(
            scenario(closed(exponential("20ms")), savvio(**fields), warm_up=100, window=requests(count))
        )
        return less(each(rows, response_ms), TURN_MS / 2 + 0.3)

    ours, slower = run(2_000_000), run(500_000, command_time="0.22ms")
    title = "Savvio 10K.1: mean seek of random pairs"
    assert_covers(title, "ms", exact, ours, mutants={"0.22 ms more": slower})
    title = "Savvio 10K.1: random 4 KB service, 137 I/Os a second"
    mutants = {"3 % more": [value + 3.3 for value in slower]}
    assert_covers(title, "ms", exact + 3.3, [value + 3.3 for value in ours], mutants=mutants)


# Name, rpm, cylinders, seek figures [ms], sectors per track, published service time [ms] and rate [1/s].
SERVICES = [
    ("15K", 15_000, 50_864, (0.2, 3.5, 7.4), 160, 5.7, 175),
    ("7.2K near-line", 7_200, 300_000, (0.25, 8.5, 16.5), 222, 12.97, 77),
]


@pytest.mark.parametrize(
    ("name", "rpm", "cylinders", "figures", "sectors", "published", "rate"),
    SERVICES,
    ids=[row[0] for row in SERVICES],
)
def test_random_service_of_other_spindles(
    name: str,
    rpm: int,
    cylinders: int,
    figures: tuple[float, float, float],
    sectors: int,
    published: float,
    rate: int,
) -> None:
    """Seek + half a turn + transfer of random 4 KB, one at a time."""
    turn = 60_000 / rpm
    exact = figures[1] * (1 - 1 / cylinders) + turn / 2 + 8 / sectors * turn
    assert exact == pytest.approx(published, abs=5e-3)
    assert 1000 / exact == pytest.approx(rate, abs=0.5)
    names = ("track_to_track", "average", "full_stroke")
    seek = {
        "kind": "figures",
        **{key: f"{value}ms" for key, value in zip(names, figures, strict=True)},
    }

    def run(count: int, **fields: Any) -> list[float]:
        disk = drive(cylinders=cylinders, sectors_per_track=sectors, seek=seek, rpm=f"{rpm}rpm", **fields)
        return single_sectors(disk, count=count, size="4KiB")

    mutants = {"3 % more": run(500_000, command_time=f"{round(exact * 30_000)}ns")}
    title = f"{name} disk: random 4 KB service ({rate} I/Os a second)"
    assert_covers(title, "ms", exact, run(1_000_000), rounding=1e-3, mutants=mutants)


def _savvio_seeks(count: int, generator: np.random.Generator) -> np.ndarray:
    """Seek times [ms] of an arm that goes from one random cylinder to the next."""
    first, mean, last = 0.2, 4.0, 8.1
    distance = np.arange(1, SAVVIO_CYLINDERS)
    weight = 2.0 * (SAVVIO_CYLINDERS - distance) / (SAVVIO_CYLINDERS * (SAVVIO_CYLINDERS - 1))
    root, linear = np.sqrt(distance - 1.0), distance - 1.0
    matrix = [[weight @ root, weight @ linear], [root[-1], linear[-1]]]
    b, c = np.linalg.solve(matrix, [mean - first, last - first])
    # The constants that the literature gives for this disk.
    assert b == pytest.approx(0.0258185, rel=1e-5)
    assert c == pytest.approx(4.04802e-5, rel=1e-5)
    curve = np.concatenate([[0.0], first + b * root + c * linear])
    cylinders = generator.integers(0, SAVVIO_CYLINDERS, count + 1)
    return curve[np.abs(np.diff(cylinders))]


def _lindley(rate: float, service: np.ndarray, generator: np.random.Generator) -> float:
    """Mean response time of single services in order of Poisson arrivals, by Lindley's recursion."""
    gaps = generator.exponential(1 / rate, len(service))
    steps = np.concatenate([[0.0], service[:-1] - gaps[1:]])
    walk = np.cumsum(steps)
    waiting = walk - np.minimum.accumulate(walk)
    return float(np.mean(waiting + service))


@pytest.mark.parametrize(("rate", "published"), [(40.0, 8.978), (80.0, 13.013)])
def test_random_reads_of_the_savvio_as_a_queue(rate: float, published: float) -> None:
    """M/G/1 with service 4.0 + 3.0 + 0.3 ms and variance 3.1259 + 3 ms^2 gives 8.978 and 13.013 ms.

    The formula takes services as independent. An arm's seeks are not: the place that one leaves it in is
    where the next begins. The exact value is therefore a recursion over millions of seeks, which lies
    within 1 % of the formula.
    """
    generator = np.random.default_rng(1)
    seeks = _savvio_seeks(16_000_000 if REPORT_PATH else 6_000_000, generator)
    assert float(np.var(seeks)) == pytest.approx(3.1259, rel=2e-3)
    service = seeks + generator.uniform(0, TURN_MS, len(seeks)) + 0.3
    exact = _lindley(rate / 1000, service, generator)
    assert exact == pytest.approx(published, rel=0.01)

    def run(count: int, **fields: Any) -> list[float]:
        rows = replicate(scenario(poisson(rate), savvio(**fields), warm_up=1_000, window=requests(count)))
        return each(rows, response_ms)

    title = f"Savvio 10K.1: random 4 KB reads at {rate:g}/s (M/G/1 formula: {published} ms)"
    mutants = {"service 3 % longer": run(2_000_000, command_time="0.22ms")}
    assert_covers(title, "ms", exact, run(8_000_000), rounding=0.002, mutants=mutants)


def _zones_of(disk: Scenario) -> list[tuple[int, int]]:
    """(cylinders, sectors per track) of a catalogue disk given by capacity and rates, as documented."""
    geometry = disk["geometry"]
    capacity, cylinders, zones = (geometry[key] for key in ("capacity", "cylinders", "zones"))
    turn_s = 60 / disk["rpm"]
    tracks = [
        round(
            (geometry["outer_rate"] - (geometry["outer_rate"] - geometry["inner_rate"]) * zone / (zones - 1))
            * turn_s
            / 512
        )
        for zone in range(zones)
    ]

    def sectors(count: int) -> int:
        return sum((count // zones + (zone < count % zones)) * tracks[zone] for zone in range(zones))

    wanted = capacity // 512
    surfaces = -(-wanted // sectors(cylinders))
    used = next(
        count
        for count in range(wanted // surfaces // max(tracks), cylinders + 1)
        if sectors(count) * surfaces >= wanted
    )
    return [(used // zones + (zone < used % zones), tracks[zone]) for zone in range(zones)]


def test_random_service_of_the_catalogue_disk() -> None:
    """Outer cylinders hold more, so random sectors lie closer together than random cylinders do."""
    disk = catalog.resolve({"array": {"disk": {"use": "savvio_10k1_36gb"}}})["array"]["disk"]
    in_units = scenario(closed(exponential("20ms")), disk | {"speed_tolerance": 0.0})
    canonical = normalise(in_units)["arrays"][0]["disk"]
    zones = _zones_of(canonical)
    cylinders = sum(count for count, _ in zones)
    share = np.concatenate([np.full(count, tracks, dtype=float) for count, tracks in zones])
    share /= share.sum()
    size = 1 << (2 * cylinders).bit_length()
    spectrum = np.fft.rfft(share, size)
    pairs = np.fft.irfft(np.abs(spectrum) ** 2, size)[:cylinders]
    pairs[1:] *= 2
    distance = np.arange(1, cylinders)
    weight = 2.0 * (cylinders - distance) / (cylinders * (cylinders - 1.0))
    root, linear = np.sqrt(distance - 1.0), distance - 1.0
    b, c = np.linalg.solve([[weight @ root, weight @ linear], [root[-1], linear[-1]]], [3.8, 7.9])
    seek = float(pairs[1:] @ (0.2 + b * root + c * linear))
    transfer = sum(8 / tracks * TURN_MS * count * tracks for count, tracks in zones) / sum(
        count * tracks for count, tracks in zones
    )
    exact = 0.25 + seek + TURN_MS / 2 + transfer

    def run(count: int, **fields: Any) -> list[float]:
        changed = disk | {"speed_tolerance": 0.0} | fields
        rows = replicate(scenario(closed(exponential("20ms")), changed, warm_up=100, window=requests(count)))
        return each(rows, response_ms)

    ours = run(2_000_000)
    # Requests that run over the end of a track and head switches on the same cylinder are left out.
    title = "savvio_10k1_36gb of the catalogue: random 4 KB service (the rule of thumb says 7.3)"
    mutants = {"3 % more": run(500_000, command_time=f"{round((0.25 + 0.03 * exact) * 1e6)}ns")}
    assert_covers(title, "ms", exact, ours, rounding=0.002, mutants=mutants)
    assert exact == pytest.approx(7.3, rel=0.04)


def test_sequential_rate_with_skews() -> None:
    """4 tracks of 500 sectors to a cylinder, head switch 0.3 ms (25 sectors), step 0.5 ms (42 sectors).

    A cylinder passes in 4 T + (3 x 25 + 42) sector times: 512 x 2,000 bytes in 25.404 ms.
    """
    cylinder = 512 * 2_000

    def run(step: str, head_switch: str) -> float:
        points = [{"distance": 1, "time": step}, {"distance": 199, "time": "5ms"}]
        seek = {"kind": "table", "points": points}
        disk = drive(cylinders=200, surfaces=4, sectors_per_track=500, seek=seek, head_switch=head_switch)
        (row,) = replicate(
            scenario(
                outstanding(2),
                disk,
                size=cylinder // 20,
                address={"kind": "sequential"},
                array={"stripe_unit": cylinder},
                warm_up=20 * 10 + 1,
                window=20 * 150,
            ),
            1,
        )
        return float(row["throughput_bytes_per_s"])

    sector = TURN_MS / 500
    exact = cylinder / ((4 * TURN_MS + (3 * 25 + 42) * sector) / 1e3)
    raw = 500 * 512 * 10_000 / 60
    assert exact == pytest.approx(raw * (1 - 117 / 2117), rel=1e-12), "raw rate x (1 - skew share)"
    assert_equal(
        "sequential rate, 500 sectors per track, with skews",
        "B/s",
        exact,
        run("0.5ms", "0.3ms"),
        tolerance=1e-4,
        mutants={"no time to switch heads": run("0.5ms", "0ms")},
    )


def test_whole_disk_over_its_zones() -> None:
    """Reading a disk through takes the sum over its zones of cylinders x surfaces x T, without skews."""
    size = 512 * 300

    def run(*tracks: int) -> float:
        zones = [{"cylinders": 60, "sectors_per_track": sectors} for sectors in tracks]
        disk = drive(cylinders=1, sectors_per_track=1, seek=seek_of("0ms")) | {
            "geometry": {"kind": "zones", "surfaces": 2, "zones": zones}
        }
        whole = sum(60 * 2 * sectors for sectors in tracks) * 512
        (row,) = replicate(
            scenario(
                outstanding(2),
                disk,
                size=size,
                address={"kind": "sequential"},
                array={"stripe_unit": whole},
                warm_up="none",
                window=60 * 2 * (600 + 450 + 300) * 512 // size,
            ),
            1,
        )
        return float(row["completion_time_s"])

    exact = 3 * 60 * 2 * TURN_MS / 1e3
    # The first request waits for its sector, up to one revolution.
    assert_equal(
        "a disk of three zones read through",
        "s",
        exact,
        run(600, 450, 300),
        tolerance=0.007,
        mutants={"the outer zone's rate throughout": run(600, 600, 600)},
    )
