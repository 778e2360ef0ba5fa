"""Rotation of a disk against geometry and order statistics."""

from typing import Any

import pytest
from validation.replicates import (
    assert_covers,
    assert_equal,
    replicate,
    requests,
    response_ms,
)
from validation.scenarios import (
    Scenario,
    closed,
    constant,
    drive,
    exponential,
    outstanding,
    poisson,
    scenario,
    seek_of,
)
from validation.single_sectors import TURN_MS, less, single_sectors


def _turning(**fields: Any) -> Scenario:
    """A disk whose only delay is rotation: 4,000 sectors to a track, no time to seek."""
    return drive(cylinders=100, sectors_per_track=4_000, seek=seek_of("0ms"), **fields)


@pytest.mark.parametrize("rpm", [15_000, 10_000, 7_200, 5_400])
def test_mean_rotational_delay(rpm: int) -> None:
    """Mean rotational delay: 30,000 / rpm [ms], and one sector of 4,000 under the head."""
    sector = 60_000 / rpm / 4_000
    ours = less(single_sectors(_turning(rpm=f"{rpm}rpm")), sector)
    slower = less(single_sectors(_turning(rpm=f"{rpm / 1.03}rpm"), count=300_000), sector)
    title = f"{rpm} rpm: mean rotational delay"
    assert_covers(title, "ms", 30_000 / rpm, ours, mutants={"spindle 3 % slower": slower})


def test_variance_of_the_rotational_delay() -> None:
    """T^2 / 12, seen through the queue that it makes: Pollaczek and Khinchine at 100/s.

    W = rate (Var + S^2) / (2 (1 - rate S)), solved for the variance; W is the response time less the
    services that there really were, so that their own chance does not blur it.
    """

    def run(count: int, **fields: Any) -> list[float]:
        rows = replicate(
            scenario(poisson(100.0), _turning(**fields), size=512, warm_up=1_000, window=requests(count))
        )
        service = TURN_MS / 2 + TURN_MS / 4_000
        found = []
        for row in rows:
            served = row["disk_busy_mean_fraction"] / row["throughput_iops"] * 1e3
            waiting = response_ms(row) - served
            found.append(waiting * 2 * (1 - 0.1 * service) / 0.1 - service**2)
        return found

    title = "10,000 rpm: variance of the rotational delay, from the queue at 100/s"
    mutants = {"spindle 3 % slower": run(8_000_000, rpm=f"{10_000 / 1.03}rpm")}
    assert_covers(title, "ms²", TURN_MS**2 / 12, run(80_000_000), rounding=1e-3, mutants=mutants)


@pytest.mark.parametrize(("disks", "raid"), [(2, "1"), (4, "0"), (8, "0")])
def test_greatest_rotational_delay_of_several_spindles(disks: int, raid: str) -> None:
    """E[max of n] = n T / (n + 1): a write of one sector to each of n unsynchronised spindles."""

    def run(count: int, **fields: Any) -> list[float]:
        values = single_sectors(
            _turning() | {"speed_tolerance": 0.001} | fields,
            count=count,
            size=512 if raid == "1" else 512 * disks,
            read_fraction=0.0,
            array={"raid": raid, "disks": disks, "stripe_unit": 512},
        )
        return less(values, TURN_MS / 4_000)

    title = f"greatest rotational delay of {disks} spindles (RAID {raid} write)"
    mutants = {"synchronised spindles": run(100_000, synchronised_spindles=True)}
    exact = disks * TURN_MS / (disks + 1)
    # Each spindle is up to 0.1 % slower or faster than nominal.
    assert_covers(title, "ms", exact, run(1_000_000), rounding=0.001, mutants=mutants)


def test_synchronised_spindles_wait_as_one() -> None:
    """Spindles in phase turn as one: T / 2, not 2 T / 3."""

    def run(count: int, **fields: Any) -> list[float]:
        values = single_sectors(
            _turning() | fields,
            count=count,
            read_fraction=0.0,
            array={"raid": "1", "disks": 2, "stripe_unit": 512},
        )
        return less(values, TURN_MS / 4_000)

    title = "RAID 1 write on synchronised spindles: rotational delay"
    mutants = {"spindles of their own": run(100_000)}
    ours = run(1_000_000, synchronised_spindles=True)
    assert_covers(title, "ms", TURN_MS / 2, ours, mutants=mutants)


def test_least_rotational_delay_of_two_sectors() -> None:
    """E[min of n] = T / (n + 1): of two reads at once the nearer is served first, both in one turn (SPTF).

    Three reads come at once, and the first of them starts. What the others take beyond it is the least, and
    the greatest, of two delays; the interaction ends with the greatest, and the sum of all has both.
    """

    def run(count: int, policy: str) -> list[float]:
        # The nearer one, however little nearer.
        queue = {"policy": policy, "depth": 4, "age_limit": None, "near_tie_fraction": 0}
        disk = _turning() | {"queue": queue}
        rows = replicate(
            scenario(
                closed(exponential("20ms"), ios=3, order="parallel"),
                disk,
                size=512,
                warm_up=100,
                window=requests(count),
            )
        )
        return [
            3 * response_ms(row) - row["interaction_response_mean_us"] / 1e3 - TURN_MS * (1 + 3 / 4_000)
            for row in rows
        ]

    title = "least rotational delay of 2 sectors, 10,000 rpm"
    mutants = {"served in order of arrival": run(600_000, "fcfs")}
    # Now and then a sector begins before another has passed, and waits a turn more.
    ours = run(6_000_000, "sptf")
    assert_covers(title, "ms", TURN_MS / 3, ours, rounding=0.002, mutants=mutants)


@pytest.mark.parametrize("think", ["0ms", "0.1ms", "3ms"])
def test_synchronous_sequential_writes_miss_one_revolution_each(think: str) -> None:
    """Blocks of b of S sectors, each written after the one before is acknowledged: T (1 + b / S) apart.

    However short the pause is, the place has passed the head, and the pause is hidden in the turn lost.
    """
    disk = drive(cylinders=100, sectors_per_track=500, seek=seek_of("0ms"))
    pause = constant(think if think != "0ms" else "1us")

    def run(arrival: Scenario) -> float:
        (row,) = replicate(
            scenario(
                arrival,
                disk,
                size="4KiB",
                read_fraction=0.0,
                address={"kind": "sequential"},
                warm_up=10,
                window=5_000,
            ),
            1,
        )
        return float(row["throughput_iops"])

    exact = 1e3 / (TURN_MS * (1 + 8 / 500))
    title = f"synchronous sequential 4 KB writes, pause {pause['value']}: rate (10,000 / 60 = 166.7 turns/s)"
    mutants = {"no revolution missed, the next write being there already": run(outstanding(2))}
    assert_equal(title, "1/s", exact, run(closed(pause)), tolerance=1e-4, mutants=mutants)
