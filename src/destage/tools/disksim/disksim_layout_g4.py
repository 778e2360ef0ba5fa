"""Zones of DiskSim's layout `dm_layout_g4`, an index of track patterns.

An entry of the index stands for a run of equal parts, each a track pattern or again an index; the last
index is that of the disk, and each of its entries a zone here. A zone has the sectors of its longest
track on all tracks, and what its run has less as spare sectors at its end. Such disks fill some 65 tracks
of one surface before the next surface; they are read as cylinders, with the same angle between tracks, a
few cylinders from their place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from destage.tools.disksim.disksim_file import Block, Value, as_number

_PATTERN_FIELDS = 3
_TYPE, _CHILD = 8, 9
_FIELDS = {"TRACK": 11, "IDX": 10}
"""Fields of an entry by its type."""

_DEPTH = 16


@dataclass(frozen=True)
class _Entry:
    """An entry of an index: a run of equal parts.

    Attributes:
        cylinder: First cylinder, from that of the index.
        angle: From one part to the next [revolutions].
        run: Sectors of the run.
        run_cylinders: Cylinders of the run, negative towards the outer edge.
        child: Number of the pattern or index.
    """

    cylinder: int
    angle: float
    run: int
    run_cylinders: int
    is_track: bool
    child: int


def read_zones(layout: Block, surfaces: int) -> Iterator[dict[str, Any]]:
    """Read the zones of a layout, outermost first.

    Raises:
        ConfigError: The index is incomplete.
    """
    # First sector, last sector, and the number of sectors of each track pattern.
    numbers = _numbers(layout, "TP", layout.items("TP"))
    patterns = [int(number) for number in numbers[_PATTERN_FIELDS - 1 :: _PATTERN_FIELDS]]
    indices = [_entries(layout, index) for index in layout.items("IDX") if isinstance(index, tuple)]
    if not indices or not indices[-1]:
        layout.refuse("IDX: no entries")
    zones = indices[-1]
    for entry, after in zip(zones, [*zones[1:], None], strict=True):
        cylinders = after.cylinder - entry.cylinder if after else abs(entry.run_cylinders)
        tracks = list(_tracks(layout, [entry], indices, _DEPTH))
        if any(track.child >= len(patterns) for track in tracks):
            layout.refuse("IDX: a track pattern that TP does not have", layout.line_of("IDX"))
        sectors = max(patterns[track.child] for track in tracks)
        longest = max(tracks, key=lambda track: (patterns[track.child] == sectors, track.run))
        spare = cylinders * surfaces * sectors - entry.run
        if cylinders < 1 or spare < 0:
            message = f"IDX: {entry.run} sectors from cylinder {entry.cylinder} are more than its tracks have"
            layout.refuse(message, layout.line_of("IDX"))
        skew = round(longest.angle * sectors) % sectors
        yield {
            "cylinders": cylinders,
            "sectors_per_track": sectors,
            "track_skew": skew,
            "cylinder_skew": skew,
            "spare_sectors": spare,
        }


def _numbers(layout: Block, key: str, values: Sequence[Value]) -> list[float]:
    numbers = [number for number in map(as_number, values) if number is not None]
    if len(numbers) != len(values):
        layout.refuse(f"{key}: expected numbers", layout.line_of(key))
    return numbers


def _entries(layout: Block, values: Sequence[Value]) -> list[_Entry]:
    entries = []
    while values:
        kind = values[_TYPE] if len(values) > _TYPE else None
        fields = _FIELDS.get(kind, 0) if isinstance(kind, str) else 0
        if not fields or len(values) < fields:
            allowed = ", ".join(f"{number} fields with {name}" for name, number in _FIELDS.items())
            layout.refuse(f"IDX: allowed are entries of {allowed}", layout.line_of("IDX"))
        numbers = _numbers(layout, "IDX", [*values[:_TYPE], values[_CHILD]])
        cylinder, run, run_cylinders, child = (int(numbers[field]) for field in (1, 6, 7, 8))
        entries.append(_Entry(cylinder, numbers[5], run, run_cylinders, kind == "TRACK", child))
        values = values[fields:]
    return entries


def _tracks(
    layout: Block, entries: Sequence[_Entry], indices: Sequence[Sequence[_Entry]], depth: int
) -> Iterator[_Entry]:
    """Yield the entries of tracks below some entries."""
    for entry in entries:
        if entry.is_track:
            yield entry
        elif depth == 0 or entry.child >= len(indices) - 1:
            layout.refuse(f"IDX: entry of index {entry.child} is not supported", layout.line_of("IDX"))
        else:
            yield from _tracks(layout, indices[entry.child], indices, depth - 1)
