"""Disk facts in DiskSim's files: `.model` (layout, mechanics), `.diskspecs` (buffer, overheads), `.parv`.

The meaning of each parameter is that of the manuals of DiskSim 4.0 and of its diskmodel library. Slipped and
remapped sectors are not read. The serpentine mappings (1, 2) differ from the conventional one (0) only in the
numbers of the surfaces, and spares at the front of a cylinder (5, 6) from those at its end (2, 4) only by a
constant angle, so each pair is read as the same.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from destage.tools.disksim import disksim_layout_g4
from destage.tools.disksim.disksim_electronics import Description, Electronics, as_ms, read_system
from destage.tools.disksim.disksim_file import Block, as_number, parse, read_text, refusal

_MAPPINGS = (0, 1, 2)
_NO_SPARES, _TRACKS_OF_ZONE, _TRACK, _END_OF_DISK, _RANGE = 0, 1, 3, 7, 8
_CYLINDER = (2, 4, 5, 6)
_ZONE = (9, 10)
_RANGE_SIZE = "Rangesize for sparing"
_HPL_POINTS = 64


def read_model(path: Path) -> Description:
    """Read the facts of a disk.

    Args:
        path: A `.model` file, a `.diskspecs` file that names one beside it, or a `.parv` file with a disk.
    """
    if path.suffix == ".parv":
        disk, bus = read_system(path)
    else:
        disk, bus = parse(path), None
    if path.suffix == ".model":
        return Description(_mechanics(disk), ())
    if "Model" not in disk.values:
        disk.refuse("missing 'Model = source FILE', which names layout and mechanics")
    mechanics = _mechanics(disk.block("Model"))
    sectors = [int(zone["sectors_per_track"]) for zone in mechanics["geometry"]["zones"]]
    electronics = Electronics(disk, bus, sectors, 60e3 / float(mechanics["rpm"])).describe()
    return Description({**mechanics, **electronics.facts}, electronics.unmodelled)


def _mechanics(disk: Block) -> dict[str, Any]:
    surfaces = int(disk.need("Number of data surfaces"))
    layout = disk.block("Layout Model")
    mechanics = disk.block("Mechanical Model")
    zones = list(_zones(layout, surfaces))
    blocks = disk.find("Block count")
    if blocks is not None:
        _hide(zones, surfaces, sum(_data_sectors(zone, surfaces) for zone in zones) - int(blocks))
    return {
        "kind": "disk",
        "rpm": mechanics.need("Rotation speed (in rpms)"),
        "geometry": {"kind": "zones", "surfaces": surfaces, "zones": zones},
        "seek": _seek(mechanics, int(disk.find("Number of cylinders") or 0)),
        # Some measured disks settle faster for a write, which the model does not have.
        "write_settle": as_ms(max(0.0, mechanics.find("Add. write settling delay") or 0.0)),
        "head_switch": as_ms(mechanics.need("Head switch time")),
    }


def _hide(zones: list[dict[str, Any]], surfaces: int, hidden: int) -> None:
    """Hide sectors beyond the block count, assumed at the inner edge, in as many zones as they fill."""
    while hidden > 0:
        data = _data_sectors(zones[-1], surfaces)
        if hidden < data or len(zones) == 1:
            zones[-1]["spare_sectors"] += hidden
            return
        # No request reaches its cylinders.
        zones.pop()
        hidden -= data


def _data_sectors(zone: dict[str, Any], surfaces: int) -> int:
    cylinders = int(zone["cylinders"])
    sectors = cylinders * surfaces * (zone["sectors_per_track"] - zone.get("spares_per_track", 0))
    if "spare_range" in zone:
        sectors -= math.ceil(cylinders / zone["spare_range"]["cylinders"]) * zone["spare_range"]["sectors"]
    return int(sectors - zone["spare_sectors"] - zone.get("front_sectors", 0))


def _zones(layout: Block, surfaces: int) -> Iterator[dict[str, Any]]:
    if layout.kind == "dm_layout_g4":
        yield from disksim_layout_g4.read_zones(layout, surfaces)
        return
    if layout.kind != "dm_layout_g1":
        layout.refuse(f"layout {layout.kind!r} is not supported; supported: dm_layout_g1, dm_layout_g4")
    mapping = "LBN-to-PBN mapping scheme"
    if layout.find(mapping) not in (None, *_MAPPINGS):
        allowed = ", ".join(map(str, _MAPPINGS))
        message = f"{mapping} {layout.find(mapping):g} is not supported; supported: {allowed}"
        layout.refuse(message, layout.line_of(mapping))
    zones = [zone for zone in layout.items("Zones") if isinstance(zone, Block)]
    if not zones:
        layout.refuse("no zones")
    firsts = [int(zone.need("First cylinder number")) for zone in zones]
    for index, zone in enumerate(zones):
        sectors = int(zone.need("Blocks per track"))
        last = int(zone.need("Last cylinder number"))
        after = firsts[index + 1] if index + 1 < len(zones) else last + 1
        if last < firsts[index] or after <= last:
            zone.refuse("zones are not in the order of their cylinders", zone.line_of("Last cylinder number"))
        read: dict[str, Any] = {
            "cylinders": after - firsts[index],
            "sectors_per_track": sectors,
            "track_skew": _skew(layout, zone, "Skew for track switch", sectors),
            "cylinder_skew": _skew(layout, zone, "Skew for cylinder switch", sectors),
            "spare_sectors": 0,
        }
        if front := int(zone.find("Empty space at zone front") or 0):
            read["front_sectors"] = front
        _add_spares(layout, zone, read, is_last=index + 1 == len(zones))
        # Cylinders between two zones hold no data, but count for seeks.
        gap = after - last - 1
        if gap:
            read["spare_sectors"] += _data_sectors(read, surfaces) - _data_sectors(
                {**read, "cylinders": after - firsts[index] - gap}, surfaces
            )
        yield read


def _skew(layout: Block, zone: Block, key: str, sectors: int) -> int:
    units = zone.text("Skew units") or layout.text("Skew units") or "sectors"
    if units not in {"sectors", "revolutions"}:
        holder = zone if "Skew units" in zone.values else layout
        holder.refuse(f"Skew units {units!r}; allowed: sectors, revolutions", holder.line_of("Skew units"))
    skew = zone.find(key) or 0.0
    return round(skew * sectors if units == "revolutions" else skew) % sectors


def _add_spares(layout: Block, zone: Block, read: dict[str, Any], *, is_last: bool) -> None:
    """Add the spares of a zone by the scheme of the layout."""
    key = "Sparing scheme used"
    scheme = int(layout.find(key) or 0)
    spares = int(zone.find("Number of spares") or 0)
    if scheme == _NO_SPARES or not spares:
        return
    if scheme in _ZONE or (scheme == _END_OF_DISK and is_last):
        read["spare_sectors"] += spares
    elif scheme == _TRACKS_OF_ZONE:
        read["spare_sectors"] += spares * read["sectors_per_track"]
    elif scheme == _TRACK:
        read["spares_per_track"] = spares
    elif scheme in _CYLINDER:
        read["spare_range"] = {"cylinders": 1, "sectors": spares}
    elif scheme == _RANGE:
        size = int(layout.need(_RANGE_SIZE))
        if size < 1:
            layout.refuse(f"{_RANGE_SIZE}: allowed is 1 or more", layout.line_of(_RANGE_SIZE))
        read["spare_range"] = {"cylinders": size, "sectors": spares}
    elif scheme != _END_OF_DISK:
        layout.refuse(f"{key} {scheme} is not supported; supported: 0 to 10", layout.line_of(key))


def _seek(mechanics: Block, cylinders: int) -> dict[str, Any]:
    kind = mechanics.text("Seek type")
    if kind in {"hpl", "hplplus10"}:
        return _hpl_seek(mechanics, cylinders, has_first_ten=kind == "hplplus10")
    named = mechanics.text("Full seek curve")
    if named is None:
        figures = {
            "track_to_track": "Single cylinder seek time",
            "average": "Average seek time",
            "full_stroke": "Full strobe seek time",
        }
        return {"kind": "figures"} | {key: as_ms(mechanics.need(name)) for key, name in figures.items()}
    curve = mechanics.path.parent / named
    points = []
    for number, line in enumerate(read_text(curve).splitlines(), 1):
        fields = line.replace(",", " ").split()
        if not fields:
            continue
        try:
            points.append({"distance": int(fields[0]), "time": as_ms(float(fields[1]))})
        except (ValueError, IndexError):
            if number == 1:
                # The header of most files: "Seek distances measured: 48".
                continue
            message = f"{line!r}: expected a distance in cylinders and a time in ms"
            raise refusal(curve, number, message) from None
    return {"kind": "table", "points": points}


def _hpl_seek(mechanics: Block, cylinders: int, *, has_first_ten: bool) -> dict[str, Any]:
    """Return the two-piece curve; with ten measured times as a table of them and of points of the curve."""
    key = "HPL seek equation values"
    values = [as_number(value) for value in mechanics.items(key)]
    numbers = [value for value in values if value is not None]
    if len(numbers) != len(values) or len(numbers) < 5:  # noqa: PLR2004 - boundary, a, b, c, e
        mechanics.refuse(f"{key}: expected six numbers", mechanics.line_of(key))
    boundary, a, b, c, e = numbers[:5]
    if not has_first_ten:
        pieces = {"a": a, "b": b, "c": c, "e": e}
        times = {name: as_ms(value) for name, value in pieces.items()}
        return {"kind": "two_piece", "boundary": int(boundary), **times}
    first = [as_number(value) or 0.0 for value in mechanics.items("First ten seek times")]
    points = {distance: time for distance, time in enumerate(first, 1) if time > 0}
    longest = max(cylinders - 1, int(boundary) + 1)
    for step in range(_HPL_POINTS + 1):
        distance = round(len(first) + 1 + (boundary - len(first) - 1) * (step / _HPL_POINTS) ** 2)
        points[distance] = a + b * math.sqrt(distance)
    for distance in (int(boundary) + 1, longest):
        points[distance] = c + e * distance
    return {
        "kind": "table",
        "points": [{"distance": distance, "time": as_ms(time)} for distance, time in sorted(points.items())],
    }
