"""Sequential transfers: the media rate of every data disk, in few disk I/Os.

The disk has one zone of 500 sectors per track and turns in 4 ms. The default skew covers a switch of 0.3 ms
and the settling of 0.4 ms before a write: 87.5 sectors, so 88. The disk transfers 500 sectors in 588/500
turns: 54.42 MB/s. Each level streams at that rate times its data disks, since full stripes need no reads and
parity is written beside the data.
"""

import random
from typing import Any

import pytest
from validation.form import SHARE
from validation.replicates import assert_equal
from validation.scenarios import Scenario, drive, outstanding, scenario, write_cache

from destage.engine import catalog, simulate

MIB = 1 << 20
MERGE_LIMIT = 256 << 10
"""The default of `controller.merge_limit`."""

MEDIA_MB_S = 500 * 512 / (4e-3 * 588 / 500) / 1e6

DISK: Scenario = drive(
    cylinders=2_000,
    sectors_per_track=500,
    surfaces=2,
    rpm="15000rpm",
    seek={"kind": "figures", "track_to_track": "0.2ms", "average": "3.5ms", "full_stroke": "7.4ms"},
    head_switch="0.3ms",
    write_settle="0.4ms",
    command_time="0.2ms",
    queue={"policy": "sptf", "depth": 16},
)

WRITE_BUFFER: Scenario = {"segments": 8, "segment": "1MiB", "write_cache": True}

LEVELS = {"0": (8, 8), "1": (2, 1), "10": (8, 4), "5": (8, 7), "6": (8, 6), "50": (8, 6), "60": (10, 6)}
"""Disks and data disks by level; the groups of RAID 50 and 60 are two."""


def _sequential(
    read_fraction: float, size: str | int, depth: int, *, disk: Scenario = DISK, **fields: Any
) -> dict[str, Any]:
    """The row of one sequential stream over three seconds."""
    return simulate(
        scenario(
            outstanding(depth),
            disk,
            size=size,
            read_fraction=read_fraction,
            address={"kind": "sequential"},
            warm_up={"duration": "1s"},
            window={"duration": "3s"},
            **fields,
        )
    )


def _mb_s(row: dict[str, Any]) -> float:
    return float(row["throughput_bytes_per_s"]) / 1e6


def _destage(raid: str, disks: int, stripe_unit: int) -> dict[str, Any]:
    """Sequential writes of 1 MiB through a write cache of 128 MiB, which stays full."""
    array = {"raid": raid, "disks": disks, "stripe_unit": stripe_unit}
    return _sequential(0.0, MIB, 16, array=array, controller=write_cache(128 * MIB))


@pytest.mark.parametrize(("depth", "buffer"), [(32, None), (1, WRITE_BUFFER), (32, WRITE_BUFFER)])
def test_sequential_writes_come_at_the_rate_of_reads(depth: int, buffer: Scenario | None) -> None:
    """Settling belongs to a seek or head switch, and the skew of the tracks covers those of a stream."""
    disk = DISK | {"buffer": buffer}
    title = f"one 15K disk, 64 KiB, {depth} outstanding, {'write' if buffer else 'no'} buffer"
    for kind, read_fraction in (("reads", 1.0), ("writes", 0.0)):
        ours = _mb_s(_sequential(read_fraction, "64KiB", depth, disk=disk))
        assert_equal(f"{title}: sequential {kind}", "MB/s", MEDIA_MB_S, ours, tolerance=0.05)


@pytest.mark.parametrize("raid", LEVELS)
def test_sequential_destage_streams_on_every_data_disk(raid: str) -> None:
    """Media rate times data disks, at 16 KiB (one I/O a strip would cost 16 times as many) and at 64 KiB."""
    disks, data_disks = LEVELS[raid]
    for unit in (16 << 10, 64 << 10):
        title = f"RAID {raid} of {disks}, stripe unit {unit >> 10} KiB: sequential destage"
        ours = _mb_s(_destage(raid, disks, unit))
        assert_equal(title, "MB/s", MEDIA_MB_S * data_disks, ours, tolerance=0.1)


def test_any_stripe_unit_streams_in_few_ios() -> None:
    """Random levels, disks and stripe units: the media rate, in I/Os of half the merge limit at the least."""
    draw = random.Random(20_060_607)  # noqa: S311
    for _ in range(24 // SHARE):
        raid = draw.choice(list(LEVELS))
        least, data_disks = LEVELS[raid]
        if raid in ("0", "10", "5", "6"):
            added = 2 * draw.randrange(-1, 3)
            disks = least + added
            data_disks += added // 2 if raid == "10" else added
        else:
            disks = least
        unit = draw.choice([4, 8, 12, 16, 32, 64, 100, 128, 256, 512, 1024]) << 10
        row = _destage(raid, disks, unit)
        place = f"RAID {raid} of {disks}, {unit >> 10} KiB"
        assert _mb_s(row) == pytest.approx(MEDIA_MB_S * data_disks, rel=0.1), place
        written = row["destaged_sectors"] * 512 * disks / data_disks
        assert row["disk_reads"] == 0, place
        # A run that ends within the limit, once a cache, is shorter.
        assert row["disk_writes"] <= 2.1 * written / max(unit, MERGE_LIMIT) + 8 * disks, place


def test_a_request_over_many_strips_costs_one_io_per_disk() -> None:
    """1 MiB at a stripe unit of 4 KiB are 256 strips: 32 on each of eight data disks, adjacent on each."""
    for raid, disks, read_fraction in (
        ("0", 8, 0.0),
        ("0", 8, 1.0),
        ("5", 9, 0.0),
        ("6", 10, 0.0),
        ("10", 16, 1.0),
    ):
        array = {"raid": raid, "disks": disks, "stripe_unit": "4KiB"}
        row = _sequential(read_fraction, MIB, 1, array=array)
        ios = (row["disk_reads"] + row["disk_writes"]) / row["requests"]
        kind = "reads" if read_fraction else "writes"
        exact = disks / 2 if raid == "10" else disks
        title = f"RAID {raid} of {disks}, stripe unit 4 KiB: disk I/Os of 1 MiB {kind}"
        assert_equal(title, "I/Os", exact, ios, tolerance=0.03)


def test_reads_are_divided_by_parity_only() -> None:
    """RAID 5 of five, 4 KiB, reads of 1 MiB: the parity of row r is on disk 4 - r mod 5, and is not read."""
    array = {"raid": "5", "disks": 5, "stripe_unit": "4KiB"}
    row = _sequential(1.0, MIB, 1, array=array)
    # A request has 64 rows of four data strips. A run of a disk begins in the first row of a request, or
    # where the row before has its parity there.
    begins = sum(
        row_of % 5 != 4 - disk and (row_of % 64 == 0 or (row_of - 1) % 5 == 4 - disk)
        for row_of in range(64 * 5)
        for disk in range(5)
    )
    title = "RAID 5 of five, stripe unit 4 KiB: disk I/Os of 1 MiB reads"
    assert_equal(title, "I/Os", begins / 5, row["disk_reads"] / row["requests"], tolerance=0.03)


@pytest.mark.parametrize("window", [16, 64, 256])
@pytest.mark.parametrize("policy", ["sptf", "sstf", "look", "c_look", "fcfs"])
def test_a_deeper_queue_never_lowers_throughput(policy: str, window: int) -> None:
    """The age limit acts on starved I/Os, not on all I/Os of a long queue or a deep window."""
    disk = DISK | {"queue": {"policy": policy, "depth": window, "age_limit": "1s"}}
    _assert_rising(disk, f"{policy}, window of {window}")


@pytest.mark.parametrize("read_fraction", [0.0, 1.0])
def test_a_deeper_queue_never_lowers_throughput_of_an_ssd(read_fraction: float) -> None:
    """Neither that of reads nor that of writes."""
    array = catalog.resolve({"array": {"raid": "0", "disks": 1, "disk": {"use": "s4500_1920gb"}}})["array"]
    _assert_rising(array["disk"], "SSD", warm_up=200_000, read_fraction=read_fraction)


def _assert_rising(disk: Scenario, place: str, *, warm_up: int = 4_000, **fields: Any) -> None:
    best = 0.0
    for depth in (1, 4, 16, 64, 256, 512, 1024):
        row = simulate(scenario(outstanding(depth), disk, warm_up=warm_up, window=20_000, **fields))
        # Depth over the mean response: both have the same relative interval.
        rate, width = row["throughput_iops"], row["response_mean_half_width_us"] / row["response_mean_us"]
        least = best * (1 - max(width, 0.02))
        assert rate >= least, f"{place}: {rate:.0f}/s at depth {depth}, {best:.0f}/s before"
        best = max(best, rate)
