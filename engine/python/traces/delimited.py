"""Delimited text whose columns the user names, such as the export of a monitoring system.

`columns` either lists the columns from left to right, with `-` for each column to skip
(`time,op,-,offset,size`), or gives the name in the first line or the position (from 1) of each column
(`time=Timestamp,op=4,...`). A miss ratio curve needs neither times nor operations: `block` is a
column of block numbers, each a read, and the only column that is needed.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from destage.errors import ConfigError, TraceError
from destage.spec import quantities
from destage.spec.near_names import suggest

NO_TIMES = "without times and operations give a miss ratio curve (`destage trace mrc`) and nothing else"
"""What is wrong with block numbers alone, wherever times are needed."""
FORMAT = "columns"
"""The name of the format in reports."""
REQUIRED = ("time", "op", "offset", "size")
OPTIONAL = ("process", "volume", "response", "is_read", "block")
_EXTENT = ("offset", "size")
_OPERATIONS = ("op", "is_read")
"""Columns with the operation: 0 for a read and 1 for a write, or 1 for a read and 0 for a write."""
SEPARATORS: Mapping[str, str] = MappingProxyType(
    {"comma": ",", "semicolon": ";", "tab": "\t", "space": " ", ",": ",", ";": ";"}
)
_TIMES: Mapping[str, int] = MappingProxyType({"s": 9, "ms": 6, "us": 3, "100ns": 2, "ns": 0})
"""Units of times as powers of ten [ns]; 100 ns is the tick of Windows."""
_SIZES: Mapping[str, int] = MappingProxyType({"B": 1, "bytes": 1, "sectors": 512})
_SKIPPED = "-"
_LARGEST_UNIT = 1 << 40
_MOST_COLUMNS = 1_000


@dataclass(frozen=True)
class Delimited:
    """What the columns of a delimited text hold.

    Attributes:
        columns: The columns, as the module describes.
        units: Their units: `time=ms,offset=sectors,size=4KiB` (default: seconds and bytes).
        separator: A key of `SEPARATORS`; `auto` tries tab, semicolon, comma and spaces on the first line.
        curve_block: The block [bytes] of the miss ratio curve that the text is read for; None for any other
            use, which needs times and operations.
    """

    columns: str
    units: str = ""
    separator: str = "auto"
    curve_block: int | None = None

    def find_layout(self, head: bytes) -> dict[str, Any]:
        """Return the layout for the engine's reader.

        Args:
            head: The beginning of the text, with its first line.

        Raises:
            TraceError: The columns or units cannot be used, or the first line lacks a column.
        """
        places = _parse_columns(self.columns, is_for_curve=self.curve_block is not None)
        units = _parse_units(self.units, places)
        line = head.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode(errors="replace").strip("\r\n")
        separator, cells = self._split(line, places)
        by_position, is_named = _locate(places, cells)
        # A record with a mistyped time is not a header.
        quantities_in = [name for name in ("time", "block", *_EXTENT) if name in by_position]
        has_numbers = any(_is_number(cells, by_position[name]) for name in quantities_in)
        has_header = is_named or not has_numbers
        width = max(by_position.values()) + 1
        names = {position: "offset" if name == "block" else name for name, position in by_position.items()}
        if "block" in places:
            units |= dict.fromkeys(_EXTENT, self.curve_block or 0)
        return {
            "columns": [names.get(position, "") for position in range(width)],
            "separator": ord(separator),
            "time_exponent": units["time"],
            "response_exponent": units["response"],
            "offset_unit": units["offset"],
            "size_unit": units["size"],
            "has_header": has_header,
        }

    def _split(self, line: str, places: Mapping[str, str | int]) -> tuple[str, list[str]]:
        """Return the separator, and the cells of the first line."""
        if self.separator != "auto":
            if self.separator not in SEPARATORS:
                message = f"unknown separator {self.separator!r}; use {', '.join(list(SEPARATORS)[:4])}"
                raise TraceError("trace.bad-columns", message, "separator")
            separator = SEPARATORS[self.separator]
            return separator, _cells(line, separator)
        needed = max(
            [len(places), *[position + 1 for position in places.values() if isinstance(position, int)]]
        )
        for separator in ("\t", ";", ",", " "):
            cells = _cells(line, separator)
            if len(cells) >= needed:
                return separator, cells
        shown = line if len(line) <= 60 else f"{line[:57]}..."  # noqa: PLR2004 - what fits in a message
        message = f"{shown!r}: fewer than {needed} columns, with any separator"
        raise TraceError("trace.missing-column", message, "line 1")


def is_numbers(head: bytes) -> bool:
    """Return whether a text, given its beginning, has one whole number per line and nothing else."""
    *whole, last = head.split(b"\n")
    lines = [line.strip() for line in (whole or [last])]
    return any(lines) and all(line.isdigit() for line in lines if line)


def _parse_columns(text: str, *, is_for_curve: bool) -> dict[str, str | int]:
    """Return the name or the position, from 0, of each column."""
    items = [item.strip() for item in text.split(",")]
    places: dict[str, str | int] = {}
    if len(items) > _MOST_COLUMNS:
        raise TraceError("trace.bad-columns", f"at most {_MOST_COLUMNS} columns are allowed", "columns")
    for position, item in enumerate(items):
        name, has_place, place = (part.strip() for part in item.partition("="))
        if item == _SKIPPED:
            continue
        if name not in (*REQUIRED, *OPTIONAL):
            allowed = ", ".join((*REQUIRED, *OPTIONAL))
            message = f"{name!r} is not one of {allowed}{suggest(name, (*REQUIRED, *OPTIONAL))}"
            raise TraceError("trace.bad-columns", f"{message}; - skips a column", "columns")
        if name in places:
            raise TraceError("trace.bad-columns", f"{name!r} is given twice", "columns")
        places[name] = _parse_place(name, place) if has_place else position
    _check_columns(places, is_for_curve=is_for_curve)
    taken = [place for place in places.values() if isinstance(place, int)]
    if len(set(taken)) < len(taken):
        raise TraceError("trace.bad-columns", "two columns have the same position", "columns")
    return places


def _check_columns(places: Collection[str], *, is_for_curve: bool) -> None:
    """Reject columns that exclude each other, or of which one is missing."""
    operations = [name for name in _OPERATIONS if name in places]
    if "block" in places and not is_for_curve:
        raise TraceError("trace.no-times", f"block numbers {NO_TIMES}", "columns")
    if "block" in places and any(name in places for name in _EXTENT):
        raise TraceError("trace.bad-columns", "give block, or offset and size, not both", "columns")
    required = () if "block" in places else _EXTENT if is_for_curve else REQUIRED
    missing = [name for name in required if name not in places and not (name == "op" and operations)]
    if missing:
        message = f"{', '.join(missing)} missing, as in time,op,offset,size or time=1,op=3,offset=4,size=5"
        raise TraceError("trace.bad-columns", message, "columns")
    if len(operations) > 1:
        raise TraceError("trace.bad-columns", "give op or is_read, not both", "columns")


def _parse_place(name: str, place: str) -> str | int:
    if not place:
        raise TraceError("trace.bad-columns", f"{name}= needs a name or a position", "columns")
    if not place.isdecimal():
        return place.strip('"')
    if not 1 <= int(place) <= _MOST_COLUMNS:
        message = f"{name}={place}: positions count from 1, up to {_MOST_COLUMNS}"
        raise TraceError("trace.bad-columns", message, "columns")
    return int(place) - 1


def _parse_units(text: str, places: Mapping[str, str | int]) -> dict[str, int]:
    """Return the unit of each quantity: a power of ten [ns] of times, a number of bytes of sizes."""
    given: dict[str, str] = {}
    for item in filter(None, (item.strip() for item in text.split(","))):
        name, _, unit = (part.strip() for part in item.partition("="))
        if name not in {"time", "response", "offset", "size"} or not unit:
            message = f"{item!r}: must be time=, response=, offset= or size= with a unit, as in time=ms"
            raise TraceError("trace.bad-columns", message, "unit")
        if name not in places:
            raise TraceError("trace.bad-columns", f"{item!r}: no column is {name!r}", "unit")
        given[name] = unit
    time = _time_unit(given.get("time", "s"))
    return {
        "time": time,
        "response": _time_unit(given["response"]) if "response" in given else time,
        "offset": _size_unit(given.get("offset", "B")),
        "size": _size_unit(given.get("size", "B")),
    }


def _time_unit(unit: str) -> int:
    if unit not in _TIMES:
        message = f"{unit!r} is not a unit of time; use {', '.join(_TIMES)}"
        raise TraceError("trace.bad-columns", message, "unit")
    return _TIMES[unit]


def _size_unit(unit: str) -> int:
    if unit in _SIZES:
        return _SIZES[unit]
    try:
        size = int(quantities.parse(unit if unit[0].isdigit() else f"1{unit}", "bytes"))
    except ConfigError:
        size = 0
    if unit.isdecimal() or not 0 < size <= _LARGEST_UNIT:
        message = f"{unit!r} is not a unit of size; use B, sectors (512 bytes), KiB, or a block such as 4KiB"
        raise TraceError("trace.bad-columns", message, "unit")
    return size


def _cells(line: str, separator: str) -> list[str]:
    cells = line.split() if separator == " " else line.split(separator)
    return [cell.strip().strip('"') for cell in cells]


def _locate(places: Mapping[str, str | int], cells: Sequence[str]) -> tuple[dict[str, int], bool]:
    """Return the position of each column, and whether the first line names one."""
    lower = [cell.lower() for cell in cells]
    positions: dict[str, int] = {}
    for name, place in places.items():
        if isinstance(place, int):
            positions[name] = place
            continue
        if place.lower() not in lower:
            message = f"no column {place!r}{suggest(place, cells)}; columns: {', '.join(cells)[:200]}"
            raise TraceError("trace.missing-column", message, "line 1")
        positions[name] = lower.index(place.lower())
    if len(set(positions.values())) < len(positions):
        raise TraceError("trace.bad-columns", "two columns have the same position", "columns")
    return positions, any(isinstance(place, str) for place in places.values())


def _is_number(cells: Sequence[str], position: int) -> bool:
    if position >= len(cells):
        return True
    return cells[position].replace(".", "", 1).isdecimal()
