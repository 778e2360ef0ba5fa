"""A line of measured figures: its columns, with their units and meanings, and the basis of each figure.

A figure is measured by the tool, derived from measured figures, or unknown for a reason. A column that a
result of a simulation has, too, has its name, its unit and its meaning.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache
from typing import Any

from destage.engine import columns as result_columns

ZERO = "the file has 0, so the response time was not measured or is below the tool's resolution"


class Figures:
    """The columns of a line while a reader collects them, each with its basis."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._derived: set[str] = set()
        self._unknown: dict[str, str] = {}

    def measure(self, **values: Any) -> None:
        """Add what the file states, in place of what is known so far; None adds nothing."""
        self._add(values)
        self._derived -= {name for name, value in values.items() if value is not None}

    def derive(self, **values: Any) -> None:
        """Add what follows from what the file states; None adds nothing."""
        self._add(values)
        self._derived |= {name for name, value in values.items() if value is not None}

    def reject(self, reason: str, *names: str) -> None:
        """State why columns are unknown, and remove their values."""
        for name in names:
            self._values.pop(name, None)
            self._derived.discard(name)
            self._unknown[name] = reason

    def get(self, name: str) -> Any:
        """Return a value; None if it is unknown."""
        return self._values.get(name)

    def columns(self) -> dict[str, Any]:
        """Return the columns of the line, among them the derived ones and the reasons of the unknown ones."""
        return {
            **self._values,
            "derived_figures": tuple(sorted(self._derived & self._values.keys())),
            "unknown_figures": dict(sorted(self._unknown.items())),
        }

    def _add(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            if value is None:
                continue
            if value == 0 and _is_response(name):
                self.reject(ZERO, name)
            else:
                self._values[name] = value
                self._unknown.pop(name, None)


def _is_response(name: str) -> bool:
    return "response_" in name and name.endswith("_us") and "stddev" not in name


Meaning = tuple[str | None, str]
"""The unit of a column, if it has one, and what it holds."""


def _column(meaning: str, unit: str | None = None) -> Any:
    return field(default=None, metadata={"meaning": meaning, "unit": unit})


def _result() -> Any:
    """Return a column whose unit and meaning are those of the result column of its name."""
    return field(default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLine:
    """One measured line: what was measured, under which load, and the figures.

    A figure is measured, derived from measured ones (`derived_figures`) or unknown, which is None;
    `unknown_figures` has the reasons that are known.
    """

    array_label: str = field(
        default="", metadata={"meaning": "name of the measured array, as it was given", "unit": None}
    )
    workload: str | None = _column("name of the job, access specification or device")
    test: str | None = _column("name of the test, run or time span within the file")
    tool: str = field(default="", metadata={"meaning": "tool that measured", "unit": None})
    tool_version: str | None = _column("version of the tool")
    measured_at: datetime | None = field(
        default=None, metadata={"meaning": "time of the measurement by the tool's clock", "unit": None}
    )
    source_file: str = field(default="", metadata={"meaning": "name of the imported file", "unit": None})
    source_line: int | None = _column("line of the file with the first of these figures", "count")
    depth: int | None = _column("outstanding I/Os of each thread", "count")
    threads: int | None = _column("threads, jobs or workers that issued requests at the same time", "count")
    outstanding: float | None = _column("outstanding I/Os of all threads together", "count")
    request_bytes: float | None = _column("mean size of a request", "bytes")
    read_fraction: float | None = _column("share of reads among reads and writes", "fraction")
    random_fraction: float | None = _column("share of requests at random addresses", "fraction")
    footprint_bytes: int | None = _column(
        "size of the files or the part of the device that the requests go to; unknown: all of it", "bytes"
    )
    duration_s: float | None = _column("length of the measurement", "s")
    requests: int | None = _result()
    reads: int | None = _result()
    writes: int | None = _result()
    throughput_iops: float | None = _result()
    read_iops: float | None = _result()
    write_iops: float | None = _result()
    throughput_bytes_per_s: float | None = _result()
    read_bytes_per_s: float | None = _column("data read per second", "bytes/s")
    write_bytes_per_s: float | None = _column("data written per second", "bytes/s")
    response_mean_us: float | None = _result()
    response_p50_us: float | None = _result()
    response_p90_us: float | None = _result()
    response_p95_us: float | None = _result()
    response_p99_us: float | None = _result()
    response_p999_us: float | None = _result()
    response_max_us: float | None = _result()
    read_response_mean_us: float | None = _result()
    read_response_p50_us: float | None = _result()
    read_response_p90_us: float | None = _result()
    read_response_p95_us: float | None = _result()
    read_response_p99_us: float | None = _result()
    read_response_p999_us: float | None = _result()
    read_response_max_us: float | None = _result()
    write_response_mean_us: float | None = _result()
    write_response_p50_us: float | None = _result()
    write_response_p90_us: float | None = _result()
    write_response_p95_us: float | None = _result()
    write_response_p99_us: float | None = _result()
    write_response_p999_us: float | None = _result()
    write_response_max_us: float | None = _result()
    response_stddev_us: float | None = _column("standard deviation of single response times", "us")
    read_response_stddev_us: float | None = _column(
        "standard deviation of single response times of reads", "us"
    )
    write_response_stddev_us: float | None = _column(
        "standard deviation of single response times of writes", "us"
    )
    throughput_stddev_iops: float | None = _column("standard deviation of the rate over the samples", "1/s")
    samples: int | None = _column("samples, such as seconds, that the deviation of the rate is over", "count")
    disk_time_percent: float | None = _result()
    busy_fraction: float | None = _column("share of the time in which the device had a request", "fraction")
    derived_figures: tuple[str, ...] = field(
        default=(), metadata={"meaning": "columns that follow from measured ones", "unit": None}
    )
    unknown_figures: Mapping[str, str] = field(
        default_factory=dict, metadata={"meaning": "columns that are unknown, and why", "unit": None}
    )

    def explain(self, column: str) -> str:
        """Return why a column is unknown."""
        return self.unknown_figures.get(column, f"not in the results of {self.tool or 'the tool'}")


FIGURES = tuple(
    column.name
    for column in fields(MeasuredLine)
    if column.name.endswith(("_us", "_iops", "_bytes_per_s", "_percent")) and "stddev" not in column.name
)
"""The columns of figures, without the deviations that the tool states."""


@cache
def list_meanings() -> dict[str, Meaning]:
    """Return the unit and the meaning of each column."""
    results = {column.name: (column.unit, column.meaning) for column in result_columns()}
    return {
        column.name: (column.metadata["unit"], column.metadata["meaning"])
        if "meaning" in column.metadata
        else results[column.name]
        for column in fields(MeasuredLine)
    }
