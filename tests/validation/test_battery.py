"""Times of the battery to the nanosecond, and data after a loss of mains, against hand calculations."""

from typing import Any

import pytest
from validation.replicates import assert_equal
from validation.scenarios import Scenario, closed, constant, outstanding, scenario, server

from destage.engine import simulate

KIB = 1024
HOUR_S = 3600
SECOND_NS = 1_000_000_000
PACK = {"state": "present", "threshold": 0.79, "charge_time": "4h", "holdup": "72h"}
SEQUENTIAL = {"kind": "sequential", "footprint": "16MiB"}


def _scenario(
    battery: Scenario,
    faults: list[Scenario],
    *,
    window: str,
    think: str = "1s",
    arrival: Scenario | None = None,
    disk: Scenario | None = None,
) -> Scenario:
    """Return one user who writes 4 KiB after each think time, with a cache that destages only if it must."""
    controller = {
        "cache": {
            "capacity": "64MiB",
            "usable": "64MiB",
            "write_fraction": 1.0,
            "line": "4KiB",
            "write": {"high_water": 1.0, "low_water": 1.0},
        },
        "battery": battery,
    }
    scene = scenario(
        arrival or closed(constant(think)),
        disk or server(constant("10ms")),
        read_fraction=0.0,
        address=SEQUENTIAL,
        controller=controller,
        warm_up="none",
        window={"duration": window},
    )
    return {**scene, "faults": faults}


def _timeline(row: dict[str, Any]) -> list[tuple[float, str, float]]:
    """Return the transitions within the window: (s, event, value)."""
    entries = zip(row["timeline_s"], row["timeline_event"], row["timeline_value"], strict=True)
    return [entry for entry in entries if not entry[1].startswith("window_")]


def _moment_ns(row: dict[str, Any], event: str) -> int:
    (moment,) = [at for at, name, _ in _timeline(row) if name == event]
    return round(moment * SECOND_NS)


@pytest.mark.parametrize(("charge", "seconds"), [(0.0, 11_376), (0.5, 4_176), (0.75, 576)])
def test_write_back_begins_when_the_threshold_is_reached(charge: float, seconds: int) -> None:
    """(0.79 - charge) x 4 h, to the nanosecond; with a charge time 3 % longer it would be 341 s later."""
    pack = {**PACK, "state": "charging", "charge": charge}
    row = simulate(_scenario(pack, [], window="5h", think="100s"))
    title = f"charge {charge:.0%}, 4 h: write-back enabled"
    assert_equal(title, "ns", seconds * SECOND_NS, _moment_ns(row, "write_back_enabled"))
    full = round((1 - charge) * 4 * HOUR_S * SECOND_NS)
    assert_equal(f"charge {charge:.0%}, 4 h: full", "ns", full, _moment_ns(row, "battery_charged"))
    slow = simulate(_scenario({**pack, "charge_time": f"{4 * 1.03}h"}, [], window="5h", think="100s"))
    assert _moment_ns(slow, "write_back_enabled") > seconds * SECOND_NS


def _cut(duration: str, **battery: Any) -> dict[str, Any]:
    faults = [{"kind": "mains_lost", "at": "100.5s", "duration": duration}]
    return simulate(_scenario({**PACK, **battery}, faults, window="400h"))


@pytest.mark.parametrize("duration", ["1s", "71.9h", "72h"])
def test_nothing_is_lost_while_the_charge_lasts(duration: str) -> None:
    """A hundred writes are dirty at the cut; all are present and flushed when the mains return."""
    row = _cut(duration)
    assert_equal(
        f"mains lost for {duration}, holdup 72 h: preserved",
        "bytes",
        100 * 4 * KIB,
        row["dirty_preserved_bytes"],
    )
    assert_equal(f"mains lost for {duration}, holdup 72 h: lost", "bytes", 0, row["dirty_lost_bytes"])
    order = [name for _, name, _ in _timeline(row)]
    kept = ["mains_back", "battery_charging", "dirty_preserved"]
    assert order[:5] == ["mains_lost", "battery_discharging", *kept]


@pytest.mark.parametrize("duration", [f"{72 * HOUR_S * SECOND_NS + 1}ns", "72.1h", "200h"])
def test_all_is_lost_once_the_charge_is_used_up(duration: str) -> None:
    """Data is lost from the first nanosecond after 72 h; a holdup 3 % longer would lose nothing at 72.1 h."""
    row = _cut(duration)
    label = duration if duration.endswith("h") else "72 h and 1 ns"
    assert_equal(
        f"mains lost for {label}, holdup 72 h: lost", "bytes", 100 * 4 * KIB, row["dirty_lost_bytes"]
    )
    assert row["dirty_preserved_bytes"] == 0
    lost = 100.5 + 72 * HOUR_S
    assert [entry for entry in _timeline(row) if entry[1] == "dirty_lost"] == [(lost, "dirty_lost", 409_600)]
    if duration == "72.1h":
        assert _cut(duration, holdup=f"{72 * 1.03}h")["dirty_lost_bytes"] == 0


def test_a_partial_charge_holds_in_proportion() -> None:
    """Charged for 100.5 s from 80 %: 80.7 % of 72 h. The battery then charges from 0."""
    charge = 0.8 + 100.5 / (4 * HOUR_S)
    pack = {"state": "charging", "charge": 0.8}
    lasts = round(charge * 72 * HOUR_S * SECOND_NS)
    kept, lost = (_cut(f"{lasts + extra}ns", **pack) for extra in (-1000, 1000))
    assert (kept["dirty_lost_bytes"], kept["dirty_preserved_bytes"]) == (0, 409_600)
    assert (lost["dirty_lost_bytes"], lost["dirty_preserved_bytes"]) == (409_600, 0)
    again = _moment_ns(lost, "battery_ready") - _moment_ns(lost, "mains_back")
    assert_equal("used up in a loss of mains: ready again after", "ns", 11_376 * SECOND_NS, again)


def test_a_capacitor_keeps_the_data_in_flash() -> None:
    """80 s of power suffice for a copy of 40 s, and the data is kept; 40.2 % of a charge give only 32 s."""
    capacitor = {"kind": "flash", "charge_time": "5min", "holdup": "80s", "copy_time": "40s"}
    row = _cut("300h", **capacitor)
    assert row["dirty_preserved_bytes"] == 409_600
    assert_equal("capacitor, copy of 40 s: copied at", "ns", 140_500_000_000, _moment_ns(row, "cache_copied"))
    # Half of the charge is left: 0.29 x 300 s to the threshold.
    ready = _moment_ns(row, "battery_ready") - _moment_ns(row, "mains_back")
    assert_equal("capacitor, half used: ready again after", "ns", 87 * SECOND_NS, ready)
    late = {**capacitor, "state": "charging", "charge": 0.0, "charge_time": "250s", "threshold": 0.1}
    assert _cut("300h", **late)["dirty_lost_bytes"] > 0


def test_a_learn_cycle_worked_by_hand() -> None:
    """Down in 3 h and up in 4 h from 1 h on, threshold 79 %, hysteresis 9 %: 70 % are left after 0.9 h."""
    pack = {**PACK, "hysteresis": 0.09, "learn_discharge_time": "3h"}
    row = simulate(_scenario(pack, [{"kind": "learn_cycle", "at": "1h"}], window="10h", think="100s"))
    hours = [(round(at / HOUR_S, 9), name) for at, name, _ in _timeline(row) if name != "drained"]
    assert hours == [
        (1.0, "learn_begins"),
        (1.0, "battery_discharging"),
        (1.9, "battery_low"),
        (1.9, "write_back_disabled"),
        (4.0, "battery_empty"),
        (4.0, "battery_charging"),
        (7.16, "battery_ready"),
        (7.16, "write_back_enabled"),
        (8.0, "battery_charged"),
        (8.0, "learn_ends"),
    ]
    share = (10 - 7.16 + 1.9) / 10
    assert_equal(
        "learn cycle: share of 10 h in write-back",
        "fraction",
        share,
        row["write_back_fraction"],
        tolerance=1e-9,
    )


@pytest.mark.parametrize("hysteresis", [0.0, 0.1, 0.5, 0.79])
def test_hysteresis_moves_only_the_end_of_write_back(hysteresis: float) -> None:
    """It ends (1 - 0.79 + hysteresis) x 3 h after the learn cycle starts, and always returns at 79 %."""
    pack = {**PACK, "hysteresis": hysteresis, "learn_discharge_time": "3h"}
    row = simulate(_scenario(pack, [{"kind": "learn_cycle", "at": "0s"}], window="8h", think="100s"))
    names = [name for _, name, _ in _timeline(row)]
    if hysteresis == 0.79:
        assert "write_back_disabled" not in names
        return
    ends = round((0.21 + hysteresis) * 3 * HOUR_S * SECOND_NS)
    title = f"learn cycle, hysteresis {hysteresis:.0%}: write-back"
    assert_equal(f"{title} ends", "ns", ends, _moment_ns(row, "write_back_disabled"), tolerance=1e-15)
    returns = (3 * HOUR_S + 11_376) * SECOND_NS
    assert_equal(f"{title} returns", "ns", returns, _moment_ns(row, "write_back_enabled"))


FAILS = [{"kind": "battery_fails", "at": "10.5s"}]


def test_data_at_risk_add_up_after_the_battery_fails() -> None:
    """Ten lines are dirty at 10.5 s, one more each second up to 20 s: 10/2 + 11 + ... + 19 = 140."""
    row = simulate(_scenario({**PACK, "allow_without_battery": True}, FAILS, window="20s"))
    assert_equal(
        "battery fails, allowed without: data at risk", "byte s", 140 * 4096, row["data_at_risk_byte_s"]
    )
    assert_equal(
        "battery fails, allowed without: unprotected", "s", 9.5, row["unprotected_s"], tolerance=1e-12
    )
    assert (row["write_back_fraction"], row["bypassed_sectors"]) == (1.0, 0)
    sound = simulate(_scenario({**PACK, "allow_without_battery": True}, [], window="20s"))
    assert (sound["data_at_risk_byte_s"], sound["unprotected_s"]) == (0, 0)


def test_a_failed_battery_drains_the_cache() -> None:
    """Ten lines of one stripe are destaged in one write of 10 ms; later writes take 10 ms each."""
    row = simulate(_scenario(PACK, FAILS, window="20s"))
    assert [(at, name) for at, name, _ in _timeline(row)] == [
        (10.5, "battery_failed"),
        (10.5, "write_back_disabled"),
        (10.51, "drained"),
    ]
    assert_equal(
        "battery fails, drained in 10 ms: data at risk",
        "byte s",
        40_960 * 0.01,
        row["data_at_risk_byte_s"],
        tolerance=1e-12,
    )
    # Writes at 11, 12.01, ... 19.08 s go to the disk.
    assert (row["accepted_sectors"], row["bypassed_sectors"]) == (10 * 8, 9 * 8)
    assert row["write_response_max_us"] == 10_000
    assert_equal(
        "battery fails at 10.5 of 20 s: share in write-back",
        "fraction",
        10.5 / 20,
        row["write_back_fraction"],
        tolerance=1e-12,
    )


def test_a_write_to_draining_data_waits_for_it() -> None:
    """A write 2 ms after the destage of its stripe began waits for the remaining 8 ms, then takes 10 ms."""
    faults = [{"kind": "battery_fails", "at": "7.998s"}]
    row = simulate(_scenario(PACK, faults, window="8.5s"))
    assert row["write_response_max_us"] == 18_000


def test_a_loss_of_mains_leaves_requests_unanswered() -> None:
    """Eight outstanding on a server of 10 ms: those in flight are cut and never measured."""
    faults = [{"kind": "mains_lost", "at": "1.005s", "duration": "2s"}]
    row = simulate(_scenario({"state": "absent"}, faults, window="5s", arrival=outstanding(8)))
    assert_equal("eight outstanding at a cut: never answered", "count", 8, row["requests_cut"])
    # 100 in the first second, and 199 from 3.005 s to 5 s; the one that ends at 4.995 s is the last.
    assert_equal("writes of 10 ms in 5 s less an outage of 2 s", "count", 100 + 199, row["writes"])
    assert row["write_response_max_us"] == 80_000
    assert_equal("mains lost for 2 s: outage", "s", 2.0, row["outage_s"], tolerance=1e-12)
    assert_equal("eight writes of 10 ms at the cut: ended", "count", 8, row["disk_writes_cut"])
    assert row["disk_busy_mean_fraction"] == pytest.approx(3 / 5, rel=1e-3)


def test_the_cache_is_flushed_before_the_hosts_start_again() -> None:
    """Five lines of one stripe: the user begins to think 10 ms after the mains return."""
    faults = [{"kind": "mains_lost", "at": "5.5s", "duration": "4.5s"}]
    row = simulate(_scenario(PACK, faults, window="12s"))
    moments = {name: at for at, name, _ in _timeline(row)}
    assert (moments["mains_back"], moments["drained"], moments["hosts_back"]) == (10.0, 10.01, 10.01)
    assert row["writes"] == 5 + 1
    assert_equal("outage of 4.5 s and a flush of 10 ms", "s", 4.51, row["outage_s"], tolerance=1e-12)


@pytest.mark.parametrize(("raid", "holes"), [("5", 1), ("0", 0)])
def test_a_power_cut_during_a_write_leaves_a_write_hole(raid: str, holes: int) -> None:
    """Write-through, cut while data and parity are being written: no cache can repeat the write."""
    faults = [{"kind": "mains_lost", "at": "1.015s", "duration": "1s"}]
    scene = _scenario({"state": "absent"}, faults, window="3s")
    scene["array"] |= {"raid": raid, "disks": 4}
    if raid == "0":
        faults[0]["at"] = "1.005s"
    row = simulate(scene)
    assert (row["write_holes"], row["disk_writes_cut"]) == (holes, 2 if raid == "5" else 1)
    assert row["dirty_lost_bytes"] == 0
