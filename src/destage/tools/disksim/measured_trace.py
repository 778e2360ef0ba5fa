"""Recorded requests with the service time that a real disk took for each: the VALIDATE form of DiskSim.

One request per line: `R|W  tag  first_sector  sectors  service_us  gap_us`, sectors of 512 bytes, the gap
from the request's completion to the next request. One request is outstanding at a time.
"""

import gzip
import lzma
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from destage.engine.traces import access_places
from destage.errors import TraceError
from destage.objects import Location

_COLUMNS = ("R or W", "a tag", "first sector", "sectors", "service time in us", "gap in us")
_OPENERS: dict[str, Callable[[bytes], bytes]] = {".xz": lzma.decompress, ".gz": gzip.decompress}
_MOST_SECTORS = 2**32 - 1
_MOST_MICROSECONDS = 1e12


@dataclass(frozen=True)
class MeasuredTrace:
    """Requests in order, with measured service times.

    Attributes:
        lba: First sector of each [512 bytes].
        sectors: Number of sectors of each.
        service_ms: Measured service time of each [ms].
        gap_ns: From each one's completion to the next request [ns].
    """

    is_write: npt.NDArray[np.bool_]
    lba: npt.NDArray[np.uint64]
    sectors: npt.NDArray[np.uint64]
    service_ms: npt.NDArray[np.float64]
    gap_ns: npt.NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.lba)

    def first_half(self) -> "MeasuredTrace":
        """Return the first half of the requests."""
        half = len(self) // 2
        return MeasuredTrace(*(getattr(self, field.name)[:half] for field in fields(self)))


def load(path: str | Location) -> MeasuredTrace:
    """Read a trace of measured service times.

    Args:
        path: The file or the object's address, plain or compressed (`.xz`, `.gz`).
    """
    path = access_places.locate_trace(path)
    try:
        with access_places.open_local(path) as file:
            raw = file.read_bytes()
    except OSError as error:
        raise TraceError("trace.unreadable", f"cannot be read: {error.strerror}", str(path)) from None
    try:
        text = _OPENERS.get(path.suffix, bytes)(raw).decode()
    except (lzma.LZMAError, EOFError, OSError) as error:
        raise TraceError("trace.unreadable", f"cannot be decompressed: {error}", str(path)) from None
    except UnicodeDecodeError as error:
        raise TraceError("trace.bad-record", f"byte {error.start}: invalid UTF-8", str(path)) from None
    records = list(_records(path, text))
    if not records:
        raise TraceError("trace.empty", "no requests", str(path))
    writes, lba, sectors, service, gap = zip(*records, strict=True)
    return MeasuredTrace(
        np.array(writes, dtype=np.bool_),
        np.array(lba, dtype=np.uint64),
        np.array(sectors, dtype=np.uint64),
        np.array(service) / 1e3,
        np.rint(np.array(gap) * 1e3).astype(np.uint64),
    )


def _records(path: Location, text: str) -> Iterator[tuple[bool, int, int, float, float]]:
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue

        def error_at(
            column: int, expected: str, *, number: int = number, fields: list[str] = fields
        ) -> TraceError:
            value = repr(fields[column]) if column < len(fields) else "nothing"
            name = _COLUMNS[column] if column < len(_COLUMNS) else "nothing"
            place = f"{path}:{number}, column {column + 1} ({name})"
            return TraceError("trace.bad-record", f"{value}: {expected}", place)

        if len(fields) != len(_COLUMNS):
            raise error_at(min(len(fields), len(_COLUMNS)), f"expected columns: {', '.join(_COLUMNS)}")
        if fields[0] not in {"R", "W"}:
            raise error_at(0, "expected R or W")
        lba, sectors = (_integer(fields[column]) for column in (2, 3))
        if lba is None or lba >= 2**63:
            raise error_at(2, "expected a whole number of sectors below 2^63")
        if sectors is None or not 1 <= sectors <= _MOST_SECTORS:
            raise error_at(3, f"expected 1 to {_MOST_SECTORS} sectors")
        service, gap = (_microseconds(fields[column]) for column in (4, 5))
        if service is None:
            raise error_at(4, "expected a time in microseconds, at least 0")
        if gap is None:
            raise error_at(5, "expected a time in microseconds, at least 0")
        yield fields[0] == "W", lba, sectors, service, gap


def _integer(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() else None


def _microseconds(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= _MOST_MICROSECONDS else None
