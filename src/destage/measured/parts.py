"""What the readers of all tools share: the lines of a file, numbers with their place, and mistakes."""

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from destage.errors import ConfigError, Issue
from destage.measured.line import MeasuredLine

PERCENTILES: Mapping[float, str] = {50.0: "p50", 90.0: "p90", 95.0: "p95", 99.0: "p99", 99.9: "p999"}
"""The ends of the columns of percentiles."""
_MOST_OFFSET = 1e-6


@dataclass(frozen=True, slots=True)
class Readings:
    """The lines of one file, and remarks on what was left out or is not known."""

    lines: Sequence[MeasuredLine]
    notes: Sequence[str] = field(default=())


@dataclass(frozen=True, slots=True)
class ResultFile:
    """The text of a file and its name, which mistakes carry."""

    name: str
    text: str

    def mistake(
        self, code: str, message: str, *, line: int = 1, place: str = "", value: object = None
    ) -> ConfigError:
        """Return the error of a mistake in a line."""
        return ConfigError([Issue(code, place, message, value, line=line, column=1)], self.name)

    def line_of(self, position: int) -> int:
        """Return the number of the line with a position of the text, from 1."""
        return self.text.count("\n", 0, position) + 1

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
            raise self.mistake(
                "measured.bad-value", "must be a number of at least 0", line=line, place=place, value=text
            )
        return value


def merge_operations(read: Mapping[str, Any], write: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a line from those of reads and of writes, which have no prefix.

    The figures of both together follow where they can be derived: rates add up, a mean is weighted by the
    requests, the maximum is the larger one. Percentiles are those of one kind if there is no other.
    """
    counted = [each for each in (read, write) if each.get("iops")]
    found: dict[str, Any] = {}
    for name, each in (("read", read), ("write", write)):
        found[f"{name}_iops"] = each.get("iops")
        found[f"{name}_bytes_per_s"] = each.get("bytes_per_s")
        if each.get("iops"):
            found |= {f"{name}_response_{key}_us": value for key, value in each.get("response", {}).items()}
    found["throughput_iops"] = _add(read.get("iops"), write.get("iops"))
    found["throughput_bytes_per_s"] = _add(read.get("bytes_per_s"), write.get("bytes_per_s"))
    if len(counted) == 1:
        found |= {f"response_{key}_us": value for key, value in counted[0].get("response", {}).items()}
    elif counted:
        responses = [each.get("response", {}) for each in counted]
        rates = [float(each.get("count") or each["iops"]) for each in counted]
        means = [each.get("mean") for each in responses]
        if all(mean is not None for mean in means):
            total = math.fsum(rates)
            mean = math.fsum(rate * each for rate, each in zip(rates, means, strict=True)) / total
            found["response_mean_us"] = mean
            spreads = [each.get("stddev") for each in responses]
            if all(spread is not None for spread in spreads):
                squares = zip(rates, spreads, means, strict=True)
                second = math.fsum(rate * (spread**2 + each**2) for rate, spread, each in squares) / total
                found["response_stddev_us"] = math.sqrt(max(0.0, second - mean**2))
        if all("max" in each for each in responses):
            found["response_max_us"] = max(each["max"] for each in responses)
    iops, data = found["throughput_iops"], found["throughput_bytes_per_s"]
    if iops:
        found["read_fraction"] = None if read.get("iops") is None else read["iops"] / iops
        found["request_bytes"] = None if data is None else round(data / iops, 3)
    return {name: value for name, value in found.items() if value is not None}


def find_percentile(name: float | str) -> str | None:
    """Return the end of the column of a percentile [%], if there is one."""
    value = float(name)
    return next(
        (end for at, end in PERCENTILES.items() if math.isclose(at, value, abs_tol=_MOST_OFFSET)), None
    )


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


def find_spread(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean and the standard deviation of values; one value has no deviation."""
    mean = math.fsum(values) / len(values)
    if len(values) == 1:
        return mean, None
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _add(one: float | None, other: float | None) -> float | None:
    given = [value for value in (one, other) if value is not None]
    return math.fsum(given) if given else None
