"""The readers of all tools, of which the content of a file chooses one, and what no measurement can have.

Rates, times and dates beyond every system are rejected, and parts above their whole.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from destage.measured.line import MeasuredLine
from destage.tools import registry
from destage.tools.result_parts import Readings, ResultFile

_OTHER_OUTPUTS = (
    (
        re.compile(r"^  *(?:read|write) *: IOPS=|^  *(?:read|write) *: io=", re.MULTILINE),
        "is fio's text output; run fio again with --output-format=json+",
    ),
    (
        re.compile(r"^Device:? +tps\b.*\bBlk_|^Device:? +tps +kB_read/s|^\s*\{\s*\"sysstat\"", re.MULTILINE),
        "is iostat's basic report; run iostat again with -x",
    ),
)
"""Outputs of known tools that are not read, and what to do."""
_LIMITS = (
    ("_fraction", 1.0),
    ("_bytes_per_s", 1e14),
    ("_iops", 1e10),
    ("_us", 1e13),
    ("_s", 1e9),
    ("request_bytes", 2.0**40),
    ("outstanding", 1e9),
    ("disk_time_percent", 1e11),
    ("depth", 1e9),
    ("threads", 1e7),
)
"""Ends of columns, the longest that fits first, and the largest plausible value [the column's unit]."""
_TOLERANCE = 0.05
"""What a share may exceed 1 by, as a busy time does that is over a slightly shorter interval."""
_WHOLES = (
    *(
        (f"{kind}_{rate}", f"throughput_{rate}")
        for rate in ("iops", "bytes_per_s")
        for kind in ("read", "write")
    ),
    *((f"{kind}response_mean_us", f"{kind}response_max_us") for kind in ("", "read_", "write_")),
)
"""Columns that are at most another one of their line."""
_MOST_COUNT = 2**62
_FIRST_YEAR, _LAST_YEAR = 1970, 2100


def read_results(
    name: str, data: bytes, busiest_s: float | None = None, devices: Sequence[str] = ()
) -> Readings:
    """Read a file of results.

    Args:
        name: Its name, which lines and mistakes carry.
        busiest_s: Of a log, read only this time of each device, that with the most requests [s].
        devices: Of a log, read only these devices; empty for all.

    Raises:
        ConfigError: It is of no known tool, incomplete or wrong; with the line of the mistake.
    """
    file = ResultFile(name, decode(data), busiest_s, devices)
    detected = registry.detect(file.text, "results")
    if detected is not None:
        tool, reader = detected
        if busiest_s is not None and not tool.is_log:
            message = f"is of {tool.title}; only the logs of a running system have a busiest time"
            raise file.mistake("measured.no-times", message)
        if devices and not tool.is_log:
            message = f"is of {tool.title}; only the logs of a running system have devices"
            raise file.mistake("measured.unknown-device", message, place="--device")
        readings: Readings = reader.read(file)
        for line in readings.lines:
            _check_plausible(file, line)
        lines = [replace(line, tool=line.tool or tool.name, source_file=name) for line in readings.lines]
        return replace(readings, lines=lines)
    if not file.text.strip():
        raise file.mistake("measured.no-figures", "the file is empty")
    for form, message in _OTHER_OUTPUTS:
        match = form.search(file.text)
        if match:
            raise file.mistake("measured.unknown-format", message, line=file.line_of(match.start()))
    forms = ", ".join(registry.list_result_forms())
    raise file.mistake("measured.unknown-format", f"is none of these: {forms}")


def _check_plausible(file: ResultFile, line: MeasuredLine) -> None:
    """Reject figures that no measurement can have; what the file states is named before what follows."""
    columns = asdict(line)
    names = sorted(columns, key=lambda column: column in line.derived_figures)
    mistakes = [(column, _explain_implausible(column, columns[column])) for column in names]
    for part, whole in _WHOLES:
        value, most = columns[part], columns[whole]
        if value is not None and most is not None and value > most * (1 + _TOLERANCE):
            mistakes.append((part, f"is more than {whole}, {most:.4g}"))
    for column, message in mistakes:
        if message:
            value, place = columns[column], line.source_line or 1
            shown = str(value) if isinstance(value, datetime) else value
            raise file.mistake("measured.implausible", message, line=place, place=column, value=shown)


def _explain_implausible(column: str, value: Any) -> str:
    """Return what a value would have to be; empty if it is plausible."""
    if isinstance(value, datetime) and not _FIRST_YEAR <= value.year < _LAST_YEAR:
        return f"must be between {_FIRST_YEAR} and {_LAST_YEAR}; was the clock set?"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    most = next((most for end, most in _LIMITS if column.endswith(end)), float(_MOST_COUNT))
    if column.endswith("_fraction"):
        most += _TOLERANCE
    return f"is too large for {column}: at most {most:.4g}" if value > most else ""


def decode(data: bytes) -> str:
    """Return the text of a file: UTF-8, UTF-16 with its mark (as `>` of PowerShell writes it), or Latin-1."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
