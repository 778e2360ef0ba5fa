"""DiskSpd's text results: a line per time span.

Each time span has its settings under `Input parameters` and a table under `Total IO`, `Read IO` and
`Write IO`; `-L` adds latencies and percentiles, `-D` the deviation of the rate. Columns are found by their
headings, which differ between versions (`MB/s` and `MiB/s` are the same figure).
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from destage.measured.line import MeasuredLine
from destage.tools.diskspd.results_xml import TIME_FORMS, add_load, collect_figures, read_seconds
from destage.tools.result_parts import Readings, ResultFile, Row, find_percentile, parse_time, split_lines

_US_PER_MS = 1000.0
_RUN = re.compile(r"Command Line:")
_SPAN = re.compile(r"\s*timespan:\s+(\d+)\s*$")
_RESULTS = re.compile(r"Results for timespan (\d+):")
_VERSION = re.compile(r"\s*(?:DISKSPD|diskspd)\s+(?:version\s+)?(\d[\w.]*)")
_PERCENTILE = re.compile(r"\s*(\d+th|3-nines|max)\s*\|(.+)$")
_ENDS = {"3-nines": "p999", "max": "max"}
_Forms = Sequence[tuple[str, re.Pattern[str], Callable[[str], float]]]
_DEPTH = re.compile(r"number of outstanding.*:\s*(\d+)\s*$")
_OF_SPAN: _Forms = (
    ("depth", _DEPTH, int),
    ("pool_threads", re.compile(r"thread pool with (\d+) threads"), int),
    ("sample_ms", re.compile(r"gathering IOPS at intervals of (\d+)ms"), int),
)
_OF_TARGET: _Forms = (
    ("depth", _DEPTH, int),
    ("threads", re.compile(r"threads per file:\s*(\d+)\s*$"), int),
    ("is_limited", re.compile(r"(throughput rate-limited|think time: *0*[1-9])"), bool),
    ("random_fraction", re.compile("(using random I/O)"), lambda _: 1.0),
    ("random_fraction", re.compile("(using sequential I/O|using interlocked sequential)"), lambda _: 0.0),
    ("random_fraction", re.compile(r"using mixed random/sequential.*?(\d+)%"), lambda text: int(text) / 100),
)
"""Lines of a time span or a target, what they set, and the value of their group."""
_INTERRUPTED = "The test was interrupted"
_KINDS = {"Total IO": "total", "Read IO": "read", "Write IO": "write"}
_MS_PER_S = 1000
Line = tuple[int, str]


def recognizes(text: str) -> bool:
    """Return whether a text is what DiskSpd prints."""
    return "Results for timespan" in text and "Total IO" in text


def read(file: ResultFile) -> Readings:
    """Read the results of all runs in a file, each of which starts with its command line."""
    lines = split_lines(file.text)
    starts = [index for index, (_, text) in enumerate(lines) if _RUN.match(text)] or [0]
    starts[0] = 0
    measured: list[MeasuredLine] = []
    for start, end in pairwise([*starts, len(lines)]):
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
        "tool_version": next((match[1] for _, text in lines if (match := _VERSION.match(text))), None),
        "measured_at": parse_time(started.partition("start time:")[2], *TIME_FORMS),
    }
    measured = []
    for start, end in pairwise([*starts, len(lines)]):
        number = int(_RESULTS.match(lines[start][1])[1])  # type: ignore[index]
        facts["test"] = f"time span {number}"
        measured.append(_read_span(file, lines[start:end], settings.get(number, [{}]), facts))
    return measured


def _read_settings(lines: Sequence[Line]) -> dict[int, list[dict[str, Any]]]:
    """Return the settings by the number of the time span: those of all targets, then those of each."""
    settings: list[dict[str, Any]] = [{}]
    by_span: dict[int, list[dict[str, Any]]] = {}
    for _, raw in lines:
        text = raw.strip()
        if span := _SPAN.match(raw):
            settings = by_span.setdefault(int(span[1]), [{}])
        elif text.startswith("path:"):
            settings.append({"path": text.partition(":")[2].strip().strip("'")})
        else:
            for name, form, read_value in _OF_TARGET if len(settings) > 1 else _OF_SPAN:
                if match := form.match(text):
                    settings[-1][name] = read_value(match[1])
    return by_span


def _read_span(
    file: ResultFile, lines: Sequence[Line], settings: Sequence[dict[str, Any]], facts: dict[str, Any]
) -> MeasuredLine:
    first, (common, *targets) = lines[0][0], settings
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
    interval = common.get("sample_ms")
    figures.derive(samples=int(seconds * _MS_PER_S / interval) or None if interval else None)
    add_load(figures, targets, common.get("pool_threads", 0), common.get("depth", 0))
    # The number of threads is that of the result.
    figures.measure(threads=round(_find_row(span, lines, "thread count").need("thread count")))
    return MeasuredLine(**facts, source_line=first, **figures.columns())


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
            # The file of a thread has no total.
            totals[kind] = {
                name: file.read_number(cell, line, f"{kind} {name}")
                for name, cell in zip(titles[1:], cells, strict=False)
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
        end = _ENDS.get(name) or find_percentile(name.removesuffix("th"))
        if end is None:
            continue
        for kind, cell in zip(("read", "write", "total"), match[2].split("|"), strict=False):
            if cell.strip() != "N/A":
                value = file.read_number(cell.strip(), line, f"{name} of {kind}")
                percentiles.setdefault(kind, {})[end] = value * _US_PER_MS
    return percentiles
