"""DiskSpd's text results: a line per time span.

Each time span has its settings under `Input parameters` and a table under `Total IO`, `Read IO` and
`Write IO`; `-L` adds latencies and percentiles, `-D` the deviation of the rate. Columns are found by their
headings, which differ between versions (`MB/s` and `MiB/s` are the same figure).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from destage.measured.line import MeasuredLine
from destage.tools.diskspd.results_xml import (
    TIME_FORMS,
    TOOL,
    LoadOfTarget,
    add_load,
    collect_figures,
    read_seconds,
)
from destage.tools.result_parts import (
    Readings,
    ResultFile,
    Row,
    find_percentile,
    parse_time,
    split_lines,
)

_RUN = re.compile(r"Command Line:")
_SPAN = re.compile(r"\s*timespan:\s+(\d+)\s*$")
_RESULTS = re.compile(r"Results for timespan (\d+):")
_PERCENTILE = re.compile(r"\s*(\d+th|\d-nines|min|max)\s*\|(.+)$")
_POOL = re.compile(r"thread pool with (\d+) threads")
_SAMPLES = re.compile(r"gathering IOPS at intervals of (\d+)ms")
_DEPTH = re.compile(r"number of outstanding.*:\s*(\d+)\s*$")
_SETTINGS: Sequence[tuple[str, re.Pattern[str], float | None]] = (
    ("depth", _DEPTH, None),
    ("threads", re.compile(r"threads per file:\s*(\d+)\s*$"), None),
    ("is_limited", re.compile(r"throughput rate-limited|think time: *0*[1-9]"), True),
    ("random_fraction", re.compile("using random I/O"), 1.0),
    ("random_fraction", re.compile("using sequential I/O|using interlocked sequential"), 0.0),
)
"""Lines of a target, the fields of its load that they set, and the value if it is not in the line."""
_INTERRUPTED = "The test was interrupted"
_KINDS = {"Total IO": "total", "Read IO": "read", "Write IO": "write"}
_US_PER_MS = 1000.0
_MS_PER_S = 1000
Line = tuple[int, str]


@dataclass
class _Settings:
    """The settings of a time span.

    Attributes:
        common: Those of all targets: `pool_threads`, `depth` of such a thread, `sample_ms`.
    """

    common: dict[str, int] = field(default_factory=dict)
    targets: list[dict[str, Any]] = field(default_factory=list)


def recognizes(text: str) -> bool:
    """Return whether a text is what DiskSpd prints."""
    return "Results for timespan" in text and "Total IO" in text


def read(file: ResultFile) -> Readings:
    """Read the results of all runs in a file, each of which starts with its command line."""
    lines = split_lines(file.text)
    starts = [index for index, (_, text) in enumerate(lines) if _RUN.match(text)] or [0]
    starts[0] = 0
    measured: list[MeasuredLine] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        measured += _read_run(file, lines[start:end])
    return Readings(measured)


def _read_run(file: ResultFile, lines: Sequence[Line]) -> list[MeasuredLine]:
    starts = [index for index, (_, text) in enumerate(lines) if _RESULTS.match(text)]
    if not starts:
        message = "has no line `Results for timespan 1:`"
        raise file.mistake("measured.no-figures", message, line=lines[0][0])
    settings = _read_settings(lines[: starts[0]])
    started = next((text for _, text in lines if "start time:" in text), "")
    facts = {
        "tool": TOOL,
        "tool_version": _find_version(lines),
        "measured_at": parse_time(started.partition("start time:")[2], *TIME_FORMS),
    }
    measured = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        number = int(_RESULTS.match(lines[start][1])[1])  # type: ignore[index]
        measured.append(_read_span(file, lines[start:end], number, settings.get(number, _Settings()), facts))
    return measured


def _find_version(lines: Sequence[Line]) -> str | None:
    for _, text in lines:
        match = re.match(r"\s*(?:DISKSPD|diskspd)\s+(?:version\s+)?(\d[\w.]*)", text)
        if match:
            return match[1]
    return None


def _read_settings(lines: Sequence[Line]) -> dict[int, _Settings]:
    """Return the settings by the number of the time span."""
    by_span: dict[int, _Settings] = {}
    settings = _Settings()
    for _, raw in lines:
        text = raw.strip()
        span = _SPAN.match(raw)
        if span:
            settings = by_span.setdefault(int(span[1]), _Settings())
        elif text.startswith("path:"):
            settings.targets.append({"path": text.partition(":")[2].strip().strip("'")})
        elif settings.targets:
            _read_setting(settings.targets[-1], text)
        else:
            _read_common_setting(settings.common, text)
    return by_span


def _read_common_setting(common: dict[str, int], text: str) -> None:
    for name, form in (("depth", _DEPTH), ("pool_threads", _POOL), ("sample_ms", _SAMPLES)):
        match = form.match(text)
        if match:
            common[name] = int(match[1])


def _read_setting(target: dict[str, Any], text: str) -> None:
    for name, form, value in _SETTINGS:
        match = form.match(text)
        if match:
            target[name] = int(match[1]) if value is None else value
    if text.startswith("using mixed random/sequential"):
        share = re.search(r"(\d+)%", text)
        target["random_fraction"] = None if share is None else int(share[1]) / 100


def _read_span(
    file: ResultFile,
    lines: Sequence[Line],
    number: int,
    settings: _Settings,
    facts: dict[str, Any],
) -> MeasuredLine:
    first = lines[0][0]
    if any(text.startswith(_INTERRUPTED) for _, text in lines):
        message = "DiskSpd was interrupted before the measurement began"
        raise file.mistake("measured.no-figures", message, line=first)
    span = Row(file, first, {})
    seconds = read_seconds(_find_row(span, lines, "actual test time"), "actual test time")
    tables, percentiles = _read_tables(file, lines), _read_percentiles(file, lines)
    if "total" not in tables:
        raise span.mistake("measured.missing-value", "has no `total:` line under `Total IO`")
    kinds: dict[str, dict[str, Any]] = {}
    for name, table in tables.items():
        response = {key: table[title] * _US_PER_MS for key, title in _LATENCIES if title in table}
        kinds[name] = {
            "iops": table.get("I/O per s", table["I/Os"] / seconds),
            "bytes": table["bytes"],
            "response": (response | percentiles.get(name, {})) if table["I/Os"] else {},
            "count": round(table["I/Os"]),
        }
    figures = collect_figures(span, seconds, kinds)
    figures.measure(throughput_stddev_iops=tables["total"].get("IopsStdDev"))
    common = settings.common
    interval = common.get("sample_ms")
    figures.derive(samples=int(seconds * _MS_PER_S / interval) or None if interval else None)
    targets = [LoadOfTarget(**target) for target in settings.targets]
    add_load(figures, targets, common.get("pool_threads", 0), common.get("depth", 0))
    # The number of threads is that of the result.
    figures.measure(threads=round(_find_row(span, lines, "thread count").need("thread count")))
    return MeasuredLine(**facts, source_line=first, test=f"time span {number}", **figures.columns())


_LATENCIES = (("mean", "AvgLat"), ("stddev", "LatStdDev"))


def _find_row(span: Row, lines: Sequence[Line], name: str) -> Row:
    """Return the line of a value such as `thread count: 2`, or the span if it is missing."""
    matches = ((line, text.partition(":")[2]) for line, text in lines if text.startswith(f"{name}:"))
    line, value = next(matches, (span.line, None))
    return Row(span.file, line, {} if value is None else {name: value.strip().rstrip("s")})


def _read_tables(file: ResultFile, lines: Sequence[Line]) -> dict[str, dict[str, float]]:
    """Return the totals by the kind of operation and by the heading of the column."""
    totals: dict[str, dict[str, float]] = {}
    kind, titles = "", [""]
    for line, text in lines:
        if text.strip() in _KINDS:
            kind = _KINDS[text.strip()]
        elif text.startswith("thread |"):
            titles = [title.strip() for title in text.split("|")]
        elif text.startswith("total:") and kind:
            cells = [cell.strip() for cell in text.removeprefix("total:").split("|")]
            names = titles[1:]
            # The file of a thread has no total.
            totals[kind] = {
                name: file.read_number(cell, line, f"{kind} {name}")
                for name, cell in zip(names, cells, strict=False)
                if cell not in {"", "N/A"}
            }
            missing = [name for name in ("bytes", "I/Os") if name not in totals[kind]]
            if missing:
                raise file.mistake(
                    "measured.missing-value", "missing", line=line, place=f"{kind} {missing[0]}"
                )
            kind = ""
    return totals


def _read_percentiles(file: ResultFile, lines: Sequence[Line]) -> dict[str, dict[str, float]]:
    """Return the percentiles [us] by the kind of operation."""
    percentiles: dict[str, dict[str, float]] = {}
    for line, text in lines:
        match = _PERCENTILE.match(text)
        if match is None:
            continue
        name = match[1]
        percentile = name.removesuffix("th") if name.endswith("th") else _NINES.get(name, "0")
        end = "max" if name == "max" else find_percentile(percentile)
        if end is None:
            continue
        for kind, cell in zip(("read", "write", "total"), match[2].split("|"), strict=False):
            if cell.strip() != "N/A":
                value = file.read_number(cell.strip(), line, f"{name} of {kind}")
                percentiles.setdefault(kind, {})[end] = value * _US_PER_MS
    return percentiles


_NINES = {"3-nines": "99.9"}
