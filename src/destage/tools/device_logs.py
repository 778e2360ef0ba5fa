"""Logs of devices, an interval after another: a line for each device, of all its time or of its busiest.

The figures of a line are means over its intervals, and the spread of the rate.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from destage.measured.line import Figures, MeasuredLine
from destage.spec import quantities
from destage.tools.result_parts import Readings, ResultFile, find_deviation, merge_operations

_NO_DATE = 1900
"""The year of a time that has no date."""


@dataclass(frozen=True, slots=True)
class Interval:
    """What a log has of one device in one interval.

    Attributes:
        figures: `KIND_iops` [1/s], `KIND_bytes_per_s` and the mean response time `KIND_us`, of which the kind
            is `read`, `write`, or `all` where the log does not tell them apart; the mean number of requests
            `outstanding`, and the share of the time in which the device was `busy`. None if the log lacks it.
    """

    line: int
    figures: Mapping[str, float | None]

    @property
    def rate(self) -> float:
        """Reads and writes per second."""
        read, write, every = (self.figures.get(f"{kind}_iops") for kind in ("read", "write", "all"))
        return (read or 0.0) + (write or 0.0) if every is None else every

    def make_idle(self) -> "Interval":
        """Return an interval without requests, which has the same figures except response times."""
        known = (name for name, value in self.figures.items() if value is not None)
        return Interval(self.line, {name: 0.0 for name in known if not name.endswith("_us")})


def _summarize(intervals: Sequence[Interval]) -> Figures:
    """Return the figures of a line: means over the intervals, response times weighted by requests."""
    kinds: dict[str, dict[str, Any]] = {}
    for name in ("read", "write"):
        mean = _weigh(
            intervals, f"{name}_us", [interval.figures.get(f"{name}_iops") for interval in intervals]
        )
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
    outstanding, rates = _mean(intervals, "outstanding"), [interval.rate for interval in intervals]
    figures.measure(
        response_mean_us=_weigh(intervals, "all_us", rates),
        samples=len(intervals),
        disk_time_percent=None if outstanding is None else 100 * outstanding,
        busy_fraction=_mean(intervals, "busy"),
    )
    if figures.get("throughput_iops") is not None:
        figures.derive(throughput_stddev_iops=find_deviation(rates))
    return figures


def _mean(intervals: Sequence[Interval], name: str) -> float | None:
    values = [interval.figures.get(name) for interval in intervals]
    numbers = [value for value in values if value is not None]
    return math.fsum(numbers) / len(numbers) if numbers else None


def _weigh(intervals: Sequence[Interval], name: str, rates: Sequence[float | None]) -> float | None:
    """Return the mean of a response time over the requests of all intervals."""
    pairs = zip((interval.figures.get(name) for interval in intervals), rates, strict=True)
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
    file: ResultFile, logs: Iterable[DeviceLog], notes: Sequence[str], counted: str, timeless: str
) -> Readings:
    """Return a line for each device that had a request, of those that are asked for.

    Args:
        notes: What else is to be said of the file.
        counted: What the tool calls an interval.
        timeless: Why there is no duration where there are no times.

    Raises:
        ConfigError: No device had a request, one that is asked for is not in the log, or the busiest time is
            asked for and there are no times.
    """
    lines, idle, told = [], [], list(notes)
    listed = list(logs)
    names = [log.device for log in listed]
    for device in file.devices:
        if device not in names:
            message = f"no device {device}; the log has {', '.join(names)}"
            raise file.mistake("measured.unknown-device", message, place="--device")
    for log in (log for log in listed if not file.devices or log.device in file.devices):
        if not any(interval.rate for interval in log.intervals):
            idle.append(log.device)
            continue
        chosen = log
        if file.busiest_s is not None:
            chosen = _find_busiest(file, log, file.busiest_s, timeless)
            part, whole = len(chosen.intervals), len(log.intervals)
            length = quantities.render(round((log.step_s or 0.0) * part, 3), "s")
            told.append(f"{log.device}: {part} of {whole} {counted}s, the busiest {length}")
        lines.append(_make_line(chosen, counted, timeless))
    if idle:
        told.append(f"no requests at {', '.join(idle)}: left out")
    if not lines:
        raise file.mistake("measured.no-figures", "no device had a request")
    return Readings(lines, told, [str(line.workload) for line in lines])


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


def _make_line(log: DeviceLog, counted: str, timeless: str) -> MeasuredLine:
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
        workload=log.device,
        test=f"{count} {counted}{'' if count == 1 else 's'}",
        measured_at=time,
        source_line=log.intervals[0].line,
        **figures.columns(),
    )
