"""A solid-state disk from its data sheet.

A sheet gives rates and latencies, not the structure of a drive. `engine/catalog/ssds.toml` has the equations
by which the structure follows from them.
"""

import math
from collections.abc import Mapping
from typing import Any

from destage.errors import ConfigError, Issue
from destage.tools.data_sheets.made_part import MadePart, show
from destage.tools.data_sheets.sheet_figures import SsdFigures
from destage.tools.data_sheets.ssd_comparison import simulate_writes

_SMALL, _LARGE = 4_096, 131_072
_PLANES, _PAGE_UNITS, _PAGES = 2, 4, 1_024
"""The structure of the catalogue's drives: planes of a die, 4 KiB in a page, pages in a block."""
_ERASE_S = 5e-3
_LATENCIES_NS = {"sas": (110e3, 30e3), "sata": (110e3, 40e3), "nvme": (80e3, 20e3), "scsi": (110e3, 40e3)}
_DEPTHS = {"sas": 64, "sata": 32, "nvme": 256, "scsi": 32}
_CHANNELS = {"sas": 16, "sata": 8, "nvme": 16, "scsi": 8}
_CHANNEL_RATES = {"sas": 800e6, "sata": 800e6, "nvme": 1_200e6, "scsi": 400e6}
_COMMIT_NS = 162e3
"""Time per write that must reach the flash, of drives without power-loss protection."""
_STEPS = 3
"""Corrections of a figure by simulation; each divides the error of the rate by ten or so."""
_LEAST_SPARE = 0.03
"""The smallest over-provisioning."""


def make_ssd(figures: SsdFigures) -> MadePart:
    """Return the solid-state disk of a data sheet.

    Raises:
        ConfigError: The figures contradict each other.
    """
    latencies_ns = _LATENCIES_NS[figures.interface]
    read_s = (figures.read_latency or latencies_ns[0]) / 1e9
    write_s = (figures.write_latency or latencies_ns[1]) / 1e9
    depth = figures.depth or _DEPTHS[figures.interface]
    read_rate, overhead_s = _split_rate(figures.random_reads, figures.read_rate)
    write_rate = _LARGE / max(_LARGE / figures.write_rate - overhead_s, 1e-12)
    on_wire_s = overhead_s + _SMALL / write_rate
    is_fresh = figures.writes_are == "fresh"
    write_overhead_s = max(0.0, 1 / figures.random_writes - on_wire_s) if is_fresh else 0.0
    is_protected = figures.power_loss_protection is not False
    command_s = write_s - on_wire_s - write_overhead_s
    channels, channel_rate = _CHANNELS[figures.interface], _CHANNEL_RATES[figures.interface]
    die_s = read_s - command_s - overhead_s - _SMALL / read_rate - _SMALL / channel_rate
    _check(figures, command_s, die_s)
    raw = figures.flash or 2.0 ** math.ceil(math.log2(figures.capacity * 1.03))
    spare = max(raw / figures.capacity - 1, _LEAST_SPARE)
    dies = channels * max(2, math.ceil(1.3 * figures.random_reads * die_s / channels))
    page_s = _PLANES * _PAGE_UNITS * _SMALL / channel_rate
    config: dict[str, Any] = {
        "kind": "ssd",
        "capacity": show(figures.capacity, "bytes"),
        "over_provisioning": round(spare, 4),
        "channels": channels,
        "dies_per_channel": dies // channels,
        "planes": _PLANES,
        "pages_per_block": _PAGES,
        "read_time": show(die_s * 1e9, "ns"),
        "program_time": "",
        "erase_time": show(_ERASE_S * 1e9, "ns"),
        "channel_rate": show(channel_rate, "bytes_per_s"),
        "interface": {
            "read_rate": show(read_rate, "bytes_per_s"),
            "write_rate": show(write_rate, "bytes_per_s"),
            "command_overhead": show(overhead_s * 1e9, "ns"),
            "write_overhead": show(write_overhead_s * 1e9, "ns"),
            "half_duplex": figures.interface == "sata",
        },
        "command_latency": show(command_s * 1e9, "ns"),
        "power_loss_protection": is_protected,
        "write_cache": not is_protected,
    }
    program_s = dies * _PLANES * _PAGE_UNITS * _SMALL / figures.write_rate - page_s
    config["program_time"] = show(program_s * 1e9, "ns")
    if not is_protected:
        config["commit_time"] = show(_COMMIT_NS, "ns")
    if not is_fresh:
        fitted_s = _fit_program(config, figures.random_writes, depth, program_s)
        if fitted_s > program_s and not figures.flash:
            config["program_time"] = show(program_s * 1e9, "ns")
            _fit_spare(config, figures.random_writes, depth)
            if config["over_provisioning"] == _LEAST_SPARE:
                _fit_program(config, figures.random_writes, depth, program_s)
    sheet = {
        "depth": depth,
        "reads_per_s": figures.random_reads,
        f"{figures.writes_are}_writes_per_s": figures.random_writes,
        "read_mb_per_s": figures.read_rate / 1e6,
        "write_mb_per_s": figures.write_rate / 1e6,
        **({"read_us": figures.read_latency / 1e3} if figures.read_latency else {}),
        **({"write_us": figures.write_latency / 1e3} if figures.write_latency else {}),
    }
    return MadePart(config, _explain(figures, config, read_s, write_s), sheet, figures.interface == "nvme")


def _split_rate(random_per_s: float, rate: float) -> tuple[float, float]:
    """Return the rate of the interface [B/s] and its time per command [s], from small and large reads."""
    wire_s = _LARGE / rate - 1 / random_per_s
    interface = (_LARGE - _SMALL) / wire_s if wire_s > 0 else rate
    overhead_s = 1 / random_per_s - _SMALL / interface
    return (interface, overhead_s) if overhead_s > 0 else (max(rate, _SMALL * random_per_s), 0.0)


def _check(figures: SsdFigures, command_s: float, die_s: float) -> None:
    """Reject latencies that leave no time for what they consist of."""
    if command_s < 0:
        message = "shorter than the time in which a command and its data cross the interface"
        raise ConfigError([Issue("catalog.contradiction", "write_latency", message, figures.write_latency)])
    if die_s <= 0:
        message = "leaves no time to read the flash; it is longer than that of writes"
        raise ConfigError([Issue("catalog.contradiction", "read_latency", message, figures.read_latency)])


def _fit_program(config: dict[str, Any], writes_per_s: float, depth: int, program_s: float) -> float:
    """Set and return the program time [s] with which random writes in the steady state have their rate."""
    for _ in range(_STEPS):
        program_s *= simulate_writes(config, depth) / writes_per_s
        config["program_time"] = show(program_s * 1e9, "ns")
    return program_s


def _fit_spare(config: dict[str, Any], writes_per_s: float, depth: int) -> None:
    """Set the over-provisioning with which random writes in the steady state have their rate.

    For flash that is as fast as the sequential writes need: too fast for the raw flash assumed before.
    """
    amplification = _amplify(config["over_provisioning"])
    for _ in range(_STEPS):
        amplification *= simulate_writes(config, depth) / writes_per_s
        spare = -amplification * math.log1p(-1 / amplification) - 1
        config["over_provisioning"] = max(round(spare, 4), _LEAST_SPARE)


def _amplify(spare: float) -> float:
    """Return the write amplification of random writes in large blocks (Xiang and Kurkoski, ICNC 2012).

    It is the a with 1 + `spare` = -a log(1 - 1 / a).
    """
    low, high = 1 + 1e-9, 1 + 1 / spare
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if -middle * math.log1p(-1 / middle) > 1 + spare else (low, middle)
    return low


def _explain(figures: SsdFigures, config: Mapping[str, Any], read_s: float, write_s: float) -> dict[str, str]:
    structure = "the structure of the catalogue's drives"
    reads = "" if figures.read_latency else f" (assumed: {read_s * 1e6:g} us)"
    writes = "" if figures.write_latency else f" (assumed: {write_s * 1e6:g} us)"
    programmed = (
        "sequential writes have the rate of the sheet"
        if figures.writes_are == "fresh"
        else "random writes in the steady state have the rate of the sheet, by simulation"
    )
    spare = (
        "raw flash is the next power of two, or less if random writes are slow for the sequential ones; give "
        "flash=SIZE if a sheet has it"
    )
    protection = "usual for data centers; give power_loss_protection=false for a drive without it"
    return {
        **({} if figures.flash else {"over_provisioning": spare}),
        "channels": f"usual for {figures.interface}",
        "dies_per_channel": "enough for the random reads, by Little's law",
        "planes": structure,
        "pages_per_block": structure,
        "read_time": f"the latency of reads{reads} less everything else",
        "program_time": programmed,
        "erase_time": structure,
        "channel_rate": f"usual for {figures.interface}",
        "interface": "random and sequential reads, and sequential writes, have the rates of the sheet",
        "command_latency": f"the latency of writes{writes} less the time on the interface",
        **({"power_loss_protection": protection} if figures.power_loss_protection is None else {}),
        "write_cache": "off with power-loss protection, which replaces it; on without, as drives are shipped",
        **({"commit_time": "that of two measured SATA drives"} if "commit_time" in config else {}),
    }
