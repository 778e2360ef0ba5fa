"""Service times of a disk, measured and simulated, and the demerit between them.

A measurement is in the VALIDATE form of DiskSim, one request per line with the service time that the disk
took: `R|W  tag  first_sector  sectors  service_us  gap_us`, sectors of 512 bytes, the gap from the request's
completion to the next request. One request is outstanding at a time.

The simulated times are those of `disk_service_times`: the disk model of all runs, with the recorded gaps.
These do not determine the angle of the platter (the disk's speed and the clock drift apart by turns), so the
model is replayed several times, each with all gaps longer by another fraction of a turn.

The demerit figure is the root mean square horizontal distance between the two cumulative distributions
(Ruemmler, Wilkes: An introduction to disk drive modeling, IEEE Computer 27(3), 1994):

    D = sqrt( integral over q from 0 to 1 of (F^-1(q) - G^-1(q))^2 dq )      [ms]

where F^-1 and G^-1 are the quantile functions of the two samples. Both are steps, so the integral is a finite
sum, computed exactly. A low figure over all requests needs no disk model: resampling earlier service times
gives one. So it is also computed by class, and compared with the distance between the two halves of the
measurement and with such resampling (the *toy*).
"""

import gzip
import json
import lzma
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from destage.engine import _engine
from destage.engine.configuration import as_trace_error
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
        mistake = _find_mistake(fields)
        if mistake is not None:
            column, expected = mistake
            value = repr(fields[column]) if column < len(fields) else "nothing"
            name = _COLUMNS[column] if column < len(_COLUMNS) else "nothing"
            place = f"{path}:{number}, column {column + 1} ({name})"
            raise TraceError("trace.bad-record", f"{value}: {expected}", place)
        yield fields[0] == "W", int(fields[2]), int(fields[3]), float(fields[4]), float(fields[5])


def _find_mistake(fields: list[str]) -> tuple[int, str] | None:
    """Return the first column of a record that is wrong, and what is expected there."""
    if len(fields) != len(_COLUMNS):
        return min(len(fields), len(_COLUMNS)), f"expected columns: {', '.join(_COLUMNS)}"
    lba, sectors = (int(text) if text.isascii() and text.isdigit() else -1 for text in fields[2:4])
    time = "expected a time in microseconds, at least 0"
    checks = (
        (fields[0] in {"R", "W"}, 0, "expected R or W"),
        (0 <= lba < 2**63, 2, "expected a whole number of sectors below 2^63"),
        (1 <= sectors <= _MOST_SECTORS, 3, f"expected 1 to {_MOST_SECTORS} sectors"),
        *((_is_time(fields[column]), column, time) for column in (4, 5)),
    )
    return next(((column, expected) for is_right, column, expected in checks if not is_right), None)


def _is_time(text: str) -> bool:
    try:
        return 0 <= float(text) <= _MOST_MICROSECONDS
    except ValueError:
        return False


_SEED = 1


def simulate_service_ms(
    trace: MeasuredTrace, disk: Mapping[str, Any], phases: int
) -> npt.NDArray[np.float64]:
    """Simulate the service time of each request [ms], one row for each of `phases` replays.

    Raises:
        TraceError: A request lies beyond the disk.
    """
    turn_ns = 60e9 / float(disk["rpm"])
    text = json.dumps({key: value for key, value in disk.items() if key != "kind"})
    columns = trace.lba.astype("<u8").tobytes(), trace.sectors.astype("<u8").tobytes()
    writes = trace.is_write.astype("u1").tobytes()
    rows = []
    for phase in range(phases):
        gaps = (trace.gap_ns + np.uint64(round(phase * turn_ns / phases))).astype("<u8").tobytes()
        try:
            raw = _engine.disk_service_times(text, _SEED, *columns, writes, gaps)
        except _engine.EngineTraceError as error:
            raise as_trace_error(error) from None
        rows.append(np.frombuffer(raw, dtype="<u8") / 1e6)
    return np.stack(rows)


Times = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

ALL, WRITES, SEQUENTIAL = "all requests", "writes", "sequential reads"
_QUARTILES = 4
_CLASS_LIMIT_MS = 0.30
_DRAWS = 20
_RESAMPLES = 200
_INTERVAL = (2.5, 97.5)


@dataclass(frozen=True)
class ClassScore:
    """The score of one class of requests on the second half of a trace.

    Attributes:
        requests: Its requests in the second half.
        measured_ms: Their mean measured service time [ms].
        modelled_ms: Their mean modelled service time [ms].
        demerit_ms: Distance of the model from the measurement [ms].
        interval_ms: Bootstrap interval of it (95 %, percentiles) [ms].
        train_ms: The same distance on the first half [ms].
        limit_ms: Maximum of `demerit_ms` [ms].
        halves_ms: Distance of the first half of the measurement from the second [ms].
        toy_ms: Mean distance of draws from the first half's service times of this class [ms].
        correlation: Of measured and modelled service times, by request; None if one is constant.
    """

    name: str
    requests: int
    measured_ms: float
    modelled_ms: float
    demerit_ms: float
    interval_ms: tuple[float, float]
    train_ms: float
    limit_ms: float
    halves_ms: float
    toy_ms: float
    correlation: float | None

    @property
    def is_met(self) -> bool:
        """Whether the distance is within its limit."""
        return self.demerit_ms <= self.limit_ms


def demerit(one: Times, other: Times) -> float:
    """Return the root mean square horizontal distance of two distributions, in the unit of the times."""
    one, other = np.sort(one), np.sort(other)
    # All steps of the two quantile functions.
    steps = np.union1d(np.arange(1, len(one)) * len(other), np.arange(1, len(other)) * len(one))
    total = len(one) * len(other)
    edges = np.concatenate([[0], steps, [total]])
    widths = np.diff(edges)
    distance = one[edges[:-1] // len(other)] - other[edges[:-1] // len(one)]
    return float(np.sqrt(np.sum(widths * distance**2) / total))


def classify_requests(trace: MeasuredTrace) -> dict[str, Mask]:
    """Return the requests of each class: all, writes, sequential reads, other reads by quartile of distance.

    A sequential read begins where the previous request ended; the distance of other reads is from there (for
    the first request from sector 0). The quartiles are those of the whole trace.
    """
    first = trace.lba.astype(np.int64)
    before = np.concatenate([[-1], (first + trace.sectors.astype(np.int64))[:-1]])
    is_sequential = ~trace.is_write & (first == before)
    is_other = ~trace.is_write & ~is_sequential
    classes = {
        ALL: np.ones(len(trace), dtype=np.bool_),
        WRITES: trace.is_write,
        SEQUENTIAL: is_sequential,
    }
    if is_other.any():
        distance = np.abs(first - before)
        edges = np.quantile(distance[is_other], np.arange(1, _QUARTILES) / _QUARTILES)
        quartile = np.digitize(distance, edges)
        for index in range(_QUARTILES):
            classes[f"other reads, quartile {index + 1}"] = is_other & (quartile == index)
    return classes


def score_classes(
    trace: MeasuredTrace, modelled: npt.NDArray[np.float64], overall_limit_ms: float
) -> list[ClassScore]:
    """Score each class that has requests in both halves of the trace.

    Args:
        modelled: Service times of the model [ms]: one row for each replay, one column for each request.
    """
    is_first = np.arange(len(trace)) < len(trace) // 2
    scores = []
    for index, (name, mask) in enumerate(classify_requests(trace).items()):
        train, test = mask & is_first, mask & ~is_first
        if not train.any() or not test.any():
            continue
        draws = np.random.default_rng((len(trace), index))
        seen, measured, model = trace.service_ms[train], trace.service_ms[test], modelled[:, test]
        halves = demerit(seen, measured)
        means = model.mean(axis=0)
        is_varying = measured.std() > 0 and means.std() > 0
        interval = _interval(measured, model, draws)
        toys = [demerit(draws.choice(seen, len(measured)), measured) for _ in range(_DRAWS)]
        scores.append(
            ClassScore(
                name,
                len(measured),
                float(measured.mean()),
                float(model.mean()),
                demerit(measured, model.ravel()),
                interval,
                demerit(seen, modelled[:, train].ravel()),
                overall_limit_ms if name == ALL else max(_CLASS_LIMIT_MS, 2 * halves),
                halves,
                float(np.mean(toys)),
                float(np.corrcoef(measured, means)[0, 1]) if is_varying else None,
            )
        )
    return scores


def compute_loss(trace: MeasuredTrace, modelled: npt.NDArray[np.float64]) -> float:
    """Return the loss of a fit [ms^2]: the squared demerit over all requests plus the mean of the classes'.

    Args:
        modelled: Service times of the model [ms], one row for each replay.
    """
    squares = {
        name: demerit(trace.service_ms[mask], modelled[:, mask].ravel()) ** 2
        for name, mask in classify_requests(trace).items()
        if mask.any()
    }
    overall = squares.pop(ALL)
    return overall + sum(squares.values()) / max(1, len(squares))


def _interval(
    measured: Times, model: npt.NDArray[np.float64], draws: np.random.Generator
) -> tuple[float, float]:
    chosen = (draws.integers(0, len(measured), len(measured)) for _ in range(_RESAMPLES))
    distances = [demerit(measured[places], model[:, places].ravel()) for places in chosen]
    low, high = np.percentile(distances, _INTERVAL)
    return float(low), float(high)
