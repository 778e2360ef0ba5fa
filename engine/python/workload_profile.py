"""What a workload does, drawn from the engine: its requests over time, by size and by place.

Open streams ask the same of any array. Closed ones ask again when they are answered, so theirs are drawn
against a reference device, which takes 5 ms for an I/O on average, 64 of them at a time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from destage.engine import configuration, traces
from destage.errors import ConfigError, Issue
from destage.spec import quantities

REFERENCE = "a device of 5 ms for each I/O (exponential), 64 at a time, and 64 processor cores"
"""What closed streams are drawn against, in words."""
_CAPACITIES = ("1TB", "10TB", "100TB", "1000TB")
_READ, _WRITE, _FLUSH = 0, 1, 2
_FUA = 2
_SECTOR = 512
_EXTENT = 1 << 20
_FEW = 2_000
_DEFAULT = 20_000
_MOST = 1_000_000
_MARKER = {
    "name": "start of the recording",
    "lasts": 1,
    "arrival": {"kind": "fixed_outstanding", "depth": 1},
    "operations": {"read_fraction": 1.0, "size": {"kind": "constant", "value": _SECTOR}},
    "address": {"kind": "uniform"},
}

Array = Any
"""A NumPy array."""


@dataclass(frozen=True)
class Profile:
    """The requests that a workload issued.

    Attributes:
        seconds: How long they took [s].
        capacity: The capacity of the array that they went to [bytes].
        is_open: Whether they are the same for any array.
        is_whole: Whether the workload's whole timeline was drawn; true where it has none.
        streams: The names of the streams.
        stream: The stream of each request, by position in `streams`.
        source: The source of each request: a user, or a stream that all users share.
        time: When each was issued [s].
        op: What each is: 0 read, 1 write, 2 flush.
        offset: Where each begins [bytes]; 0 for a flush.
        size: The size of each [bytes]; 0 for a flush.
        is_forced: Whether each is a write that is forced to the media.
    """

    seconds: float
    capacity: int
    is_open: bool
    is_whole: bool
    streams: tuple[str, ...]
    stream: Array
    source: Array
    time: Array
    op: Array
    offset: Array
    size: Array
    is_forced: Array

    def of_stream(self, name: str) -> "Profile":
        """Return the requests of one stream."""
        chosen = self.stream == self.streams.index(name)
        columns = ("stream", "source", "time", "op", "offset", "size", "is_forced")
        return Profile(
            self.seconds,
            self.capacity,
            self.is_open,
            self.is_whole,
            self.streams,
            *(getattr(self, column)[chosen] for column in columns),
        )

    def count(self, op: int) -> int:
        """Return how many requests are of a kind.

        Args:
            op: 0 read, 1 write, 2 flush.
        """
        return int((self.op == op).sum())

    def read_fraction(self) -> float | None:
        """Return the share of reads among reads and writes; None where there are neither."""
        reads, writes = self.count(_READ), self.count(_WRITE)
        return reads / (reads + writes) if reads + writes else None

    def rates(self, bins: int) -> tuple[Array, Array, Array]:
        """Return the rates of reads and of writes over time, without the requests that fill queues at 0 s.

        Returns:
            The middle of each part [s], and reads and writes a second in it.
        """
        edges = np.linspace(0.0, max(self.seconds, 1e-9), bins + 1)
        width = edges[1] - edges[0]
        counts = [
            np.histogram(self.time[(self.op == op) & (self.time > 0)], edges)[0] / width
            for op in (_READ, _WRITE)
        ]
        return (edges[:-1] + edges[1:]) / 2, counts[0], counts[1]

    def sizes(self, op: int | None = None) -> dict[int, int]:
        """Return how many requests have each size.

        Args:
            op: 0 for reads, 1 for writes; None for both.
        """
        chosen = self.size[self.op != _FLUSH if op is None else self.op == op]
        values, counts = np.unique(chosen, return_counts=True)
        return {int(value): int(count) for value, count in zip(values, counts, strict=True)}

    def places(self, bins: int) -> tuple[int, int, Array]:
        """Return how requests fall on what they touch.

        Returns:
            Where the touched range begins and ends [bytes], and the requests in each part.
        """
        moved = self.op != _FLUSH
        if not moved.any():
            return 0, 0, np.zeros(bins, int)
        begin = int(self.offset[moved].min())
        end = int((self.offset[moved] + self.size[moved]).max())
        return begin, end, np.histogram(self.offset[moved], bins, (begin, end))[0]

    def touched_bytes(self) -> int:
        """Return how much was touched, in whole extents of 1 MiB [bytes]."""
        return len(np.unique(self._extents())) * _EXTENT

    def skew(self, shares: tuple[float, ...]) -> tuple[float, ...]:
        """Return what share of the requests the busiest extents of 1 MiB get."""
        _, counts = np.unique(self._extents(), return_counts=True)
        if not len(counts):
            return tuple(0.0 for _ in shares)
        total = np.concatenate([[0], np.cumsum(np.sort(counts)[::-1])]) / counts.sum()
        return tuple(float(np.interp(share * len(counts), np.arange(len(total)), total)) for share in shares)

    def sequential_fraction(self) -> float:
        """Return the share of requests that begin where the last of their kind, source or stream, ended."""
        moved = np.flatnonzero(self.op != _FLUSH)
        if not len(moved):
            return 0.0
        follows = self._follows(moved, self.source) | self._follows(moved, self.stream)
        return float(follows.sum() / len(moved))

    def _follows(self, moved: Array, owner: Array) -> Array:
        """Which requests begin where the one before of the same owner and kind ended."""
        key = owner[moved].astype(np.int64) * 2 + self.op[moved]
        order = np.argsort(key, kind="stable")
        begins, ends = self.offset[moved][order], (self.offset + self.size)[moved][order]
        follows = np.zeros(len(moved), bool)
        follows[order[1:]] = (begins[1:] == ends[:-1]) & (key[order][1:] == key[order][:-1])
        return follows

    def _extents(self) -> Array:
        return self.offset[self.op != _FLUSH] // _EXTENT


def draw_profile(
    workload: Mapping[str, Any], *, seconds: float | None = None, folder: str | Path = "."
) -> Profile:
    """Draw a workload's requests from the engine.

    Args:
        seconds: How long [s]; without it, the workload's whole timeline, or some 20,000 requests.

    Raises:
        ConfigError: The workload is wrong, or asks for nothing in that time.
        TraceError: A trace cannot be read.
    """
    scenario, capacity = _on_reference(workload)
    streams: list[dict[str, Any]] = scenario["workload"]["streams"]
    window, is_whole = _window(scenario, seconds, folder)
    records = _record(scenario, window, folder)
    time = records["t_ns"] / 1e9
    if not len(time):
        raise ConfigError(
            [Issue("scenario.no-requests", "workload", "no request is issued in the time drawn")]
        )
    source = records["process"].astype(np.int64)
    names, stream = _streams(streams, int(scenario["workload"].get("users", 1)), source)
    return Profile(
        seconds=window.get("duration", 0) / 1e9 or float(time.max()),
        capacity=capacity,
        is_open=all(
            each["arrival"]["kind"] in {"poisson", "constant", "mmpp", "b_model"} for each in streams
        ),
        is_whole=is_whole,
        streams=names,
        stream=stream,
        source=source,
        time=time,
        op=records["op"].astype(np.int64),
        offset=records["lba_512"].astype(np.int64) * _SECTOR,
        size=records["n_512"].astype(np.int64) * _SECTOR,
        is_forced=(records["flags"] & _FUA) != 0,
    )


def build_reference_scenario(workload: Mapping[str, Any], capacity: str = _CAPACITIES[0]) -> dict[str, Any]:
    """Return a configuration that runs a workload on one array of the reference device, and on many cores."""
    device = {
        "kind": "server",
        "servers": 64,
        "service": {"kind": "exponential", "mean": "5ms"},
        "capacity": capacity,
    }
    streams = workload.get("streams")
    if isinstance(streams, list):
        streams = [
            {key: value for key, value in stream.items() if key != "array"}
            if isinstance(stream, dict)
            else stream
            for stream in streams
        ]
        workload = {**workload, "streams": streams}
    array = {"raid": "0", "disks": 1, "disk": device}
    return {"workload": dict(workload), "host": {"cores": 64}, "array": array}


def _on_reference(workload: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """The canonical configuration on the smallest reference device that holds the footprints."""
    for capacity in _CAPACITIES:
        scenario = _measured(build_reference_scenario(workload, capacity), {"requests": _FEW})
        issues = configuration.validate(scenario)
        if not any("footprint" in issue.place or "placement" in issue.place for issue in issues):
            break
    # Reports the mistakes that there are.
    canonical = configuration.normalise(scenario)
    return canonical, int(quantities.parse(capacity, "bytes"))


def _record(scenario: Mapping[str, Any], window: Mapping[str, Any], folder: str | Path) -> dict[str, Array]:
    """The requests of a run, column by column, with times from its start."""
    workload = scenario["workload"]
    has_trace = any(stream["arrival"]["kind"] == "trace" for stream in workload["streams"])
    if not has_trace:
        # A recording begins with its first request: this one comes at the start of the run.
        scenario = {**scenario, "workload": {**workload, "streams": [*workload["streams"], _MARKER]}}
    table = traces.table(traces.record(_measured(scenario, window), folder=folder))
    records = {
        name: column.to_numpy() for name, column in zip(table.schema.names, table.columns, strict=True)
    }
    if has_trace:
        return records
    mark = records["process"].max()
    return {name: column[records["process"] != mark] for name, column in records.items()}


def _measured(scenario: Mapping[str, Any], window: Mapping[str, Any]) -> dict[str, Any]:
    return {**scenario, "run": {"warm_up": "none", "window": dict(window)}}


def _window(
    scenario: Mapping[str, Any], seconds: float | None, folder: str | Path
) -> tuple[dict[str, int], bool]:
    """What is drawn, and whether that is all of the timeline."""
    if seconds is not None:
        return {"duration": round(seconds * 1e9)}, True
    whole = _timeline_ns(scenario["workload"])
    if whole is None:
        return {"requests": _DEFAULT}, True
    times = _record(scenario, {"requests": _FEW}, folder)["t_ns"]
    rate = len(times) / max(float(times[-1]), 1.0)
    if rate * whole > _MOST:
        return {"requests": _MOST}, False
    return {"duration": whole}, True


def _timeline_ns(workload: Mapping[str, Any]) -> int | None:
    """How long the plan of a load goes on that changes in time [ns], and a tenth more where it has no end."""
    ends = [0]
    lasts = [phase.get("lasts") for phase in workload.get("phases") or ()]
    planned = sum(length or 0 for length in lasts)
    ends.append(planned if None not in lasts else planned * 11 // 10 + 10**9)
    for stream in workload["streams"]:
        start = stream.get("start") or {}
        begun = (start.get("after") or 0) + (start.get("spread") or 0)
        length = stream.get("lasts")
        if begun or length:
            ends.append(begun + length if length else begun * 11 // 10 + 10**9)
    return max(ends) or None


def _streams(streams: list[dict[str, Any]], users: int, source: Array) -> tuple[tuple[str, ...], Array]:
    """The streams' names, and the stream of each request by its source."""
    if any(stream["arrival"]["kind"] == "trace" for stream in streams[:-1]):
        return ("all streams",), np.zeros(len(source), int)
    first, firsts = 0, []
    for stream in streams:
        firsts.append(first)
        arrival = stream["arrival"]
        first += users if arrival["kind"] == "closed" or arrival.get("per_user") else 1
    return tuple(stream["name"] for stream in streams), np.searchsorted(firsts, source, side="right") - 1


def check(workload: Mapping[str, Any]) -> None:
    """Judge a workload by itself.

    Raises:
        ConfigError: With all its mistakes.
    """
    try:
        _on_reference(workload)
    except ConfigError as error:
        raise ConfigError(error.issues) from None
