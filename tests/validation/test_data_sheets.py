"""Every data sheet disk of the catalogue: its own figures, and sequential streams at its sustained rate."""

from typing import Any

import pytest

from destage.engine import catalog, simulate
from destage.spec import quantities
from destage.tools.data_sheets import disk_comparison

DISKS = [
    entry
    for entry in catalog.entries("disks")
    if entry.config["kind"] == "disk" and entry.config["geometry"]["kind"] == "rates"
]
SIZE = 65_536


def _outer(entry: catalog.Entry) -> float:
    return float(quantities.parse(entry.config["geometry"]["outer_rate"], "bytes_per_s"))


def _turn_s(entry: catalog.Entry) -> float:
    return 60 / float(quantities.parse(entry.config["rpm"], "rpm"))


def _rate(entry: catalog.Entry, depth: int, read_fraction: float, **disk: Any) -> float:
    """Rate [bytes/s] of one sequential stream of 64 KiB from the outer edge, after the buffer is full."""
    stream = {
        "name": "sequential",
        "arrival": {"kind": "fixed_outstanding", "depth": depth},
        "operations": {"read_fraction": read_fraction, "size": {"kind": "constant", "value": SIZE}},
        "address": {"kind": "sequential"},
    }
    row = simulate(
        {
            "workload": {"streams": [stream]},
            "array": {
                "raid": "0",
                "disks": 1,
                "stripe_unit": "1MiB",
                "disk": {"use": entry.name, "speed_tolerance": 0, **disk},
            },
            "run": {"warm_up": {"requests": 20_000}, "window": {"requests": 10_000}},
        }
    )
    return float(row["throughput_bytes_per_s"])


@pytest.mark.parametrize("entry", DISKS, ids=lambda entry: entry.name)
def test_a_disk_meets_its_data_sheet(entry: catalog.Entry) -> None:
    missed = [
        cell for cell in disk_comparison.compare_disk(entry.config, entry.sheet).values() if not cell.is_met
    ]
    assert missed == []


@pytest.mark.parametrize("entry", DISKS, ids=lambda entry: entry.name)
def test_sequential_reads_reach_the_sustained_rate(entry: catalog.Entry) -> None:
    for depth in (1, 2, 8, 32):
        assert _rate(entry, depth, 1.0) == pytest.approx(_outer(entry), rel=0.05), depth


@pytest.mark.parametrize("entry", DISKS, ids=lambda entry: entry.name)
def test_sequential_writes_reach_the_sustained_rate(entry: catalog.Entry) -> None:
    """Queued without the drive's write cache, and at any depth with it."""
    for depth in (2, 8, 32):
        assert _rate(entry, depth, 0.0) == pytest.approx(_outer(entry), rel=0.05), depth
    for depth in (1, 32):
        rate = _rate(entry, depth, 0.0, buffer={"write_cache": True})
        assert rate == pytest.approx(_outer(entry), rel=0.05), depth


@pytest.mark.parametrize("entry", DISKS, ids=lambda entry: entry.name)
def test_a_write_at_a_time_without_cache_loses_a_turn(entry: catalog.Entry) -> None:
    """The next sector has passed when the next write arrives: a turn and the transfer for each write."""
    exact = SIZE / (_turn_s(entry) + SIZE / _outer(entry))
    assert _rate(entry, 1, 0.0) == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("entry", DISKS, ids=lambda entry: entry.name)
def test_the_write_cache_is_off_unless_it_is_turned_on(entry: catalog.Entry) -> None:
    """A RAID controller switches it off."""
    buffer = entry.config["buffer"]
    assert (buffer["write_cache"], buffer["read_ahead"]) == (False, "segment")
    assert entry.mark("buffer.segments") == "assumed"
