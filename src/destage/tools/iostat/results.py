"""Logs of `iostat -x`, as text or JSON, with or without `-t`: a line per device.

The columns are found by their names, which sysstat has changed: `avgqu-sz` became `aqu-sz`, `await` was split
into `r_await` and `w_await`, and the unit of the data rates is in the name (`rsec/s`, `rkB/s`, `rMB/s`).
The first report of each iostat covers the time since the machine was started and is left out if others
follow. With `-z`, reports lack the devices that were idle.
"""

import itertools
import re
from collections.abc import Sequence
from datetime import datetime

from destage.tools.device_logs import DeviceLog, Interval, find_step, summarize_devices
from destage.tools.result_parts import US_PER_MS, Readings, ResultFile, Row, parse_time, split_lines

_UNITS = {"sec/s": 512.0, "kB/s": 1024.0, "MB/s": float(1 << 20)}
_TIME_FORMS = (
    *("%m/%d/%y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %I:%M:%S %p", "%m/%d/%y %I:%M:%S %p"),
    *("%d/%m/%y %H:%M:%S", "%d/%m/%Y %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%Y-%m-%d %H:%M:%S"),
    *("%Y-%m-%dT%H:%M:%S%z", "Time: %H:%M:%S", "Time: %I:%M:%S %p"),
)
_JSON = re.compile(r'\s*\{\s*"sysstat"')
_DEVICE = '"disk_device"'
_HEADER = re.compile(r"Device:?\s")
_BANNER = re.compile(r"\S+ .*\((?P<host>[^()]+)\).*\(\d+ CPU\)$")


def recognizes(text: str) -> bool:
    """Return whether a text is a log of `iostat -x`."""
    if _JSON.match(text):
        return '"util"' in text
    return "%util" in text and any(_HEADER.match(line) and "%util" in line for line in text.splitlines())


_Report = tuple[datetime | None, dict[str, Interval]]
"""What iostat prints at one time: the interval of each device."""
_Recording = tuple[str, list[_Report]]
"""The reports that one iostat prints, after the name of the host."""


def read(file: ResultFile) -> Readings:
    """Read a log: a line for each device."""
    read_all = _read_json if _JSON.match(file.text) else _read_text
    recordings, notes = _leave_out_boot([(host, reports) for host, reports in read_all(file) if reports])
    hosts = sorted({host for host, _ in recordings})
    logs = []
    for host in hosts:
        own = [reports for name, reports in recordings if name == host]
        step = find_step([time for time, _ in reports] for reports in own)
        times, printed = zip(*itertools.chain.from_iterable(own), strict=True)
        for device in dict.fromkeys(name for devices in printed for name in devices):
            # A device that a report lacks was idle.
            first = next(devices[device] for devices in printed if device in devices)
            intervals = [devices.get(device) or first.make_idle() for devices in printed]
            name = device if len(hosts) == 1 else f"{device} of {host}"
            logs.append(DeviceLog(name, intervals, times, step))
    return summarize_devices(file, logs, notes, "report", "a log has times only with -t")


def _leave_out_boot(recordings: Sequence[_Recording]) -> tuple[list[_Recording], list[str]]:
    """Leave out the first report of each iostat, and say so."""
    first = "covers the time since the machine was started, unless iostat ran with -y"
    kept = [(host, reports[1:]) for host, reports in recordings if len(reports) > 1]
    if not kept:
        # The last one covers the longest time.
        others = f": {len(recordings) - 1} before it left out" if len(recordings) > 1 else ""
        return list(recordings[-1:]), [f"the only report {first}{others}"]
    if len(recordings) == 1:
        return kept, [f"the first report {first}: left out"]
    return kept, [f"{len(recordings)} recordings in one file; the first report of each {first}: left out"]


def _read_json(file: ResultFile) -> list[_Recording]:
    """Return what each iostat printed with `-o JSON`."""
    lines = (number for number, text in split_lines(file.text) for _ in range(text.count(_DEVICE)))
    recordings: list[_Recording] = []
    for _, start, content in file.decode_objects():
        try:
            for host in content["sysstat"]["hosts"]:
                reports: list[_Report] = []
                recordings.append((str(host["nodename"]), reports))
                for stated in host["statistics"]:
                    devices: dict[str, Interval] = {}
                    reports.append((parse_time(str(stated.get("timestamp", "")), *_TIME_FORMS), devices))
                    for disk in stated.get("disk", ()):
                        name = str(disk["disk_device"])
                        devices[name] = _read_interval(Row(file, next(lines, start), disk, f"{name}."))
        except (KeyError, TypeError, AttributeError) as error:
            message = "must have sysstat.hosts, with the statistics of disks"
            raise file.mistake("measured.bad-syntax", message, line=start) from error
    return recordings


def _read_text(file: ResultFile) -> list[_Recording]:
    """Return what each iostat printed, of which a log may have several, as when cron appends to it."""
    devices: dict[str, Interval] = {}
    reports: list[_Report] = []
    recordings, names = [("", reports)], list[str]()
    time: datetime | None = None
    for line, raw in split_lines(file.text):
        text = raw.strip()
        banner = _BANNER.match(text)
        if not text:
            names = []
        elif banner:
            names, time, reports = [], None, []
            recordings.append((banner["host"], reports))
        elif _HEADER.match(raw):
            names, devices = text.split()[1:], {}
            reports.append((time, devices))
        elif names:
            device, *cells = text.split()
            # A locale may have a comma in numbers.
            row = file.make_row(names, [cell.replace(",", ".") for cell in cells], line, place=device)
            devices[device] = _read_interval(row)
        else:
            time = parse_time(text, *_TIME_FORMS) or time
    return recordings


def _read_interval(row: Row) -> Interval:
    def data_rate(prefix: str) -> float | None:
        rates = (row.number(f"{prefix}{unit}", scale=scale) for unit, scale in _UNITS.items())
        return next((value for value in rates if value is not None), None)

    figures = {
        "read_iops": row.number("r/s"),
        "write_iops": row.number("w/s"),
        # The short form (-s) has reads and writes together.
        "all_iops": None if row.has("r/s") else row.number("tps"),
        "read_bytes_per_s": data_rate("r"),
        "write_bytes_per_s": data_rate("w"),
        "all_bytes_per_s": None if row.has("r/s") else data_rate(""),
        "read_us": row.number("r_await", scale=US_PER_MS),
        "write_us": row.number("w_await", scale=US_PER_MS),
        "all_us": None if row.has("r_await") else row.number("await", scale=US_PER_MS),
        "outstanding": row.number("aqu-sz", "avgqu-sz"),
        "busy": row.number("%util", "util", scale=0.01),
    }
    return Interval(row.line, figures)
