"""The bank: systems by their parts, and the rates measured on them, with sources.

systems.toml describes each system; measured_arrays.csv and published_rates.csv have the rates.
"""

import copy
import csv
import importlib.resources
import io
import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, get_args

Medium = Literal["spinning", "flash"]
Pattern = Literal["randread", "randwrite", "randrw"]

MEDIA: tuple[Medium, ...] = get_args(Medium)
Load = tuple[str, int | None, str, int, int]
"""System, disks, pattern, size of an I/O and outstanding I/Os: equal loads have one configuration."""
READ_FRACTION: Mapping[Pattern, float] = MappingProxyType({"randread": 1.0, "randwrite": 0.0, "randrw": 0.5})
"""The share of reads of each pattern of addresses and operations."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where rates are from.

    Attributes:
        conditions: How they were measured.
    """

    title: str
    conditions: str


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of the descriptions that are equally probable before the rates are seen.

    It has an option of each open setting.

    Attributes:
        name: The names of the options, or `described` where nothing is open.
        title: The options in words.
        assigned: What it sets, by path in a configuration or in `placement`.
    """

    name: str
    title: str
    assigned: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MeasuredSystem:
    """A system whose rates were measured.

    Attributes:
        cached: Whether its controller caches writes.
        footprint: The size of the file that was accessed, whose place is open; None for the whole device.
        unknown: What neither the source nor a data sheet says, open settings first.
        scenario: Its controller and array, by catalogue names.
        alternatives: The descriptions of what is open; one if nothing is.
    """

    name: str
    title: str
    source: Source
    medium: Medium
    cached: bool
    footprint: str | None
    unknown: tuple[str, ...]
    scenario: Mapping[str, Any]
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True, slots=True)
class MeasuredRate:
    """A rate of random I/Os measured on a system.

    Attributes:
        disks: The number of disks, where the system was measured with several.
        block_bytes: Size of an I/O [bytes].
        depth_per_job: Outstanding I/Os of each job.
        iops: Reads and writes together [1/s].
        response_us: Mean response time of reads and writes [us]; None if not measured.
    """

    system: str
    disks: int | None
    pattern: Pattern
    block_bytes: int
    depth_per_job: int
    jobs: int
    iops: float
    response_us: float | None

    @property
    def outstanding(self) -> int:
        """Outstanding I/Os of all jobs."""
        return self.depth_per_job * self.jobs

    @property
    def load(self) -> Load:
        """What distinguishes its configuration from that of other rates."""
        return self.system, self.disks, self.pattern, self.block_bytes, self.outstanding

    def compose_scenario(self, system: MeasuredSystem, alternative: Alternative) -> dict[str, Any]:
        """Return the configuration that describes this measurement."""
        parts = copy.deepcopy(dict(system.scenario))
        for path, value in alternative.assigned.items():
            *tables, last = path.split(".")
            place = parts
            for table in tables:
                place = place.setdefault(table, {})
            place[last] = value
        lies = {"footprint": system.footprint, "placement": parts.pop("placement", None)}
        address = {"kind": "uniform"} | {key: value for key, value in lies.items() if value is not None}
        stream = {
            "name": "random",
            "arrival": {"kind": "fixed_outstanding", "depth": self.outstanding},
            "operations": {
                "read_fraction": READ_FRACTION[self.pattern],
                "size": {"kind": "constant", "value": self.block_bytes},
            },
            "address": address,
        }
        if self.disks is not None:
            # The levels 1 and 1+0 are one for controllers, and two for the engine.
            pair = {"raid": "1"} if parts["array"]["raid"] == "10" and self.disks == 2 else {}  # noqa: PLR2004
            parts["array"] |= {"disks": self.disks, **pair}
        return {"workload": {"streams": [stream]}, **parts}


@cache
def systems() -> Mapping[str, MeasuredSystem]:
    """Return the systems by name."""
    document = tomllib.loads(read_text("systems.toml"))
    sources = {name: Source(**fields) for name, fields in document["sources"].items()}
    return MappingProxyType(
        {
            name: MeasuredSystem(
                name=name,
                title=fields["title"],
                source=sources[fields["source"]],
                medium=fields["medium"],
                cached=fields["cached"],
                footprint=fields.get("footprint"),
                unknown=(
                    *(document["unknowns"][unknown]["title"] for unknown in fields.get("open", [])),
                    *fields["unknown"],
                ),
                scenario=fields["scenario"],
                alternatives=_combine(
                    [document["unknowns"][unknown] for unknown in fields.get("open", [])],
                    fields.get("excluded", []),
                ),
            )
            for name, fields in document["systems"].items()
        }
    )


def _combine(unknowns: Sequence[Mapping[str, Any]], excluded: Sequence[str]) -> tuple[Alternative, ...]:
    """Return an alternative for each combination of options that are not excluded."""
    options = [
        [(name, option) for name, option in unknown["options"].items() if name not in excluded]
        for unknown in unknowns
    ]
    return tuple(
        Alternative(
            name=" ".join(name for name, _ in chosen) or "described",
            title="; ".join(option["title"] for _, option in chosen),
            assigned={path: value for _, option in chosen for path, value in option["set"].items()},
        )
        for chosen in itertools.product(*options)
    )


@cache
def rates() -> tuple[MeasuredRate, ...]:
    """Return all rates, system by system."""
    return (*_read_arrays(), *_read_published())


def read_text(name: str) -> str:
    """Return the text of a file of the bank."""
    return importlib.resources.files("destage.measured_systems").joinpath(name).read_text("utf-8")


def read_rows(name: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV file of the bank."""
    yield from csv.DictReader(io.StringIO(read_text(name)))


def _read_arrays() -> Iterator[MeasuredRate]:
    for row in read_rows("measured_arrays.csv"):
        reads, writes = float(row["read_iops"]), float(row["write_iops"])
        times = reads * float(row["read_latency_mean_us"]) + writes * float(row["write_latency_mean_us"])
        yield _as_rate(row, reads + writes, times / (reads + writes))


def _read_published() -> Iterator[MeasuredRate]:
    for row in read_rows("published_rates.csv"):
        yield _as_rate(row, float(row["iops"]), None)


def _as_rate(row: Mapping[str, str], iops: float, response_us: float | None) -> MeasuredRate:
    return MeasuredRate(
        system=row["system"],
        disks=int(row["disks"]) if "disks" in row else None,
        pattern=_as_pattern(row["pattern"]),
        block_bytes=int(row["block_bytes"]),
        depth_per_job=int(row["depth_per_job"]),
        jobs=int(row["jobs"]),
        iops=iops,
        response_us=response_us,
    )


def _as_pattern(text: str) -> Pattern:
    for pattern in READ_FRACTION:
        if text == pattern:
            return pattern
    raise ValueError(f"{text!r} is not a pattern of the bank")
