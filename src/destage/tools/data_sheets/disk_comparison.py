"""A hard disk beside its data sheet, measured as one would measure a real disk.

Seeks and rates come from requests one at a time: the shortest of many alternating reads is the seek without
rotation; random reads take the average seek, half a turn and the overheads.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from destage.engine import simulate
from destage.tools.disksim.measured_disk import canonical_disk, load_single_disk
from destage.tools.disksim.service_times import MeasuredTrace, simulate_service_ms
from destage.tools.values import SECTOR

TOLERANCES: Mapping[str, float] = {
    "track_to_track_ms": 0.02,
    "average_seek_ms": 0.03,
    "full_stroke_ms": 0.01,
    "outer_mb_per_s": 0.01,
    "inner_mb_per_s": 0.01,
    "mean_mb_per_s": 0.03,
    "random_reads_1_per_s": 0.03,
    "random_reads_16_per_s": 0.2,
}
"""Maximum deviation of each quantity from the data sheet."""
PATHS: Mapping[str, str] = {
    "track_to_track_ms": "seek.track_to_track",
    "average_seek_ms": "seek.average",
    "full_stroke_ms": "seek.full_stroke",
    "outer_mb_per_s": "geometry.outer_rate",
    "inner_mb_per_s": "geometry.inner_rate",
    "random_reads_1_per_s": "seek.average",
}
"""Where a configuration holds the statement on a quantity, whose mark is that of the statement."""

_CHUNK = 128
"""Sectors of a sequential read: 64 KiB."""
_SEQUENTIAL = 2_000
_PLACES = 64
_SEEKS = 8_000
_RANDOM = 20_000
_RANDOMSECTORS = 8
_WARM_UP = 20


@dataclass(frozen=True)
class Cell:
    """One quantity of a disk.

    Attributes:
        quantity: Its name, a key of `TOLERANCES`.
        sheet: The data sheet's statement; None if it has none.
        model: The model's value.
        tolerance: The largest deviation that is met.
    """

    quantity: str
    sheet: float | None
    model: float
    tolerance: float

    @property
    def deviation(self) -> float | None:
        """The model's value relative to the statement, less 1."""
        return None if self.sheet is None else self.model / self.sheet - 1

    @property
    def is_met(self) -> bool:
        """Whether the deviation is within its tolerance."""
        return self.deviation is None or abs(self.deviation) <= self.tolerance


def compare_disk(config: Mapping[str, Any], stated: Mapping[str, float]) -> dict[str, Cell]:
    """Return each quantity of a hard disk beside its data sheet.

    Args:
        stated: Statements of the sheet that its configuration does not hold.
    """
    disk = canonical_disk(config)
    sheet = {**_stated(disk), **stated}
    return {
        quantity: Cell(quantity, sheet.get(quantity), value, TOLERANCES[quantity])
        for quantity, value in _measure(config, disk)
    }


def _stated(disk: Mapping[str, Any]) -> dict[str, float]:
    """The statements that the configuration of a disk holds."""
    seek, geometry = disk["seek"], disk["geometry"]
    statements: dict[str, float] = {}
    if seek["kind"] == "figures":
        statements["track_to_track_ms"] = seek["track_to_track"] / 1e6
        statements["average_seek_ms"] = seek["average"] / 1e6
        statements["full_stroke_ms"] = seek["full_stroke"] / 1e6
        overhead_ms = 0.3
        statements["random_reads_1_per_s"] = 1e3 / (
            statements["average_seek_ms"] + 30_000 / disk["rpm"] + overhead_ms
        )
    if geometry["kind"] == "rates":
        statements["outer_mb_per_s"] = geometry["outer_rate"] / 1e6
        statements["inner_mb_per_s"] = geometry["inner_rate"] / 1e6
    return statements


def _measure(config: Mapping[str, Any], disk: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    geometry = disk["geometry"]
    bare = {**disk, "buffer": None}
    sectors = _sectors(disk)
    turn_ms = 60_000 / disk["rpm"]
    command_ms = disk["command_time"] / 1e6
    if geometry["kind"] == "rates":
        # A cylinder at the outer edge is larger than the mean one, as its rate is higher.
        mean = (geometry["outer_rate"] + geometry["inner_rate"]) / 2
        cylinder = sectors / geometry["cylinders"] * geometry["outer_rate"] / mean
    else:
        cylinder = geometry["surfaces"] * geometry["zones"][0]["sectors_per_track"]
    sector_ms = _surfaces(disk, cylinder, turn_ms) * turn_ms / cylinder
    next_cylinder = round(1.5 * cylinder)
    yield "track_to_track_ms", _seek_ms(bare, next_cylinder, turn_ms) - command_ms - sector_ms
    draws = np.random.default_rng(1)
    places = draws.integers(0, sectors - _RANDOMSECTORS, _RANDOM).astype(np.uint64)
    pauses_ms = draws.uniform(0, turn_ms, _RANDOM)
    random_ms = float(_times_ms(bare, places, _RANDOMSECTORS, pauses_ms).mean())
    yield "average_seek_ms", random_ms - command_ms - turn_ms / 2 - _RANDOMSECTORS * sector_ms
    yield "full_stroke_ms", _seek_ms(bare, sectors - 1, turn_ms) - command_ms - sector_ms
    yield "outer_mb_per_s", _rate(disk, [0], _SEQUENTIAL)
    yield "inner_mb_per_s", _rate(disk, [sectors - _CHUNK * (_SEQUENTIAL + _WARM_UP)], _SEQUENTIAL)
    step = sectors // _PLACES
    middles = [step * place + step // 2 for place in range(_PLACES)]
    yield "mean_mb_per_s", _rate(disk, middles, _SEQUENTIAL // 10)
    yield "random_reads_1_per_s", 1e3 / random_ms
    scenario = load_single_disk(config, "random", 16, "4KiB")
    run = {"warm_up": {"requests": 200}, "window": {"requests": _RANDOM}}
    yield "random_reads_16_per_s", float(simulate({**scenario, "run": run})["throughput_iops"])


def _sectors(disk: Mapping[str, Any]) -> int:
    geometry = disk["geometry"]
    if geometry["kind"] == "rates":
        return int(geometry["capacity"]) // SECTOR
    zones = geometry["zones"]
    places = sum(zone["cylinders"] * zone["sectors_per_track"] for zone in zones) * geometry["surfaces"]
    return int(places - sum(zone["spare_sectors"] for zone in zones))


def _surfaces(disk: Mapping[str, Any], cylinder: float, turn_ms: float) -> float:
    geometry = disk["geometry"]
    if geometry["kind"] == "zones":
        return float(geometry["surfaces"])
    # From the time in which a cylinder passes at the sustained rate: a turn and a switch for each track.
    switch_ms = (disk["head_switch"] + disk["write_settle"]) / 1e6
    cylinder_ms = cylinder * SECTOR / float(geometry["outer_rate"]) * 1e3
    return max(1.0, cylinder_ms / (turn_ms + float(switch_ms)))


def _times_ms(
    disk: Mapping[str, Any], first: npt.NDArray[np.uint64], sectors: int, gaps_ms: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    count = len(first)
    trace = MeasuredTrace(
        np.zeros(count, dtype=np.bool_),
        first,
        np.full(count, sectors, dtype=np.uint64),
        np.zeros(count),
        np.rint(gaps_ms * 1e6).astype(np.uint64),
    )
    return np.asarray(simulate_service_ms(trace, disk, 1)[0], dtype=np.float64)


def _seek_ms(disk: Mapping[str, Any], distance: int, turn_ms: float) -> float:
    """Shortest time [ms] of reads of one sector that alternate between 0 and `distance` at any angle."""
    places = np.where(np.arange(_SEEKS) % 2 == 0, 0, distance).astype(np.uint64)
    gaps = np.random.default_rng(2).uniform(0, turn_ms, _SEEKS)
    return float(_times_ms(disk, places, 1, gaps)[1:].min())


def _rate(disk: Mapping[str, Any], starts: list[int], reads: int) -> float:
    """Rate [MB/s] of sequential reads of 64 KiB, one at a time, from each start on."""
    total_ms = 0.0
    for start in starts:
        places = np.arange(reads + _WARM_UP, dtype=np.uint64) * np.uint64(_CHUNK) + np.uint64(start)
        total_ms += float(_times_ms(disk, places, _CHUNK, np.zeros(len(places)))[_WARM_UP:].sum())
    return float(len(starts) * reads * _CHUNK * SECTOR / total_ms / 1e3)
