"""A hard disk from its data sheet.

A figure that a sheet lacks follows from another one, by the rounded median of the catalogue's disks.
"""

import math

from destage.errors import ConfigError, Issue
from destage.tools.data_sheets.made_part import MadePart, show
from destage.tools.data_sheets.sheet_figures import DiskFigures

_TRACK_TO_TRACK, _FULL_STROKE = 0.06, 2.02
"""Shortest and longest seek, as ratios to the average one."""
_INNER = 0.63
"""Rate at the inner edge, as a ratio to that at the outer edge."""
_SETTLE_NS, _SWITCH_NS = 500_000, 300_000
_MOST_CYLINDERS = ((14_000, 100_000), (9_000, 150_000), (0, 550_000))
"""Most cylinders of the catalogue's disks, by the least rotation speed [rpm]."""
_RATES = {"sas": 1_200_000_000, "sata": 600_000_000, "nvme": 4_000_000_000, "scsi": 320_000_000}
_SEGMENTS = 32
_SAME = 0.005
"""How near to each other two times are the same figure, as a share."""


def make_disk(figures: DiskFigures) -> MadePart:
    """Return the disk of a data sheet.

    Raises:
        ConfigError: Its average seek is the time of half a turn: the latency of its rotation.
    """
    seek, half_turn = figures.average_seek, 30e9 / figures.rpm
    if abs(seek / half_turn - 1) < _SAME:
        message = (
            "half a turn at this speed, which sheets call the average latency and which follows from rpm; "
            "the average seek is another figure, or that of a similar disk (`destage catalog show`)"
        )
        raise ConfigError([Issue("catalog.contradiction", "average_seek", message, show(seek, "ns"))])
    settle = max(0.0, figures.write_seek - seek) if figures.write_seek else _SETTLE_NS
    inner = figures.inner_rate or _INNER * figures.outer_rate
    # A track passes at the sustained rate in a turn and a switch to the next one.
    track = (figures.outer_rate + inner) / 2 * (60 / figures.rpm + (_SWITCH_NS + settle) / 1e9)
    tracks = figures.capacity / track
    most = next(cylinders for rpm, cylinders in _MOST_CYLINDERS if figures.rpm >= rpm)
    surfaces = figures.surfaces or 2 * max(1, math.ceil(tracks / most / 2))
    config = {
        "kind": "disk",
        "rpm": f"{figures.rpm:g}rpm",
        "geometry": {
            "kind": "rates",
            "capacity": show(figures.capacity, "bytes"),
            "cylinders": round(tracks / surfaces),
            "outer_rate": show(figures.outer_rate, "bytes_per_s"),
            "inner_rate": show(inner, "bytes_per_s"),
        },
        "seek": {
            "kind": "figures",
            "track_to_track": show(figures.track_to_track or _TRACK_TO_TRACK * seek, "ns"),
            "average": show(seek, "ns"),
            "full_stroke": show(figures.full_stroke or _FULL_STROKE * seek, "ns"),
        },
        "write_settle": show(settle, "ns"),
        "head_switch": show(_SWITCH_NS, "ns"),
        "bus_rate": show(figures.interface_rate or _RATES[figures.interface], "bytes_per_s"),
        "command_time": "250us",
        "buffer": {
            "segments": _SEGMENTS,
            "segment": show(max(4096, figures.cache // _SEGMENTS // 4096 * 4096), "bytes"),
            "read_ahead": "segment",
            "hit_time": "50us",
            "write_cache": False,
            "write_time": "50us",
        },
    }
    if figures.interface == "sata":
        config["queue"] = {"policy": "sptf", "depth": 32, "choice_fraction": 0.25}
    stated = {
        "geometry.inner_rate": figures.inner_rate,
        "seek.track_to_track": figures.track_to_track,
        "seek.full_stroke": figures.full_stroke,
        "write_settle": figures.write_seek,
        "bus_rate": figures.interface_rate,
    }
    reasons = {
        "geometry.cylinders": f"with {surfaces} surfaces they have the capacity at these rates"
        + ("" if figures.surfaces else "; give surfaces=N if a manual has it"),
        "geometry.inner_rate": f"{_INNER:g} of the outer rate",
        "seek.track_to_track": f"{_TRACK_TO_TRACK:g} of the average seek",
        "seek.full_stroke": f"{_FULL_STROKE:g} times the average seek",
        "write_settle": "the average seek of writes less that of reads, if a sheet has it",
        "head_switch": "as for the disks of the catalogue",
        "bus_rate": f"the usual rate of {figures.interface}",
        "command_time": "as for the disks of the catalogue",
        "buffer": f"{_SEGMENTS} segments that are read ahead until they are full; the write cache is off, as "
        "RAID controllers switch it off",
    }
    if "queue" in config:
        reasons["queue"] = "SATA disks gain less from a queue than SAS disks (docs/truth.md)"
    return MadePart(config, {path: reason for path, reason in reasons.items() if not stated.get(path)})
