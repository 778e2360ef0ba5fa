"""What the data sheets of all disks and controllers of the catalogue imply, without a simulation."""

import math

import pytest

from destage.engine import catalog, quantities
from destage.spec.documents import value_at

CONTROLLERS = catalog.entries("controllers")
DISKS = [entry for entry in catalog.entries("disks") if value_at(entry.config, "geometry.kind") == "rates"]
SSDS = [entry for entry in catalog.entries("disks") if entry.config["kind"] == "ssd"]
SMALL, UNIT, PAGE = 4_096, 4_096, 16_384
SATA = 600e6
SAS_GENERATIONS = {300e6: 1, 600e6: 2, 1_200e6: 3, 2_400e6: 4}
"""Generation of PCI Express of the controllers of each generation of SAS, by its rate [B/s]."""

for_controllers, for_disks, for_ssds = (
    pytest.mark.parametrize("entry", entries, ids=lambda entry: entry.name)
    for entries in (CONTROLLERS, DISKS, SSDS)
)


def _read(entry: catalog.Entry, path: str, unit: str) -> float:
    """Return a figure in the base unit."""
    return float(quantities.parse(value_at(entry.config, path), unit))


def _dies(entry: catalog.Entry) -> int:
    return int(entry.config["channels"] * entry.config["dies_per_channel"])


def _program_rate(entry: catalog.Entry) -> float:
    """Rate [B/s] at which all dies of a solid-state disk program pages of the host."""
    page = entry.config["planes"] * PAGE
    transfer_s = page / _read(entry, "channel_rate", "bytes_per_s")
    return _dies(entry) * page / (_read(entry, "program_time", "ns") / 1e9 + transfer_s)


@for_disks
def test_a_disk_seeks_and_transfers_within_its_bounds(entry: catalog.Entry) -> None:
    """The time of a seek is concave in its distance, whose mean is a third of the full stroke."""
    track, average, full = (
        _read(entry, f"seek.{name}", "ns") for name in ("track_to_track", "average", "full_stroke")
    )
    assert full / 3 < average < full
    assert track < average / 2
    inner, outer = (_read(entry, f"geometry.{edge}_rate", "bytes_per_s") for edge in ("inner", "outer"))
    assert 0.45 < inner / outer < 0.8
    assert outer < _read(entry, "bus_rate", "bytes_per_s")
    assert inner / 1e6 < entry.sheet.get("mean_mb_per_s", (inner + outer) / 2e6) < outer / 1e6


@for_disks
def test_a_queue_speeds_up_the_rated_reads_of_a_disk(entry: catalog.Entry) -> None:
    """Between those of one at a time and those without any seek."""
    half_turn_ms = 30_000 / _read(entry, "rpm", "rpm")
    one = 1_000 / (_read(entry, "seek.average", "ns") / 1e6 + half_turn_ms)
    assert one < entry.sheet.get("random_reads_16_per_s", 1.5 * one) < 1_000 / half_turn_ms


@for_ssds
def test_an_ssd_moves_less_in_small_accesses_than_in_large_ones(entry: catalog.Entry) -> None:
    sheet = entry.sheet
    writes = [sheet[name] for name in ("sustained_writes_per_s", "fresh_writes_per_s") if name in sheet]
    assert len(writes) == 1
    assert sheet["reads_per_s"] * SMALL < sheet["read_mb_per_s"] * 1e6
    assert writes[0] * SMALL < sheet.get("write_mb_per_s", math.inf) * 1e6
    assert writes[0] < sheet["reads_per_s"]


@for_ssds
def test_an_ssd_confirms_a_write_sooner_than_it_reads(entry: catalog.Entry) -> None:
    """A write is complete in its buffer, and a read waits for the flash."""
    read_ns, command_ns = (_read(entry, name, "ns") for name in ("read_time", "command_latency"))
    assert entry.sheet.get("write_us", command_ns / 1e3) < entry.sheet.get("read_us", math.inf)
    assert (read_ns + command_ns) / 1e3 < entry.sheet.get("read_us", math.inf)


@for_ssds
def test_an_ssd_has_the_dies_channels_and_wire_of_its_rated_rates(entry: catalog.Entry) -> None:
    sheet, config = entry.sheet, entry.config
    assert _dies(entry) / (_read(entry, "read_time", "ns") / 1e9) > sheet["reads_per_s"]
    assert _program_rate(entry) > 0.94 * sheet.get("write_mb_per_s", 0) * 1e6
    channels = config["channels"] * _read(entry, "channel_rate", "bytes_per_s")
    for way in ("read", "write"):
        wire = _read(entry, f"interface.{way}_rate", "bytes_per_s")
        assert sheet.get(f"{way}_mb_per_s", 0) * 1e6 < min(wire, channels)
        assert wire < (SATA if config["interface"].get("half_duplex", False) else math.inf)


@for_ssds
def test_the_rated_random_writes_of_an_ssd_fit_its_spare_flash(entry: catalog.Entry) -> None:
    """The flash also programs what garbage collection copies: at least 0.85 of the limit of large blocks."""
    spare = entry.config["over_provisioning"]
    low, high = 1e-9, 50.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if -math.expm1(-middle) / middle > 1 / (1 + spare) else (low, middle)
    amplification = 0.85 / -math.expm1(-low)
    written = entry.sheet.get("sustained_writes_per_s", 0) * UNIT * max(1.0, amplification)
    assert written < _program_rate(entry)


@for_controllers
def test_a_controller_caches_writes_only_with_power(entry: catalog.Entry) -> None:
    """A battery holds the memory for days, a capacitor until its copy is in flash."""
    cache, battery = entry.config["cache"], entry.config["battery"]
    assert (cache["write_fraction"] > 0) == (battery["state"] == "present")
    capacity = _read(entry, "cache.capacity", "bytes")
    if "usable" in cache:
        assert capacity / 2 < _read(entry, "cache.usable", "bytes") <= capacity
    if battery["state"] == "present":
        hours = _read(entry, "battery.holdup", "ns") / 3.6e12
        assert hours < 0.1 if battery.get("kind") == "flash" else hours >= 48


@for_controllers
def test_a_controller_has_the_bus_of_its_links(entry: catalog.Entry) -> None:
    back_end, bus = entry.config.get("back_end", {"kind": None}), entry.config["link"]["bus"]
    if back_end["kind"] == "sas":
        generation = SAS_GENERATIONS[_read(entry, "back_end.bandwidth", "bytes_per_s")]
        assert bus.get("generation", 1) >= generation
        assert back_end["lanes"] % 4 == 0 or entry.name.startswith("ahci")
    elif back_end["kind"] == "scsi_bus":
        assert _read(entry, "back_end.bandwidth", "bytes_per_s") in {160e6, 320e6}
        assert bus["kind"] in {"pci", "pci_x"}


@for_controllers
def test_the_link_of_a_controller_takes_what_its_processor_does(entry: catalog.Entry) -> None:
    link, command = (_read(entry, path, "ns") for path in ("link.command_overhead", "firmware.command_time"))
    assert link <= command or entry.name.startswith("ahci_")
    latency = quantities.parse(value_at(entry.config, "link.latency") or 0, "ns")
    assert link + float(latency) == 10e3


@for_ssds
def test_only_an_unprotected_ssd_commits(entry: catalog.Entry) -> None:
    is_protected = entry.config.get("power_loss_protection", True)
    assert ("commit_time" in entry.config) == (not is_protected)
