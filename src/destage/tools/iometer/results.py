"""Iometer's results (`results.csv`): a line per access specification and step of a cycling test.

Lines that start with an apostrophe are headings. Each `'Results` section has a row `ALL` with the totals and
rows for managers, workers and disks, by columns that the heading names. Response times are in milliseconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from destage.measured.line import MeasuredLine
from destage.tools.result_parts import (
    US_PER_MS,
    Readings,
    ResultFile,
    Row,
    measure_times,
    merge_operations,
    parse_time,
    split_lines,
)

_COLUMNS = "'Target Type"
_SPECIFICATIONS = "'Access specification name,default assignment"
_TIMES = ("%Y-%m-%d %H:%M:%S:%f", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S")
_RATES = (("(Decimal)", 1e6), ("(Binary)", float(1 << 20)), ("", float(1 << 20)))
"""Ends of the columns of data rates, and their unit [bytes/s]; early versions mean 2^20 bytes by MB."""
_FIELDS = ("size", "% of size", "% reads", "% random")
_SHARES, _DELAY = 4, 4
"""Fields of an access specification: size, weight, shares of reads and of random accesses, then a pause."""


def recognizes(text: str) -> bool:
    """Return whether a text is a results file of Iometer."""
    return "'Results" in text and _COLUMNS in text


@dataclass
class _Facts:
    """What the headings before a section say; `shares` has weights, and weights times random shares [%]."""

    test: str | None = None
    version: str | None = None
    time: datetime | None = None
    specification: str = ""
    shares: dict[str, tuple[float, float]] = field(default_factory=dict)
    pausing: set[str] = field(default_factory=set)


def read(file: ResultFile) -> Readings:
    """Read all sections of results."""
    facts = _Facts()
    lines: list[MeasuredLine] = []
    rows: list[Row] = []
    titles: list[str] = []
    heading = ""
    # An empty heading ends the last section.
    for line, raw in [*split_lines(file.text), (0, "'")]:
        text = raw.strip()
        if text.startswith("'"):
            lines += [_read_row(row, rows, facts) for row in rows if row.text("Target Type") == "ALL"]
            rows, heading = [], text
            titles = file.split_row(text.removeprefix("'"), line) if text.startswith(_COLUMNS) else []
        elif text and titles:
            cells = file.split_row(text, line)
            if len(cells) < len(titles) - 1 or any(cells[len(titles) :]):
                message = f"has {len(cells)} values, but {len(titles)} columns; is the file complete?"
                raise file.mistake("measured.bad-syntax", message, line=line)
            rows.append(Row(file, line, dict(zip(titles, cells, strict=False))))
        elif text:
            _note_fact(file, facts, heading, line, text)
    if not lines:
        raise file.mistake("measured.no-figures", "has no row ALL with results")
    return Readings(lines)


def _note_fact(file: ResultFile, facts: _Facts, heading: str, line: int, text: str) -> None:
    """Keep what a line below a heading says."""
    if heading.startswith("'Test Type"):
        # A test states all its specifications, so that those of one before it are not of this one.
        facts.test = text.partition(",")[2].strip() or None
        facts.specification, facts.shares, facts.pausing = "", {}, set()
    elif heading == "'Version":
        facts.version = text.removeprefix("Version").strip()
    elif heading == "'Time Stamp":
        facts.time = parse_time(text, *_TIMES) or facts.time
    elif heading == _SPECIFICATIONS:
        facts.specification = text.rpartition(",")[0]
    elif heading.startswith("'size,"):
        _add_shares(file, facts, line, text)


def _add_shares(file: ResultFile, facts: _Facts, line: int, text: str) -> None:
    """Add a part of an access specification: size, weight, shares of reads and random accesses [%]."""
    cells, name = text.split(","), facts.specification
    if len(cells) < _SHARES:
        raise file.mistake(
            "measured.bad-syntax", "must be size, % of size, % reads, % random", line=line, place=name
        )
    if len(cells) > _DELAY and cells[_DELAY].strip() not in {"", "0"}:
        facts.pausing.add(name)
    row = Row(file, line, dict(zip(_FIELDS, cells, strict=False)))
    _, share, _, random = (row.need(field) for field in _FIELDS)
    weight, random_weight = facts.shares.get(name, (0.0, 0.0))
    facts.shares[name] = weight + share, random_weight + share * random


def _read_row(row: Row, others: Sequence[Row], facts: _Facts) -> MeasuredLine:
    total = row.need("IOps")
    if not total:
        raise row.mistake("measured.no-figures", "no request was completed", "IOps")
    read, write = (
        {
            "iops": row.number(f"{kind}IOps"),
            "bytes_per_s": _find_rate(row, kind),
            "response": _read_times(row, kind),
        }
        for kind in ("Read ", "Write ")
    )
    figures = merge_operations(read, write, iops=total, bytes_per_s=_find_rate(row, ""))
    measure_times(figures, _read_times(row, ""))
    reads, writes = row.number("Read I/Os"), row.number("Write I/Os")
    requests = None if reads is None or writes is None else round(reads + writes)
    specification = row.text("Access Specification Name")
    weight, random_weight = facts.shares.get(specification, (0.0, 0.0))
    workers = row.number("# Workers")
    outstanding = _count_outstanding(others)
    depth = outstanding / workers if outstanding is not None and workers else None
    figures.measure(
        threads=round(workers) if workers else None,
        reads=None if reads is None else round(reads),
        writes=None if writes is None else round(writes),
    )
    figures.derive(
        requests=requests,
        duration_s=None if requests is None else round(requests / total, 3),
        random_fraction=random_weight / weight / 100 if weight else None,
        outstanding=outstanding,
    )
    if depth is not None and depth.is_integer():
        figures.derive(depth=round(depth))
    elif depth is not None:
        figures.reject("the workers have different depths", "depth")
    if specification in facts.pausing:
        figures.reject("the specification has a delay between bursts", "outstanding")
    return MeasuredLine(
        tool_version=facts.version,
        measured_at=facts.time,
        source_line=row.line,
        workload=specification if "Access Specification Name" in row.values else None,
        test=facts.test,
        **figures.columns(),
    )


def _read_times(row: Row, kind: str) -> dict[str, float]:
    """Return the response times [us]."""
    names = {"mean": f"Average {kind}Response Time", "max": f"Maximum {kind}Response Time"}
    times = {key: row.number(name, scale=US_PER_MS) for key, name in names.items()}
    return {key: value for key, value in times.items() if value is not None}


def _find_rate(row: Row, prefix: str) -> float | None:
    """Return a data rate [bytes/s], by the column that the version has."""
    for end, unit in _RATES:
        value = row.number(*(f"{prefix}{short} {end}".strip() for short in ("MBps", "MiBps")), scale=unit)
        if value is not None:
            return value
    return None


def _count_outstanding(rows: Sequence[Row]) -> float | None:
    """Return the outstanding I/Os of all disks.

    The queue depth is that of each disk of a worker. It is in the row of the disk or of its worker, or, if it
    is common, in that of all; versions and kinds of recording differ in the rows that they write.
    """
    counted: list[int | None] = []
    for kinds in (("DISK", "WORKER"), ("WORKER",), ("ALL",)):
        counted, of_worker = [], None
        for row in rows:
            depth, kind = row.whole("Queue Depth"), row.text("Target Type")
            if kind == "WORKER":
                of_worker = depth
            if kind == "DISK" and kind in kinds:
                counted.append(depth or of_worker)
            elif kind == kinds[0] and kind in {"WORKER", "ALL"}:
                disks = row.whole("# Disks")
                counted.append(None if depth is None or disks is None else depth * disks)
        depths = [depth for depth in counted if depth]
        if depths and len(depths) == len(counted):
            return float(sum(depths))
    return None
