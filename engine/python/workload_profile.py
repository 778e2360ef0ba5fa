"""Profile of a workload: the requests that the engine generates over time, by size and by address.

Open streams issue the same requests to any array. Closed ones wait for completions, so their requests are
generated on a reference device, which takes 5 ms per I/O on average and serves 64 at a time.
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
"""Description of the device for closed streams."""
_CAPACITIES = ("1TB", "10TB", "100TB", "1000TB")
_READ, _WRITE, _FLUSH = 0, 1, 2
_FUA = 2
_SECTOR = 512
_EXTENT = 1 << 20
_SAMPLE_REQUESTS = 2_000
_DEFAULT_REQUESTS = 20_000
_MAX_REQUESTS = 1_000_000
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
        seconds: Duration [s].
        capacity: The capacity of the array [bytes].
        is_open: Whether the requests are the same for any array.
        is_whole: Whether the whole timeline was generated; true for a workload without one.
        stream: The stream of each request, by position in `streams`.
        source: The source of each request: a user, or a stream that all users share.
        time: Time of issue [s].
        op: 0 read, 1 write, 2 flush.
        offset: First byte; 0 for a flush.
        size: Size [bytes]; 0 for a flush.
        is_forced: Whether it is a write that is forced to the media.
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
        return self.only(self.stream == self.streams.index(name), self.seconds)

    def only(self, chosen: Array, seconds: float) -> "Profile":
        """Return some of the requests.

        Args:
            chosen: Which requests.
            seconds: The time in which they were issued [s].
        """
        columns = ("stream", "source", "time", "op", "offset", "size", "is_forced")
        return Profile(
            seconds,
            self.capacity,
            self.is_open,
            self.is_whole,
            self.streams,
            *(getattr(self, column)[chosen] for column in columns),
        )

    def count(self, op: int) -> int:
        """Return the number of requests of a kind."""
        return int((self.op == op).sum())

    def read_fraction(self) -> float | None:
        """Return the share of reads among reads and writes; None if there are neither."""
        reads, writes = self.count(_READ), self.count(_WRITE)
        return reads / (reads + writes) if reads + writes else None

    def rates(self, bins: int) -> tuple[Array, Array, Array]:
        """Return the rates of reads and writes over time, without the requests that fill queues at 0 s.

        Returns:
            The middle of each bin [s], and reads and writes per second in it.
        """
        edges = np.linspace(0.0, max(self.seconds, 1e-9), bins + 1)
        width = edges[1] - edges[0]
        counts = [
            np.histogram(self.time[(self.op == op) & (self.time > 0)], edges)[0] / width
            for op in (_READ, _WRITE)
        ]
        return (edges[:-1] + edges[1:]) / 2, counts[0], counts[1]

    def sizes(self, op: int | None = None) -> dict[int, int]:
        """Return the number of requests by size.

        Args:
            op: 0 for reads, 1 for writes; None for both.
        """
        chosen = self.size[self.op != _FLUSH if op is None else self.op == op]
        values, counts = np.unique(chosen, return_counts=True)
        return {int(value): int(count) for value, count in zip(values, counts, strict=True)}

    def places(self, bins: int) -> tuple[int, int, Array]:
        """Return the distribution of requests over the touched range.

        Returns:
            Start and end of the touched range [bytes], and the requests in each bin.
        """
        moved = self.op != _FLUSH
        if not moved.any():
            return 0, 0, np.zeros(bins, int)
        begin = int(self.offset[moved].min())
        end = int((self.offset[moved] + self.size[moved]).max())
        return begin, end, np.histogram(self.offset[moved], bins, (begin, end))[0]

    def touched_bytes(self) -> int:
        """Return the size of all touched extents of 1 MiB [bytes]."""
        return len(np.unique(self._extents())) * _EXTENT

    def skew(self, shares: tuple[float, ...]) -> tuple[float, ...]:
        """Return the share of requests that go to these shares of extents of 1 MiB, busiest first."""
        _, counts = np.unique(self._extents(), return_counts=True)
        if not len(counts):
            return tuple(0.0 for _ in shares)
        total = np.concatenate([[0], np.cumsum(np.sort(counts)[::-1])]) / counts.sum()
        return tuple(float(np.interp(share * len(counts), np.arange(len(total)), total)) for share in shares)

    def sequential_fraction(self) -> float:
        """Return the share of requests that continue the last one of their kind and source or stream."""
        follows = self.continues()
        return float(follows.mean()) if len(follows) else 0.0

    def continues(self) -> Array:
        """Return which reads and writes continue the last one of their kind and source or stream."""
        moved = np.flatnonzero(self.op != _FLUSH)
        if not len(moved):
            return np.zeros(0, bool)
        return self._follows(moved, self.source) | self._follows(moved, self.stream)

    def _follows(self, moved: Array, owner: Array) -> Array:
        """Return which requests start at the end of the previous one of the same owner and kind."""
        key = owner[moved].astype(np.int64) * 2 + self.op[moved]
        order = np.argsort(key, kind="stable")
        starts, ends = self.offset[moved][order], (self.offset + self.size)[moved][order]
        follows = np.zeros(len(moved), bool)
        follows[order[1:]] = (starts[1:] == ends[:-1]) & (key[order][1:] == key[order][:-1])
        return follows

    def _extents(self) -> Array:
        return self.offset[self.op != _FLUSH] // _EXTENT


def generate_profile(
    workload: Mapping[str, Any], *, seconds: float | None = None, folder: str | Path = "."
) -> Profile:
    """Generate a workload's requests with the engine.

    Args:
        seconds: Duration [s]; by default the workload's whole timeline, or 20,000 requests if it has none.

    Raises:
        ConfigError: The workload is invalid, or issues no request in that time.
        TraceError: A trace cannot be read.
    """
    scenario, capacity = _place_on_reference(workload)
    streams: list[dict[str, Any]] = scenario["workload"]["streams"]
    window, is_whole = _choose_window(scenario, seconds, folder)
    records = _record(scenario, window, folder)
    time = records["t_ns"] / 1e9
    if not len(time):
        raise ConfigError([Issue("scenario.no-requests", "workload", "no request is issued in this time")])
    source = records["process"].astype(np.int64)
    names, stream = _streams(streams, int(scenario["workload"].get("users", 1)), source)
    return Profile(
        seconds=window.get("duration", 0) / 1e9 or float(time.max()),
        capacity=capacity,
        is_open=all(
            stream["arrival"]["kind"] in {"poisson", "constant", "mmpp", "b_model"} for stream in streams
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


def _place_on_reference(workload: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """Return the canonical configuration on the smallest reference device that holds the footprints."""
    for capacity in _CAPACITIES:
        scenario = _with_window(build_reference_scenario(workload, capacity), {"requests": _SAMPLE_REQUESTS})
        issues = configuration.validate(scenario)
        if not any("footprint" in issue.place or "placement" in issue.place for issue in issues):
            break
    # Raises for all remaining mistakes.
    canonical = configuration.normalise(scenario)
    return canonical, int(quantities.parse(capacity, "bytes"))


def _record(scenario: Mapping[str, Any], window: Mapping[str, Any], folder: str | Path) -> dict[str, Array]:
    """Return the requests of a run by column, with times from its start."""
    workload = scenario["workload"]
    has_trace = any(stream["arrival"]["kind"] == "trace" for stream in workload["streams"])
    if not has_trace:
        # Times in a recording count from its first request; this one is issued at the start of the run.
        scenario = {**scenario, "workload": {**workload, "streams": [*workload["streams"], _MARKER]}}
    table = traces.table(traces.record(_with_window(scenario, window), folder=folder))
    records = {
        name: column.to_numpy() for name, column in zip(table.schema.names, table.columns, strict=True)
    }
    if has_trace:
        return records
    mark = records["process"].max()
    return {name: column[records["process"] != mark] for name, column in records.items()}


def _with_window(scenario: Mapping[str, Any], window: Mapping[str, Any]) -> dict[str, Any]:
    return {**scenario, "run": {"warm_up": "none", "window": dict(window)}}


def _choose_window(
    scenario: Mapping[str, Any], seconds: float | None, folder: str | Path
) -> tuple[dict[str, int], bool]:
    """Return the window of the run, and whether it covers the whole timeline."""
    if seconds is not None:
        return {"duration": round(seconds * 1e9)}, True
    whole = _timeline_ns(scenario["workload"])
    if whole is None:
        return {"requests": _DEFAULT_REQUESTS}, True
    times = _record(scenario, {"requests": _SAMPLE_REQUESTS}, folder)["t_ns"]
    rate = len(times) / max(float(times[-1]), 1.0)
    if rate * whole > _MAX_REQUESTS:
        return {"requests": _MAX_REQUESTS}, False
    return {"duration": whole}, True


def _timeline_ns(workload: Mapping[str, Any]) -> int | None:
    """Return the duration of a load that changes over time [ns], None if it does not.

    A load that does not end is extended by 10 % and 1 s after its last change.
    """
    ends = [0]
    lasts = [phase.get("lasts") for phase in workload.get("phases") or ()]
    planned = sum(length or 0 for length in lasts)
    ends.append(planned if None not in lasts else planned * 11 // 10 + 10**9)
    for stream in workload["streams"]:
        start = stream.get("start") or {}
        started = (start.get("after") or 0) + (start.get("spread") or 0)
        length = stream.get("lasts")
        if started or length:
            ends.append(started + length if length else started * 11 // 10 + 10**9)
    return max(ends) or None


def _streams(streams: list[dict[str, Any]], users: int, source: Array) -> tuple[tuple[str, ...], Array]:
    """Return the names of the streams, and the stream of each request by its source."""
    if any(stream["arrival"]["kind"] == "trace" for stream in streams[:-1]):
        return ("all streams",), np.zeros(len(source), int)
    first, firsts = 0, []
    for stream in streams:
        firsts.append(first)
        arrival = stream["arrival"]
        first += users if arrival["kind"] == "closed" or arrival.get("per_user") else 1
    return tuple(stream["name"] for stream in streams), np.searchsorted(firsts, source, side="right") - 1


def canonical_workload(workload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a workload in base units and with all defaults, on an array that holds its footprints.

    Raises:
        ConfigError: With all its mistakes.
    """
    return dict(_place_on_reference(workload)[0]["workload"])


def check_workload(workload: Mapping[str, Any]) -> None:
    """Validate a workload without an array.

    Raises:
        ConfigError: With all its mistakes.
    """
    try:
        _place_on_reference(workload)
    except ConfigError as error:
        raise ConfigError(error.issues) from None
