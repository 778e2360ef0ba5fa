"""What the readers of all tools' results share: lines, numbers with their place, mistakes."""

import csv
import json
import math
import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from destage.errors import ConfigError, Issue
from destage.measured.line import Figures, MeasuredLine

PERCENTILES: Mapping[float, str] = {50.0: "p50", 90.0: "p90", 95.0: "p95", 99.0: "p99", 99.9: "p999"}
"""The ends of the columns of percentiles."""
US_PER_MS = 1000.0
_MOST_OFFSET = 1e-6
_MOST_EXCESS = 0.01
"""Share by which a part may exceed the whole, as both are rounded."""


@dataclass(frozen=True, slots=True)
class Readings:
    """The lines of one file, remarks on what was left out or is not known, and the devices of a log."""

    lines: Sequence[MeasuredLine]
    notes: Sequence[str] = field(default=())
    devices: Sequence[str] = field(default=())


@dataclass(frozen=True, slots=True)
class ResultFile:
    """The text of a file and its name, which mistakes carry.

    Attributes:
        busiest_s: Of a log, the length of the time with the most requests that is asked for [s].
        devices: Of a log, the devices that are asked for; empty for all.
    """

    name: str
    text: str
    busiest_s: float | None = None
    devices: Sequence[str] = ()

    def mistake(
        self,
        code: str,
        message: str,
        *,
        line: int = 1,
        column: int = 1,
        place: str = "",
        value: object = None,
    ) -> ConfigError:
        """Return the error of a mistake in a line."""
        return ConfigError([Issue(code, place, message, value, line=line, column=column)], self.name)

    def check(self, issues: Sequence[Issue]) -> None:
        """Raise if there are mistakes."""
        if issues:
            raise ConfigError(issues, self.name)

    def line_of(self, position: int) -> int:
        """Return the number of the line with a position of the text, from 1."""
        return self.text.count("\n", 0, position) + 1

    def decode_objects(self) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
        """Yield the JSON objects that start in the first column: position, line and content of each.

        Tools write messages between them.

        Raises:
            ConfigError: One is incomplete, or there is none.
        """
        end = 0
        for match in re.finditer(r"^\{", self.text, re.MULTILINE):
            if match.start() < end:
                continue
            line = self.line_of(match.start())
            try:
                content, end = json.JSONDecoder().raw_decode(self.text, match.start())
            except (json.JSONDecodeError, RecursionError) as error:
                why = "nested too deeply"
                if isinstance(error, json.JSONDecodeError):
                    why, line = error.msg, error.lineno
                message = f"invalid JSON: {why}; is the file complete?"
                raise self.mistake("measured.bad-syntax", message, line=line) from error
            yield match.start(), line, content
        if not end:
            raise self.mistake("measured.bad-syntax", "has no JSON object")

    def split_row(self, text: str, line: int, delimiter: str = ",") -> list[str]:
        """Return the cells of a row of CSV, without the blanks around them."""
        try:
            return [cell.strip() for cell in next(csv.reader([text], delimiter=delimiter), [])]
        except csv.Error as error:
            message = f"invalid CSV: {error}"
            raise self.mistake("measured.bad-syntax", message, line=line) from error

    def read_number(self, text: str, line: int, place: str) -> float:
        """Return a number that the file must have.

        Raises:
            ConfigError: The text is not a finite number of at least 0.
        """
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < 0:
            message = "must be a number of at least 0"
            raise self.mistake("measured.bad-value", message, line=line, place=place, value=text)
        return value

    def make_row(
        self,
        titles: Sequence[str],
        cells: Sequence[str],
        line: int,
        *,
        place: str = "",
        empty: frozenset[str] = frozenset({""}),
    ) -> "Row":
        """Return a row of a table; one with another number of values than the heading is a mistake."""
        if len(cells) != len(titles):
            message = f"has {len(cells)} values, but {len(titles)} columns; is the file complete?"
            raise self.mistake("measured.bad-syntax", message, line=line, place=place)
        return Row(self, line, dict(zip(titles, cells, strict=True)), empty=empty)


@dataclass(frozen=True, slots=True)
class Row:
    """Values of a file by their names: a row of a table, an object, the lines of a section.

    Attributes:
        values: The values; names without one may be missing or have a text of `empty`.
        place: What goes before their names in mistakes.
    """

    file: ResultFile
    line: int
    values: Mapping[str, Any]
    place: str = ""
    empty: frozenset[str] = frozenset({""})

    def has(self, name: str) -> bool:
        """Return whether there is a value."""
        return name in self.values and self.text(name) not in self.empty

    def text(self, name: str) -> str:
        """Return a text; empty if it is missing."""
        return str(self.values[name]) if name in self.values else ""

    def number(self, *names: str, scale: float = 1.0) -> float | None:
        """Return the first of some numbers that is there, in other units; None if none of them is."""
        name = next((name for name in names if self.has(name)), None)
        if name is None:
            return None
        return self.file.read_number(self.text(name), self.line, f"{self.place}{name}") * scale

    def share(self, name: str) -> float | None:
        """Return a percentage as a fraction; None if it is missing."""
        value = self.number(name)
        return None if value is None else value / 100

    def need(self, *names: str, scale: float = 1.0) -> float:
        """Return a number that must be there."""
        value = self.number(*names, scale=scale)
        if value is None:
            raise self.mistake("measured.missing-value", "missing", names[-1])
        return value

    def whole(self, name: str) -> int | None:
        """Return a whole number; None if there is none."""
        text = self.text(name).strip()
        return int(text) if text.isascii() and text.isdigit() else None

    def mistake(self, code: str, message: str, name: str = "", *, value: object = None) -> ConfigError:
        """Return the error of a mistake in a value, or in all."""
        return self.file.mistake(code, message, line=self.line, place=f"{self.place}{name}", value=value)


def merge_operations(
    read: Mapping[str, Any],
    write: Mapping[str, Any],
    *,
    iops: float | None = None,
    bytes_per_s: float | None = None,
) -> Figures:
    """Return the figures of a line from those of reads and of writes, which have no prefix.

    The figures of both together follow where they can be derived: rates add up, a mean is weighted by the
    requests, the maximum is the larger one. Percentiles are those of one kind if there is no other. What the
    file has of one kind alone says nothing about both.

    Args:
        iops: The rate of both together, where the file states it.
    """
    figures = Figures()
    given = {"read": read, "write": write}
    for key, total in (("iops", iops), ("bytes_per_s", bytes_per_s)):
        _complete_rates(figures, key, read.get(key), write.get(key), total)
    rates = {name: figures.get(f"{name}_iops") for name in given}
    counted = [name for name, rate in rates.items() if rate]
    for name in counted:
        measure_times(figures, given[name].get("response", {}), f"{name}_")
    if None in rates.values():
        if counted:
            reason = f"the file has response times of {counted[0]}s alone, and no number of the others"
            figures.reject(reason, "response_mean_us", "response_max_us")
    elif len(counted) == 1:
        keys = given[counted[0]].get("response", {})
        figures.derive(
            **{f"response_{key}_us": figures.get(f"{counted[0]}_response_{key}_us") for key in keys}
        )
    elif counted:
        weights = [float(given[name].get("count") or rates[name] or 0) for name in counted]
        keys = ("mean", "stddev", "max")
        times = [{key: figures.get(f"{name}_response_{key}_us") for key in keys} for name in counted]
        together = combine_times(times, weights)
        figures.derive(**{f"response_{key}_us": value for key, value in together.items()})
    total_iops, total_bytes = figures.get("throughput_iops"), figures.get("throughput_bytes_per_s")
    if total_iops and None not in rates.values():
        figures.derive(read_fraction=rates["read"] / math.fsum(rates.values()))
    if total_iops and total_bytes is not None:
        figures.derive(request_bytes=round(total_bytes / total_iops, 3))
    return figures


def measure_times(figures: Figures, times: Mapping[str, float | None], kind: str = "") -> None:
    """Add response times [us] of all requests or of a kind, by the ends of their columns."""
    figures.measure(**{f"{kind}response_{key}_us": value for key, value in times.items()})


def _complete_rates(
    figures: Figures, key: str, read: float | None, write: float | None, total: float | None
) -> None:
    """Add the rates of reads, writes and both, of which the third follows from two."""
    names = {"read": f"read_{key}", "write": f"write_{key}"}
    rates = {names["read"]: read, names["write"]: write}
    figures.measure(**rates, **{f"throughput_{key}": total})
    missing = [name for name, value in rates.items() if value is None]
    if len(missing) == 1:
        (other,) = (value for value in rates.values() if value is not None)
        kind = "reads" if missing[0] == names["write"] else "writes"
        if total is None:
            figures.reject(f"the file has {kind} alone", missing[0], f"throughput_{key}")
        elif other > total * (1 + _MOST_EXCESS):
            figures.reject(f"the file has more {kind} than {kind} and others together", missing[0])
        else:
            figures.derive(**{missing[0]: max(0.0, total - other)})
    elif not missing and total is None:
        figures.derive(**{f"throughput_{key}": math.fsum((read or 0.0, write or 0.0))})


def combine_times(times: Sequence[Mapping[str, float | None]], weights: Sequence[float]) -> dict[str, float]:
    """Return mean, deviation and maximum of response times of several parts, where all have them."""
    total, combined = math.fsum(weights), {}
    columns = {key: [part.get(key) for part in times] for key in ("mean", "stddev", "max")}
    means, deviations, longest = (
        [] if None in values else [value for value in values if value is not None]
        for values in columns.values()
    )
    if total and means:
        mean = combined["mean"] = math.fsum(map(operator.mul, weights, means)) / total
        if deviations:
            squares = (stddev**2 + mean**2 for stddev, mean in zip(deviations, means, strict=True))
            second = math.fsum(map(operator.mul, weights, squares)) / total
            combined["stddev"] = math.sqrt(max(0.0, second - mean**2))
    if longest:
        combined["max"] = max(longest)
    return combined


def find_percentile(name: float | str) -> str | None:
    """Return the end of the column of a percentile [%], if there is one."""
    try:
        value = float(name)
    except ValueError:
        return None
    close = (end for known, end in PERCENTILES.items() if math.isclose(known, value, abs_tol=_MOST_OFFSET))
    return next(close, None)


def parse_time(text: str, *forms: str) -> datetime | None:
    """Return a time in one of some forms, by the tool's clock; None if none of them fits."""
    for form in forms:
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=None)  # noqa: DTZ007 - the tool's own clock
        except ValueError:
            continue
    return None


def split_lines(text: str) -> list[tuple[int, str]]:
    """Return the lines with their numbers, from 1."""
    return list(enumerate(re.split(r"\r\n|\n|\r", text), start=1))


def find_deviation(values: Sequence[float]) -> float | None:
    """Return the standard deviation of values; None of fewer than two."""
    if len(values) <= 1:
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
