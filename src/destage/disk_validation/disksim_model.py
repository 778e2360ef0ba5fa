"""Disk facts in DiskSim's files: `.model` (layout and mechanics), `.diskspecs` (buffer and overheads).

Slipped and remapped sectors are not read.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from destage.errors import ConfigError, Issue

_COMMENT = re.compile(r"#.*")
_ZONE = re.compile(r"dm_layout_g1_zone\s*\{")
_NUMBER = r"(-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)"
_SECTOR = 512


def read_model(path: Path) -> dict[str, Any]:
    """Read the facts of a disk.

    Args:
        path: A `.model` file, or a `.diskspecs` file that names one beside it.
    """
    text = _text(path)
    if path.suffix != ".diskspecs":
        return _mechanics(path, text)
    named = re.search(r"Model\s*=\s*source\s+([^\s,]+)", text)
    if named is None:
        raise _error(
            "disk.bad-model", path, "missing 'Model = source FILE', which names layout and mechanics"
        )
    model = path.parent / named.group(1)
    return {**_mechanics(model, _text(model)), **_electronics(path, text)}


def _error(code: str, path: Path, message: str, place: str = "") -> ConfigError:
    return ConfigError([Issue(code, place, message)], str(path))


def _text(path: Path) -> str:
    try:
        return _COMMENT.sub("", path.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise _error("disk.unreadable", path, f"cannot be read: {error.strerror}") from None


def _find(text: str, key: str) -> float | None:
    found = re.search(rf"(?<![\w.]){re.escape(key)}\s*=\s*{_NUMBER}", text)
    return float(found.group(1)) if found else None


def _need(path: Path, text: str, key: str) -> float:
    value = _find(text, key)
    if value is None:
        raise _error("disk.bad-model", path, f"no number for '{key}'")
    return value


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:.6f}ms"


def _mechanics(path: Path, text: str) -> dict[str, Any]:
    surfaces = int(_need(path, text, "Number of data surfaces"))
    zones = list(_zones(path, text, surfaces))
    places = sum(zone["cylinders"] * surfaces * zone["sectors_per_track"] for zone in zones)
    sectors = places - sum(zone["spare_sectors"] for zone in zones)
    blocks = _find(text, "Block count")
    if blocks is not None and blocks < sectors:
        # Hidden sectors are assumed at the inner edge.
        zones[-1]["spare_sectors"] += sectors - int(blocks)
    return {
        "kind": "disk",
        "rpm": _need(path, text, "Rotation speed (in rpms)"),
        "geometry": {"kind": "zones", "surfaces": surfaces, "zones": zones},
        "seek": _seek(path, text),
        "write_settle": _ms(_find(text, "Add. write settling delay") or 0.0),
        "head_switch": _ms(_need(path, text, "Head switch time")),
    }


def _zones(path: Path, text: str, surfaces: int) -> Iterator[dict[str, Any]]:
    parts = _ZONE.split(text)[1:]
    if not parts:
        raise _error("disk.bad-model", path, "no dm_layout_g1_zone; other layouts are not supported")
    firsts = [int(_need(path, part, "First cylinder number")) for part in parts]
    lasts = [int(_need(path, part, "Last cylinder number")) for part in parts]
    for index, part in enumerate(parts):
        sectors = int(_need(path, part, "Blocks per track"))
        # Cylinders between two zones hold no data, but count for seeks.
        after = firsts[index + 1] if index + 1 < len(parts) else lasts[index] + 1
        set_aside = (after - lasts[index] - 1) * surfaces * sectors
        yield {
            "cylinders": after - firsts[index],
            "sectors_per_track": sectors,
            "track_skew": round(_find(part, "Skew for track switch") or 0.0) % sectors,
            "cylinder_skew": round(_find(part, "Skew for cylinder switch") or 0.0) % sectors,
            "spare_sectors": int(_find(part, "Number of spares") or 0) + set_aside,
        }


def _seek(path: Path, text: str) -> dict[str, Any]:
    named = re.search(r"Full seek curve\s*=\s*([^\s,]+)", text)
    if named is None:
        figures = {
            "track_to_track": "Single cylinder seek time",
            "average": "Average seek time",
            "full_stroke": "Full strobe seek time",
        }
        return {"kind": "figures"} | {key: _ms(_need(path, text, name)) for key, name in figures.items()}
    curve = path.parent / named.group(1)
    points = []
    for number, line in enumerate(_text(curve).splitlines(), 1):
        fields = line.replace(",", " ").split()
        if number == 1 or not fields:
            continue
        try:
            points.append({"distance": int(fields[0]), "time": _ms(float(fields[1]))})
        except (ValueError, IndexError):
            message = f"{line!r}: expected a distance in cylinders and a time in ms"
            raise _error("disk.bad-model", curve, message, f"line {number}") from None
    return {"kind": "table", "points": points}


def _electronics(path: Path, text: str) -> dict[str, Any]:
    found: dict[str, Any] = {"command_time": _mean(path, text, "Read miss over. after {}")}
    per_sector_ms = _find(text, "Bulk sector transfer time")
    if per_sector_ms:
        found["bus_rate"] = f"{_SECTOR / per_sector_ms * 1e3:.0f}B/s"
    if _find(text, "Enable caching in buffer"):
        reads_on_arrival = _find(text, "Read any free blocks")
        found["buffer"] = {
            "segments": int(_need(path, text, "Number of buffer segments")),
            "segment": f"{int(_need(path, text, 'Segment size (in blks)')) * _SECTOR}B",
            "read_ahead": "track" if reads_on_arrival else "segment",
            "hit_time": _mean(path, text, "Read hit over. after {}"),
            "write_cache": bool(_find(text, "Fast write level")),
            "write_time": _mean(path, text, "Write miss over. after {}"),
        }
    return found


def _mean(path: Path, text: str, key: str) -> str:
    return _ms(sum(_need(path, text, key.format(before)) for before in ("read", "write")) / 2)
