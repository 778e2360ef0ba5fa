"""Maximum rates of host links, channels to the disks and the XOR engine, against arithmetic."""

import pytest
from validation.replicates import assert_equal
from validation.scenarios import Scenario, constant, outstanding, scenario, server

from destage.engine import simulate

GIGABIT = {"kind": "ethernet", "line_rate": "125MB/s", "mtu": 1500}
PAYLOAD_1GBE = 125e6 * 1448 / 1538
"""TCP payload of gigabit Ethernet with full frames and timestamps: 117.7 MB/s [bytes/s]."""


def _rate(controller: Scenario, *, disks: int = 1, depth: int = 32, **fields: object) -> float:
    """Return the data rate through `disks` saturated servers of 100 us per I/O [bytes/s]."""
    row = simulate(
        scenario(
            outstanding(depth),
            server(constant("100us")),
            controller=controller,
            array={"disks": disks, "stripe_unit": "64KiB"},
            warm_up=200,
            window=20_000,
            **{"size": "64KiB", "operations": {"alignment": "64KiB"}, **fields},  # type: ignore[arg-type]
        )
    )
    return float(row["throughput_bytes_per_s"])


@pytest.mark.parametrize("read_fraction", [1.0, 0.0])
def test_gigabit_front_end(read_fraction: float) -> None:
    """A file share over 1 GbE: 117.7 MB/s, reading or writing (paper C: 118.3 MB/s measured)."""
    rate = _rate({"link": {"bus": GIGABIT}}, read_fraction=read_fraction)
    direction = "reads" if read_fraction else "writes"
    without_headers = _rate({"link": {"bandwidth": "125MB/s"}}, read_fraction=read_fraction)
    assert_equal(
        f"1 GbE front end, 64 KiB {direction}",
        "MB/s",
        PAYLOAD_1GBE / 1e6,
        rate / 1e6,
        tolerance=1e-4,
        mutants={"no headers": without_headers / 1e6},
    )


def test_full_duplex_carries_both_ways() -> None:
    """With as many reads as writes, a full-duplex link reaches up to twice the rate of a half-duplex one."""
    half = _rate({"link": {"bandwidth": "100MB/s", "duplex": "half"}}, read_fraction=0.5)
    full = _rate({"link": {"bandwidth": "100MB/s", "duplex": "full"}}, read_fraction=0.5, depth=256)
    assert_equal("half duplex link of 100 MB/s, half reads", "MB/s", 100.0, half / 1e6, tolerance=1e-4)
    assert 1.8 * half < full <= 2.0001 * half


@pytest.mark.parametrize("disks", [1, 2, 6])
@pytest.mark.parametrize("read_fraction", [1.0, 0.0])
def test_scsi_bus(disks: int, read_fraction: float) -> None:
    """Disks share an Ultra320 bus: min(n x media rate, 320 MB/s) (HP SAS benchmark brief, 2005)."""
    bus = {"back_end": {"kind": "scsi_bus", "channels": 1, "bandwidth": "320MB/s"}}
    media = 65_536 / 500e-6
    row = simulate(
        scenario(
            outstanding(64),
            server(constant("500us")),
            size="64KiB",
            read_fraction=read_fraction,
            operations={"alignment": "64KiB"},
            address={"kind": "sequential"},
            controller=bus,
            array={"disks": disks, "stripe_unit": "64KiB"},
            warm_up=500,
            window=20_000,
        )
    )
    exact = min(disks * media, 320e6)
    direction = "reads" if read_fraction else "writes"
    assert_equal(
        f"{disks} disks of {media / 1e6:.0f} MB/s on one Ultra320 bus, {direction}",
        "MB/s",
        exact / 1e6,
        row["throughput_bytes_per_s"] / 1e6,
        tolerance=1e-3,
    )
    busy = exact / 320e6
    assert row["channel_busy_max_fraction"] == pytest.approx(busy, rel=2e-3)


def test_disks_on_two_buses_have_twice_the_rate() -> None:
    """Disks are assigned to the buses in turn: eight on two buses reach 640 MB/s."""
    two = {"back_end": {"kind": "scsi_bus", "channels": 2, "bandwidth": "320MB/s"}}
    rate = _rate(two, disks=8, depth=64, address={"kind": "sequential"})
    assert_equal("8 disks of 655 MB/s on two Ultra320 buses", "MB/s", 640.0, rate / 1e6, tolerance=1e-3)


def test_sas_lanes() -> None:
    """Eight disks over two lanes of 300 MB/s, whichever is free first: 600 MB/s."""
    lanes = {"back_end": {"kind": "sas", "lanes": 2, "bandwidth": "300MB/s"}}
    rate = _rate(lanes, disks=8, depth=64)
    assert_equal(
        "8 disks of 655 MB/s over two SAS lanes of 3 Gb/s", "MB/s", 600.0, rate / 1e6, tolerance=1e-3
    )


def test_an_idle_channel_hides_its_transfers() -> None:
    """A disk sends while it reads, and seeks while it receives."""
    plain = simulate(scenario(outstanding(1), server(constant("5ms")), read_fraction=0.5, window=200))
    behind = simulate(
        scenario(
            outstanding(1),
            server(constant("5ms")),
            read_fraction=0.5,
            window=200,
            controller={"back_end": {"kind": "scsi_bus", "bandwidth": "10MB/s"}},
        )
    )
    assert behind["response_mean_us"] == plain["response_mean_us"]


def test_xor_engine() -> None:
    """Single 4 KiB writes: the engine takes 4 KiB of old data, new data and old parity, twice on RAID 6."""
    for raid, disks, parities in [("5", 5, 1), ("6", 6, 2)]:
        row = simulate(
            scenario(
                outstanding(64),
                server(constant("10us")),
                read_fraction=0.0,
                controller={"xor_bandwidth": "10MB/s"},
                array={"raid": raid, "disks": disks},
                warm_up=200,
                window=5_000,
            )
        )
        exact, title = 10e6 / (3 * 4096 * parities), f"XOR engine of 10 MB/s, 4 KiB writes on RAID {raid}"
        assert_equal(title, "1/s", exact, row["throughput_iops"], tolerance=1e-3)
        assert_equal(f"{title}: busy", "share", 1.0, row["xor_busy_fraction"], tolerance=1e-3)
