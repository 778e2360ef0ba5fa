"""Figures of one's own as CSV: a heading, then a line per measurement.

Cells are separated by commas, semicolons or tabs; lines that start with `#` are comments. All mistakes of a
file are reported together.
"""

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from destage.errors import ConfigError, Issue
from destage.measured.line import FIGURES, Figures, MeasuredLine
from destage.spec import quantities
from destage.tools.csv_table.headings import OPERATION, Heading, find_heading, list_names, read_headings
from destage.tools.result_parts import Readings, ResultFile, split_lines
from destage.tools.values import SECTOR

_DELIMITERS = ",;\t"
_LOADS = ("depth", "outstanding", "throughput_iops", "throughput_bytes_per_s")
"""Columns of which a line needs one: a load is a depth or a rate."""
_NEEDED: Sequence[tuple[Collection[str], str, str]] = (
    (("workload",), "workload", "missing"),
    (("request_bytes",), "size", "missing"),
    (
        ("read_fraction", OPERATION),
        "operation",
        "says no share of reads: read, write, or a column `read share`",
    ),
    (("random_fraction",), "access", "says neither random nor sequential: randread, or a column `access`"),
    (_LOADS, "outstanding", "missing; a line without outstanding I/Os needs a rate"),
    (FIGURES, "iops", "has no figure: a rate, a bandwidth or a response time"),
)
"""Columns of which a line needs one to be a load with a figure, with place and message."""
_TITLES = {"iops": "iops, bandwidth or a latency"}
_IDENTITY = (
    *("workload", "test", "depth", "threads", "outstanding", "request_bytes", "read_fraction"),
    "random_fraction",
)
_WORDS = {"sequential": "seq", "random": "rand"}
_OPERATIONS: Mapping[str, tuple[float | None, float | None]] = {
    "read": (1.0, None),
    "write": (0.0, None),
    "randread": (1.0, 1.0),
    "randwrite": (0.0, 1.0),
    "seqread": (1.0, 0.0),
    "seqwrite": (0.0, 0.0),
    "randrw": (None, 1.0),
    "rw": (None, None),
}
"""The shares of reads and of random requests of each operation, where it says them."""
_ACCESSES = {"rand": 1.0, "seq": 0.0}
_BINARY = re.compile(r"(.*\d)\s*([kmg])", re.IGNORECASE)
"""A size as load generators write it: `4k` is 4096 bytes."""
_NUMBER = re.compile(r"[\d.]+(e[+-]?\d+)?", re.IGNORECASE)
_EXAMPLES = {
    "us": "latency mean [ms]",
    "bytes": "size [KiB]",
    "bytes/s": "bandwidth [MB/s]",
    "s": "duration [s]",
}
"""A heading of each unit that numbers need."""
_UNEQUAL = 0.1
"""The share by which figures that follow from one another may differ."""
_LEAST_BUSY, _MOST_BUSY = 0.02, 2.0
"""What rate times response time may be of the outstanding I/Os; by Little's law they are equal."""
_US_PER_S = 1e6
_Cells = list[tuple[str, int]]
"""The texts of a line, each with its column in the file, from 1."""


def recognizes(text: str) -> bool:
    """Return whether the first line of a text is a heading of figures."""
    first = next(_list_lines(text), None)
    if first is None:
        return False
    cells = first[1].split(_find_delimiter(first[1]))
    return len(cells) > 1 and any(find_heading(cell.strip().strip('"')) for cell in cells)


def read(file: ResultFile) -> Readings:
    """Read a measured line of each line."""
    numbered = list(_list_lines(file.text))
    number, heading = numbered[0]
    delimiter = _find_delimiter(heading)
    cells = _split(file, number, heading, delimiter)
    while not cells[-1][0]:
        cells.pop()
    headings = read_headings(file, number, [text for text, _ in cells], [place for _, place in cells])
    gaps = _find_gaps({heading.column for heading in headings})
    # An operation may say whether the access is random, which is known line by line.
    lacks = {
        place: f"the heading lacks {_TITLES.get(place, place)}; columns: {', '.join(list_names())}"
        for place in gaps
        if place != "access"
    }
    file.check(_list_issues(file, number, lacks))
    lines: list[MeasuredLine] = []
    issues: list[Issue] = []
    first: dict[tuple[Any, ...], int] = {}
    for number, text in numbered[1:]:
        try:
            line = _read_line(file, number, headings, _split(file, number, text, delimiter))
        except ConfigError as error:
            issues += error.issues
            continue
        identity = tuple(getattr(line, name) for name in _IDENTITY)
        earlier = first.setdefault(identity, number)
        if earlier != number:
            message = f"has the workload and the load of line {earlier}; a column `test` may tell them apart"
            issues += file.mistake(
                "measured.duplicate", message, line=number, place=str(line.workload)
            ).issues
        lines.append(line)
    file.check(issues)
    if not lines:
        raise file.mistake("measured.no-figures", "has no line below its heading", line=number)
    return Readings(lines)


def _list_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are neither empty nor comments, with their numbers."""
    for number, line in split_lines(text):
        if line.strip(f" {_DELIMITERS}") and not line.startswith("#"):
            yield number, line


def _find_delimiter(heading: str) -> str:
    return max(_DELIMITERS, key=heading.count)


def _split(file: ResultFile, line: int, text: str, delimiter: str) -> _Cells:
    cells = file.split_row(text, line, delimiter)
    if '"' in text:
        return [(cell, 1) for cell in cells]
    ends = itertools.accumulate(len(cell) + 1 for cell in text.split(delimiter))
    return list(zip(cells, itertools.chain([1], (end + 1 for end in ends)), strict=False))


def _read_line(file: ResultFile, line: int, headings: Sequence[Heading], cells: _Cells) -> MeasuredLine:
    """Return a measured line.

    Raises:
        ConfigError: A cell is wrong or missing, or two of them contradict each other; with all mistakes.
    """
    if len(cells) < len(headings) or any(text for text, _ in cells[len(headings) :]):
        message = f"has {len(cells)} values, but {len(headings)} columns"
        raise file.mistake("measured.bad-syntax", message, line=line)
    values: dict[str, Any] = {}
    issues: list[Issue] = []
    for heading, (text, place) in zip(headings, cells, strict=False):
        if not text:
            continue
        where: dict[str, Any] = {"line": line, "column": place, "place": heading.title, "value": text}
        try:
            found = _read_cell(heading, text)
        except ValueError as error:
            issues += file.mistake("measured.bad-value", str(error), **where).issues
            continue
        for column, value in found.items():
            if values.setdefault(column, value) != value:
                message = f"contradicts the operation, whose {column} is {values[column]:g}"
                issues += file.mistake("measured.implausible", message, **where).issues
    if not issues:
        issues += _list_issues(file, line, _find_gaps(values.keys()))
    file.check(issues)
    columns: dict[str, Any] = {
        name: values.pop(name) for name in ("workload", "test", "depth", "threads") if name in values
    }
    tool = values.pop("tool", "csv")
    figures = Figures()
    figures.measure(**values)
    _derive(figures, columns)
    _check_consistent(file, line, figures)
    return MeasuredLine(tool=tool, source_line=line, **columns, **figures.columns())


def _read_cell(heading: Heading, text: str) -> dict[str, Any]:
    """Return the columns that a cell is of, with their values.

    Raises:
        ValueError: The text is not a value of the column.
    """
    base, word = heading.base, re.sub(r"[\s_-]", "", text.lower())
    for long, short in _WORDS.items():
        word = word.replace(long, short)
    if heading.column == OPERATION:
        if word.removesuffix("s") not in _OPERATIONS:
            raise ValueError(f"must be one of {', '.join(_OPERATIONS)}")
        shares = zip(("read_fraction", "random_fraction"), _OPERATIONS[word.removesuffix("s")], strict=True)
        return {column: share for column, share in shares if share is not None}
    if heading.column == "random_fraction" and word in _ACCESSES:
        return {heading.column: _ACCESSES[word]}
    if base is None:
        return {heading.column: text}
    number = _read_number(text, base, heading.unit)
    if heading.column in {"depth", "threads", "outstanding", "request_bytes"} and number <= 0:
        raise ValueError("must be above 0")
    if heading.column in {"depth", "threads"}:
        if not number.is_integer():
            raise ValueError("must be a whole number")
        return {heading.column: int(number)}
    return {heading.column: number}


def _read_number(text: str, base: str, unit: str) -> float:
    """Return a number in its base unit.

    Args:
        unit: The suffix of a number without one.
    """
    is_bare = _NUMBER.fullmatch(text) is not None
    binary = _BINARY.fullmatch(text) if base == "bytes" else None
    if binary is not None:
        text = f"{binary[1]}{binary[2].upper()}iB"
    elif is_bare and not unit and base in _EXAMPLES:
        raise ValueError(f"needs a unit, here or in the heading, as in {_EXAMPLES[base]!r}")
    elif is_bare:
        text += unit
    text = re.sub(r"\s*(IO/s|IOPS)$", "/s", text, flags=re.IGNORECASE) if base == "1/s" else text
    try:
        number = float(quantities.parse(text, base) if base in quantities.UNITS else text)
    except ConfigError as error:
        raise ValueError(error.issues[0].message) from error
    except ValueError as error:
        raise ValueError("must be a number") from error
    if not number >= 0:
        raise ValueError("must be a number of at least 0")
    if base == "fraction" and number > 1:
        raise ValueError("must be at most 1, or end in %")
    if base == "bytes" and number % SECTOR and re.search(r"[kKMG]B$", text):
        raise ValueError(f"is {number:.0f} bytes, no whole number of sectors; 4KiB (or 4k) is 4096 bytes")
    return number


def _find_gaps(columns: Collection[str]) -> dict[str, str]:
    """Return what some columns lack, by place."""
    return {place: message for names, place, message in _NEEDED if not set(names) & set(columns)}


def _list_issues(file: ResultFile, line: int, gaps: Mapping[str, str]) -> list[Issue]:
    return [
        issue
        for place, message in gaps.items()
        for issue in file.mistake("measured.missing-value", message, line=line, place=place).issues
    ]


def _derive(figures: Figures, columns: Mapping[str, Any]) -> None:
    """Add what follows from the figures: outstanding I/Os, the rates of all, of reads and of writes."""
    size, reads = figures.get("request_bytes"), figures.get("read_fraction")
    if figures.get("outstanding") is None and "depth" in columns:
        figures.derive(outstanding=float(columns["depth"] * columns.get("threads", 1)))
    for rate in ("iops", "bytes_per_s"):
        parts = [figures.get(f"{kind}_{rate}") for kind in ("read", "write")]
        if figures.get(f"throughput_{rate}") is None and None not in parts:
            figures.derive(**{f"throughput_{rate}": sum(parts)})
    iops, bandwidth = figures.get("throughput_iops"), figures.get("throughput_bytes_per_s")
    if iops is None and bandwidth is not None:
        figures.derive(throughput_iops=bandwidth / size)
    elif bandwidth is None and iops is not None:
        figures.derive(throughput_bytes_per_s=iops * size)
    total = figures.get("throughput_iops")
    for kind, share in (("read", reads), ("write", 1 - reads)):
        if total is not None and figures.get(f"{kind}_iops") is None:
            figures.derive(**{f"{kind}_iops": total * share})


def _check_consistent(file: ResultFile, line: int, figures: Figures) -> None:
    """Reject figures of which one cannot be beside the others, as with a wrong unit."""
    iops, response = figures.get("throughput_iops"), figures.get("response_mean_us")
    bandwidth, outstanding = figures.get("throughput_bytes_per_s"), figures.get("outstanding")
    expected = None if iops is None else iops * figures.get("request_bytes")
    if expected is not None and bandwidth and abs(expected / bandwidth - 1) > _UNEQUAL:
        message = f"iops times size are {expected / 1e6:.4g} MB/s, not {bandwidth / 1e6:.4g}: check units"
        raise file.mistake("measured.implausible", message, line=line, place="bandwidth")
    if iops and response and outstanding:
        busy = iops * response / _US_PER_S
        if not _LEAST_BUSY * outstanding <= busy <= _MOST_BUSY * outstanding:
            message = (
                f"iops times latency are {busy:.3g} outstanding I/Os, not {outstanding:g}: check the unit of "
                "the latency, and the threads"
            )
            raise file.mistake("measured.implausible", message, line=line, place="outstanding")
