"""Figures of one device over the intervals of a log: means over time, and the spread of the rate."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from destage.measured.line import Figures
from destage.tools.result_parts import find_spread, merge_operations


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
        known = (each.name for each in fields(self) if getattr(self, each.name) is not None)
        rates = (name for name in known if name != "line" and not name.endswith("_us"))
        return Interval(line=self.line, **dict.fromkeys(rates, 0.0))


def summarize(intervals: Sequence[Interval]) -> Figures:
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
        figures.derive(throughput_stddev_iops=find_spread([each.rate for each in intervals])[1])
    return figures


def _mean(intervals: Sequence[Interval], name: str) -> float | None:
    values = [getattr(each, name) for each in intervals]
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _weigh(intervals: Sequence[Interval], name: str, weight: str) -> float | None:
    """Return the mean of a response time over the requests of all intervals."""
    pairs = [(getattr(each, name), getattr(each, weight)) for each in intervals]
    known = [(value, rate) for value, rate in pairs if value is not None and rate]
    total = math.fsum(rate for _, rate in known)
    return math.fsum(value * rate for value, rate in known) / total if total else None
