"""Logs of devices, an interval after another: a line for each device, of all its time or of its busiest.

The figures of a line are means over its intervals, and the spread of the rate.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from destage.measured.line import Figures, MeasuredLine
from destage.spec import quantities
from destage.tools.result_parts import Readings, ResultFile, find_spread, merge_operations

_NO_DATE = 1900
"""The year of a time that has no date."""


@dataclass(frozen=True, slots=True)
class Interval:
    """What a log has of one device in one interval; None for figures that it lacks.

    Attributes:
        read_iops: Reads per second; of all operations in `all_iops` where the log does not tell them apart.
        read_us: Mean response time of the reads [us].
        outstanding: Mean number of requests outstanding.
        busy: Share of the time in which the device had a request.
    """

    line: int
    read_iops: float | None = None
    write_iops: float | None = None
    all_iops: float | None = None
    read_bytes_per_s: float | None = None
    write_bytes_per_s: float | None = None
    all_bytes_per_s: float | None = None
    read_us: float | None = None
    write_us: float | None = None
    all_us: float | None = None
    outstanding: float | None = None
    busy: float | None = None

    @property
    def rate(self) -> float:
        """Reads and writes per second."""
        if self.all_iops is not None:
            return self.all_iops
        return math.fsum(filter(None, (self.read_iops, self.write_iops)))

    def make_idle(self) -> "Interval":
        """Return an interval without requests, which has the same figures except response times."""
        measured = (field.name for field in fields(self) if getattr(self, field.name) is not None)
        rates = (name for name in measured if name != "line" and not name.endswith("_us"))
        return Interval(line=self.line, **dict.fromkeys(rates, 0.0))


def _summarize(intervals: Sequence[Interval]) -> Figures:
    """Return the figures of a line: means over the intervals, response times weighted by requests."""
    kinds: dict[str, dict[str, Any]] = {}
    for name in ("read", "write"):
        mean = _weigh(intervals, f"{name}_us", f"{name}_iops")
        kinds[name] = {
            "iops": _mean(intervals, f"{name}_iops"),
            "bytes_per_s": _mean(intervals, f"{name}_bytes_per_s"),
            "response": {} if mean is None else {"mean": mean},
        }
    figures = merge_operations(
        kinds["read"],
        kinds["write"],
        iops=_mean(intervals, "all_iops"),
        bytes_per_s=_mean(intervals, "all_bytes_per_s"),
    )
    outstanding = _mean(intervals, "outstanding")
    figures.measure(
        response_mean_us=_weigh(intervals, "all_us", "rate"),
        samples=len(intervals),
        disk_time_percent=None if outstanding is None else 100 * outstanding,
        busy_fraction=_mean(intervals, "busy"),
    )
    if figures.get("throughput_iops") is not None:
        figures.derive(throughput_stddev_iops=find_spread([interval.rate for interval in intervals])[1])
    return figures


def _mean(intervals: Sequence[Interval], name: str) -> float | None:
    values = [getattr(interval, name) for interval in intervals]
    numbers = [value for value in values if value is not None]
    return math.fsum(numbers) / len(numbers) if numbers else None


def _weigh(intervals: Sequence[Interval], name: str, weight: str) -> float | None:
    """Return the mean of a response time over the requests of all intervals."""
    pairs = [(getattr(interval, name), getattr(interval, weight)) for interval in intervals]
    weighted = [(value, rate) for value, rate in pairs if value is not None and rate]
    total = math.fsum(rate for _, rate in weighted)
    return math.fsum(value * rate for value, rate in weighted) / total if total else None


@dataclass(frozen=True, slots=True)
class DeviceLog:
    """What a log has of one device.

    Attributes:
        times: The end of each interval, by the clock of the tool; None if the log has no times.
        step_s: The length of an interval [s]; None if no two of them have times.
    """

    device: str
    intervals: Sequence[Interval]
    times: Sequence[datetime | None]
    step_s: float | None


def find_step(recordings: Iterable[Sequence[datetime | None]]) -> float | None:
    """Return the time between two intervals of a log [s]: the median; None if it has no times."""
    pairs = itertools.chain.from_iterable(map(itertools.pairwise, recordings))
    steps = sorted(
        (after - before).total_seconds()
        for before, after in pairs
        if before is not None and after is not None
    )
    median = steps[len(steps) // 2] if steps else 0.0
    return median if median > 0 else None


def summarize_devices(
    file: ResultFile, tool: str, logs: Iterable[DeviceLog], notes: Sequence[str], counted: str, timeless: str
) -> Readings:
    """Return a line for each device that had a request.

    Args:
        notes: What else is to be said of the file.
        counted: What the tool calls an interval.
        timeless: Why there is no duration where there are no times.

    Raises:
        ConfigError: No device had a request, or the busiest time is asked for and there are no times.
    """
    lines, idle, told = [], [], list(notes)
    for log in logs:
        if not any(interval.rate for interval in log.intervals):
            idle.append(log.device)
            continue
        chosen = log
        if file.busiest_s is not None:
            chosen = _find_busiest(file, log, file.busiest_s, timeless)
            told.append(_describe(chosen, len(log.intervals), counted))
        lines.append(_make_line(tool, chosen, counted, timeless))
    if idle:
        told.append(f"no requests at {', '.join(idle)}: left out")
    if not lines:
        raise file.mistake("measured.no-figures", "no device had a request")
    return Readings(lines, told)


def _find_busiest(file: ResultFile, log: DeviceLog, seconds: float, timeless: str) -> DeviceLog:
    """Return the part of a log of at most this length in which the device had the most requests."""
    times = [time for time in log.times if time is not None]
    if log.step_s is None or len(times) < len(log.times):
        line = log.intervals[0].line
        raise file.mistake("measured.no-times", f"the busiest time is not known: {timeless}", line=line)
    requests = [0.0, *itertools.accumulate(interval.rate for interval in log.intervals)]
    # The first interval begins a step before its end; half a step is for a clock that is not exact.
    span = seconds - log.step_s / 2
    best, end = slice(0, 0), 0
    for start in range(len(times)):
        end = max(end, start + 1)
        while end < len(times) and 0 <= (times[end] - times[start]).total_seconds() < span:
            end += 1
        if requests[end] - requests[start] > requests[best.stop] - requests[best.start]:
            best = slice(start, end)
    return DeviceLog(log.device, log.intervals[best], log.times[best], log.step_s)


def _describe(chosen: DeviceLog, every: int, counted: str) -> str:
    """Return what part of a log the busiest time of a device is."""
    length = quantities.render(round((chosen.step_s or 0.0) * len(chosen.intervals), 3), "s")
    return f"{chosen.device}: {len(chosen.intervals)} of {every} {counted}s, the busiest {length}"


def _make_line(tool: str, log: DeviceLog, counted: str, timeless: str) -> MeasuredLine:
    count, time = len(log.intervals), log.times[0]
    figures = _summarize(log.intervals)
    if log.step_s is None:
        figures.reject(timeless, "duration_s")
    else:
        figures.derive(duration_s=round(log.step_s * count, 3))
    if time is not None and time.year == _NO_DATE:
        figures.reject("the log has times without a date", "measured_at")
        time = None
    return MeasuredLine(
        tool=tool,
        workload=log.device,
        test=f"{count} {counted}{'' if count == 1 else 's'}",
        measured_at=time,
        source_line=log.intervals[0].line,
        **figures.columns(),
    )
