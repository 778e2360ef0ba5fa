"""The error of the model by class of load.

Classes of device and load, in which systems are compared with what is simulated for them.

The error of the model: how far measured systems were from what is simulated for them, by class of load.

`make truth` estimates it from the bank and stores it (see `estimation.py`).
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from statistics import NormalDist
from typing import Any, get_args

from destage.measured_systems.bank import READ_FRACTION, MeasuredRate, Medium, read_rows, systems

_BANDS = ((1, 4), (5, 32), (33, None))
"""Outstanding I/Os of a class: at least, at most."""
_OPERATIONS = {1.0: "reads", 0.5: "mixed", 0.0: "writes"}
_PURE = 0.25
"""Up to this share of the other operation, a load counts as one of reads or writes."""
_MEDIA: Mapping[str, Medium] = {"disk": "spinning", "ssd": "flash"}
_SEQUENTIAL = frozenset({"sequential", "strided", "strided_zones"})
_LARGEST = 128 << 10
"""A load with larger I/Os on average [bytes] is bound by rates of transfer rather than of I/Os."""


@dataclass(frozen=True, slots=True)
class LoadClass:
    """A class of random loads.

    Attributes:
        cached: Whether the controller caches writes; None for both.
        operations: `reads`, `writes` or `mixed`; None for all.
        band: The number of outstanding I/Os, as an index; None for all.
    """

    medium: Medium
    cached: bool | None = None
    operations: str | None = None
    band: int | None = None

    def widen(self) -> "Iterator[LoadClass]":
        """Yield this class and wider ones that contain it."""
        yield self
        yield replace(self, cached=None)
        yield replace(self, cached=None, band=None)
        yield LoadClass(self.medium)

    def contains(self, other: "LoadClass") -> bool:
        """Return whether another class is part of this one."""
        return self in other.widen()

    @property
    def order(self) -> tuple[bool, bool, int, int]:
        """The place in a table."""
        words = list(_OPERATIONS.values())
        operations = words.index(self.operations) if self.operations else -1
        return self.medium == "flash", bool(self.cached), operations, -1 if self.band is None else self.band

    def __str__(self) -> str:
        """Return the class in words."""
        parts: list[str] = [self.medium]
        if self.cached is not None:
            parts.append("cached" if self.cached else "not cached")
        if self.operations is not None:
            parts.append(self.operations)
        if self.band is not None:
            least, most = _BANDS[self.band]
            parts.append(f"{least} to {most} outstanding" if most else f"{least} or more outstanding")
        return ", ".join(parts)

    @classmethod
    def parse(cls, text: str) -> "LoadClass":
        """Return the class that has these words."""
        return _named()[text]


@cache
def _named() -> Mapping[str, LoadClass]:
    bands = range(len(_BANDS))
    narrow = product(get_args(Medium), (False, True), _OPERATIONS.values(), bands)
    return {str(wider): wider for fields in narrow for wider in LoadClass(*fields).widen()}


def classify_rate(rate: MeasuredRate) -> LoadClass:
    """Return the class of a measured rate."""
    system = systems()[rate.system]
    operations = _OPERATIONS[READ_FRACTION[rate.pattern]]
    return LoadClass(system.medium, system.cached, operations, _find_band(rate.outstanding))


def classify_run(config: Mapping[str, Any], row: Mapping[str, Any]) -> LoadClass | str:
    """Return the class of a run, or why there is none, as in "a load of sequential I/Os".

    The outstanding I/Os are throughput times response time, after Little.

    Args:
        config: The canonical configuration.
        row: The results, of a run with requests or as means.
    """
    kinds = {array["disk"]["kind"] for array in config["arrays"]}
    media = {_MEDIA.get(kind) for kind in kinds}
    medium = media.pop()
    if media or medium is None:
        return "an array of several kinds of disks" if media else "an abstract disk"
    streams = config["workload"]["streams"]
    if any(stream["arrival"]["kind"] == "trace" for stream in streams):
        return "a replayed trace"
    if is_sequential(streams):
        return "a sequential load"
    if row["throughput_bytes_per_s"] / row["throughput_iops"] > _LARGEST:
        return f"I/Os of more than {_LARGEST >> 10} KiB"
    writes = row["writes"] / row["requests"]
    operations = "reads" if writes <= _PURE else "writes" if writes >= 1 - _PURE else "mixed"
    cache = config["controller"]["cache"]
    cached = bool(cache["capacity"] and cache["write_fraction"] and cache["write"]["policy"] == "write_back")
    outstanding = row["throughput_iops"] * row["response_mean_us"] / 1e6
    return LoadClass(medium, cached, operations, _find_band(outstanding))


def is_sequential(streams: object) -> bool:
    """Return whether all addresses of the streams of a canonical configuration follow one another."""
    return {address["kind"] for address in _find_tables(streams, "address")} <= _SEQUENTIAL


def _find_band(outstanding: float) -> int:
    return sum(outstanding > most for _, most in _BANDS if most is not None)


def _find_tables(value: object, name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the tables of a name, at any depth."""
    if isinstance(value, list):
        for item in value:
            yield from _find_tables(item, name)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == name and isinstance(item, dict):
                yield item
            yield from _find_tables(item, name)


MODEL_ERRORS = "model_errors.csv"
CONFIDENCE = 0.9
"""The share of rates of other systems that an interval has."""
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class ModelError:
    """The speeds of systems of a class, as multiples of the simulated speed.

    Attributes:
        load: The class, or the narrowest one around it that has enough systems.
        systems: The systems measured in it.
        low: The lower end of the interval.
        middle: Its middle: below 1, systems are slower than simulated.
        high: The upper end.
        has_destages: Whether destages decide the speed. How many are in flight is not published, and the
            speeds are those of systems with the right number.
    """

    load: LoadClass
    systems: int
    low: float
    middle: float
    high: float
    has_destages: bool = False

    def share_above(self, speed: float) -> float:
        """Return the share of systems that are at least as fast, as a multiple of the simulated speed.

        The logarithm of the speed is taken as normal, with the ends of the interval.
        """
        deviation = math.log(self.high / self.low) / 2 / NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
        return 1 - NormalDist(math.log(self.middle), deviation).cdf(math.log(speed))


def is_sure(odds: float | None) -> bool:
    """Return whether odds are those that a single load is sized for *to be sure*; unknown ones are not.

    Odds count as they are printed, in whole per cent.
    """
    return round(odds or 0, 2) >= (1 + CONFIDENCE) / 2


def find_error(load: LoadClass) -> ModelError | None:
    """Return the model error in a class of load; None if there are too few measured systems."""
    stored = _stored()
    found = next((stored[wider] for wider in load.widen() if wider in stored), None)
    has_destages = bool(load.cached) and load.operations != "reads"
    return None if found is None else replace(found, has_destages=has_destages)


def format_errors(errors: Iterable[ModelError]) -> str:
    """Return the text of model_errors.csv."""
    lines = ["class,systems,low,middle,high"]
    for error in errors:
        ends = ",".join(f"{end:.{_DIGITS}g}" for end in (error.low, error.middle, error.high))
        lines.append(f'"{error.load}",{error.systems},{ends}')
    return "\n".join([*lines, ""])


@cache
def _stored() -> Mapping[LoadClass, ModelError]:
    errors = {}
    for row in read_rows(MODEL_ERRORS):
        load = LoadClass.parse(row["class"])
        low, middle, high = (float(row[name]) for name in ("low", "middle", "high"))
        errors[load] = ModelError(load, int(row["systems"]), low, middle, high)
    return errors
