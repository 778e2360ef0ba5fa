"""Logs of `iostat -x`, with or without `-t`: a line per device.

The columns are found by their names, which sysstat has changed: `avgqu-sz` became `aqu-sz`, `await` was split
into `r_await` and `w_await`, and the unit of the data rates is in the name (`rsec/s`, `rkB/s`, `rMB/s`).
The first report covers the time since the machine was started and is left out if others follow. With `-z`,
reports lack the devices that were idle.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from destage.measured.intervals import Interval, summarize
from destage.measured.line import MeasuredLine
from destage.measured.parts import Readings, ResultFile, parse_time, split_lines

TOOL = "iostat"
_UNITS = {"sec/s": 512.0, "kB/s": 1024.0, "MB/s": float(1 << 20)}
_TIME_FORMS = (
    *("%m/%d/%y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %I:%M:%S %p", "%m/%d/%y %I:%M:%S %p"),
    *("%d/%m/%y %H:%M:%S", "%d/%m/%Y %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%Y-%m-%d %H:%M:%S"),
    *("%Y-%m-%dT%H:%M:%S%z", "Time: %H:%M:%S", "Time: %I:%M:%S %p"),
)
_HEADER = re.compile(r"Device:?\s")
_US_PER_MS = 1000.0


def is_result(text: str) -> bool:
    """Return whether a text is a log of `iostat -x`."""
    return any(_HEADER.match(line) and "%util" in line for line in text.splitlines())


def read(file: ResultFile) -> Readings:
    """Read a log: the means of each device over its reports."""
    reports, times = _read_reports(file)
    notes = []
    if len(reports) > 1:
        reports, times = reports[1:], times[1:]
        notes.append(
            "the first report covers the time since the machine was started, unless iostat ran with -y: "
            "left out"
        )
    else:
        notes.append(
            "the only report covers the time since the machine was started, unless iostat ran with -y"
        )
    by_device = _collect(reports)
    idle = [name for name, intervals in by_device.items() if not any(each.rate for each in intervals)]
    if idle:
        notes.append(f"no requests at {', '.join(idle)}: left out")
    length = _find_length(times)
    lines = [
        MeasuredLine(
            tool=TOOL,
            workload=name,
            test=f"{len(intervals)} report{'' if len(intervals) == 1 else 's'}",
            measured_at=times[0],
            source_line=intervals[0].line,
            duration_s=None if length is None else length * len(intervals),
            **summarize(intervals),
        )
        for name, intervals in by_device.items()
        if name not in idle
    ]
    if not lines:
        raise file.mistake("measured.no-figures", "no device had a request")
    return Readings(lines, notes)


def _collect(reports: Sequence[Mapping[str, Interval]]) -> dict[str, list[Interval]]:
    """Return the intervals of each device, which was idle in a report that lacks it."""
    found: dict[str, list[Interval]] = {}
    for name in dict.fromkeys(name for report in reports for name in report):
        first = next(report[name] for report in reports if name in report)
        found[name] = [report.get(name) or first.make_idle() for report in reports]
    return found


def _read_reports(file: ResultFile) -> tuple[list[dict[str, Interval]], list[datetime | None]]:
    """Return the devices of each report, and its time."""
    reports: list[dict[str, Interval]] = []
    times: list[datetime | None] = []
    names: list[str] = []
    time: datetime | None = None
    for line, raw in split_lines(file.text):
        text = raw.strip()
        if not text:
            names = []
            continue
        if _HEADER.match(raw):
            names = text.split()[1:]
            reports.append({})
            times.append(time)
        elif names:
            device, *cells = text.split()
            if len(cells) != len(names):
                message = f"has {len(cells)} values, but {len(names)} columns; is the file complete?"
                raise file.mistake("measured.bad-syntax", message, line=line, place=device)
            row = dict(zip(names, cells, strict=True))
            reports[-1][device] = _read_interval(file, line, row)
        else:
            time = parse_time(text, *_TIME_FORMS) or time
    return reports, times


def _read_interval(file: ResultFile, line: int, row: Mapping[str, str]) -> Interval:
    def number(*names: str, scale: float = 1.0) -> float | None:
        name = next((name for name in names if name in row), None)
        # A locale may have a comma in numbers.
        return None if name is None else file.read_number(row[name].replace(",", "."), line, name) * scale

    def data_rate(prefix: str) -> float | None:
        found = (number(f"{prefix}{unit}", scale=scale) for unit, scale in _UNITS.items())
        return next((value for value in found if value is not None), None)

    return Interval(
        line=line,
        read_iops=number("r/s"),
        write_iops=number("w/s"),
        # The short form (-s) has reads and writes together.
        all_iops=None if "r/s" in row else number("tps"),
        read_bytes_per_s=data_rate("r"),
        write_bytes_per_s=data_rate("w"),
        all_bytes_per_s=None if "r/s" in row else data_rate(""),
        read_us=number("r_await", scale=_US_PER_MS),
        write_us=number("w_await", scale=_US_PER_MS),
        all_us=None if "r_await" in row else number("await", scale=_US_PER_MS),
        outstanding=number("aqu-sz", "avgqu-sz"),
        busy=number("%util", scale=0.01),
    )


def _find_length(times: Sequence[datetime | None]) -> float | None:
    """Return the time between two reports [s]; None without `-t`."""
    known: list[Any] = [time for time in times if time is not None]
    steps = sorted((after - before).total_seconds() for before, after in itertools.pairwise(known))
    return steps[len(steps) // 2] if steps and steps[0] > 0 else None
