"""The headings of a CSV of figures: the column of a measured line that each names, and its unit.

A heading has the name of a column of the table `measured`, in the base unit, or its words in any order, with
the unit in brackets or as the last word: `latency p99 [ms]`, `mean read latency us`, `IOPS`, `MB/s`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from destage.errors import ConfigError, Issue
from destage.measured.line import FIGURES, list_meanings
from destage.spec.near_names import suggest
from destage.tools.result_parts import ResultFile

OPERATION = "operation"
"""The column of words such as `randread`, from which the shares of reads and of random requests follow."""
_NAMES: Mapping[str, tuple[str, ...]] = {
    "workload": ("workload", "job", "name"),
    "test": ("test", "run"),
    "tool": ("tool",),
    OPERATION: ("operation", "rw"),
    "read_fraction": ("read share", "reads", "rwmixread"),
    "random_fraction": ("access", "random share", "pattern"),
    "request_bytes": ("size", "block size", "bs", "request size"),
    "depth": ("depth", "iodepth", "queue depth", "qd"),
    "threads": ("threads", "jobs", "numjobs", "workers"),
    "outstanding": ("outstanding",),
    "footprint_bytes": ("file size", "footprint"),
    "duration_s": ("duration", "runtime"),
    "throughput_iops": ("iops",),
    "read_iops": ("read iops",),
    "write_iops": ("write iops",),
    "throughput_bytes_per_s": ("bandwidth", "bw"),
    "read_bytes_per_s": ("read bandwidth", "read bw"),
    "write_bytes_per_s": ("write bandwidth", "write bw"),
}
"""The names of each column, the first of which is documented; response times follow."""
_SYNONYMS = {"lat": "latency", "response": "latency", "time": "", "avg": "mean", "average": "mean"}
_SYNONYMS |= {"median": "p50", "p99.9": "p999", "maximum": "max"}
_UNITS: Mapping[str, Mapping[str, str]] = {
    "us": {"ns": "ns", "us": "us", "µs": "µs", "usec": "us", "ms": "ms", "msec": "ms", "s": "s"},
    "s": {"ms": "ms", "s": "s", "sec": "s", "min": "min"},
    "bytes": {"B": "B", "bytes": "B", "KiB": "KiB", "MiB": "MiB", "kB": "kB", "KB": "KB", "MB": "MB"},
    "bytes/s": {f"{size}/s": f"{size}/s" for size in ("B", "kB", "KB", "KiB", "MB", "MiB", "GB", "GiB")},
    "1/s": {"IO/s": "/s", "IOPS": "/s", "1/s": "/s", "/s": "/s"},
    "fraction": {"%": "%"},
}
"""The units that a heading may have, by the unit of its column, and what they are as a suffix of a number."""
_BASES = {"us": "us", "s": "s", "bytes": "B", "bytes/s": "B/s"}
_NO_COLUMN = "no column has this name; columns: "
_BRACKETS = re.compile(r"(.*?)\s*[\[(]\s*(.*?)\s*[\])]")
_PERCENTILE = re.compile(r"p\d+")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a table.

    Attributes:
        title: As written.
        column: The column of a measured line, or `OPERATION`.
        unit: The suffix of numbers without a unit; empty if it states none.
        base: The base unit of its column; None of a text.
    """

    title: str
    column: str
    unit: str
    base: str | None


def list_names() -> list[str]:
    """Return the documented name of each column."""
    return [names[0] for names in _NAMES.values()] + ["latency mean", "latency p99", "read latency mean"]


def read_headings(file: ResultFile, line: int, titles: Sequence[str], places: Sequence[int]) -> list[Heading]:
    """Return the headings of a table.

    Args:
        places: The column of the text of each, from 1.

    Raises:
        ConfigError: A heading is unknown, has another unit, or names the column of another one; with all
            mistakes.
    """
    found: dict[str, Heading] = {}
    issues: list[Issue] = []
    for title, place in zip(titles, places, strict=True):
        heading = find_heading(title)
        code, message = "measured.unknown-column", ""
        if heading is None:
            known = [name for names in _list_all().values() for name in names]
            near = suggest(_split(title.strip())[0], [*known, *_NAMES, *FIGURES])
            message = f"no column has this name{near}" if near else _NO_COLUMN + ", ".join(list_names())
        elif heading.unit not in {"", *_UNITS.get(heading.base or "", {}).values()}:
            allowed = ", ".join(_UNITS.get(heading.base or "", ())) or "none"
            message = f"has an unknown unit; units of this column: {allowed}"
        elif heading.column in found:
            code = "measured.duplicate"
            message = f"is the same column as {found[heading.column].title!r}"
        if message or heading is None:
            issues += file.mistake(code, message, line=line, column=place, place=title).issues
        else:
            found[heading.column] = heading
    if issues:
        raise ConfigError(issues, file.name)
    return list(found.values())


def find_heading(title: str) -> Heading | None:
    """Return the heading of a title, with its unit as written if its column lacks it; None if unknown."""
    name = title.strip().lower()
    if name != OPERATION and (name in _NAMES or name in FIGURES):
        base = list_meanings()[name][0]
        return Heading(title, name, _BASES.get(base or "", ""), base)
    text, unit = _split(title.strip())
    bases = [base for base, units in _UNITS.items() if unit in units]
    words = {_SYNONYMS.get(word, word) for word in re.split(r"[\s_-]+", text.lower())} - {""}
    if any(map(_PERCENTILE.fullmatch, words)):
        words.add("latency")
    elif words == {"latency"} or words in ({"read", "latency"}, {"write", "latency"}):
        words.add("mean")
    for base, kind in (("bytes/s", "bandwidth"), ("1/s", "iops")):
        if base in bases:
            words = words - {"throughput", "bw"} | {kind}
    column = _by_words().get(frozenset(words))
    if column is None:
        return None
    base = None if column == OPERATION else list_meanings()[column][0]
    return Heading(title, column, _UNITS.get(base or "", {}).get(unit, unit), base)


def _split(title: str) -> tuple[str, str]:
    """Return a title without its unit, and the unit; empty if it has none."""
    bracketed = _BRACKETS.fullmatch(title)
    if bracketed is not None:
        return bracketed[1], bracketed[2]
    text, _, last = title.replace("_", " ").rpartition(" ")
    is_unit = any(last in units for units in _UNITS.values())
    return (text, last) if is_unit and last.upper() != "IOPS" else (title, "")


@cache
def _by_words() -> dict[frozenset[str], str]:
    """Return the columns by the words of their names."""
    return {frozenset(name.split()): column for column, names in _list_all().items() for name in names}


@cache
def _list_all() -> dict[str, tuple[str, ...]]:
    """Return the names of each column, among them those of response times."""
    times = (column for column in FIGURES if column.endswith("_us"))
    words = {column: column.removesuffix("_us").replace("_", " ") for column in times}
    return {**_NAMES, **{column: (name.replace("response", "latency"),) for column, name in words.items()}}
