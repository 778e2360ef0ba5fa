"""Iometer's results (`results.csv`): a line per access specification and step of a cycling test.

Lines that start with an apostrophe are headings. Each `'Results` section has a row `ALL` with the totals and
rows for managers, workers and disks, by columns that the heading names. Response times are in milliseconds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from destage.measured.line import MeasuredLine
from destage.tools.result_parts import Readings, ResultFile, merge_operations, parse_time, split_lines

TOOL = "iometer"
_COLUMNS = "'Target Type"
_SPECIFICATIONS = "'Access specification name,default assignment"
_TIMES = ("%Y-%m-%d %H:%M:%S:%f", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S")
_RATES = (("(Decimal)", 1e6), ("(Binary)", float(1 << 20)), ("", float(1 << 20)))
"""Ends of the columns of data rates, and their unit [bytes/s]; early versions mean 2^20 bytes by MB."""
_US_PER_MS = 1000.0
_SHARES, _DELAY = 4, 4
"""Fields of an access specification: size, weight, shares of reads and of random accesses, then a pause."""


def recognizes(text: str) -> bool:
    """Return whether a text is a results file of Iometer."""
    return "'Results" in text and _COLUMNS in text


@dataclass
class _Facts:
    """What the headings before a section say."""

    test: str | None = None
    version: str | None = None
    time: datetime | None = None
    specification: str = ""
    shares: dict[str, Mapping[str, float]] = field(default_factory=dict)
    pausing: set[str] = field(default_factory=set)


def read(file: ResultFile) -> Readings:
    """Read all sections of results."""
    facts = _Facts()
    found: list[MeasuredLine] = []
    rows: list[tuple[int, dict[str, str]]] = []
    titles: list[str] = []
    heading = ""
    for line, raw in split_lines(file.text):
        text = raw.strip()
        if text.startswith("'"):
            found += _read_section(file, rows, facts)
            rows, heading = [], text
            titles = file.split_row(text.removeprefix("'"), line) if text.startswith(_COLUMNS) else []
        elif text and titles:
            cells = file.split_row(text, line)
            if len(cells) < len(titles) - 1 or any(cells[len(titles) :]):
                message = f"has {len(cells)} values, but {len(titles)} columns; is the file complete?"
                raise file.mistake("measured.bad-syntax", message, line=line)
            rows.append((line, dict(zip(titles, cells, strict=False))))
        elif text:
            _note_fact(file, facts, heading, line, text)
    found += _read_section(file, rows, facts)
    if not found:
        raise file.mistake("measured.no-figures", "has no row ALL with results")
    return Readings(found)


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
    _, weight, reads, random = (file.read_number(cell, line, name) for cell in cells[:_SHARES])
    known = facts.shares.get(name, {"weight": 0.0, "reads": 0.0, "random": 0.0})
    facts.shares[name] = {
        "weight": known["weight"] + weight,
        "reads": known["reads"] + weight * reads,
        "random": known["random"] + weight * random,
    }


def _read_section(
    file: ResultFile, rows: Sequence[tuple[int, dict[str, str]]], facts: _Facts
) -> list[MeasuredLine]:
    others = [row for _, row in rows]
    return [
        _read_row(file, line, row, others, facts) for line, row in rows if row.get("Target Type") == "ALL"
    ]


def _read_row(
    file: ResultFile, line: int, row: Mapping[str, str], others: Sequence[Mapping[str, str]], facts: _Facts
) -> MeasuredLine:
    def number(name: str) -> float | None:
        text = row.get(name, "")
        return file.read_number(text, line, name) if text else None

    total = number("IOps")
    if total is None:
        raise file.mistake("measured.missing-value", "missing", line=line, place="IOps")
    if not total:
        raise file.mistake("measured.no-figures", "no request was completed", line=line, place="IOps")
    kinds: dict[str, dict[str, Any]] = {}
    for kind in ("Read", "Write"):
        mean, most = number(f"Average {kind} Response Time"), number(f"Maximum {kind} Response Time")
        times = {"mean": mean, "max": most}
        kinds[kind] = {
            "iops": number(f"{kind} IOps"),
            "bytes_per_s": _find_rate(number, f"{kind} "),
            "response": {key: value * _US_PER_MS for key, value in times.items() if value is not None},
        }
    figures = merge_operations(kinds["Read"], kinds["Write"], iops=total, bytes_per_s=_find_rate(number, ""))
    for key, name in (("mean", "Average Response Time"), ("max", "Maximum Response Time")):
        value = number(name)
        figures.measure(**{f"response_{key}_us": None if value is None else value * _US_PER_MS})
    reads, writes = number("Read I/Os"), number("Write I/Os")
    requests = None if reads is None or writes is None else round(reads + writes)
    specification = row.get("Access Specification Name", "")
    shares = facts.shares.get(specification)
    workers = number("# Workers")
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
        random_fraction=shares["random"] / shares["weight"] / 100 if shares and shares["weight"] else None,
        outstanding=outstanding,
    )
    if depth is not None and depth.is_integer():
        figures.derive(depth=round(depth))
    elif depth is not None:
        figures.reject("the workers have different depths", "depth")
    if specification in facts.pausing:
        figures.reject("the specification has a delay between bursts", "outstanding")
    return MeasuredLine(
        tool=TOOL,
        tool_version=facts.version,
        measured_at=facts.time,
        source_line=line,
        workload=row.get("Access Specification Name"),
        test=facts.test,
        **figures.columns(),
    )


def _find_rate(number: Any, prefix: str) -> float | None:
    """Return a data rate [bytes/s], by the column that the version has."""
    for end, unit in _RATES:
        for short in ("MBps", "MiBps"):
            value = number(f"{prefix}{short} {end}".strip())
            if value is not None:
                return float(value * unit)
    return None


def _count_outstanding(rows: Sequence[Mapping[str, str]]) -> float | None:
    """Return the outstanding I/Os of all disks.

    The queue depth is that of each disk of a worker. It is in the row of the disk or of its worker, or, if it
    is common, in that of all; versions and kinds of recording differ in the rows that they write.
    """
    counted: list[int | None] = []
    for kinds in (("DISK", "WORKER"), ("WORKER",), ("ALL",)):
        counted, of_worker = [], None
        for row in rows:
            depth, kind = _whole(row, "Queue Depth"), row.get("Target Type")
            if kind == "WORKER":
                of_worker = depth
            if kind == "DISK" and kind in kinds:
                counted.append(depth or of_worker)
            elif kind == kinds[0] and kind in {"WORKER", "ALL"}:
                disks = _whole(row, "# Disks")
                counted.append(None if depth is None or disks is None else depth * disks)
        known = [depth for depth in counted if depth]
        if known and len(known) == len(counted):
            return float(sum(known))
    return None


def _whole(row: Mapping[str, str], name: str) -> int | None:
    text = row.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else None
