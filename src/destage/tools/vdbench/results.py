"""Vdbench's `flatfile.html`: a line per run (`rd`) and its values of `for...` parameters.

Comment lines start with `*`; the line with `tod` and `Run` names the columns, which are separated by blanks.
A run has a row per interval and then one of averages, whose interval is `avg_FIRST-LAST`. Times are in
milliseconds, MB is 2^20 bytes, and `NaN` or `n/a` stands for no value.

`threads` is that of each storage, of which the file does not say how many there are; `queue_depth`, which
Vdbench derives from rate and response time, shows it in a run that keeps all threads busy.
"""

import itertools
import re
import statistics
from collections.abc import Sequence
from typing import Any

from destage.measured.line import Figures, MeasuredLine
from destage.tools.result_parts import Readings, ResultFile, Row, find_deviation, parse_time, split_lines

_US_PER_MS = 1000.0
_AVERAGE = re.compile(r"avg_(\d+)[-_](\d+)")
_NONE = frozenset({"n/a", "NaN", "nan", "-", "max"})
_MIB = 1 << 20
_RESPONSES = (
    ("resp", "response_mean_us"),
    ("read_resp", "read_response_mean_us"),
    ("write_resp", "write_response_mean_us"),
    ("resp_max", "response_max_us"),
    ("read_max", "read_response_max_us"),
    ("write_max", "write_response_max_us"),
    ("resp_std", "response_stddev_us"),
    ("read_std", "read_response_stddev_us"),
    ("write_std", "write_response_stddev_us"),
)
_UNLIMITED = {999_977, 999_988, 9_999_977, 9_999_988}
"""The numbers with which Vdbench, by version, reports the requested rates `max` and `curve`."""
_DIFFERENT = "-1"
"""The threads of storages that have not the same number."""
_FILE_SYSTEM = "Mkdir_rate"
_DAY_S = 86_400
_TIMES = ("%m/%d/%Y-%H:%M:%S", "%m/%d/%Y-%H:%M:%S.%f")


def recognizes(text: str) -> bool:
    """Return whether a text is a flat file of Vdbench."""
    return "Interval" in text and any(_is_header(line.split()) for line in text.splitlines())


def _is_header(words: Sequence[str]) -> bool:
    return {"Run", "Interval", "rate", "resp"} <= set(words) and words[0] != "*"


def read(file: ResultFile) -> Readings:
    """Read the averages of each run, and the spread of its intervals."""
    names: list[str] = []
    rows: list[Row] = []
    lines: list[MeasuredLine] = []
    notes: list[str] = []
    for line, text in split_lines(file.text):
        words = text.split()
        if not words or text.startswith(("*", "<")):
            continue
        if _is_header(words):
            if _FILE_SYSTEM in words:
                message = "has the operations of a file system test, which are not requests to an array"
                raise file.mistake("measured.unknown-format", message, line=line)
            names = words
            # The intervals before it are of another recording, which was not completed.
            notes += _note_incomplete(rows)
            rows = []
            continue
        if not names:
            continue
        row = file.make_row(names, words, line, empty=_NONE)
        average = _AVERAGE.fullmatch(row.text("Interval"))
        if average is None:
            rows.append(row)
            continue
        numbers = range(int(average[1]), int(average[2]) + 1)
        within, rows = [interval for interval in rows if interval.whole("Interval") in numbers], []
        if not within or row.text("rate") in {"0", "0.0", "0.00"}:
            notes.append(f"run {row.text('Run')} ended within its warm-up or without a request: left out")
            continue
        run = _read_run(row, within)
        lines.append(run)
        if run.threads is not None and run.threads != round(row.need("threads")):
            detail = f"each of several storages has {row.text('threads')}"
            notes.append(f"run {row.text('Run')}: {run.threads} threads by queue_depth; {detail}")
    if not lines:
        raise file.mistake("measured.no-figures", "has no row of averages (avg_...): no run was completed")
    notes += _note_incomplete(rows)
    return Readings(lines, notes)


def _note_incomplete(rows: Sequence[Row]) -> list[str]:
    return [f"the last {len(rows)} intervals belong to no completed run: left out"] if rows else []


def _read_run(row: Row, intervals: Sequence[Row]) -> MeasuredLine:
    rate, share = row.need("rate"), row.share("read%")
    rates = [value for interval in intervals if (value := interval.number("rate")) is not None]
    requested = row.text("reqrate") or "max"
    given = None if row.text("threads").partition(".")[0] == _DIFFERENT else row.number("threads")
    queued, storages = row.number("queue_depth"), 1
    if given and queued is not None and not _is_limited(requested):
        storages = max(1, round(queued / given))
    threads = round(given) * storages if given else None
    # Sequential tests that end with the storage have a negative share.
    random = row.share("seekpct") if not row.text("seekpct").startswith("-") else 0.0
    figures: dict[str, Any] = {
        column: row.number(name, scale=_US_PER_MS)
        for name, column in _RESPONSES
        if _has_operation(column, share)
    }
    length = _find_interval(intervals)
    seconds = None if length is None else length * len(intervals)
    collected = Figures()
    collected.measure(
        throughput_iops=rate,
        throughput_bytes_per_s=row.number("MB/sec", scale=_MIB),
        read_fraction=share,
        request_bytes=row.number("bytes/io") or row.number("xfersize") or None,
        samples=len(rates) or None,
        **figures,
    )
    collected.derive(
        duration_s=seconds,
        requests=None if seconds is None else round(rate * seconds),
        read_iops=None if share is None else rate * share,
        write_iops=None if share is None else rate * (1 - share),
        throughput_stddev_iops=find_deviation(rates),
    )
    if _is_limited(requested):
        collected.reject("the run sends at a rate (iorate), so that not all threads are busy", "outstanding")
    elif threads is not None:
        collected.derive(outstanding=float(threads))
    return MeasuredLine(
        tool_version=row.text("version") if row.has("version") else None,
        workload=row.text("Run"),
        test=f"interval {row.text('Interval').removeprefix('avg_')}",
        measured_at=parse_time(re.sub(r"-[A-Z]{2,5}$", "", row.text("timestamp")), *_TIMES),
        source_line=row.line,
        depth=1 if threads else None,
        threads=threads,
        random_fraction=random,
        **collected.columns(),
    )


def _has_operation(column: str, share: float | None) -> bool:
    """Return whether a column is of operations that were performed; others are 0 in the file."""
    if column.startswith("read_"):
        return share is None or share > 0
    return not column.startswith("write_") or share is None or share < 1


def _is_limited(requested_rate: str) -> bool:
    """Return whether a run sends at a rate, so that not all threads are busy."""
    try:
        return int(float(requested_rate)) not in _UNLIMITED
    except (ValueError, OverflowError):
        return False


def _find_interval(intervals: Sequence[Row]) -> float | None:
    """Return the length of an interval [s]: the median, as the times are those of the output."""
    times = [parse_time(interval.text("tod"), "%H:%M:%S", "%H:%M:%S.%f") for interval in intervals]
    pairs = itertools.pairwise(time for time in times if time is not None)
    steps = [round((after - before).total_seconds() % _DAY_S, 1) for before, after in pairs]
    median = statistics.median_low(steps) if steps else 0.0
    return median or None
