"""Logs of Windows' performance counters in CSV (Perfmon, `typeperf`, `relog`): a line per physical disk.

A column's heading names the host, `PhysicalDisk(INSTANCE)` and the counter, with backslashes between them;
the first column is the time, whose heading starts with `(PDH-CSV`. A sample without values, such as the first
of a log, is left out. Some locales separate the columns with semicolons and write decimal commas.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from destage.tools.device_logs import DeviceLog, Interval, find_step, summarize_devices
from destage.tools.result_parts import Readings, ResultFile, Row, parse_time, split_lines

if TYPE_CHECKING:
    from datetime import datetime

_START = re.compile(r'^\ufeff?\s*"?\(PDH-CSV', re.MULTILINE)
_COUNTER = re.compile(
    r"^(?:\\\\(?P<host>[^\\]*))?\\PhysicalDisk\((?P<disk>.+)\)\\(?P<name>[^\\]+)$", re.IGNORECASE
)
_DISK = re.compile(r"^(?:\\\\[^\\]*)?\\(?P<object>[^\\]+)\((?:\d+(?: [A-Z]:)+|_Total)\)\\[^\\]+$")
"""A counter of a disk in any language, by the name of the disk."""
_ENGLISH = re.compile("/sec$|sec/", re.IGNORECASE)
_TOTAL = "_Total"
_TIME_FORMS = ("%m/%d/%Y %H:%M:%S.%f", "%m/%d/%Y %H:%M:%S")
_COUNTERS: Mapping[str, tuple[str, float]] = {
    "disk reads/sec": ("read_iops", 1.0),
    "disk writes/sec": ("write_iops", 1.0),
    "disk transfers/sec": ("all_iops", 1.0),
    "disk read bytes/sec": ("read_bytes_per_s", 1.0),
    "disk write bytes/sec": ("write_bytes_per_s", 1.0),
    "disk bytes/sec": ("all_bytes_per_s", 1.0),
    "avg. disk sec/read": ("read_us", 1e6),
    "avg. disk sec/write": ("write_us", 1e6),
    "avg. disk sec/transfer": ("all_us", 1e6),
    "avg. disk queue length": ("outstanding", 1.0),
    "% idle time": ("busy", 0.01),
}
"""Counters, the figures that they are, and their scale."""
_RATES = {"read_iops", "write_iops", "all_iops"}
_MOST_BUSY = 1.0
_NONE = frozenset({"", "-1"})
_Columns = Mapping[str, tuple[str, str, float]]


def recognizes(text: str) -> bool:
    """Return whether a text is a log of performance counters."""
    return _START.search(text) is not None


def read(file: ResultFile) -> Readings:
    """Read a log: a line for each disk; a heading starts another recording."""
    lines = [(line, text) for line, text in split_lines(file.text) if text.strip()]
    start = next(index for index, (_, text) in enumerate(lines) if _START.match(text))
    by_disk: dict[str, list[tuple[Interval, datetime]]] = {}
    recordings: list[list[datetime]] = []
    left_out = 0
    for line, text in lines[start:]:
        if _START.match(text):
            delimiter = ";" if '";"' in text else ","
            titles = file.split_row(text, line, delimiter)
            columns = _find_columns(titles)
            _check_columns(file, line, titles, columns)
            recordings.append([])
            continue
        if not text.lstrip().startswith('"'):
            continue  # messages of typeperf
        cells = file.split_row(text, line, delimiter)
        row = file.make_row(titles, [cell.replace(",", ".") for cell in cells], line, empty=_NONE)
        values = _read_sample(row, columns)
        if not values:
            left_out += 1
            continue
        time = parse_time(cells[0], *_TIME_FORMS)
        if time is None:
            mistake = ("measured.bad-value", "must be a time")
            raise file.mistake(*mistake, line=line, place="time", value=cells[0])
        recordings[-1].append(time)
        for disk, figures in values.items():
            by_disk.setdefault(disk, []).append((Interval(line, figures), time))
    recordings = [times for times in recordings if times]
    notes = [f"{len(recordings)} recordings in one file"] if len(recordings) > 1 else []
    if left_out:
        notes.append(f"{left_out} sample{'' if left_out == 1 else 's'} without values: left out")
    step = find_step(recordings)
    logs = []
    for disk, samples in by_disk.items():
        intervals, times = zip(*samples, strict=True)
        logs.append(DeviceLog(f"disk {disk}", intervals, times, step))
    return summarize_devices(file, logs, notes, "sample", "the log has one sample")


def _check_columns(file: ResultFile, line: int, titles: list[str], columns: _Columns) -> None:
    """Reject a log without the rate of a disk."""
    if any(field in _RATES for _, field, _ in columns.values()):
        return
    local = next((match["object"] for title in titles if (match := _DISK.match(title))), None)
    if local is not None and not any(_ENGLISH.search(title) for title in titles):
        message = (
            "counter names must be English, as in PhysicalDisk(0 C:)\\Disk Reads/sec: convert the .blg with "
            "relog on an English Windows, or rename them by the numbers of the registry's Perflib\\009"
        )
        raise file.mistake("measured.localized-counters", message, line=line, value=local)
    message = "has no PhysicalDisk counter such as Disk Reads/sec, Disk Writes/sec or Disk Transfers/sec"
    raise file.mistake("measured.no-figures", message, line=line)


def _find_columns(titles: list[str]) -> _Columns:
    """Return the disk, the figure and the scale of each column that is used."""
    matches = {title: match for title in titles if (match := _COUNTER.search(title)) is not None}
    disks = {match["disk"] for match in matches.values()}
    hosts = {match["host"] for match in matches.values()}
    columns = {}
    for title, match in matches.items():
        name = match["name"].strip().lower()
        if name in _COUNTERS and not (match["disk"] == _TOTAL and len(disks) > 1):
            host = "" if len(hosts) == 1 else f" of {match['host'] or 'this host'}"
            columns[title] = (f"{match['disk']}{host}", *_COUNTERS[name])
    return columns


def _read_sample(row: Row, columns: _Columns) -> dict[str, dict[str, float]]:
    """Return the figures of each disk; one without a rate has no values yet."""
    values: dict[str, dict[str, float]] = {}
    for title, (disk, field, scale) in columns.items():
        value = row.number(title, scale=scale)
        if value is None:
            continue
        if field == "busy":
            value = max(0.0, _MOST_BUSY - value)
        values.setdefault(disk, {})[field] = value
    return {disk: figures for disk, figures in values.items() if _RATES & figures.keys()}
