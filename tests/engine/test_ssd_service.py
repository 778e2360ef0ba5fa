"""Solid-state disks: conflicts at dies, repeated reads, suspension, commits, and the time of a write."""

from itertools import pairwise
from typing import Any

import pytest

from destage.engine import simulate

READ_US = 60.0
PROGRAM_US = 600.0


def _ssd(**fields: Any) -> dict[str, Any]:
    """Return an SSD of which only the dies take time."""
    return {
        "kind": "ssd",
        "capacity": "256MiB",
        "over_provisioning": 0.5,
        "channels": 1,
        "dies_per_channel": 8,
        "pages_per_block": 16,
        "read_time": f"{READ_US}us",
        "program_time": f"{PROGRAM_US}us",
        **fields,
    }


def _run(arrival: dict[str, Any], disk: dict[str, Any], read_fraction: float = 1, **parts: Any) -> Any:
    stream = {
        "name": "random",
        "arrival": arrival,
        "operations": {"read_fraction": read_fraction, "size": {"kind": "constant", "value": 4096}},
        "address": {"kind": "uniform"},
    }
    return simulate(
        {
            "workload": {"streams": [stream]},
            "array": {"raid": "0", "disks": 1, "disk": disk},
            "run": {"warm_up": {"requests": 4_000}, "window": {"requests": 200_000}},
            **parts,
        }
    )


def _closed(depth: int, disk: dict[str, Any], read_fraction: float = 1, **parts: Any) -> Any:
    return _run({"kind": "fixed_outstanding", "depth": depth}, disk, read_fraction, **parts)


@pytest.mark.parametrize(("share", "reads"), [(0.01, 4), (0.2, 2)])
def test_repeated_reads_are_an_m_g_1_queue_at_every_die(share: float, reads: int) -> None:
    """R = E(S) + l E(S^2) / (2 (1 - u)) at Poisson arrivals (Pollaczek and Khinchine)."""
    mean = READ_US * (1 + share * reads)
    square = READ_US**2 * (1 + share * ((1 + reads) ** 2 - 1))
    busy = 0.6
    rate = busy / mean
    disk = _ssd(read_retry={"share": share, "reads": reads})
    row = _run({"kind": "poisson", "rate": 8 * rate * 1e6}, disk)
    assert row["response_mean_us"] == pytest.approx(mean + rate * square / (2 * (1 - busy)), rel=0.02)
    assert row["disk_busy_mean_fraction"] == pytest.approx(busy, rel=0.02)


def test_a_read_alone_takes_the_mean_of_once_and_of_repeated_reads() -> None:
    row = _closed(1, _ssd(read_retry={"share": 0.02, "reads": 3}))
    assert row["response_mean_us"] == pytest.approx(READ_US * 1.06, rel=0.005)
    assert row["response_p50_us"] == pytest.approx(READ_US, rel=0.01)
    assert row["response_p99_us"] == pytest.approx(4 * READ_US, rel=0.01)


@pytest.mark.parametrize(
    "fields", [{}, {"read_retry": {"share": 0.05, "reads": 4}}, {"suspension_time": "20us"}]
)
@pytest.mark.parametrize("read_fraction", [1, 0.7])
def test_throughput_never_falls_with_depth(fields: dict[str, Any], read_fraction: float) -> None:
    rows = [_closed(depth, _ssd(**fields), read_fraction) for depth in (1, 2, 4, 8, 32)]
    rates = [row["throughput_iops"] for row in rows]
    assert all(after >= 0.98 * before for before, after in pairwise(rates)), rates
    if read_fraction == 1:
        assert all(row["response_p50_us"] >= READ_US * 0.99 for row in rows)


def test_reads_that_suspend_programs_wait_for_no_program() -> None:
    """The flash does the same work; only reads are sooner."""
    arrival = {"kind": "poisson", "rate": 8_000}
    rows = [_run(arrival, _ssd(**fields), 0.7) for fields in ({}, {"suspension_time": "20us"})]
    waits, suspends = (row["read_response_mean_us"] for row in rows)
    assert suspends < READ_US + 20 + 0.2 * (waits - READ_US)
    programs = [row["ssd_write_amplification"] for row in rows]
    assert programs[1] == pytest.approx(programs[0], rel=0.02)
    assert rows[1]["throughput_iops"] == pytest.approx(rows[0]["throughput_iops"], rel=0.01)


@pytest.mark.parametrize(("read_fraction", "more_us"), [(1, 0), (0, 3.4), (0.5, 1.7)])
def test_a_write_takes_longer_at_the_interface(read_fraction: float, more_us: float) -> None:
    interface = {"half_duplex": True, "command_overhead": "10us", "write_overhead": "1us"}
    disk = _ssd(
        dies_per_channel=64, capacity="2GiB", program_time="1us", precondition="empty", interface=interface
    )
    back_end = {
        "kind": "sas",
        "lanes": 1,
        "bandwidth": "600MB/s",
        "sata_overhead": "7.5us",
        "sata_write_overhead": "2.4us",
    }
    row = _closed(32, disk, read_fraction, controller={"back_end": back_end})
    assert 1e6 / row["throughput_iops"] == pytest.approx(17.5 + more_us, rel=0.01)


@pytest.mark.parametrize(
    ("fields", "commits"),
    [
        ({"power_loss_protection": False}, True),
        ({"power_loss_protection": False, "write_cache": True}, False),
        ({"power_loss_protection": True}, False),
    ],
)
def test_commits_bound_the_writes_that_must_reach_the_flash(fields: dict[str, Any], commits: bool) -> None:
    """One write is a program and a commit; of many, commits are the slowest part."""
    commit_us = 40.0
    room = {"capacity": "4GiB", "dies_per_channel": 64, "precondition": "empty"}
    rates = {
        time: [
            _closed(depth, _ssd(commit_time=time, **room, **fields), 0)["throughput_iops"]
            for depth in (1, 64)
        ]
        for time in ("0us", f"{commit_us}us")
    }
    plain, committed = rates.values()
    if commits:
        assert [1e6 / rate for rate in (plain[0], committed[0])] == pytest.approx(
            [PROGRAM_US, PROGRAM_US + commit_us], rel=0.01
        )
        assert plain[1] > 1.5e6 / commit_us
        assert committed[1] == pytest.approx(1e6 / commit_us, rel=0.01)
    else:
        assert committed == plain
